"""Task ranking: what is warped, what falls with depth and repetition, how ties break."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import spearmanr

from lethe_core.control.basis import Gap, deficits, evidence_basis, goal_gap
from lethe_core.control.selection import rank_tasks, task_scores, warped_goal
from lethe_core.control.vectors import alignments, slerp, unit

seeds = st.integers(0, 100_000)
quick = settings(max_examples=60, deadline=None)


def near(rng: np.random.Generator, goal: np.ndarray, n: int) -> np.ndarray:
    """n unit vectors about the goal: half goal, half a random direction."""
    return unit(unit(rng.normal(size=(n, goal.size))) + goal)


def world(seed: int, m: int, d: int = 32) -> dict:
    rng = np.random.default_rng(seed)
    goal = unit(rng.normal(size=d))
    tasks, evidence = near(rng, goal, m), near(rng, goal, 6)
    basis = evidence_basis(evidence, np.full(6, 0.6))
    return {
        "tasks": tasks,
        "goal": goal,
        "gap": goal_gap(basis, goal),
        "deficit": deficits(basis, tasks),
        "depths": rng.integers(0, 4, m),
        "n_productive": rng.integers(0, 4, m),
        "sequences": rng.permutation(m),
    }


def test_warping_the_goal_raises_what_lies_in_the_gap_and_warping_the_task_lowers_it():
    rng = np.random.default_rng(20)
    by_goal, by_task = [], []
    for _ in range(200):
        goal = unit(rng.normal(size=64))
        tasks, evidence = near(rng, goal, 20), near(rng, goal, 20)
        gap = goal_gap(evidence_basis(evidence, np.full(20, 0.6)), goal)
        towards_gap, plain = tasks @ gap.direction, alignments(tasks, goal)
        warp = 0.5 * gap.norm**2
        turned = np.stack([slerp(task, gap.direction, warp) for task in tasks])
        by_goal.append(
            spearmanr(alignments(tasks, warped_goal(goal, gap, 1.0)) - plain, towards_gap).statistic
        )
        by_task.append(spearmanr(alignments(turned, goal) - plain, towards_gap).statistic)
    assert np.mean(by_goal) == pytest.approx(0.99, abs=0.006)
    assert np.mean(by_task) == pytest.approx(-0.99, abs=0.006)


@quick
@given(seeds, st.integers(1, 20))
def test_without_pressure_or_without_a_gap_the_goal_is_not_warped(seed, m):
    given_world = world(seed, m)
    calm = rank_tasks(pressure=0.0, **given_world)
    whole = rank_tasks(pressure=1.0, **{**given_world, "gap": Gap(None, 0.0)})
    assert calm.order.tolist() == whole.order.tolist()
    assert calm.scores.tolist() == whole.scores.tolist()
    assert calm.alignments.tolist() == alignments(given_world["tasks"], given_world["goal"]).tolist()


@quick
@given(seeds, st.floats(0, 1))
def test_the_warped_goal_is_unit_and_turns_at_most_half_way(seed, pressure):
    given_world = world(seed, 1)
    goal, gap = given_world["goal"], given_world["gap"]
    turned = warped_goal(goal, gap, pressure)
    assert np.linalg.norm(turned) == pytest.approx(1.0, abs=1e-12)
    angle = np.arccos(np.clip(goal @ gap.direction, -1, 1))
    assert np.arccos(np.clip(goal @ turned, -1, 1)) <= 0.5 * angle + 1e-6


@quick
@given(seeds, st.floats(0.05, 1))
def test_the_goal_turns_by_half_the_pressure_times_the_squared_gap(seed, pressure):
    given_world = world(seed, 1)
    goal, gap = given_world["goal"], given_world["gap"]
    turned = np.arccos(np.clip(goal @ warped_goal(goal, gap, pressure), -1, 1))
    share = turned / np.arccos(np.clip(goal @ gap.direction, -1, 1))
    assert share == pytest.approx(0.5 * pressure * gap.norm**2, abs=1e-6)


@quick
@given(st.floats(0, 1), st.floats(0, 1), st.integers(0, 1000), st.integers(0, 1000))
def test_scores_fall_strictly_with_depth_and_with_productive_iterations(alignment, deficit, depth, n):
    def score(depth: int, n: int) -> float:
        shared = (np.array([alignment]), np.array([deficit]))
        return float(task_scores(*shared, np.array([depth]), np.array([n]))[0])

    assert 0.0 < score(depth, n) <= 1.0
    assert score(depth + 1, n) < score(depth, n)
    assert score(depth, n + 1) < score(depth, n)


def test_the_score_is_worth_over_depth_over_repetition():
    scores = task_scores(
        np.array([0.8, 0.8, 0.0]), np.array([1.0, 0.0, 1.0]), np.array([0, 1, 1]), np.array([0, 1, 0])
    )
    assert scores.tolist() == pytest.approx([0.8, 0.8 * 0.05 / 4, 0.01 / 2])


@quick
@given(seeds, st.integers(2, 12))
def test_equals_go_by_depth_and_then_by_sequence(seed, m):
    rng = np.random.default_rng(seed)
    goal = unit(rng.normal(size=17))
    sequences = rng.permutation(m)
    ranking = rank_tasks(
        np.repeat(-goal[None, :], m, axis=0),  # opposite to the goal: the floor decides
        goal=goal,
        gap=Gap(None, 0.0),
        pressure=0.3,
        deficit=np.ones(m),
        depths=np.array([1, 0] + [1] * (m - 2)),
        n_productive=np.array([0, 1] + [0] * (m - 2)),  # 1/(1+1) on either ground
        sequences=sequences,
    )
    assert ranking.order[0] == 1
    assert ranking.order[1:].tolist() == sorted({*range(m)} - {1}, key=lambda at: sequences[at])


def test_the_last_bits_of_a_score_decide_nothing():
    goal = unit(np.ones(5))
    ranking = rank_tasks(
        np.stack([goal, goal]),
        goal=goal,
        gap=Gap(None, 0.0),
        pressure=0.0,
        deficit=np.array([0.5, 0.5 + 4e-16]),
        depths=np.array([1, 1]),
        n_productive=np.array([0, 0]),
        sequences=np.array([1, 2]),
    )
    assert ranking.scores[1] > ranking.scores[0]
    assert ranking.order.tolist() == [0, 1]


@quick
@given(seeds, st.integers(1, 20), st.floats(0, 1))
def test_the_order_is_a_permutation_by_falling_score_whatever_order_tasks_are_given_in(seed, m, pressure):
    given_world = world(seed, m)
    ranking = rank_tasks(pressure=pressure, **given_world)
    assert sorted(ranking.order.tolist()) == list(range(m))
    assert np.diff(ranking.scores[ranking.order]).max(initial=0.0) <= 1e-12
    shuffle = np.random.default_rng(seed).permutation(m)
    per_task = ("tasks", "deficit", "depths", "n_productive", "sequences")
    again = rank_tasks(
        pressure=pressure,
        **{key: value[shuffle] if key in per_task else value for key, value in given_world.items()},
    )
    assert shuffle[again.order].tolist() == ranking.order.tolist()


def test_no_ready_task_gives_an_empty_order():
    nothing = world(1, 0)
    assert rank_tasks(pressure=0.5, **nothing).order.tolist() == []


def test_tasks_whose_measures_are_broken_are_ranked_last_and_not_with_nan():
    nan = float("nan")
    ranking = rank_tasks(
        np.array([[nan, 0.0], [1.0, 0.0]]),
        goal=np.array([1.0, 0.0]),
        gap=Gap(None, 0.0),
        pressure=nan,
        deficit=np.array([nan, 0.5]),
        depths=np.array([0, 0]),
        n_productive=np.array([0, 0]),
        sequences=np.array([1, 2]),
    )
    assert ranking.order.tolist() == [1, 0]
    assert np.isfinite(ranking.scores).all()
    assert (ranking.scores > 0.0).all()
