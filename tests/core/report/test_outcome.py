"""The table of stop reasons, row by row."""

import pytest

from lethe_core.errors import (
    ConfigError,
)
from lethe_core.report.outcome import STOP_REASONS, outcome_of

ROWS = [
    *[(reason, 1, "complete", "COMPLETED", reason, 0) for reason in STOP_REASONS[:5]],
    *[(reason, 0, "nothing_found", "FAILED", "nothing_found", 3) for reason in STOP_REASONS[:5]],
    *[
        (reason, n, "partial", "COMPLETED", reason, 5)
        for reason in ("wall_clock_cap", "iteration_cap", "token_cap", "cost_cap")
        for n in (0, 3)
    ],
    ("model_unavailable", 1, "partial", "FAILED", "model_unavailable", 4),
    ("model_unavailable", 0, "failed", "FAILED", "model_unavailable", 4),
    ("search_unavailable", 2, "partial", "FAILED", "search_unavailable", 4),
    ("search_unavailable", 0, "failed", "FAILED", "search_unavailable", 4),
    ("cancelled", 1, "cancelled", "CANCELLED", "Cancelled", 130),
    ("cancelled", 0, "cancelled", "CANCELLED", "Cancelled", 130),
    ("error", 1, "failed", "FAILED", "Failed", 1),
]


@pytest.mark.parametrize(("reason", "findings", "status", "state", "name", "code"), ROWS)
def test_each_stop_reason_has_its_row(reason, findings, status, state, name, code):
    outcome = outcome_of(reason, findings)
    assert (outcome.status, outcome.state_type, outcome.state_name, outcome.exit_code) == (
        status,
        state,
        name,
        code,
    )


def test_the_reasons_that_mean_done_are_these():
    assert STOP_REASONS[:5] == ("goal_complete", "converged", "budget", "no_ready_tasks", "blocked")


def test_an_unknown_reason_is_refused_by_name():
    with pytest.raises(ConfigError, match="'tired'"):
        outcome_of("tired", 1)
