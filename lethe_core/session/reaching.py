"""Which evidence a task reaches, and in which order it counts (algorithms.md 5.1, 5.1b, 5.2).

Pure functions of the graph: the steps of a session hand over what they hold, an evaluation what it made.
What of it fits into the context is packing's business.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lethe_core.context.scoring import (
    alternating_order,
    novelty_term,
    pagerank_term,
    score_candidates,
    spread,
)
from lethe_core.context.weights import WeightMatrix, seed_vector
from lethe_core.control.vectors import alignments, cosines
from lethe_core.graph.arrays import FloatArray, IntArray, Matrix, Vector
from lethe_core.graph.nodes import EvidenceKind, EvidenceNode, Node, NodeId, TaskNode, TaskStatus
from lethe_core.graph.snapshot import GraphSnapshot
from lethe_core.session.kept_graph import KeptGraph
from lethe_core.session.lexicon import SessionLexicon
from lethe_core.session.walking import LastWalk, TaskWalk
from lethe_core.similar.plan import task_vector


@dataclass(frozen=True, slots=True)
class Reached:
    """The n nodes that the walk from a task reaches and that it may be shown."""

    nodes: tuple[NodeId, ...]  # evidence, and results of tasks that its frame does not tell anyway
    pagerank: FloatArray  # (n,) positive
    relevance: FloatArray  # (n,) to the task itself, [0, 1]; 0 for tasks


@dataclass(frozen=True, slots=True)
class Weighed:
    """The reached nodes as packing needs them."""

    vectors: Matrix  # (n, d)
    required: Matrix  # (m, d) of the tasks that stand in every context
    scores: FloatArray  # (n,) [0, 1], section 5.2
    order: IntArray  # (n,) indexes, best first


def reach(
    snapshot: GraphSnapshot,
    task: NodeId,
    asked: Vector,
    lexicon: SessionLexicon,
    *,
    weights: WeightMatrix | None = None,
    graph: KeptGraph | None = None,
    last: LastWalk | None = None,
    followed: Sequence[str] = (),
) -> Reached:
    """Walk the graph from a task.

    asked: (d,) what the task asks, in query mode; weights: (n, n) of the tasks and, behind them, of the
    evidence that the task may be shown, where a caller has them; None: taken from ``graph``, which follows
    the snapshot, or without that made from it. last: where the walk before this one ended.
    followed: the latest queries by which the task has gone on from its first search.
    """
    tasks = list(snapshot.tasks.values())
    rows = _visible_rows(snapshot, task)
    evidence = [snapshot.table.nodes[row] for row in rows.tolist()]
    nodes: list[Node] = [*tasks, *evidence]
    at = {node.id: index for index, node in enumerate(nodes)}
    if weights is None:
        weights = (graph or KeptGraph()).among(snapshot, list(at))
    above = snapshot.parent(task)
    structure = seed_vector(
        len(nodes),
        at[task],
        parents=[] if above is None else [at[above]],
        children=[at[child.id] for child in snapshot.children(task)],
        dependencies=[at[other.id] for other in snapshot.dependencies(task)],
        evidence=[at[node.id] for node in snapshot.produced(task) if node.id in at],
    )
    lexicon.read(snapshot.evidence.values())
    vectors = snapshot.table.vectors[rows].reshape(-1, asked.size)
    walk = TaskWalk(
        snapshot.tasks[task], list(at), evidence, weights, structure, cosines(vectors, asked), lexicon
    )
    relevant = walk.relevance(walk.task.embed_text)
    mass = walk.with_hops(walk.first(relevant, last), followed)
    told = {task, above, *(child.id for child in snapshot.children(task))}
    told |= {other.id for other in snapshot.dependencies(task)}
    if (before := snapshot.known_before) is not None:
        told.add(before.id)  # it has no result of its own
    reached = [
        index
        for index, node in enumerate(nodes)
        if mass[index] > 0.0
        and (isinstance(node, EvidenceNode) or (node.status is TaskStatus.DONE and node.id not in told))
    ]
    return Reached(
        nodes=tuple(nodes[index].id for index in reached),
        pagerank=mass[reached],
        relevance=relevant[reached],
    )


def _visible_rows(snapshot: GraphSnapshot, task: NodeId) -> IntArray:
    """The rows of the evidence that a task may be shown: `GraphSnapshot.visible_to`, rising."""
    visible = snapshot.table.live.copy()
    for row in np.flatnonzero(~visible).tolist():
        visible[row] = snapshot.visible_to(task, snapshot.table.nodes[row])
    return np.flatnonzero(visible)


def weigh(snapshot: GraphSnapshot, task: NodeId, asked: Vector, reached: Reached, pressure: float) -> Weighed:
    """Score what was reached and put it in order. asked: (d,) query mode; pressure: [0, 1]."""
    nodes = [snapshot.node(node) for node in reached.nodes]
    vectors = represent(nodes, asked.size)
    required = represent(required_tasks(snapshot, task), asked.size)
    scores = score_candidates(
        # Of the task, not of the goal: what is near a goal of many parts is near none.
        alignments(vectors, asked),
        reached.pagerank,
        # A task's result is as strong as it gets.
        np.array(
            [node.strength if isinstance(node, EvidenceNode) else 1.0 for node in nodes], dtype=np.float64
        ),
        novelty_term(vectors, required),
        pressure,
    )
    tables = [_table_of(node) for node in nodes]
    # The walk and the relevance alone: the score's other terms are flat, and packing weighs them by gain.
    order = alternating_order(
        spread(pagerank_term(reached.pagerank), tables), spread(reached.relevance, tables)
    )
    concluded = _conclusions_of_parts(snapshot, task)
    first = [reached.nodes[index] in concluded for index in order]
    return Weighed(vectors, required, scores, order[np.argsort(np.logical_not(first), kind="stable")])


def _table_of(node: Node) -> str:
    """The source whose table a node is a row of; any other node stands alone."""
    if isinstance(node, EvidenceNode) and node.content.startswith("|"):
        return node.address
    return node.id


def _conclusions_of_parts(snapshot: GraphSnapshot, task: NodeId) -> set[NodeId]:
    """What a task has to conclude from, before all else: the syntheses of its parts."""
    return {
        node.id
        for child in snapshot.children(task)
        if child.status is TaskStatus.DONE
        for node in snapshot.produced(child.id)
        if node.kind is EvidenceKind.SYNTHESIS
    }


def required_tasks(snapshot: GraphSnapshot, task: NodeId) -> list[Node]:
    """What stands in every context of a task: itself, its parent, its dependencies."""
    above = snapshot.parent(task)
    return [
        snapshot.tasks[task],
        *([] if above is None else [snapshot.tasks[above]]),
        *snapshot.dependencies(task),
    ]


def represent(nodes: Sequence[Node], dimension: int) -> Matrix:
    """Vectors that stand for nodes, (n, d): a DONE task is represented by its result."""
    rows = [task_vector(node) if isinstance(node, TaskNode) else node.embedding for node in nodes]
    return np.stack(rows).astype(np.float32) if rows else np.zeros((0, dimension), dtype=np.float32)
