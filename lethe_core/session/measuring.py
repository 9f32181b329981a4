"""Step 10: the iteration's signals, and the end of its record (algorithms.md 2)."""

import numpy as np

from lethe_core.control.signals import (
    CallOutcome,
    IterationArrays,
    IterationSignals,
    compute_signals,
)
from lethe_core.control.vectors import control_vectors
from lethe_core.evidence.strength import gated_alignments
from lethe_core.graph.arrays import FloatArray
from lethe_core.graph.nodes import EdgeType, TaskStatus
from lethe_core.graph.session_state import CallOutcome as CallWord
from lethe_core.graph.session_state import CallResult, SessionPatch
from lethe_core.graph.snapshot import stack
from lethe_core.session.handle import SessionHandle
from lethe_core.session.selecting import basis_of, current_weights
from lethe_core.session.stopping import last_signals


def measure(session: SessionHandle) -> IterationSignals:
    """Compute the signals from the graph and the record alone, and commit the phase ``end``."""
    snapshot, state, record, deps = session.snapshot, session.state, session.record, session.deps
    profile = deps.embedder.profile
    root = snapshot.root
    none_to_work_on = (root, snapshot.known_before)
    live = [
        task
        for task in snapshot.tasks.values()
        if task.status is not TaskStatus.FAILED and task not in none_to_work_on
    ]
    before, after = _weights_before(session), current_weights(session)
    added = snapshot.table.vectors[before.size :].reshape(-1, profile.dimension)
    signals = compute_signals(
        last_signals(state),
        IterationArrays(
            goal=control_vectors(root.embedding, profile),
            live_tasks=control_vectors(stack(live, profile.dimension), profile),
            survivors=np.array([task.sequence <= record.task_mark for task in live], dtype=np.bool_),
            before=basis_of(session, before),
            after=basis_of(session, after),
            changed=not np.array_equal(before, after),
            new_vectors=control_vectors(added, profile),
            new_alignments=gated_alignments(added, session.query_vector(state.goal), profile.ga_floor),
            calls=tuple(_call_word(result) for result in record.results),
        ),
    )
    with session.write() as tx:
        tx.update_session(
            SessionPatch(
                phase=None, iterations=record.iteration, signals=(*state.signals, signals.as_record())
            )
        )
    return signals


def _weights_before(session: SessionHandle) -> FloatArray:
    """Strengths of the evidence as it was when the iteration began, 0 for what was superseded then: (m,)."""
    snapshot, record = session.snapshot, session.record
    table, mark = snapshot.table, record.evidence_mark
    m = int(np.searchsorted(table.sequences, mark, side="right"))
    weights = current_weights(session)[:m]
    for node in table.nodes[m:]:
        for target in snapshot.targets(EdgeType.SUPERSEDES, node.id):
            row, others = table.row(target), snapshot.sources(EdgeType.SUPERSEDES, target)
            if row < m and all(snapshot.evidence[other].sequence > mark for other in others):
                weights[row] = table.strengths[row]
    for changed, strength in record.reweighted:
        row = table.row(changed)
        if row < m and weights[row] > 0.0:
            weights[row] = strength
    return weights


def _call_word(result: CallResult) -> CallOutcome:
    if result.outcome is CallWord.FAILED:
        return CallOutcome.FAILED
    return CallOutcome.YIELDED if result.yielded else CallOutcome.NOTHING
