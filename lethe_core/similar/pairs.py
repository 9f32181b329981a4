"""Which nodes are alike across tasks: exact cross-parent pairs above a threshold (algorithms.md 6).

Nodes that share a parent (the task that produced them, or whose subtasks they are) are left out:
chunks of one search are alike trivially, and an edge for each such pair would drown the walk. That is
why no nearest-neighbour index is used here: neighbours of the same parent fill its lists.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from lethe_core.errors import ConfigError
from lethe_core.graph.arrays import IntArray, Matrix

_BLOCK_ROWS = 1024  # a block of products of this size stays in the cache (512 to 2048 are alike)


@dataclass(frozen=True, slots=True)
class SimilarPairs:
    """Pairs i < j of row indexes, ordered by (i, j), each once."""

    i: IntArray  # (p,)
    j: IntArray  # (p,)
    cosine: NDArray[np.float32]  # (p,) in [threshold, 1]

    def __len__(self) -> int:
        return self.i.size


def similar_pairs(
    vectors: Matrix,
    parents: Sequence[Collection[int]],
    threshold: float,
    *,
    new: IntArray | None = None,
    block_rows: int = _BLOCK_ROWS,
) -> SimilarPairs:
    """Find every pair without a parent in common whose cosine reaches the threshold.

    vectors: (n, d) unit float32, full embeddings of one node type; a zero row pairs with nothing.
    parents: for each row the ids of its parents; a row without any shares with no other.
    new: row indexes; given, only pairs with at least one of them are looked for, so that the pairs of
    a graph are the pairs of its old rows and the pairs of its new ones (pairs whose ends changed are
    the caller's to name here).
    Exact up to the rounding of float32 products: pairs within 1e-6 of the threshold may fall either way.
    Raises ConfigError when the threshold is outside (0, 1].
    """
    if not 0.0 < threshold <= 1.0:
        raise ConfigError(f"similar_threshold is {threshold}; it must lie above 0 and not above 1")
    n = vectors.shape[0]
    membership = _membership(parents)
    rows = np.arange(n) if new is None else np.unique(new)
    is_row = np.zeros(n, dtype=np.bool_)
    is_row[rows] = True
    found_i: list[IntArray] = []
    found_j: list[IntArray] = []
    found_cosine: list[NDArray[np.float32]] = []
    for row_start in range(0, rows.size, block_rows):
        block = rows[row_start : row_start + block_rows]
        # With every row in play the lower triangle holds nothing new.
        first_column = row_start if new is None else 0
        for column_start in range(first_column, n, block_rows):
            cosines = vectors[block] @ vectors[column_start : column_start + block_rows].T
            at_row, at_column = np.nonzero(cosines >= np.float32(threshold))
            a, b = block[at_row], at_column + column_start
            # A pair of two rows in play turns up from both ends: it is kept from its lower one.
            kept = np.flatnonzero((a < b) | ((a > b) & ~is_row[b]))
            kept = kept[~_share(membership, a[kept], b[kept])]
            found_i.append(np.minimum(a[kept], b[kept]))
            found_j.append(np.maximum(a[kept], b[kept]))
            found_cosine.append(np.minimum(cosines[at_row[kept], at_column[kept]], np.float32(1.0)))
    if not found_i:
        none = np.zeros(0, dtype=np.int64)
        return SimilarPairs(none, none, np.zeros(0, dtype=np.float32))
    i, j, cosine = np.concatenate(found_i), np.concatenate(found_j), np.concatenate(found_cosine)
    order = np.lexsort((j, i))
    return SimilarPairs(i[order], j[order], cosine[order])


def _membership(parents: Sequence[Collection[int]]) -> csr_array:
    """Rows by parents, 1 where the row has the parent."""
    known = {parent: at for at, parent in enumerate(sorted({p for own in parents for p in own}))}
    lists = [sorted({known[parent] for parent in own}) for own in parents]
    starts = np.concatenate([[0], np.cumsum([len(own) for own in lists], dtype=np.int64)])
    columns = np.array([column for own in lists for column in own], dtype=np.int64)
    ones = np.ones(columns.size, dtype=np.int32)
    return csr_array((ones, columns, starts), shape=(len(parents), max(1, len(known))))


def _share(membership: csr_array, a: IntArray, b: IntArray) -> NDArray[np.bool_]:
    """Whether rows a[k] and b[k] have a parent in common: (p,)."""
    if a.size == 0:
        return np.zeros(0, dtype=np.bool_)
    return np.asarray(membership[a].multiply(membership[b]).sum(axis=1)).ravel() > 0
