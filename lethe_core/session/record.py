"""What comes next in an iteration, from its record alone (architecture.md, "Phases")."""

from enum import StrEnum
from typing import Final

from lethe_core.graph.session_state import PhaseRecord

REPAIR_ROUNDS: Final = 2


class Step(StrEnum):
    """The phase that is to be committed next."""

    SELECT = "select"
    SYNC = "sync"
    BEGIN = "begin"
    ANSWER = "answer"
    OPS = "ops"
    CALLS = "calls"
    END = "end"


def next_step(record: PhaseRecord | None) -> Step:
    """The first phase that the record does not hold yet."""
    if record is None:
        return Step.SELECT
    if not record.synced:
        return Step.SYNC
    if not record.begun:
        return Step.BEGIN
    if record.outcome is None:
        return Step.ANSWER if next_round(record) is not None else Step.OPS
    if len(record.results) < len(record.calls):
        return Step.CALLS
    return Step.END


def next_round(record: PhaseRecord) -> int | None:
    """The round that the model is to be asked in: 0, a repair round, or None when no more is due."""
    if not record.answers:
        return 0
    last = record.answers[-1]
    # A call that failed is not repaired: the task goes back and the iteration counts.
    if last.failure or not last.errors or last.round >= REPAIR_ROUNDS:
        return None
    return last.round + 1
