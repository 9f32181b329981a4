"""The graph's weights, kept between iterations and changed where the graph changed (algorithms.md 5.1).

What `weights.adjacency` makes of all edges, without looking at all edges again: a sparse matrix over all
nodes that there ever were, from which the walk takes the part that it may see.
"""

import numpy as np
from scipy.sparse import coo_array, csr_array

from lethe_core.context.weights import WeightMatrix, as_indices, with_loops
from lethe_core.errors import ConfigError
from lethe_core.graph.arrays import FloatArray, IntArray


class KeptWeights:
    """Symmetric weights of n nodes, 0 … n−1, that grow."""

    def __init__(self) -> None:
        self._matrix: WeightMatrix = csr_array((0, 0), dtype=np.float64)

    @property
    def size(self) -> int:
        """The number of nodes."""
        return int(self._matrix.shape[0])

    def grow(self, n: int) -> None:
        """Have n nodes, at least as many as before; the new ones have no edge."""
        if n < self.size:
            raise ConfigError(f"{n} nodes are fewer than the {self.size} that there are")
        held = self._matrix
        ends = np.concatenate([held.indptr, np.full(n - self.size, held.nnz, dtype=held.indptr.dtype)])
        self._matrix = csr_array((held.data, held.indices, ends), shape=(n, n))

    def put(self, lower: IntArray, upper: IntArray, weight: FloatArray) -> None:
        """Set the weight of m pairs of nodes, whatever it was; 0 takes an edge away.

        lower, upper: (m,) different ends, each pair once; weight: (m,) finite, non-negative.
        Raises ConfigError when they are not as above.
        """
        if not (lower.shape == upper.shape == weight.shape):
            raise ConfigError(f"{lower.shape} and {upper.shape} ends do not go with {weight.shape} weights")
        if not lower.size:
            return
        ends = np.stack([np.minimum(lower, upper), np.maximum(lower, upper)])
        if ends[0].min() < 0 or ends[1].max() >= self.size or (ends[0] == ends[1]).any():
            raise ConfigError(f"a pair's ends must be two different ones of the {self.size} nodes")
        if np.unique(ends[0] * self.size + ends[1]).size < lower.size:
            raise ConfigError("a pair of nodes is given twice: its weights must be added up first")
        if not (np.isfinite(weight).all() and weight.min() >= 0.0):
            raise ConfigError("a weight is negative, NaN or infinite")
        rows, columns = np.concatenate([ends[0], ends[1]]), np.concatenate([ends[1], ends[0]])
        values = np.concatenate([weight, weight])
        held = np.asarray(self._matrix[rows, columns]).ravel() > 0.0
        if held.any():
            self._matrix[rows[held], columns[held]] = values[held]
            if (values[held] == 0.0).any():
                self._matrix.eliminate_zeros()
        new = ~held & (values > 0.0)
        if new.any():
            places = (as_indices(rows[new]), as_indices(columns[new]))
            added = coo_array((values[new], places), shape=self._matrix.shape)
            # The two share no entry, so nothing is rounded.
            self._matrix = csr_array(self._matrix + added.tocsr())

    def among(self, nodes: IntArray) -> WeightMatrix:
        """The weights among some nodes: (m, m) in their order, a loop of weight 1 for one without an edge.

        nodes: (m,) different ones. Bit for bit what `weights.adjacency` makes of the edges among them.
        """
        if np.array_equal(nodes, np.arange(self.size)):
            return with_loops(self._matrix.copy())
        part = csr_array(self._matrix[nodes][:, nodes])
        part.sort_indices()
        return with_loops(part)
