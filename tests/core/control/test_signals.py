"""The signals of an iteration: their definitions, their history, their JSON."""

import json
import math
from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lethe_core.control.basis import EvidenceBasis, evidence_basis, goal_coverage, goal_gap, novelty, overlap
from lethe_core.control.budget import BudgetConfig, BudgetState, assess_budget
from lethe_core.control.signals import (
    INITIAL_SIGNALS,
    CallOutcome,
    IterationArrays,
    IterationSignals,
    call_yields,
    complexity_of,
    compute_signals,
    next_failed_search,
    next_zero_yield,
    plateau_of,
)
from lethe_core.control.vectors import unit

D = 24
YIELDED, NOTHING, FAILED = CallOutcome.YIELDED, CallOutcome.NOTHING, CallOutcome.FAILED
seeds = st.integers(0, 100_000)
quick = settings(max_examples=60, deadline=None)


def rows(seed: int, n: int) -> np.ndarray:
    return unit(np.random.default_rng(seed).normal(size=(n, D)))


def held(vectors: np.ndarray, strength: float = 0.6) -> EvidenceBasis:
    return evidence_basis(vectors, np.full(len(vectors), strength))


def iteration(seed=0, before=0, added=0, tasks=2, calls=()) -> IterationArrays:
    pool = rows(seed, before + added)
    return IterationArrays(
        goal=rows(seed + 1, 1)[0],
        live_tasks=rows(seed + 2, tasks),
        survivors=np.ones(tasks, dtype=bool),
        before=held(pool[:before]),
        after=held(pool),
        changed=added > 0,
        new_vectors=pool[before:],
        new_alignments=np.full(added, 0.5),
        calls=tuple(calls),
    )


@quick
@given(
    seeds,
    st.integers(0, 12),
    st.integers(0, 8),
    st.integers(0, 4),
    st.lists(st.sampled_from(list(CallOutcome)), max_size=4),
)
def test_every_share_is_in_range_and_finite(seed, before, added, tasks, calls):
    signals = compute_signals(INITIAL_SIGNALS, iteration(seed, before, added, tasks, calls))
    for field in fields(signals):
        value = getattr(signals, field.name)
        if field.name == "gains":
            assert all(-1.0 <= gain <= 1.0 for gain in value)
        elif field.name.startswith("n_"):
            assert value in (0, 1)
        else:
            assert 0.0 <= value <= 1.0, field.name


@pytest.mark.parametrize("broken", [math.nan, math.inf, 0.0])
def test_a_broken_goal_or_batch_gives_finite_signals_that_never_push_towards_stopping(broken):
    arrays = iteration(2, before=6, added=4)
    with np.errstate(invalid="ignore"):
        for hurt in (
            replace(arrays, goal=np.full(D, broken)),
            replace(arrays, live_tasks=np.full((2, D), broken)),
            replace(arrays, new_vectors=np.full((4, D), broken)),
            replace(arrays, new_alignments=np.full(4, broken)),
        ):
            record = compute_signals(INITIAL_SIGNALS, hurt).as_record()
            assert all(math.isfinite(value) for value in (*record.pop("gains"), *record.values()))
            assert record["plateau"] == 0.0


def test_signals_are_put_together_from_the_bases_before_and_after():
    arrays = iteration(3, before=6, added=4)
    old, new = arrays.before, arrays.after
    fresh = novelty(old, arrays.new_vectors, arrays.new_alignments)
    covered = goal_coverage(new, arrays.goal, arrays.live_tasks)
    signals = compute_signals(INITIAL_SIGNALS, arrays)
    assert signals.novelty == pytest.approx(fresh)
    assert signals.overlap == pytest.approx(overlap(old, new))
    assert signals.raw_convergence == pytest.approx(overlap(old, new) * (1 - fresh))
    assert signals.goal_coverage == pytest.approx(covered)
    assert signals.gap_norm == pytest.approx(goal_gap(new, arrays.goal).norm)
    assert signals.gain == pytest.approx(covered - goal_coverage(old, arrays.goal, arrays.live_tasks))
    assert signals.complexity == pytest.approx(complexity_of(fresh, covered, new))


def test_before_anything_is_known_complexity_is_full_and_convergence_none():
    assert (INITIAL_SIGNALS.complexity, INITIAL_SIGNALS.convergence, INITIAL_SIGNALS.plateau) == (
        1.0,
        0.0,
        0.0,
    )
    first = compute_signals(INITIAL_SIGNALS, iteration(4, before=0, added=5))
    assert first.overlap == first.raw_convergence == 0.0
    assert first.novelty > 0.0


def test_convergence_is_carried_over_when_nothing_changed():
    previous = replace(INITIAL_SIGNALS, raw_convergence=0.37, n_zero_yield=1)
    arrays = iteration(5, before=6)
    assert compute_signals(previous, arrays).raw_convergence == 0.37


def test_convergence_is_computed_anew_when_evidence_is_only_superseded_or_only_weighed_anew():
    previous = replace(INITIAL_SIGNALS, raw_convergence=0.37)
    arrays = iteration(6, before=6)
    weighed = evidence_basis(rows(6, 6), np.array([0.95, 0.3, 0.3, 0.6, 0.6, 0.6]))
    for after in (held(rows(6, 6)[1:]), weighed):
        signals = compute_signals(previous, replace(arrays, after=after, changed=True))
        assert signals.raw_convergence == signals.overlap != 0.37


