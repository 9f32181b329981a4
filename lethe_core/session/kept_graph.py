"""The walk's weights of the session's graph, changed by what each commit changed (algorithms.md 5.1).

Which edges there are between two nodes decides their weight, and nothing else: so a pair is weighed anew when
an edge of it came, changed or went, or when a task is represented by another vector than before.
"""

from collections.abc import Iterable, Sequence

import numpy as np

from lethe_core.context.kept_weights import KeptWeights
from lethe_core.context.weights import EdgeArrays, WeightMatrix, edge_weights, end_cosines
from lethe_core.graph.arrays import FloatArray, Vector
from lethe_core.graph.nodes import Edge, EdgeType, Node, NodeId, TaskNode
from lethe_core.graph.snapshot import GraphSnapshot
from lethe_core.graph.store import GraphDelta
from lethe_core.similar.plan import task_vector

_STRUCTURE = (EdgeType.SUBTASK_OF, EdgeType.PRODUCED, EdgeType.DEPENDS_ON)
_WEIGHED = (*_STRUCTURE, EdgeType.SIMILAR_TO)  # SUPERSEDES weighs nothing

Pair = tuple[NodeId, NodeId]  # ordered as text


class KeptGraph:
    """Follows a snapshot; another one is read from its beginning."""

    def __init__(self) -> None:
        self._snapshot = GraphSnapshot()
        self._changes = 0  # of the snapshot's, how many are taken in
        self._weights = KeptWeights()
        self._number: dict[NodeId, int] = {}
        self._represented: dict[NodeId, Vector] = {}  # what a task was last weighed by

    def among(self, snapshot: GraphSnapshot, nodes: Sequence[NodeId]) -> WeightMatrix:
        """The weights among some of a snapshot's nodes, (n, n) in their order, as `weights.adjacency`.

        Raises KeyError for a node that the snapshot does not have.
        """
        if snapshot is not self._snapshot:
            self._start(snapshot)
        else:
            touched: dict[Pair, None] = {}
            for delta in snapshot.changes[self._changes :]:
                touched |= dict.fromkeys(self._touched(delta))
            self._weigh(touched, [edge for pair in touched for edge in self._edges(pair)])
        self._changes = len(snapshot.changes)
        return self._weights.among(np.array([self._number[node] for node in nodes], dtype=np.int64))

    def _start(self, snapshot: GraphSnapshot) -> None:
        self._snapshot, self._weights, self._number, self._represented = snapshot, KeptWeights(), {}, {}
        self._know([*snapshot.tasks.values(), *snapshot.evidence.values()])
        self._weigh((), [edge for edge in snapshot.edges.values() if edge.type in _WEIGHED])

    def _know(self, nodes: Iterable[Node]) -> None:
        for node in nodes:
            self._number.setdefault(node.id, len(self._number))
            if isinstance(node, TaskNode):
                self._represented[node.id] = task_vector(node)
        self._weights.grow(len(self._number))

    def _touched(self, delta: GraphDelta) -> Iterable[Pair]:
        """The pairs that a change gives another weight."""
        anew = [
            node.id
            for node in delta.updated
            if isinstance(node, TaskNode)
            and not np.array_equal(task_vector(node), self._represented[node.id])
        ]
        self._know((*delta.created, *delta.updated))
        yield from (_pair(edge.source, edge.target) for edge in delta.edges if edge.type in _WEIGHED)
        yield from (_pair(source, target) for kind, source, target in delta.removed if kind in _WEIGHED)
        for task in anew:
            for kind in _STRUCTURE:
                yield from (_pair(task, other) for other in self._snapshot.targets(kind, task))
                yield from (_pair(task, other) for other in self._snapshot.sources(kind, task))

    def _edges(self, pair: Pair) -> Iterable[Edge]:
        a, b = pair
        for kind in _WEIGHED:
            for key in ((kind, a, b), (kind, b, a)):
                if (edge := self._snapshot.edges.get(key)) is not None:
                    yield edge

    def _weigh(self, touched: Iterable[Pair], edges: Sequence[Edge]) -> None:
        """Set the weights of pairs, each the sum of its edges', all of which are given; 0 without any."""
        n = max(1, len(self._number))
        ends = np.array([[self._number[end] for end in pair] for pair in touched], dtype=np.int64)
        sums = dict.fromkeys((ends.min(axis=1) * n + ends.max(axis=1)).tolist(), 0.0) if ends.size else {}
        if edges:
            source = np.array([self._number[edge.source] for edge in edges], dtype=np.int64)
            target = np.array([self._number[edge.target] for edge in edges], dtype=np.int64)
            kind = np.array([_WEIGHED.index(edge.type) for edge in edges])
            key = np.minimum(source, target) * n + np.maximum(source, target)
            # In one order of types, so that three parallel edges have the same sum whenever they came.
            order = np.lexsort((kind, key))
            starts = np.flatnonzero(np.diff(key[order], prepend=-1))
            totals = np.add.reduceat(self._edge_weights(edges)[order], starts)
            sums |= zip(key[order][starts].tolist(), totals.tolist(), strict=True)
        keys = np.array(list(sums), dtype=np.int64)
        self._weights.put(keys // n, keys % n, np.array(list(sums.values()), dtype=np.float64))

    def _edge_weights(self, edges: Sequence[Edge]) -> FloatArray:
        joined = [edge for edge in edges if edge.type in _STRUCTURE]
        cosine = np.array([0.0 if edge.similarity is None else edge.similarity.cosine for edge in edges])
        if joined:
            left = np.stack([self._vector(edge.source) for edge in joined])
            right = np.stack([self._vector(edge.target) for edge in joined])
            at = np.arange(len(joined))
            places = np.array([edge.type in _STRUCTURE for edge in edges])
            cosine[places] = end_cosines(np.concatenate([left, right]), at, at + len(joined))

        def score(name: str) -> FloatArray:
            values = [None if edge.similarity is None else getattr(edge.similarity, name) for edge in edges]
            return np.array([np.nan if value is None else value for value in values], dtype=np.float64)

        scored = any(edge.similarity is not None and edge.similarity.support is not None for edge in edges)
        return edge_weights(
            EdgeArrays(
                source=np.zeros(len(edges), dtype=np.int64),
                target=np.zeros(len(edges), dtype=np.int64),
                kind=np.array([edge.type.value for edge in edges], dtype=np.str_),
                cosine=cosine,
                confidence=score("confidence") if scored else None,
                support=score("support") if scored else None,
                contradiction=score("contradiction") if scored else None,
            )
        )

    def _vector(self, node: NodeId) -> Vector:
        task = self._represented.get(node)
        return self._snapshot.evidence[node].embedding if task is None else task


def _pair(a: NodeId, b: NodeId) -> Pair:
    return (a, b) if a < b else (b, a)
