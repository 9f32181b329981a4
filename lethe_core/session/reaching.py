"""Which evidence a task reaches, and in which order it counts (algorithms.md 5.1, 5.1b, 5.2).

Pure functions of the graph: the steps of a session hand over what they hold, an evaluation what it made.
What of it fits into the context is packing's business.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np

from lethe_core.context.anchors import DEFAULT_ANCHORS, anchored, anchored_seeds, relevance
from lethe_core.context.hops import DEFAULT_HOPS, hop_terms, leading, with_hops
from lethe_core.context.ppr import personalized_pageranks, walk_graph
from lethe_core.context.scoring import (
    alternating_order,
    novelty_term,
    pagerank_term,
    score_candidates,
    spread,
)
from lethe_core.context.weights import EdgeArrays, WeightMatrix, adjacency, end_cosines, seed_vector
from lethe_core.control.vectors import alignments, cosines
from lethe_core.graph.arrays import FloatArray, IntArray, Matrix, Vector
from lethe_core.graph.nodes import EvidenceKind, EvidenceNode, Node, NodeId, TaskNode, TaskStatus
from lethe_core.graph.snapshot import GraphSnapshot, stack
from lethe_core.session.lexicon import SessionLexicon


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
) -> Reached:
    """Walk the graph from a task.

    asked: (d,) what the task asks, in query mode; weights: (n, n) of the tasks and, behind them, of the
    evidence that the task may be shown, where a caller has them; None: made from the graph.
    """
    tasks = list(snapshot.tasks.values())
    evidence = [node for node in snapshot.evidence.values() if snapshot.visible_to(task, node)]
    nodes: list[Node] = [*tasks, *evidence]
    at = {node.id: index for index, node in enumerate(nodes)}
    if weights is None:
        weights = _weights(snapshot, nodes, at, asked.size)
    above = snapshot.parent(task)
    structure = seed_vector(
        len(nodes),
        at[task],
        parents=[] if above is None else [at[above]],
        children=[at[child.id] for child in snapshot.children(task)],
        dependencies=[at[other.id] for other in snapshot.dependencies(task)],
        evidence=[at[node.id] for node in snapshot.produced(task) if node.id in at],
    )
    walk = _Walk(snapshot.tasks[task], len(tasks), evidence, weights, structure, asked, lexicon)
    relevant = walk.relevance(walk.task.embed_text)
    mass = walk.with_hops(walk.ranks([(relevant, frozenset())])[0])
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
    matrix = stack(nodes, dimension)
    for index, node in enumerate(nodes):
        if isinstance(node, TaskNode) and node.status is TaskStatus.DONE and node.result_embedding.size:
            matrix[index] = node.result_embedding
    return matrix


def _weights(
    snapshot: GraphSnapshot, nodes: Sequence[Node], at: dict[NodeId, int], dimension: int
) -> WeightMatrix:
    edges = [edge for edge in snapshot.edges.values() if edge.source in at and edge.target in at]
    source = np.array([at[edge.source] for edge in edges], dtype=np.int64)
    target = np.array([at[edge.target] for edge in edges], dtype=np.int64)
    similar = [edge.similarity for edge in edges]

    def score(name: str) -> FloatArray:
        values = [None if one is None else getattr(one, name) for one in similar]
        return np.array([np.nan if value is None else value for value in values], dtype=np.float64)

    return adjacency(
        len(nodes),
        EdgeArrays(
            source=source,
            target=target,
            kind=np.array([edge.type.value for edge in edges], dtype=np.str_),
            cosine=end_cosines(represent(nodes, dimension), source, target) if edges else np.zeros(0),
            confidence=score("confidence"),
            support=score("support"),
            contradiction=score("contradiction"),
        ),
    )


class _Walk:
    """The walk on the graph and its lexical anchors; only what stands in evidence anchors (5.1b)."""

    def __init__(
        self,
        task: TaskNode,
        n_tasks: int,
        evidence: Sequence[EvidenceNode],
        weights: WeightMatrix,
        structure: FloatArray,
        asked: Vector,
        lexicon: SessionLexicon,
    ) -> None:
        self.task, self._n_tasks, self._evidence = task, n_tasks, evidence
        self._structure, self._lexicon = structure, lexicon
        self._mentions = lexicon.anchor_nodes(evidence)
        anchors = lexicon.anchors(evidence)
        self._anchors = replace(anchors, node=anchors.node + n_tasks)
        self._graph = walk_graph(anchored(weights, self._anchors))
        self._terms = lexicon.terms_of(task.description)
        self._cosines = cosines(stack(evidence, asked.size), asked)

    def relevance(self, query: str) -> FloatArray:
        """How near each node is to the task by meaning, to a query by words: (n,) in [0, 1], 0 for tasks."""
        relevant = np.zeros(self._structure.size)
        relevant[self._n_tasks :] = relevance(self._cosines, self._lexicon.bm25(query, self._evidence))
        return relevant

    def ranks(self, starts: Sequence[tuple[FloatArray, Collection[str]]]) -> list[FloatArray]:
        """Where walks end up that begin at what is relevant, the task's terms and some more: (n,) each."""
        seeds = [
            anchored_seeds(self._structure, relevant, self._terms.union(more), self._anchors)
            for relevant, more in starts
        ]
        ranks = personalized_pageranks(self._graph, np.stack(seeds), damping=DEFAULT_ANCHORS.damping)
        return [rank.scores[: self._structure.size] for rank in ranks]

    def with_hops(self, first: FloatArray) -> FloatArray:
        """The first walk's mass with what its best sources lead to: (n,)."""
        asked = self.task.embed_text
        starts: list[tuple[FloatArray, Collection[str]]] = []
        for best in leading(
            first[self._n_tasks :], [mention.source for mention in self._mentions], DEFAULT_HOPS.sources
        ):
            terms = hop_terms(self._mentions[best].terms, asked, self._anchors)
            if terms:
                starts.append((self.relevance(f"{asked} {' '.join(terms)}"), terms))
        if not starts:
            return first
        hops = self.ranks(starts)
        mass = first.copy()
        mass[self._n_tasks :] = with_hops(first[self._n_tasks :], [hop[self._n_tasks :] for hop in hops])
        return mass
