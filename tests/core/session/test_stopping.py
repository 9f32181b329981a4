"""Each stop reason, and their order (algorithms.md 4.1)."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lethe_core.control.budget import BudgetConfig
from lethe_core.control.signals import INITIAL_SIGNALS
from lethe_core.graph.nodes import Edge, EdgeType, NodeId, SessionId, ShortId, TaskNode, TaskStatus
from lethe_core.graph.session_state import SessionState
from lethe_core.graph.snapshot import GraphSnapshot
from lethe_core.session.stopping import stop_reason

P, A, D, F = TaskStatus.PENDING, TaskStatus.ACTIVE, TaskStatus.DONE, TaskStatus.FAILED
BUDGET = BudgetConfig(max_iterations=30, min_iterations=3, time_budget=600.0)
STATE = SessionState(
    session_id=SessionId("s-1"), uuid="u", root=NodeId("root"), goal="?", profile="p", config={}
)


def graph(
    root: TaskStatus, child: TaskStatus | None = None, *, selected: int = 1, root_selected: int = 1
) -> GraphSnapshot:
    def task(name: str, status: TaskStatus, number: int, selected: int) -> TaskNode:
        return TaskNode(
            description=name,
            embed_text=name,
            embedding=np.zeros(2, np.float32),
            status=status,
            id=NodeId(name),
            short_id=ShortId(f"t-{name}"),
            sequence=number,
            last_selected=selected,
        )

    tasks = [task("root", root, 1, root_selected if child is not None else selected)]
    tasks += [] if child is None else [task("child", child, 2, selected)]
    edges = [] if child is None else [Edge(EdgeType.SUBTASK_OF, NodeId("child"), NodeId("root"))]
    return GraphSnapshot.build(tasks, edges)


def signals(**values: Any) -> tuple[dict[str, Any], ...]:
    return (replace(INITIAL_SIGNALS, **values).as_record(),)


def reason(snapshot: GraphSnapshot, *, seconds: float = 1.0, cancelled: bool = False, **state: Any) -> str:
    return stop_reason(replace(STATE, **state), snapshot, BUDGET, seconds=seconds, cancelled=cancelled)


def test_a_session_with_work_to_do_goes_on() -> None:
    assert reason(graph(P)) == ""


@pytest.mark.parametrize(
    ("expected", "snapshot", "state"),
    [
        ("goal_complete", graph(D), {}),
        ("no_ready_tasks", graph(F), {}),
        ("no_ready_tasks", graph(F, P), {}),
        ("iteration_cap", graph(P), {"iterations": 60}),
        ("token_cap", graph(P), {"capped": "token_cap"}),
        ("cost_cap", graph(P), {"capped": "cost_cap"}),
        ("model_unavailable", graph(P), {"n_unanswered": 3}),
        ("search_unavailable", graph(P), {"signals": signals(n_failed_search=3)}),
        ("converged", graph(P), {"iterations": 9, "signals": signals(convergence=1.0, plateau=1.0)}),
        ("budget", graph(P), {"iterations": 30, "signals": signals(convergence=0.6, plateau=0.5)}),
    ],
)
def test_each_reason(expected: str, snapshot: GraphSnapshot, state: dict[str, Any]) -> None:
    assert reason(snapshot, **state) == expected


ORDER = {
    "goal_complete": {"snapshot": graph(D)},
    "no_ready_tasks": {"snapshot": graph(F)},
    "wall_clock_cap": {"seconds": 1200.0},
    "iteration_cap": {"iterations": 60},
    "token_cap": {"capped": "token_cap"},
    "model_unavailable": {"n_unanswered": 3},
    "search_unavailable": {"n_failed_search": 3},
    "cancelled": {"cancelled": True},
    "converged": {"convergence": 1.0, "plateau": 1.0},
}


@settings(max_examples=100, deadline=None)
@given(st.sets(st.sampled_from(list(ORDER))))
def test_of_several_reasons_the_first_in_order_is_given(holding: set[str]) -> None:
    values: dict[str, Any] = {"snapshot": graph(P), "iterations": 9}
    for name in reversed(ORDER):
        if name in holding:
            values |= ORDER[name]
    measured = {
        name: values.pop(name) for name in ("n_failed_search", "convergence", "plateau") if name in values
    }
    expected = next((name for name in ORDER if name in holding), "")
    assert reason(values.pop("snapshot"), signals=signals(**measured), **values) == expected


def test_the_hard_cap_on_time_is_twice_the_target() -> None:
    assert reason(graph(P), seconds=1199.0) == ""
    assert reason(graph(P), seconds=1200.0) == "wall_clock_cap"


def test_a_cancellation_stops_and_a_finished_goal_comes_before_it() -> None:
    assert reason(graph(P), cancelled=True) == "cancelled"
    assert reason(graph(D), cancelled=True) == "goal_complete"


def test_only_blocked_tasks_whose_parents_were_told_end_the_loop() -> None:
    root, child, needed = (
        TaskNode(
            description=name,
            embed_text=name,
            embedding=np.zeros(2, np.float32),
            status=status,
            id=NodeId(name),
            short_id=ShortId(f"t-{name}"),
            sequence=number,
        )
        for number, (name, status) in enumerate((("root", A), ("child", P), ("needed", F)), start=1)
    )
    snapshot = GraphSnapshot.build(
        [root, child, needed],
        [
            Edge(EdgeType.SUBTASK_OF, child.id, root.id),
            Edge(EdgeType.SUBTASK_OF, needed.id, root.id),
            Edge(EdgeType.DEPENDS_ON, child.id, needed.id),
        ],
    )
    assert reason(snapshot) == ""
    assert reason(snapshot, block_notices=(child.id,)) == "blocked"


def test_nothing_converges_before_the_least_iterations_nor_while_a_ready_task_was_never_tried() -> None:
    still = signals(convergence=1.0, plateau=1.0)
    assert reason(graph(P), iterations=2, signals=still) == ""
    assert reason(graph(A, P, selected=0), iterations=9, signals=still) == ""


def test_nothing_converges_while_the_question_is_still_being_divided() -> None:
    still = signals(convergence=1.0, plateau=1.0)
    assert reason(graph(P, A), iterations=9, signals=still) == ""
    assert reason(graph(A, P), iterations=9, signals=still) == "converged"
    assert reason(graph(P, D, root_selected=2), iterations=9, signals=still) == "converged"


def test_nothing_converges_while_what_the_subtasks_found_is_still_to_be_concluded_from() -> None:
    still = signals(convergence=1.0, plateau=1.0)
    for root in (A, P):  # waiting to be called back, or called back already
        assert reason(graph(root, D), iterations=9, signals=still) == ""


def test_a_reopened_session_gets_one_more_iteration_whatever_had_ended_it() -> None:
    ended = {
        "iterations": 9,
        "n_unanswered": 3,
        "signals": signals(convergence=1.0, plateau=1.0, n_failed_search=3),
    }
    assert reason(graph(P), **ended, reopened_at=9) == ""
    assert reason(graph(P), **{**ended, "iterations": 10}, reopened_at=9) != ""
