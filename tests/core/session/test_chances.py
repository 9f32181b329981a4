"""What was found is worked on before something else is begun, and what finds nothing waits for the others."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lethe_core.control.selection import task_scores
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
from lethe_core.graph.session_state import CallOutcome, SearchRecord, SessionState
from lethe_core.graph.snapshot import GraphSnapshot
from lethe_core.session.chances import (
    SEARCHES_FIRST,
    all_had_theirs,
    fruitless,
    holds_unused,
    owed_a_reading,
    times_worked_on,
)

NEW, NOTHING, FAILED = CallOutcome.NEW, CallOutcome.NOTHING, CallOutcome.FAILED
TASK = NodeId("a")
STATE = SessionState(
    session_id=SessionId("s-1"), uuid="u", root=NodeId("root"), goal="?", profile="p", config={}
)


def graph(
    *, selected: int = 1, kinds: tuple[EvidenceKind, ...] = (), live_child: bool = False
) -> GraphSnapshot:
    """A root that waits, its task ``a`` with evidence of these kinds, and perhaps a subtask of that."""
    vector = np.ones(2, np.float32)

    def task(name: str, number: int, status: TaskStatus, last: int) -> TaskNode:
        return TaskNode(
            description=name,
            embed_text=name,
            embedding=vector,
            status=status,
            id=NodeId(name),
            short_id=ShortId(f"t-{name}"),
            sequence=number,
            last_selected=last,
        )

    nodes: list[Any] = [task("root", 1, TaskStatus.ACTIVE, 1), task("a", 2, TaskStatus.PENDING, selected)]
    edges = [Edge(EdgeType.SUBTASK_OF, TASK, NodeId("root"))]
    if live_child:
        nodes.append(task("a1", 3, TaskStatus.PENDING, 0))
        edges.append(Edge(EdgeType.SUBTASK_OF, NodeId("a1"), TASK))
    for number, kind in enumerate(kinds, start=1):
        name = NodeId(f"e{number}")
        nodes.append(
            EvidenceNode(
                content="x",
                embed_text="x",
                embedding=vector,
                strength=0.6,
                base_strength=0.6,
                kind=kind,
                id=name,
                short_id=ShortId(f"e-{number:04x}"),
                sequence=number,
            )
        )
        edges.append(Edge(EdgeType.PRODUCED, TASK, name))
    return GraphSnapshot.build(nodes, edges)


def searched(*outcomes: tuple[int, CallOutcome]) -> tuple[SearchRecord, ...]:
    return tuple(
        SearchRecord(TASK, f"q{n}", iteration, found, 1) for n, (iteration, found) in enumerate(outcomes)
    )


CHUNK, SYNTHESIS = EvidenceKind.CHUNK, EvidenceKind.SYNTHESIS
made = st.lists(st.tuples(st.integers(1, 9), st.sampled_from(CallOutcome)), max_size=20)


def test_evidence_is_unused_until_a_synthesis_of_the_same_task_stands_beside_it() -> None:
    assert not holds_unused(graph(), TASK)
    assert holds_unused(graph(kinds=(CHUNK, CHUNK)), TASK)
    assert not holds_unused(graph(kinds=(CHUNK, SYNTHESIS)), TASK)


@pytest.mark.parametrize(
    ("selected", "kinds", "live_child", "searches", "owed"),
    [
        (5, (CHUNK,), False, [(5, NEW)], True),
        (5, (CHUNK,), False, [(4, NEW), (5, NOTHING)], True),
        (6, (CHUNK,), False, [(5, NEW)], False),  # it was selected since, and went on without
        (5, (CHUNK,), False, [(3, NEW), (4, NEW), (5, NEW)], False),  # it only ever searches
        (5, (CHUNK, SYNTHESIS), False, [(5, NEW)], False),
        (5, (CHUNK,), True, [(5, NEW)], False),  # its subtasks' turn
        (5, (), False, [(5, NOTHING)], False),
    ],
)
def test_a_find_is_to_be_read_once_by_its_task(
    selected: int, kinds: Any, live_child: bool, searches: Any, owed: bool
) -> None:
    snapshot = graph(selected=selected, kinds=kinds, live_child=live_child)
    assert owed_a_reading(snapshot, searched(*searches)) == ({TASK} if owed else set())


def test_a_find_off_topic_waits_for_its_tasks_turn() -> None:
    snapshot = graph(selected=5, kinds=(CHUNK,))
    noise = tuple(replace(record, yielded=False) for record in searched((4, NEW), (5, NEW)))
    assert owed_a_reading(snapshot, noise) == frozenset()
    assert owed_a_reading(snapshot, (*searched((4, NEW)), noise[1])) == {TASK}  # of the first it is owed one


def test_an_iteration_counts_as_fruitless_when_searches_answered_and_none_brought_anything() -> None:
    records = searched(
        (1, NOTHING), (1, NOTHING), (2, NOTHING), (2, NEW), (3, FAILED), (4, FAILED), (4, NOTHING)
    )
    assert fruitless(records) == {TASK: 2}
    assert fruitless(()) == {}
    # What was found off topic is nothing either.
    assert fruitless(tuple(replace(record, yielded=False) for record in records)) == {TASK: 3}


@given(made)
def test_never_more_fruitless_iterations_than_iterations(calls: list[tuple[int, CallOutcome]]) -> None:
    count = fruitless(searched(*calls)).get(TASK, 0)
    assert 0 <= count <= len({iteration for iteration, found in calls if found is NOTHING})


@given(made, st.integers(0, 5))
def test_a_task_was_worked_on_when_it_was_productive_found_nothing_or_only_ever_searches(
    found: list[tuple[int, CallOutcome]], n_productive: int
) -> None:
    task = replace(graph().tasks[TASK], n_productive=n_productive)
    records = searched(*found)
    (count,) = times_worked_on([task], records)
    iterations = len({iteration for iteration, _ in found})
    assert count >= n_productive + fruitless(records).get(TASK, 0)
    assert count <= max(n_productive + fruitless(records).get(TASK, 0), iterations)
    if iterations > SEARCHES_FIRST:
        assert count >= iterations
    assert times_worked_on([task], ()).tolist() == [n_productive]
    (after,) = times_worked_on([task], (*records, *searched((10, NEW))))
    assert after >= count


def test_a_task_that_always_finds_something_and_concludes_nothing_gives_way_to_one_never_tried() -> None:
    tasks = [graph().tasks[TASK], graph().tasks[NodeId("root")]]
    for n in range(1, 7):
        counts = times_worked_on(tasks, searched(*((iteration, NEW) for iteration in range(1, n + 1))))
        # Nothing covers the first; the other is half covered and less to the point.
        scores = task_scores(np.array([0.8, 0.6]), np.array([1.0, 0.5]), np.ones(2), counts)
        assert (scores[1] > scores[0]) == (n > SEARCHES_FIRST)


def test_a_task_has_had_its_chance_when_it_was_selected_whatever_it_made_of_it() -> None:
    assert not all_had_theirs(STATE, graph(selected=0))
    assert all_had_theirs(STATE, graph(selected=2))
    # Noise that no synthesis wants must not keep a session open.
    assert all_had_theirs(STATE, graph(selected=2, kinds=(CHUNK,)))


def test_what_a_task_found_first_is_read_before_it_has_had_its_chance() -> None:
    state = replace(STATE, searches=searched((1, NEW), (2, NEW)))
    assert not all_had_theirs(state, graph(selected=2, kinds=(CHUNK,)))
    assert all_had_theirs(state, graph(selected=3, kinds=(CHUNK,)))  # looked at, whatever it made of it
    assert all_had_theirs(
        replace(STATE, searches=searched((1, NEW), (2, NEW), (3, NEW))), graph(selected=3, kinds=(CHUNK,))
    )
