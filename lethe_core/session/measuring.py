"""Step 10: the iteration's signals, and the end of its record (algorithms.md 2)."""

import numpy as np

from lethe_core.control.signals import (
    CallOutcome,
    EvidenceRows,
    IterationArrays,
    IterationSignals,
    compute_signals,
)
from lethe_core.control.vectors import control_vectors
from lethe_core.evidence.strength import gated_alignments
from lethe_core.graph.nodes import EdgeType, EvidenceNode, NodeId, TaskStatus
from lethe_core.graph.session_state import CallOutcome as CallWord
from lethe_core.graph.session_state import CallResult, SessionPatch
from lethe_core.graph.snapshot import stack
from lethe_core.session.handle import SessionHandle
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
    added = [node for node in snapshot.evidence.values() if node.sequence > record.evidence_mark]
    had = dict(record.reweighted)
    signals = compute_signals(
        last_signals(state),
        IterationArrays(
            goal=control_vectors(root.embedding, profile),
            live_tasks=control_vectors(stack(live, profile.dimension), profile),
            survivors=np.array([task.sequence <= record.task_mark for task in live], dtype=np.bool_),
            before=_rows(session, _evidence_before(session), had),
            after=_rows(session, snapshot.live_evidence(), {}),
            new_vectors=control_vectors(stack(added, profile.dimension), profile),
            new_alignments=gated_alignments(
                stack(added, profile.dimension), session.query_vector(state.goal), profile.ga_floor
            ),
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


def _evidence_before(session: SessionHandle) -> list[EvidenceNode]:
    """The live evidence as it was when the iteration began."""
    snapshot, mark = session.snapshot, session.record.evidence_mark
    return [
        node
        for node in snapshot.evidence.values()
        if node.sequence <= mark
        and all(
            snapshot.evidence[synthesis].sequence > mark
            for synthesis in snapshot.sources(EdgeType.SUPERSEDES, node.id)
        )
    ]


def _rows(session: SessionHandle, nodes: list[EvidenceNode], had: dict[NodeId, float]) -> EvidenceRows:
    profile = session.deps.embedder.profile
    return EvidenceRows(
        vectors=control_vectors(stack(nodes, profile.dimension), profile),
        strengths=np.array([had.get(node.id, node.strength) for node in nodes], dtype=np.float64),
    )


def _call_word(result: CallResult) -> CallOutcome:
    if result.outcome is CallWord.FAILED:
        return CallOutcome.FAILED
    return CallOutcome.YIELDED if result.yielded else CallOutcome.NOTHING
