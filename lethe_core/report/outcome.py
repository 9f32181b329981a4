"""What the end of a session is called: status, Prefect state, exit code (architecture.md, "Command line").

A pure table. A stop reason that means "done" is only called complete when the report has at least one
finding; what a cap or an outage ended is called what it is, whatever was found.
"""

from dataclasses import dataclass
from typing import Final, Literal

from lethe_core.errors import ConfigError
from lethe_core.graph.session_state import SessionStatus

StateType = Literal["COMPLETED", "FAILED", "CANCELLED"]

FINISHED: Final = ("goal_complete", "converged", "budget", "no_ready_tasks", "blocked")
CAPS: Final = ("wall_clock_cap", "iteration_cap", "token_cap", "cost_cap")
MODEL_UNAVAILABLE: Final = "model_unavailable"
UNAVAILABLE: Final = (MODEL_UNAVAILABLE, "search_unavailable")
CANCELLED: Final = "cancelled"
ERROR: Final = "error"
STOP_REASONS: Final = (*FINISHED, *CAPS, *UNAVAILABLE, CANCELLED, ERROR)

EXIT_CANCELLED: Final = 130  # 128 + SIGINT, as shells have it


@dataclass(frozen=True, slots=True)
class SessionOutcome:
    """How a session ended, in the words of each of those who ask."""

    status: SessionStatus
    state_type: StateType  # Prefect's state type
    state_name: str  # and the name that its page shows
    exit_code: int


def outcome_of(stop_reason: str, n_findings: int) -> SessionOutcome:
    """The row of the table for a stop reason and the number of findings in the report.

    Raises ConfigError for a stop reason that the table does not have.
    """
    if stop_reason in FINISHED:
        if n_findings > 0:
            return SessionOutcome(SessionStatus.COMPLETE, "COMPLETED", stop_reason, 0)
        return SessionOutcome(SessionStatus.NOTHING_FOUND, "FAILED", "nothing_found", 3)
    if stop_reason in CAPS:
        return SessionOutcome(SessionStatus.PARTIAL, "COMPLETED", stop_reason, 5)
    if stop_reason in UNAVAILABLE:
        status = SessionStatus.PARTIAL if n_findings > 0 else SessionStatus.FAILED
        return SessionOutcome(status, "FAILED", stop_reason, 4)
    if stop_reason == CANCELLED:
        return SessionOutcome(SessionStatus.CANCELLED, "CANCELLED", "Cancelled", EXIT_CANCELLED)
    if stop_reason == ERROR:
        return SessionOutcome(SessionStatus.FAILED, "FAILED", "Failed", 1)
    raise ConfigError(
        f"unknown stop reason {stop_reason!r} in the session's record; known are {', '.join(STOP_REASONS)}"
    )
