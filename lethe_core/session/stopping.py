"""When the loop ends, and why: hard limits in their order, then the potential (algorithms.md 4, 4.1)."""

from typing import Final

from lethe_core.control.budget import BudgetAssessment, BudgetConfig, BudgetState, assess_budget, hard_cap
from lethe_core.control.signals import INITIAL_SIGNALS, IterationSignals
from lethe_core.graph.nodes import TaskStatus
from lethe_core.graph.session_state import SessionState
from lethe_core.graph.snapshot import GraphSnapshot
from lethe_core.session.chances import all_had_theirs
from lethe_core.session.liveness import plan_revival, selectable

MISSES: Final = 3  # iterations in a row without an answer, from the model or from any search


def last_signals(state: SessionState) -> IterationSignals:
    """The signals of the last iteration; before the first, `INITIAL_SIGNALS`."""
    return IterationSignals.from_record(state.signals[-1]) if state.signals else INITIAL_SIGNALS


def assess(
    state: SessionState, snapshot: GraphSnapshot, budget: BudgetConfig, *, seconds: float
) -> BudgetAssessment:
    """Pressure and termination potential with the signals of the last iteration; seconds: at work, >= 0."""
    signals = last_signals(state)
    return assess_budget(
        budget,
        BudgetState(
            iterations=state.iterations,
            seconds=seconds,
            convergence=signals.convergence,
            plateau=signals.plateau,
            all_tried=all_had_theirs(state, snapshot) and not _divides(snapshot),
        ),
    )


def _divides(snapshot: GraphSnapshot) -> bool:
    """Whether the question has asked to go on while its subtasks are worked on: more of them will come."""
    root = snapshot.root
    return root.status is TaskStatus.PENDING and any(
        not task.status.terminal for task in snapshot.children(root.id)
    )


def stop_reason(
    state: SessionState,
    snapshot: GraphSnapshot,
    budget: BudgetConfig,
    *,
    seconds: float,
    cancelled: bool,
) -> str:
    """Why the next iteration must not begin; empty when it may. Asked at the start of each iteration."""
    if snapshot.root.status is TaskStatus.DONE:
        return "goal_complete"
    if not selectable(snapshot):
        return "no_ready_tasks"
    if not snapshot.ready_set() and not plan_revival(snapshot, frozenset(state.block_notices)):
        return "blocked"
    capped = hard_cap(budget, state.iterations, seconds) or state.capped
    if capped:
        return capped
    # A session that was taken up again gets at least one more iteration, whatever had ended it.
    reopened = state.iterations <= state.reopened_at
    if state.n_unanswered >= MISSES and not reopened:
        return "model_unavailable"
    if state.n_failed_search >= MISSES and not reopened:
        return "search_unavailable"
    if cancelled:
        return "cancelled"
    if reopened:
        return ""
    return assess(state, snapshot, budget, seconds=seconds).stop or ""
