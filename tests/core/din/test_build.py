"""What a task is told follows from the graph and the session's state."""

from dataclasses import replace

import numpy as np
import pytest

from lethe_core.din.build import answer_context, build_din, coverage_word, render_block, token_text
from lethe_core.din.document import Warn
from lethe_core.din.read import parse_din, serialize_din
from lethe_core.graph.nodes import (
    Edge,
    EdgeType,
    EvidenceKind,
    EvidenceNode,
    NodeId,
    SessionId,
    ShortId,
    TaskNode,
    TaskStatus,
)
from lethe_core.graph.session_state import CallOutcome, SearchRecord, SessionState, TaskNote
from lethe_core.graph.snapshot import GraphSnapshot

ZERO = np.zeros(4, dtype=np.float32)


def task(
    number: int, description: str, status: TaskStatus = TaskStatus.PENDING, **fields: object
) -> TaskNode:
    node = TaskNode(
        description=description,
        embed_text=description,
        embedding=ZERO,
        status=status,
        id=NodeId(f"task{number}"),
        short_id=ShortId(f"t-{number:04x}"),
        sequence=number,
    )
    return replace(node, **fields)  # type: ignore[arg-type]


def evidence(number: int, content: str = "It opened in 1893.", **fields: object) -> EvidenceNode:
    node = EvidenceNode(
        content=content,
        embed_text=content,
        embedding=ZERO,
        strength=0.5,
        base_strength=0.5,
        title="Report",
        address="papers/report.md",
        date="2024",
        id=NodeId(f"evidence{number}"),
        short_id=ShortId(f"e-{number:04x}"),
        sequence=number,
    )
    return replace(node, **fields)  # type: ignore[arg-type]


def sub(child: TaskNode, parent: TaskNode) -> Edge:
    return Edge(EdgeType.SUBTASK_OF, child.id, parent.id)


def waits(task_: TaskNode, other: TaskNode) -> Edge:
    return Edge(EdgeType.DEPENDS_ON, task_.id, other.id)


ROOT = task(1, "Who built the pier, and when?", TaskStatus.ACTIVE)
BUILDER = task(
    2, "Who built it", TaskStatus.ACTIVE, prepared_prompt="Read the minutes.", antifocus="the tram"
)
YEAR = task(3, "When was it built")
COST = task(4, "What did it cost", TaskStatus.FAILED, failure_reason="No ledger was found.")
NAME = task(5, "What is it called", TaskStatus.DONE, result_summary="Saltwick pier [e-0001]. " * 20)
PART = task(6, "Who drew the plans", TaskStatus.FAILED, failure_reason="Nothing.")
OLD = evidence(1, series="s", newest="papers/report-v2.md", address="papers/report-v1.md")
NEW = evidence(2, series="s", newest="papers/report-v2.md", address="papers/report-v2.md", place="History")
MORE = evidence(3, series="s", newest="papers/report-v2.md", address="papers/report-v2.md")
MADE = evidence(4, kind=EvidenceKind.SYNTHESIS, address="", source_description="synthesis of 2", title="")
SNAPSHOT = GraphSnapshot.build(
    [ROOT, BUILDER, YEAR, COST, NAME, PART, OLD, NEW, MORE, MADE],
    [*(sub(node, ROOT) for node in (BUILDER, YEAR, COST, NAME)), sub(PART, BUILDER), waits(BUILDER, NAME)],
)
STATE = SessionState(
    session_id=SessionId("s-x"),
    uuid="u",
    root=ROOT.id,
    goal=ROOT.description,
    profile="p",
    config={},
    signals=({"n_zero_yield": 2},),
    searches=(
        SearchRecord(BUILDER.id, "pier builder", 1, CallOutcome.NEW, 3),
        SearchRecord(YEAR.id, "pier year", 1, CallOutcome.NEW, 3),
        SearchRecord(BUILDER.id, "pier architect", 2, CallOutcome.FAILED, 0),
        SearchRecord(BUILDER.id, "pier architect", 3, CallOutcome.NOTHING, 0),
    ),
    notes=(
        TaskNote(BUILDER.id, "it is like t-0004, which failed", 1),
        TaskNote(BUILDER.id, "it is like t-0004, which failed", 2),
        TaskNote(ROOT.id, "else", 1),
    ),
)


def test_a_subtask_is_told_of_its_place_among_the_others() -> None:
    packed = [NEW.id, OLD.id, MADE.id]
    din = build_din(SNAPSHOT, BUILDER.id, packed, STATE, {NAME.id: 0.7, PART.id: 0.1}, ("web_search",))
    assert (din.goal, din.parent_goal, din.hint) == ("Who built it", ROOT.description, "Read the minutes.")
    assert din.warns == (
        Warn("searched", "pier builder", "new"),
        Warn("searched", "pier architect", "nothing"),
        Warn("zero_yield", "", ""),
        Warn("avoid", "the tram", ""),
        Warn("sibling", "When was it built", ""),
        Warn("dead_end", "What did it cost", "No ledger was found."),
        Warn("note", "", "it is like t-0004, which failed"),
    )
    (part,) = din.subtasks
    assert (part.short_id, part.status, part.coverage, part.result) == (
        "t-0006",
        "FAILED",
        "thin",
        "Nothing.",
    )
    (name,) = din.dependencies
    assert name.coverage == "good"
    assert len(name.result) <= 200
    assert name.result.endswith("…")
    assert [block.short_id for block in din.evidence] == ["e-0002", "e-0001", "e-0004"]
    assert [block.older_than for block in din.evidence] == [None, "e-0002", None]
    assert [block.synthesis for block in din.evidence] == [False, False, True]
    assert din.evidence[2].source == "synthesis of 2"
    assert (din.parent, din.related) == (None, ())
    assert parse_din(serialize_din(din)) == din


