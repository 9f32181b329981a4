"""What comes next is told by the record alone."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from lethe_core.graph.nodes import NodeId
from lethe_core.graph.session_state import (
    AnswerRecord,
    CallOutcome,
    CallResult,
    Outcome,
    PhaseRecord,
    ToolCall,
)
from lethe_core.session.record import REPAIR_ROUNDS, Step, next_round, next_step

SELECTED = PhaseRecord(iteration=1, task=NodeId("t"), pressure=0.0, thinking_tokens=1)
BEGUN = replace(SELECTED, synced=True, begun=True)


def answered(*kinds: str) -> PhaseRecord:
    """kinds: "valid", "wrong" or "failed", a round each."""
    answers = tuple(
        AnswerRecord(
            round=number,
            text="" if kind == "failed" else "{}",
            model="m",
            tokens=1,
            failure="down" if kind == "failed" else "",
            errors=("no",) if kind == "wrong" else (),
        )
        for number, kind in enumerate(kinds)
    )
    return replace(BEGUN, answers=answers)


def test_phases_come_in_their_order() -> None:
    call = ToolCall("web_search", "rope")
    result = CallResult(0, CallOutcome.NEW, True, 1)
    applied = replace(answered("valid"), outcome=Outcome.APPLIED)
    assert [
        next_step(record)
        for record in (
            None,
            SELECTED,
            replace(SELECTED, synced=True),
            BEGUN,
            answered("valid"),
            replace(applied, calls=(call,)),
            replace(applied, calls=(call,), results=(result,)),
            applied,
        )
    ] == [Step.SELECT, Step.SYNC, Step.BEGIN, Step.ANSWER, Step.OPS, Step.CALLS, Step.END, Step.END]


def test_a_wrong_answer_is_repaired_twice_and_no_more() -> None:
    assert next_round(BEGUN) == 0
    assert next_round(answered("wrong")) == 1
    assert next_round(answered("wrong", "wrong")) == 2
    assert next_round(answered("wrong", "wrong", "wrong")) is None
    assert next_round(answered("wrong", "valid")) is None


def test_a_call_that_failed_is_not_repaired() -> None:
    assert next_round(answered("failed")) is None
    assert next_round(answered("wrong", "failed")) is None
    assert next_step(answered("failed")) is Step.OPS


@given(st.lists(st.sampled_from(["valid", "wrong", "failed"]), max_size=REPAIR_ROUNDS + 1))
def test_a_round_is_asked_for_at_most_once(kinds: list[str]) -> None:
    due = next_round(answered(*kinds))
    assert due is None or due == len(kinds) <= REPAIR_ROUNDS
