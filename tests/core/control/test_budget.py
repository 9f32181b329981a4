"""The stop decision: six reference runs, the properties of ψ, and the thinking budget."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lethe_core.control.budget import (
    BudgetAssessment,
    BudgetConfig,
    BudgetState,
    assess_budget,
    hard_cap,
    pressure_of,
    thinking_tokens,
)
from lethe_core.errors import ConfigError

quick = settings(max_examples=100, deadline=None)
shares = st.floats(0, 1)
states = st.builds(
    BudgetState,
    iterations=st.integers(0, 120),
    seconds=st.floats(0, 5000),
    convergence=shares,
    plateau=shares,
    all_tried=st.booleans(),
)
configs = st.builds(
    BudgetConfig,
    max_iterations=st.integers(10, 60),
    min_iterations=st.integers(0, 10),
    time_budget=st.floats(1, 5000),
    time_counts=st.booleans(),
)


def run(
    config: BudgetConfig, convergence: float, plateau: float, plateau_from: int
) -> tuple[int, BudgetAssessment]:
    """Iterations of 20 s until something stops it, the plateau reached from an iteration on."""
    for it in range(1000):
        flat = plateau if it >= plateau_from else 0.0
        assessment = assess_budget(config, BudgetState(it, 20.0 * it, convergence, flat, True))
        if hard_cap(config, it, 20.0 * it) or assessment.stop:
            return it, assessment
    raise AssertionError("never stopped")


@pytest.mark.parametrize(
    ("min_it", "convergence", "plateau", "plateau_from", "stops_at", "rp", "p", "q", "psi", "stop"),
    [
        (3, 0.912, 0.930, 8, 8, 0.27, 0.188, 0.848, 0.849, "converged"),
        (3, 0.0, 0.0, 0, 60, 2.0, 1.0, 0.0, 0.011, None),
        (3, 0.30, 1.0, 0, 30, 1.0, 1.0, 0.30, 0.832, "budget"),
        (3, 0.20, 1.0, 0, 36, 1.2, 1.0, 0.20, 0.823, "budget"),
        (3, 0.12, 1.0, 0, 60, 2.0, 1.0, 0.12, 0.374, None),
        (10, 0.98, 0.98, 0, 10, 0.33, 0.205, 0.96, 0.847, "converged"),
    ],
)
def test_reference_runs_stop_where_they_should(
    min_it, convergence, plateau, plateau_from, stops_at, rp, p, q, psi, stop
):
    config = BudgetConfig(min_iterations=min_it, time_budget=600.0)
    it, assessment = run(config, convergence, plateau, plateau_from)
    assert it == stops_at
    assert assessment.resource_progress == pytest.approx(rp, abs=0.005)
    assert assessment.pressure == pytest.approx(p, abs=0.0005)
    assert assessment.quality == pytest.approx(q, abs=0.0005)
    assert assessment.psi == pytest.approx(psi, abs=0.0005)
    assert assessment.stop == stop


@pytest.mark.parametrize(
    ("progress", "pressure"), [(0, 0), (0.5, 0.119), (0.85, 0.540), (0.95, 0.815), (1, 1)]
)
def test_pressure_is_convex_in_progress(progress, pressure):
    assert pressure_of(BudgetConfig(), progress) == pytest.approx(pressure, abs=0.0005)


def test_at_the_target_a_quality_of_277_thousandths_is_needed():
    def stops(quality: float) -> bool:
        return assess_budget(BudgetConfig(), BudgetState(30, 0.0, quality, 1.0, True)).stop is not None

    assert stops(0.277)
    assert not stops(0.276)


@quick
@given(configs, states)
def test_every_quantity_is_in_range(config, state):
    assessment = assess_budget(config, state)
    assert assessment.resource_progress >= 0.0
    for name in ("readiness", "progress", "pressure", "urgency", "quality", "gate", "psi"):
        assert 0.0 <= getattr(assessment, name) <= 1.0
    own, pressed = assessment.quality * assessment.readiness, assessment.urgency * assessment.gate
    assert assessment.psi == pytest.approx(own + pressed - own * pressed, abs=1e-12)


@quick
@given(configs, states, st.sampled_from(["convergence", "plateau", "seconds", "iterations"]), shares)
def test_psi_never_falls_when_a_signal_or_a_resource_rises(config, state, name, step):
    before = getattr(state, name)
    ceiling = {"convergence": 1.0, "plateau": 1.0, "seconds": 6000.0, "iterations": 150}[name]
    after = before + step * (ceiling - before)
    raised = {"iterations": int(after)}.get(name, after)
    values = {field: getattr(state, field) for field in BudgetState.__slots__}
    higher = BudgetState(**{**values, name: max(raised, before)})
    assert assess_budget(config, higher).psi >= assess_budget(config, state).psi - 1e-12


@quick
@given(configs, states, st.sampled_from(["convergence", "plateau"]))
def test_without_convergence_or_plateau_nothing_but_a_cap_stops(config, state, name):
    values = {field: getattr(state, field) for field in BudgetState.__slots__}
    assessment = assess_budget(config, BudgetState(**{**values, name: 0.0}))
    assert assessment.psi <= 0.012
    assert assessment.stop is None


@quick
@given(st.integers(1, 30), st.integers(0, 29), st.floats(0, 1e5), shares, shares, st.booleans())
def test_it_never_stops_before_the_minimum(minimum, it, seconds, convergence, plateau, all_tried):
    config = BudgetConfig(min_iterations=minimum)
    state = BudgetState(min(it, minimum - 1), seconds, convergence, plateau, all_tried)
    assert assess_budget(config, state).stop is None


def test_settled_evidence_and_spent_time_wait_for_the_minimum():
    assessments = [
        assess_budget(BudgetConfig(), BudgetState(it, 2400.0, 0.7, 0.7, all_tried=True)) for it in (2, 3)
    ]
    assert all(assessment.psi > 0.82 for assessment in assessments)
    assert [assessment.stop for assessment in assessments] == [None, "budget"]


@quick
@given(configs, states)
def test_a_task_never_tried_holds_convergence_back(config, state):
    values = {field: getattr(state, field) for field in BudgetState.__slots__}
    assessment = assess_budget(config, BudgetState(**{**values, "all_tried": False}))
    assert assessment.readiness == 0.0
    assert assessment.stop != "converged"


def test_nan_signals_never_stop_a_session():
    assert assess_budget(BudgetConfig(), BudgetState(40, 1e5, math.nan, math.nan, True)).stop is None


@quick
@given(states, st.floats(0, 1e6))
def test_time_feeds_nothing_when_runs_must_be_reproducible(state, seconds):
    config = BudgetConfig(time_counts=False)
    values = {field: getattr(state, field) for field in BudgetState.__slots__}
    assert assess_budget(config, BudgetState(**{**values, "seconds": seconds})) == assess_budget(
        config, state
    )


@pytest.mark.parametrize(
    ("iterations", "seconds", "cap"),
    [
        (59, 3599.9, None),
        (60, 0.0, "iteration_cap"),
        (0, 3600.0, "wall_clock_cap"),
        (60, 3600.0, "wall_clock_cap"),
    ],
)
def test_hard_caps_are_twice_the_targets(iterations, seconds, cap):
    assert hard_cap(BudgetConfig(), iterations, seconds) == cap
    assert hard_cap(BudgetConfig(time_counts=False), iterations, seconds) == cap


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"min_iterations": 31}, "min_iterations is 31 but max_iterations only 30"),
        ({"max_iterations": 0, "min_iterations": 0}, "max_iterations is 0"),
        ({"min_iterations": -1}, "min_iterations is -1"),
        ({"time_budget": 0.0}, "time_budget is 0.0"),
        ({"time_budget": math.nan}, "time_budget is nan"),
        ({"stop_threshold": 1.0}, "stop_threshold is 1.0"),
        ({"hard_factor": 0.5}, "hard_factor is 0.5"),
        ({"thinking_min": 2, "thinking_max": 1}, "thinking_min is 2"),
    ],
)
def test_a_budget_that_cannot_be_kept_is_refused_with_its_value(settings, message):
    with pytest.raises(ConfigError, match=message):
        BudgetConfig(**settings)


@quick
@given(shares, shares, shares, st.integers(0, 20))
def test_thinking_stays_in_its_range_and_never_grows_with_pressure_or_a_repair(complexity, one, two, repair):
    config = BudgetConfig()
    low, high = sorted((one, two))

    def tokens(complexity: float, pressure: float, repair: int = 0) -> int:
        return thinking_tokens(config, complexity, pressure, repair_round=repair)

    assert 6144 <= tokens(complexity, high) <= tokens(complexity, low) <= 12288
    assert tokens(low, complexity) <= tokens(high, complexity)
    assert 1 <= tokens(complexity, low, repair + 1) <= tokens(complexity, low, repair)
    assert tokens(complexity, low, repair) == max(1, tokens(complexity, low) >> repair)


def test_thinking_shrinks_with_simplicity_with_pressure_and_with_each_repair():
    config = BudgetConfig()
    assert thinking_tokens(config, 1.0, 0.0) == 12288
    assert thinking_tokens(config, 0.0, 0.0) == 6144
    assert thinking_tokens(config, 1.0, 1.0) == 6144
    assert thinking_tokens(config, 0.5, 0.5) == 7680
    assert thinking_tokens(config, 0.5, 0.5, repair_round=1) == 3840
    assert thinking_tokens(config, 0.5, 0.5, repair_round=2) == 1920
    assert thinking_tokens(config, 0.5, 0.5, repair_round=40) == 1
