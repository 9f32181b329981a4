"""What SIMILAR_TO is to become: the pairs that should be joined against those that are (algorithms.md 6).

The first of the four phases: it reads the graph and changes nothing. What was compared before is not
compared again: a plan says how far it has seen the graph, and the next one takes up from there, in this
process or in another: what has been compared lies in the store together with its edges.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from lethe_core.graph.arrays import IntArray, Matrix, Vector
from lethe_core.graph.nodes import Edge, EdgeType, EvidenceNode, NodeId, Similarity, TaskNode, TaskStatus
from lethe_core.graph.snapshot import EdgeKey, GraphSnapshot
from lethe_core.similar.pairs import similar_pairs

_SAME = 1e-6  # a cosine that differs by less is the same: older sessions' were rounded by the product's shape


@dataclass(frozen=True, slots=True)
class Compared:
    """How far the evidence of a snapshot has been compared and its edges committed."""

    sequence: int = 0  # of evidence: every pair up to here; 0: none
    changes: int | None = None  # of the snapshot's; None: it has been read from a store since


@dataclass(frozen=True, slots=True)
class SimilarPlan:
    """What is to be written: edges new or changed, edges below the threshold."""

    upserts: tuple[Edge, ...]
    deletions: tuple[Edge, ...]
    compared: Compared = Compared()  # holds once the plan has been committed


def prepare_similar_sync(
    snapshot: GraphSnapshot, threshold: float, *, compared: Compared = Compared()
) -> SimilarPlan:
    """Compare the pairs that should be joined with those that are.

    threshold: cosine in (0, 1], the profile's. compared: of the last plan for this graph that was committed,
    made with the same threshold. Evidence that came since is compared with all; evidence that another task
    has found since is alike to less than before; tasks are few and are compared anew each time. The plan
    leads to the same edges whatever was compared before, to the bit.
    """
    table = snapshot.table
    first = int(np.searchsorted(table.sequences, compared.sequence, side="right"))
    tasks = list(snapshot.tasks.values())
    wanted = _pairs(
        tasks,
        np.stack([task_vector(task) for task in tasks]),
        [_parents_of_task(snapshot, task) for task in tasks],
        threshold,
    )
    wanted |= _evidence_pairs(snapshot, threshold, first)
    ends = [*(task.id for task in tasks), *(node.id for node in table.nodes[first:])]
    present = {edge.key: edge for edge in _similar_at(snapshot, ends)}
    # No pair loses a parent: of what was compared before, some may be joined no longer, and nothing is new.
    again = _similar_at(snapshot, _found_again(snapshot, compared))
    present |= {edge.key: edge for edge in again if _one_parent(snapshot, edge)}
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
    last = int(table.sequences[-1]) if len(table) else 0
    return SimilarPlan(upserts, deletions, Compared(last, len(snapshot.changes)))


def _found_again(snapshot: GraphSnapshot, compared: Compared) -> Iterable[NodeId]:
    """Evidence that may have another parent since."""
    if compared.changes is None:
        # Nothing says when a parent came, but the first came with the node.
        return [node for node in snapshot.evidence if len(snapshot.producers(node)) > 1]
    new = snapshot.changes[compared.changes :]
    edges = (edge for delta in new for edge in delta.edges)
    return dict.fromkeys(edge.target for edge in edges if edge.type is EdgeType.PRODUCED)


def _evidence_pairs(snapshot: GraphSnapshot, threshold: float, first: int) -> dict[EdgeKey, float]:
    """The pairs with an end in the rows from first on."""
    table = snapshot.table
    live = np.flatnonzero(table.live)
    new = np.flatnonzero(live >= first) if first else None
    if new is not None and not new.size:
        return {}
    nodes = [table.nodes[row] for row in live.tolist()]
    vectors = table.vectors if live.size == len(table) else table.vectors[live]
    return _pairs(nodes, vectors, [snapshot.producers(node.id) for node in nodes], threshold, new)


def _pairs(
    nodes: Sequence[TaskNode] | Sequence[EvidenceNode],
    vectors: Matrix,
    parents: Sequence[Sequence[NodeId]],
    threshold: float,
    new: IntArray | None = None,
) -> dict[EdgeKey, float]:
    if len(nodes) < 2:
        return {}
    numbers: dict[NodeId, int] = {}
    numbered = [[numbers.setdefault(parent, len(numbers)) for parent in own] for own in parents]
    found = similar_pairs(vectors, numbered, threshold, new=new)
    # Nodes stand in order of sequence, so i < j is the direction that an edge is stored in.
    return {
        (EdgeType.SIMILAR_TO, nodes[i].id, nodes[j].id): cosine
        for i, j, cosine in zip(found.i.tolist(), found.j.tolist(), found.cosine.tolist(), strict=True)
    }


def _similar_at(snapshot: GraphSnapshot, ends: Iterable[NodeId]) -> Iterable[Edge]:
    for end in ends:
        for target in snapshot.targets(EdgeType.SIMILAR_TO, end):
            yield snapshot.edges[EdgeType.SIMILAR_TO, end, target]
        for source in snapshot.sources(EdgeType.SIMILAR_TO, end):
            yield snapshot.edges[EdgeType.SIMILAR_TO, source, end]


def task_vector(task: TaskNode) -> Vector:
    """What represents a task, (d,): its result once it is DONE."""
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


def _one_parent(snapshot: GraphSnapshot, edge: Edge) -> bool:
    return not frozenset(snapshot.producers(edge.source)).isdisjoint(snapshot.producers(edge.target))


def _same_cosine(edge: Edge, cosine: float) -> bool:
    return edge.similarity is not None and abs(edge.similarity.cosine - cosine) < _SAME
