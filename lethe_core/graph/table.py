"""The session's evidence as arrays: a row a node, in order of creation, kept as the graph grows.

Evidence is never deleted and its embedding never changes, so a row once written stands; only strength and
what is superseded move. The arrays are views: they are not to be written to, nor kept over a commit.
"""

import numpy as np

from lethe_core.graph.arrays import BoolArray, FloatArray, IntArray, Matrix
from lethe_core.graph.nodes import EvidenceKind, EvidenceNode, NodeId

_FIRST = 64  # rows; then half as many again each time, so that a row is copied some twice in all


class EvidenceTable:
    """n evidence nodes by row."""

    def __init__(self) -> None:
        self.nodes: list[EvidenceNode] = []
        self.chunk_by_hash: dict[str, NodeId] = {}  # by the content's
        self._row: dict[NodeId, int] = {}
        self._vectors: Matrix = np.zeros((0, 0), dtype=np.float32)
        self._filled = 0  # rows of _vectors that are written; the others follow when they are asked for
        self._strengths: FloatArray = np.zeros(_FIRST)
        self._live: BoolArray = np.zeros(_FIRST, dtype=np.bool_)
        self._chunks: BoolArray = np.zeros(_FIRST, dtype=np.bool_)
        self._sequences: IntArray = np.zeros(_FIRST, dtype=np.int64)

    def __len__(self) -> int:
        return len(self.nodes)

    def put(self, node: EvidenceNode) -> None:
        """Add a node, or take over what changed of one."""
        row = self._row.setdefault(node.id, len(self.nodes))
        if row == len(self.nodes):
            self.nodes.append(node)
            if node.kind is EvidenceKind.CHUNK:
                self.chunk_by_hash[node.content_hash] = node.id
            if row == len(self._live):
                self._lengthen(max(_FIRST, row // 2))
        else:
            self.nodes[row] = node
        self._strengths[row] = node.strength
        self._live[row] = not node.superseded
        self._chunks[row] = node.kind is EvidenceKind.CHUNK
        self._sequences[row] = node.sequence

    def row(self, node: NodeId) -> int:
        """The row of a node. Raises KeyError for one that is no evidence of the session."""
        return self._row[node]

    @property
    def vectors(self) -> Matrix:
        """(n, d) embeddings; (0, 0) before there is any."""
        n = len(self.nodes)
        if self._filled < n:
            dimension = self.nodes[0].embedding.size
            if len(self._vectors) < n:
                larger = np.empty((max(_FIRST, n, n * 3 // 2), dimension), dtype=np.float32)
                if self._filled:
                    larger[: self._filled] = self._vectors[: self._filled]
                self._vectors = larger
            np.stack(
                [node.embedding for node in self.nodes[self._filled :]], out=self._vectors[self._filled : n]
            )
            self._filled = n
        return self._vectors[:n]

    @property
    def strengths(self) -> FloatArray:
        """(n,) as they are now."""
        return self._strengths[: len(self.nodes)]

    @property
    def live(self) -> BoolArray:
        """(n,) True for what nothing supersedes."""
        return self._live[: len(self.nodes)]

    @property
    def chunks(self) -> BoolArray:
        """(n,) True for what a source says, False for a synthesis."""
        return self._chunks[: len(self.nodes)]

    @property
    def sequences(self) -> IntArray:
        """(n,) rising."""
        return self._sequences[: len(self.nodes)]

    def _lengthen(self, more: int) -> None:
        self._strengths = np.concatenate([self._strengths, np.zeros(more)])
        self._live = np.concatenate([self._live, np.zeros(more, dtype=np.bool_)])
        self._chunks = np.concatenate([self._chunks, np.zeros(more, dtype=np.bool_)])
        self._sequences = np.concatenate([self._sequences, np.zeros(more, dtype=np.int64)])
