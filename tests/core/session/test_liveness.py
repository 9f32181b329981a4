"""Nothing that could be worked on waits for ever, and nothing blocked is silent (algorithms.md 4.2)."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from lethe_core.graph.nodes import Edge, EdgeType, NodeId, ShortId, TaskNode, TaskStatus
from lethe_core.graph.snapshot import GraphSnapshot
from lethe_core.session.liveness import blocked_tasks, plan_revival, selectable

P, A, D, F = TaskStatus.PENDING, TaskStatus.ACTIVE, TaskStatus.DONE, TaskStatus.FAILED


def graph(
    statuses: dict[str, TaskStatus], parents: dict[str, str], needs: tuple[tuple[str, str], ...] = ()
) -> GraphSnapshot:
    tasks = [
        TaskNode(
            description=name,
            embed_text=name,
            embedding=np.zeros(2, np.float32),
            status=status,
            failure_reason="no source" if status is F else "",
            id=NodeId(name),
            short_id=ShortId(f"t-{name}"),
            sequence=number,
        )
        for number, (name, status) in enumerate(statuses.items(), start=1)
    ]
    edges = [Edge(EdgeType.SUBTASK_OF, NodeId(child), NodeId(parent)) for child, parent in parents.items()]
    edges += [Edge(EdgeType.DEPENDS_ON, NodeId(one), NodeId(other)) for one, other in needs]
    return GraphSnapshot.build(tasks, edges)


def revived(snapshot: GraphSnapshot, *told: str) -> tuple[str, ...]:
    return plan_revival(snapshot, frozenset(NodeId(name) for name in told)).reopened


def test_nothing_is_called_back_while_a_task_is_ready() -> None:
    assert revived(graph({"root": A, "a": P}, {"a": "root"})) == ()


def test_the_parent_of_finished_subtasks_comes_back_before_a_childless_task() -> None:
    statuses = {"root": A, "a": A, "b": A, "a1": D, "a2": F}
    parents = {"a": "root", "b": "root", "a1": "a", "a2": "a"}
    assert revived(graph(statuses, parents)) == ("a",)


def test_the_deepest_of_those_whose_subtasks_are_finished_comes_back_first() -> None:
    statuses = {"root": A, "a": A, "a1": A, "a11": D}
    assert revived(graph(statuses, {"a": "root", "a1": "a", "a11": "a1"})) == ("a1",)


def test_without_finished_subtasks_the_deepest_childless_task_comes_back() -> None:
    statuses = {"root": A, "a": A, "b": A, "a1": A}
    assert revived(graph(statuses, {"a": "root", "b": "root", "a1": "a"})) == ("a1",)


def test_live_descendants_of_a_terminal_task_are_no_work() -> None:
    snapshot = graph({"root": A, "a": D, "a1": P}, {"a": "root", "a1": "a"})
    assert [task.description for task in selectable(snapshot)] == ["root"]
    assert snapshot.ready_set() == []
    assert revived(graph({"root": F, "a": P}, {"a": "root"})) == ()


def test_a_task_is_blocked_through_every_dependency_on_a_failed_one() -> None:
    snapshot = graph(
        {"root": A, "a": F, "b": P, "c": P, "d": P},
        dict.fromkeys("abcd", "root"),
        (("b", "a"), ("c", "b")),
    )
    assert {task: culprit.description for task, culprit in blocked_tasks(snapshot).items()} == {
        "b": "a",
        "c": "a",
    }


def test_the_parent_of_a_blocked_task_is_told_once_and_reopened() -> None:
    snapshot = graph({"root": A, "a": F, "b": P}, {"a": "root", "b": "root"}, (("b", "a"),))
    revival = plan_revival(snapshot, frozenset())
    assert revival.reopened == ("root",)
    assert revival.noticed == ("b",)
    ((listener, text),) = revival.notes
    assert listener == "root"
    assert "t-b is blocked" in text
    assert "t-a" in text
    assert "no source" in text
    assert not plan_revival(snapshot, frozenset({NodeId("b")}))


def test_the_root_is_told_when_the_parent_is_not_at_work() -> None:
    snapshot = graph({"root": A, "p": P, "a": F, "b": P}, {"p": "root", "a": "p", "b": "p"}, (("b", "a"),))
    revival = plan_revival(snapshot, frozenset())
    assert [listener for listener, _ in revival.notes] == ["root"]
    assert revival.reopened == ("root",)


def test_a_task_that_needs_a_part_of_a_failed_one_is_blocked_by_it() -> None:
    statuses = {"root": A, "a": F, "a1": P, "b": P}
    snapshot = graph(statuses, {"a": "root", "a1": "a", "b": "root"}, (("b", "a1"),))
    assert {task: culprit.id for task, culprit in blocked_tasks(snapshot).items()} == {"b": "a"}
    assert revived(snapshot) == ("root",)


@st.composite
def worlds(draw: st.DrawFn) -> tuple[dict[str, TaskStatus], dict[str, str], tuple[tuple[str, str], ...]]:
    """Up to nine tasks in a tree as answers can make it, the root live.

    No task is DONE above live ones, and none needs what waits for a task that it is a part of.
    """
    names = ["root", *(f"t{n}" for n in range(draw(st.integers(0, 8))))]
    statuses = {"root": draw(st.sampled_from([P, A]))}
    parents: dict[str, str] = {}
    waits: dict[str, set[str]] = {name: set() for name in names}  # for its parts and for what it needs
    needs: list[tuple[str, str]] = []
    for at, name in enumerate(names[1:], start=1):
        parents[name] = parent = draw(st.sampled_from(names[:at]))
        below_done = statuses[parent] is D
        statuses[name] = draw(st.sampled_from([D, F] if below_done else [P, P, A, A, D, F]))
        waits[parent].add(name)
        other = draw(st.sampled_from(names[1:at])) if at > 1 and draw(st.booleans()) else ""
        if other and name not in reached(waits, other):
            waits[name].add(other)
            if any(up in reached(waits, name) for up in above(parents, name)):
                waits[name].remove(other)
            else:
                needs.append((name, other))
    return statuses, parents, tuple(needs)


def above(parents: dict[str, str], name: str) -> list[str]:
    found = []
    while name in parents:
        name = parents[name]
        found.append(name)
    return found


def reached(waits: dict[str, set[str]], start: str) -> set[str]:
    found: set[str] = set()
    pending = [start]
    while pending:
        new = waits[pending.pop()] - found
        found |= new
        pending += new
    return found


@settings(max_examples=100, deadline=None)
@given(worlds())
def test_something_becomes_ready_unless_only_blocked_tasks_are_left(world) -> None:
    statuses, parents, needs = world
    told: frozenset[NodeId] = frozenset()
    for _ in range(2 * len(statuses) + 1):
        snapshot = graph(statuses, parents, needs)
        plan = plan_revival(snapshot, told)
        assert all(statuses[task] is A for task in plan.reopened)
        assert not told.intersection(plan.noticed)  # each is told of once
        if not plan:
            break
        statuses = statuses | dict.fromkeys(map(str, plan.reopened), P)
        told |= frozenset(plan.noticed)
    assert not plan
    if not snapshot.ready_set():
        # Nobody can be called back: the root itself waits for subtasks that can never be.
        assert not [
            task for task in selectable(snapshot) if task.status is A and not snapshot.children(task.id)
        ]
        blocked = blocked_tasks(snapshot)
        assert blocked
        assert set(blocked) <= told
