"""Step 3: SIMILAR_TO edges across tasks, and the strengths that follow (algorithms.md 6, 7).

Four phases: read the graph, classify the pairs where NLI is on, commit edges, and refine strengths.
Only here are SIMILAR_TO edges written.
"""

from dataclasses import replace

import numpy as np

from lethe_core.graph.nodes import Edge, NodeId
from lethe_core.graph.patches import EvidencePatch
from lethe_core.graph.session_state import SessionPatch, SimilarMark
from lethe_core.graph.snapshot import GraphSnapshot
from lethe_core.graph.store import Transaction
from lethe_core.session.handle import SessionHandle
from lethe_core.session.record import Step, next_step
from lethe_core.similar.nli import NliModel, NliRelations, classify_edges
from lethe_core.similar.plan import Compared, SimilarPlan, prepare_similar_sync
from lethe_core.similar.refine import RelatedEvidence, refined_strengths

_EPSILON = 1e-9  # a strength that moves by less has not moved


def sync_similar(session: SessionHandle, *, final: bool = False) -> int:
    """Bring SIMILAR_TO and strengths up to the graph; returns how many edges changed.

    Mid-iteration it commits the phase ``sync``; ``final`` runs it once more before assembly.
    """
    if not final and next_step(session.state.phase) is not Step.SYNC:
        return 0
    threshold = session.deps.embedder.profile.similar_threshold
    plan = prepare_similar_sync(session.snapshot, threshold, compared=_compared(session, threshold))
    plan = enrich_plan_with_nli(plan, session.snapshot, session.deps.nli)
    with session.write() as tx:
        commit_similar_sync(tx, plan)
        refined = refine_strengths_nli(tx, session.snapshot, plan)
        patch = SessionPatch(similar=SimilarMark(plan.compared.sequence, threshold))
        if not final:
            patch = replace(patch, phase=replace(session.record, synced=True, reweighted=refined))
        tx.update_session(patch)
    session.caches.compared = plan.compared
    return len(plan.upserts) + len(plan.deletions)


def _compared(session: SessionHandle, threshold: float) -> Compared:
    """What need not be compared again; a threshold that moved since makes everything new."""
    mark = session.state.similar
    if mark is None or mark.threshold != threshold:
        return Compared()
    return session.caches.compared or Compared(mark.sequence)


def enrich_plan_with_nli(plan: SimilarPlan, snapshot: GraphSnapshot, nli: NliModel | None) -> SimilarPlan:
    """Give new edges between evidence their nine scores; no lock is held. While NLI is off, none."""
    joined = [edge for edge in plan.upserts if edge.source in snapshot.evidence]
    if nli is None or not joined:
        return plan
    relations = classify_edges(
        nli,
        [snapshot.evidence[edge.source].content for edge in joined],
        [snapshot.evidence[edge.target].content for edge in joined],
    )
    assert relations is not None
    scored = {edge.key: _scored(edge, relations, at) for at, edge in enumerate(joined)}
    return replace(plan, upserts=tuple(scored.get(edge.key, edge) for edge in plan.upserts))


def commit_similar_sync(tx: Transaction, plan: SimilarPlan) -> None:
    """Upsert and prune, in the caller's transaction."""
    tx.upsert_similar(plan.upserts)
    tx.delete_similar(plan.deletions)


def refine_strengths_nli(
    tx: Transaction, snapshot: GraphSnapshot, plan: SimilarPlan
) -> tuple[tuple[NodeId, float], ...]:
    """Recompute strengths from their stored bases; returns the nodes that changed, with what they had."""
    table = snapshot.table
    if not len(table):
        return ()
    strengths = refined_strengths(
        np.array([node.base_strength for node in table.nodes]),
        [frozenset(node.domain.split("\n")) for node in table.nodes],
        np.array([snapshot.is_older(node) for node in table.nodes]),
        _related(snapshot, plan),
    )
    changed: list[tuple[NodeId, float]] = []
    for row in np.flatnonzero(np.abs(strengths - table.strengths) > _EPSILON).tolist():
        node = table.nodes[row]
        tx.update_node(node.id, EvidencePatch(strength=float(strengths[row])))
        changed.append((node.id, node.strength))
    return tuple(changed)


def _scored(edge: Edge, relations: NliRelations, at: int) -> Edge:
    assert edge.similarity is not None
    return replace(edge, similarity=replace(edge.similarity, **relations.at(at)))


def _related(snapshot: GraphSnapshot, plan: SimilarPlan) -> RelatedEvidence | None:
    """The SIMILAR_TO edges that carry scores, as they will be after the plan; None while there are none."""
    edges = dict(snapshot.scored)
    for edge in plan.deletions:
        edges.pop(edge.key, None)
    edges |= {edge.key: edge for edge in plan.upserts}
    scored = [
        (snapshot.table.row(edge.source), snapshot.table.row(edge.target), edge.similarity)
        for edge in edges.values()
        if edge.similarity is not None and edge.similarity.support is not None
    ]
    if not scored:
        return None

    def column(name: str) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        return np.array([getattr(similarity, name) for _, _, similarity in scored], dtype=np.float64)

    return RelatedEvidence(
        i=np.array([i for i, _, _ in scored], dtype=np.int64),
        j=np.array([j for _, j, _ in scored], dtype=np.int64),
        cosine=column("cosine"),
        entail_fwd=column("entail_fwd"),
        entail_bwd=column("entail_bwd"),
        contradiction=column("contradiction"),
        confidence=column("confidence"),
    )