def test_each_fruitless_iteration_adds_eight_hundredths_to_convergence():
    signals = replace(INITIAL_SIGNALS, raw_convergence=0.5)
    arrays = iteration(7, before=6, calls=[NOTHING])
    for n in range(1, 9):
        signals = compute_signals(signals, arrays)
        assert signals.n_zero_yield == n
        assert signals.convergence == pytest.approx(min(1.0, 0.5 + 0.08 * n))
    assert signals.raw_convergence == 0.5


@pytest.mark.parametrize(
    ("calls", "expected"),
    [
        ([], 2),
        ([FAILED], 2),
        ([FAILED, FAILED], 2),
        ([NOTHING], 3),
        ([NOTHING, FAILED], 3),
        ([NOTHING, YIELDED], 0),
        ([YIELDED, FAILED], 0),
    ],
)
def test_zero_yield_counts_only_answered_calls(calls, expected):
    assert next_zero_yield(2, calls) == expected


@pytest.mark.parametrize(
    ("calls", "expected"),
    [([], 2), ([FAILED], 3), ([FAILED, FAILED], 3), ([FAILED, NOTHING], 0), ([YIELDED], 0)],
)
def test_failed_searches_count_only_iterations_whose_every_call_failed(calls, expected):
    assert next_failed_search(2, calls) == expected


def test_a_call_yields_when_one_new_item_reaches_the_floor_for_goal_or_task():
    goal, task = np.eye(4)[0], np.eye(4)[1]
    off, on = np.eye(4)[2], unit(np.array([0.0, 1.0, 1.0, 0.0]))
    assert not call_yields(np.stack([off]), goal, task, 0.68)  # .5: orthogonal
    assert call_yields(np.stack([off, on]), goal, task, 0.68)  # .854 to the task
    assert call_yields(np.stack([on]), task, None, 0.68)
    assert not call_yields(np.stack([on]), goal, None, 0.68)
    assert not call_yields(np.zeros((0, 4)), goal, task, 0.0)
    assert not call_yields(np.zeros((2, 4)), goal, task, 0.1)
    assert call_yields(np.stack([goal]), goal, task, 1.0)


def test_plateau_needs_two_gains_and_follows_the_last_three():
    assert plateau_of([]) == plateau_of([0.0]) == 0.0
    assert plateau_of([0.0, 0.0]) == 1.0
    assert plateau_of([0.02, 0.02]) == pytest.approx(math.exp(-1))
    assert plateau_of([0.9, 0.0, 0.0, 0.0]) == 1.0  # a gain that is past holds nothing up
    assert plateau_of([-0.5, 0.06, 0.0]) == pytest.approx(math.exp(-1))  # losses do not offset gains


def test_gains_are_taken_over_the_tasks_that_lived_at_both_ends():
    arrays = iteration(8, before=5, added=5, tasks=3)
    survivors = np.array([True, False, True])
    old, new = arrays.before, arrays.after
    kept = arrays.live_tasks[survivors]
    signals = compute_signals(INITIAL_SIGNALS, replace(arrays, survivors=survivors))
    expected = goal_coverage(new, arrays.goal, kept) - goal_coverage(old, arrays.goal, kept)
    assert signals.gain == pytest.approx(expected)
    # A task created now moves the mean, but is no gain.
    newborn = compute_signals(
        INITIAL_SIGNALS, replace(iteration(9, before=5), survivors=np.zeros(2, dtype=bool))
    )
    assert newborn.gain == 0.0


def test_complexity_sums_novelty_open_questions_and_spread():
    nothing = evidence_basis(np.zeros((0, 4)), np.zeros(0))
    one, even = evidence_basis(np.eye(4)[:1], np.ones(1)), evidence_basis(np.eye(4), np.ones(4))
    assert complexity_of(1.0, 0.0, nothing) == pytest.approx(0.8)
    assert complexity_of(0.0, 1.0, one) == 0.0
    assert complexity_of(0.0, 1.0, even) == pytest.approx(0.2)
    assert complexity_of(1.0, 0.0, even) == pytest.approx(1.0)


def test_a_session_goes_on_from_stored_signals_as_if_never_stopped():
    pool = rows(10, 30)
    live, stored = INITIAL_SIGNALS, INITIAL_SIGNALS
    for step in range(5):
        arrays = replace(
            iteration(11, calls=[NOTHING if step % 2 else YIELDED]),
            before=held(pool[: 6 * step]),
            after=held(pool[: 6 * step + 6]),
            changed=True,
            new_vectors=pool[6 * step : 6 * step + 6],
            new_alignments=np.full(6, 0.4),
        )
        live = compute_signals(live, arrays)
        again = IterationSignals.from_record(json.loads(json.dumps(stored.as_record(), allow_nan=False)))
        assert again == stored
        stored = compute_signals(again, arrays)
    assert live == stored
    assert len(live.gains) == 3


@pytest.mark.parametrize(("tasks", "stops_at"), [(1, 11), (4, 11), (20, 20)])
def test_a_session_that_finds_nothing_stops_by_itself_once_every_task_was_tried(tasks, stops_at):
    signals = INITIAL_SIGNALS
    for it in range(1, 31):
        signals = compute_signals(signals, iteration(12, tasks=tasks, calls=[NOTHING]))
        state = BudgetState(it, 0.0, signals.convergence, signals.plateau, all_tried=it >= tasks)
        stop = assess_budget(BudgetConfig(), state).stop
        if stop:
            break
    assert (it, stop) == (stops_at, "converged")
