"""Step 3: SIMILAR_TO edges across tasks, and the strengths that follow (algorithms.md 6, 7).

Four phases: read the graph, classify the pairs where NLI is on, commit edges, and refine strengths.
Only here are SIMILAR_TO edges written.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from lethe_core.graph.nodes import (
    Edge,
    EdgeType,
    EvidenceNode,
    NodeId,
    Similarity,
    TaskNode,
    TaskStatus,
)
from lethe_core.graph.patches import EvidencePatch
from lethe_core.graph.session_state import SessionPatch
from lethe_core.graph.snapshot import GraphSnapshot
from lethe_core.graph.store import Transaction
from lethe_core.session.handle import SessionHandle
from lethe_core.session.record import Step, next_step
from lethe_core.similar.nli import NliModel, NliRelations, classify_edges
from lethe_core.similar.pairs import similar_pairs
from lethe_core.similar.refine import RelatedEvidence, refined_strengths

_EPSILON = 1e-9  # a strength that moves by less has not moved


@dataclass(frozen=True, slots=True)
class SimilarPlan:
    """What is to be written: edges new or changed, edges below the threshold."""

    upserts: tuple[Edge, ...]
    deletions: tuple[Edge, ...]


def sync_similar(session: SessionHandle, *, final: bool = False) -> int:
    """Bring SIMILAR_TO and strengths up to the graph; returns how many edges changed.

    Mid-iteration it commits the phase ``sync``; ``final`` runs it once more before assembly.
    """
    if not final and next_step(session.state.phase) is not Step.SYNC:
        return 0
    plan = prepare_similar_sync(session.snapshot, session.deps.embedder.profile.similar_threshold)
    plan = enrich_plan_with_nli(plan, session.snapshot, session.deps.nli)
    with session.write() as tx:
        commit_similar_sync(tx, plan)
        refined = refine_strengths_nli(tx, session.snapshot, plan)
        if not final:
            record = replace(session.record, synced=True, reweighted=refined)
            tx.update_session(SessionPatch(phase=record))
    return len(plan.upserts) + len(plan.deletions)


def prepare_similar_sync(snapshot: GraphSnapshot, threshold: float) -> SimilarPlan:
    """Compare the pairs that should be joined with those that are."""
    wanted: dict[tuple[EdgeType, NodeId, NodeId], float] = {}
    tasks = list(snapshot.tasks.values())
    above = [_parents_of_task(snapshot, task) for task in tasks]
    wanted |= _pairs(tasks, [_task_vector(task) for task in tasks], above, threshold)
    evidence = snapshot.live_evidence()
    producers = [snapshot.producers(node.id) for node in evidence]
    wanted |= _pairs(evidence, [node.embedding for node in evidence], producers, threshold)
    present = {key: edge for key, edge in snapshot.edges.items() if key[0] is EdgeType.SIMILAR_TO}
    upserts = tuple(
        Edge(*key, similarity=Similarity(cosine=cosine))
        for key, cosine in wanted.items()
        if key not in present or not _same_cosine(present[key], cosine)
    )
    # An edge of superseded evidence is kept: it says what was alike, and the walk leaves it out. So is one
    # that was taken over: its ends were found by different tasks then, and lie beneath one now.
    deletions = tuple(
        edge
        for key, edge in present.items()
        if key not in wanted and not _superseded(snapshot, edge) and not _taken_over(snapshot, edge)
    )
    return SimilarPlan(upserts, deletions)


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
    evidence = list(snapshot.evidence.values())
    if not evidence:
        return ()
    strengths = refined_strengths(
        np.array([node.base_strength for node in evidence]),
        [frozenset(node.domain.split("\n")) for node in evidence],
        np.array([snapshot.is_older(node) for node in evidence]),
        _related(evidence, snapshot, plan),
    )
    changed: list[tuple[NodeId, float]] = []
    for node, strength in zip(evidence, strengths, strict=True):
        if abs(float(strength) - node.strength) > _EPSILON:
            tx.update_node(node.id, EvidencePatch(strength=float(strength)))
            changed.append((node.id, node.strength))
    return tuple(changed)


def _pairs(
    nodes: Sequence[TaskNode] | Sequence[EvidenceNode],
    vectors: Sequence[np.ndarray[tuple[int], np.dtype[np.float32]]],
    parents: Sequence[Sequence[NodeId]],
    threshold: float,
) -> dict[tuple[EdgeType, NodeId, NodeId], float]:
    if len(nodes) < 2:
        return {}
    numbers: dict[NodeId, int] = {}
    numbered = [[numbers.setdefault(parent, len(numbers)) for parent in own] for own in parents]
    found = similar_pairs(np.stack(vectors), numbered, threshold)
    # Nodes stand in order of sequence, so i < j is the direction that an edge is stored in.
    return {
        (EdgeType.SIMILAR_TO, nodes[int(i)].id, nodes[int(j)].id): float(cosine)
        for i, j, cosine in zip(found.i, found.j, found.cosine, strict=True)
    }


def _task_vector(task: TaskNode) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    """A DONE task is represented by its result."""
    done = task.status is TaskStatus.DONE and task.result_embedding.size
    return task.result_embedding if done else task.embedding


def _parents_of_task(snapshot: GraphSnapshot, task: TaskNode) -> list[NodeId]:
    above = snapshot.parent(task.id)
    return [] if above is None else [above]


def _superseded(snapshot: GraphSnapshot, edge: Edge) -> bool:
    ends = (snapshot.evidence.get(edge.source), snapshot.evidence.get(edge.target))
    return any(node is not None and node.superseded for node in ends)


def _taken_over(snapshot: GraphSnapshot, edge: Edge) -> bool:
    ends = (snapshot.evidence.get(edge.source), snapshot.evidence.get(edge.target))
    return all(node is not None and node.origin_id for node in ends)


def _same_cosine(edge: Edge, cosine: float) -> bool:
    return edge.similarity is not None and abs(edge.similarity.cosine - cosine) < 1e-6


def _scored(edge: Edge, relations: NliRelations, at: int) -> Edge:
    assert edge.similarity is not None
    return replace(edge, similarity=replace(edge.similarity, **relations.at(at)))


def _related(
    evidence: Sequence[EvidenceNode], snapshot: GraphSnapshot, plan: SimilarPlan
) -> RelatedEvidence | None:
    """The SIMILAR_TO edges that carry scores, as they will be after the plan; None while there are none."""
    at = {node.id: index for index, node in enumerate(evidence)}
    gone = {edge.key for edge in plan.deletions}
    edges = {key: edge for key, edge in snapshot.edges.items() if key not in gone}
    edges |= {edge.key: edge for edge in plan.upserts}
    scored = [
        (at[edge.source], at[edge.target], edge.similarity)
        for edge in edges.values()
        if edge.similarity is not None and edge.similarity.support is not None and edge.source in at
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
