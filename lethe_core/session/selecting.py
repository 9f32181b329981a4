"""Steps 1 and 2: what could be worked on, and what will be (algorithms.md 3, 4.2)."""

import numpy as np

from lethe_core.control.basis import EvidenceBasis, deficits, goal_gap
from lethe_core.control.budget import thinking_tokens
from lethe_core.control.selection import rank_tasks
from lethe_core.control.vectors import control_vectors
from lethe_core.graph.arrays import FloatArray
from lethe_core.graph.nodes import NodeId, TaskStatus
from lethe_core.graph.patches import TaskPatch
from lethe_core.graph.session_state import PhaseRecord, SessionPatch, TaskNote
from lethe_core.graph.snapshot import stack
from lethe_core.session.chances import owed_a_reading, times_worked_on
from lethe_core.session.handle import Scratch, SessionHandle
from lethe_core.session.liveness import plan_revival
from lethe_core.session.stopping import assess, last_signals


def ready_tasks(session: SessionHandle) -> list[NodeId]:
    """Step 1: PENDING tasks with all dependencies DONE, after waiting ones have been called back.

    With an iteration open, the task that was selected for it.
    """
    if session.state.phase is not None:
        return [session.state.phase.task]
    revival = plan_revival(session.snapshot, frozenset(session.state.block_notices))
    if revival:
        state = session.state
        notes = tuple(TaskNote(task, text, state.iterations + 1) for task, text in revival.notes)
        with session.write() as tx:
            for task in revival.reopened:
                tx.update_node(task, TaskPatch(status=TaskStatus.PENDING))
            tx.update_session(
                SessionPatch(
                    notes=(*state.notes, *notes), block_notices=(*state.block_notices, *revival.noticed)
                )
            )
    return [task.id for task in session.snapshot.ready_set()]


def select(session: SessionHandle, ready: list[NodeId]) -> NodeId:
    """Step 2: rank the ready tasks and begin an iteration with the best, which becomes ACTIVE.

    Commits the phase ``select``: task, pressure, thinking budget.
    """
    session.scratch = Scratch()
    if session.state.phase is not None:
        session.set_pressure(session.state.phase.pressure)
        return session.state.phase.task
    deps, snapshot, state = session.deps, session.snapshot, session.state
    assessment = assess(state, snapshot, deps.budget, seconds=session.seconds)
    basis = current_basis(session)
    profile = deps.embedder.profile
    goal = control_vectors(session.query_vector(state.goal), profile)
    owed = owed_a_reading(snapshot, state.searches)
    # What was found is worked on before anything else is begun, or the end may come between the two.
    tasks = [snapshot.tasks[task] for task in [task for task in ready if task in owed] or ready]
    vectors = control_vectors(stack(tasks, profile.dimension), profile)
    depths = snapshot.depths()
    ranking = rank_tasks(
        vectors,
        goal=goal,
        gap=goal_gap(basis, control_vectors(snapshot.root.embedding, profile)),
        pressure=assessment.pressure,
        deficit=deficits(basis, vectors),
        depths=np.array([depths[task.id] for task in tasks]),
        n_productive=times_worked_on(tasks, state.searches),
        sequences=np.array([task.sequence for task in tasks]),
    )
    chosen = tasks[int(ranking.order[0])]
    iteration = state.iterations + 1
    record = PhaseRecord(
        iteration=iteration,
        task=chosen.id,
        pressure=assessment.pressure,
        thinking_tokens=thinking_tokens(
            deps.budget, last_signals(state).complexity, assessment.pressure, repair_round=0
        ),
        evidence_mark=max((node.sequence for node in snapshot.evidence.values()), default=0),
        task_mark=max(node.sequence for node in snapshot.tasks.values()),
    )
    with session.write() as tx:
        tx.update_node(chosen.id, TaskPatch(status=TaskStatus.ACTIVE, last_selected=iteration))
        tx.update_session(SessionPatch(phase=record))
    session.set_pressure(assessment.pressure)
    return chosen.id


def current_basis(session: SessionHandle) -> EvidenceBasis:
    """The basis of the live evidence."""
    return basis_of(session, current_weights(session))


def current_weights(session: SessionHandle) -> FloatArray:
    """Strengths of all evidence, 0 for what is superseded: (n,)."""
    table = session.snapshot.table
    return np.where(table.live, table.strengths, 0.0)


def basis_of(session: SessionHandle, weights: FloatArray) -> EvidenceBasis:
    """The basis of the first rows of the evidence, weighted: (m,); computed once for the same weights."""
    vectors = session.snapshot.table.vectors[: weights.size]
    return session.caches.subspace.basis(
        vectors.reshape(-1, session.deps.embedder.profile.dimension), weights
    )