def test_the_root_has_no_parent_goal_and_no_siblings() -> None:
    din = build_din(SNAPSHOT, ROOT.id, [], STATE, {}, ())
    assert din.is_root
    assert [line.short_id for line in din.subtasks] == ["t-0002", "t-0003", "t-0004", "t-0005"]
    assert {line.coverage for line in din.subtasks} == {"none"}
    assert [warn.kind for warn in din.warns] == ["note"]


def test_zero_yield_is_said_only_to_a_task_that_has_searched() -> None:
    din = build_din(SNAPSHOT, ROOT.id, [], STATE, {}, ())
    assert "zero_yield" not in [warn.kind for warn in din.warns]


def test_a_deeper_task_sees_the_one_that_it_is_a_part_of() -> None:
    din = build_din(SNAPSHOT, PART.id, [NAME.id, BUILDER.id, ROOT.id], STATE, {}, ())
    assert din.parent is not None
    assert (din.parent.short_id, din.parent_goal) == ("t-0002", ROOT.description)
    assert [line.short_id for line in din.related] == ["t-0005"]
    assert parse_din(serialize_din(din)) == din


def test_an_older_edition_says_so_without_its_newest_in_the_context() -> None:
    (block,) = build_din(SNAPSHOT, ROOT.id, [OLD.id], STATE, {}, ()).evidence
    assert (block.older, block.older_than) == (True, None)
    (block,) = build_din(
        GraphSnapshot.build([ROOT, replace(OLD, period="2023")], []), ROOT.id, [OLD.id], STATE, {}, ()
    ).evidence
    assert (block.older, block.period) == (False, "2023")


@pytest.mark.parametrize(
    ("coverage", "word"),
    [(0.0, "none"), (float("nan"), "none"), (0.01, "thin"), (0.2499, "thin"), (0.25, "partial"),
     (0.5999, "partial"), (0.6, "good"), (1.0, "good")],
)  # fmt: skip
def test_coverage_is_said_in_words(coverage: float, word: str) -> None:
    assert coverage_word(coverage) == word


def test_no_numbers_of_the_loop_reach_the_model() -> None:
    state = replace(STATE, signals=({"n_zero_yield": 77, "coverage": 0.777},), tokens=7777, iterations=77)
    text = serialize_din(
        build_din(SNAPSHOT, BUILDER.id, [replace(NEW, strength=0.777).id], state, {PART.id: 0.777}, ())
    )
    assert "77" not in text


def test_blocks_are_counted_as_they_are_written() -> None:
    packed = [NEW, OLD, MADE]
    frame = serialize_din(build_din(SNAPSHOT, BUILDER.id, [], STATE, {}, ()))
    whole = serialize_din(build_din(SNAPSHOT, BUILDER.id, [node.id for node in packed], STATE, {}, ()))
    blocks = "".join(token_text(render_block(SNAPSHOT, BUILDER.id, node)) for node in packed)
    assert blocks in token_text(whole)
    # What a frame lacks beside the blocks: the operation that evidence makes possible.
    assert len(token_text(whole)) == len(token_text(frame)) + len(blocks) + len("synthesize, ")


def test_a_task_that_is_told_of_anyway_adds_nothing() -> None:
    assert render_block(SNAPSHOT, BUILDER.id, NAME) == ""
    assert render_block(SNAPSHOT, BUILDER.id, ROOT) == ""
    assert render_block(SNAPSHOT, PART.id, NAME, {NAME.id: 0.3}).startswith(
        ">REL t-0005 · DONE · coverage partial · "
    )


def test_an_answer_may_refer_to_what_was_shown() -> None:
    context = answer_context(SNAPSHOT, BUILDER.id, [NEW.id, OLD.id], ("web_search",))
    assert context.task == "t-0002"
    assert not context.is_root
    assert context.live_subtasks == ()
    assert context.evidence == ("e-0002", "e-0001")
    assert context.tasks == ("t-0005",)  # not the failed part
    assert context.offered == ("create", "synthesize", "complete", "fail", "continue", "web_search")
    assert answer_context(SNAPSHOT, ROOT.id, [], ()).live_subtasks == ("t-0002", "t-0003")


def test_no_new_task_may_wait_for_one_that_waits_for_its_parent() -> None:
    open_part = replace(PART, status=TaskStatus.PENDING)
    nodes = [ROOT, BUILDER, YEAR, COST, NAME, open_part]
    edges = [*(sub(node, ROOT) for node in (BUILDER, YEAR, COST, NAME)), sub(open_part, BUILDER)]
    waiting = GraphSnapshot.build(nodes, [*edges, waits(YEAR, BUILDER)])
    assert answer_context(waiting, BUILDER.id, [YEAR.id, ROOT.id], ()).tasks == ("t-0006",)
    free = GraphSnapshot.build(nodes, edges)
    assert answer_context(free, BUILDER.id, [YEAR.id, ROOT.id], ()).tasks == ("t-0006", "t-0003")
    part_waits = GraphSnapshot.build(nodes, [*edges, waits(open_part, BUILDER)])
    assert answer_context(part_waits, BUILDER.id, [], ()).tasks == ()
