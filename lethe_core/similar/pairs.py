"""Which nodes are alike across tasks: exact cross-parent pairs above a threshold (algorithms.md 6).

Nodes that share a parent (the task that produced them, or whose subtasks they are) are left out:
chunks of one search are alike trivially, and an edge for each such pair would drown the walk. That is
why no nearest-neighbour index is used here: neighbours of the same parent fill its lists.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lethe_core.errors import ConfigError
from lethe_core.graph.arrays import FloatArray, IntArray, Matrix
from lethe_core.similar.parents import Parents
from lethe_core.similar.prefilter import PREFILTER_FROM, Groups

_ROUNDING = 1e-5  # more than a float32 product of unit vectors is off by
_BLOCK_PAIRS = 128  # of which copies in float64 are made at a time: 512 take a third more, 4096 twice as long
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
    prefilter: bool | None = None,
) -> SimilarPairs:
    """Find every pair without a parent in common whose cosine reaches the threshold.

    vectors: (n, d) unit float32, full embeddings of one node type; a zero row pairs with nothing.
    parents: for each row the ids of its parents; a row without any shares with no other.
    new: row indexes; given, only pairs with at least one of them are looked for, so that the pairs of
    a graph are the pairs of its old rows and the pairs of its new ones (pairs whose ends changed are
    the caller's to name here).
    prefilter: whether groups of rows are compared by their centroids first, which loses no pair; None:
    when there are at least `PREFILTER_FROM` rows and all are in play.
    A pair's cosine follows from its two rows alone, to the bit, whatever else was compared in the same call:
    a session that was interrupted, and compares all anew, comes to the same edges.
    Raises ConfigError when the threshold is outside (0, 1], when a vector is not finite, when there are not
    as many parents as vectors, or when a new row is none of them.
    """
    n = len(vectors)
    if not 0.0 < threshold <= 1.0:
        raise ConfigError(f"similar_threshold is {threshold}; it must lie above 0 and not above 1")
    if len(parents) != n:
        raise ConfigError(f"{n} vectors and the parents of {len(parents)}: must be as many")
    if not np.isfinite(np.einsum("ij->", vectors)):  # half of the time of sum()
        worst = int(np.flatnonzero(~np.isfinite(vectors).all(axis=1))[0])
        raise ConfigError(f"the embedding of row {worst} holds NaN or infinity")
    rows = np.arange(n) if new is None else np.unique(np.asarray(new, dtype=np.int64))
    if rows.size and not 0 <= rows[0] <= rows[-1] < n:
        raise ConfigError(f"new rows {rows[0]} to {rows[-1]} are not all among the {n} rows")
    known = Parents(parents)
    if prefilter is None:
        prefilter = new is None and n >= PREFILTER_FROM
    if not prefilter:
        return _ordered(_alike(vectors, rows, known, threshold, block_rows))
    # In the order of their groups, so that a block holds few and what it can reach lies together.
    order = np.argsort(known.first(np.arange(n)), kind="stable")
    vectors, known = vectors[order], known.in_order(order)
    groups = Groups(vectors, known.first(np.arange(n)))
    found = _alike(vectors, np.flatnonzero(np.isin(order, rows)), known, threshold, block_rows, groups)
    return _ordered((order[a], order[b], cosine) for a, b, cosine in found)


def _alike(
    vectors: Matrix,
    rows: IntArray,
    known: Parents,
    threshold: float,
    block_rows: int,
    groups: Groups | None = None,
) -> Iterator[tuple[IntArray, IntArray, NDArray[np.float32]]]:
    """The two ends, in no order, and the cosine of the pairs that have one of the rows, block by block."""
    place = np.full(len(vectors), -1)  # of a row among those in play
    place[rows] = np.arange(rows.size)
    for start in range(0, rows.size, block_rows):
        block = rows[start : start + block_rows]
        # A row in play before this block has met it already; within the block a pair turns up twice.
        columns = np.flatnonzero((place < 0) | (place >= start))
        if groups is not None:
            columns = columns[groups.reachable(block, threshold)[groups.of[columns]]]
        left = vectors[_span(block)]
        exact = left.astype(np.float64)
        width = max(1, block_rows * block_rows // block.size)
        for first in range(0, columns.size, width):
            across = columns[first : first + width]
            products = left @ vectors[_span(across)].T
            at = np.flatnonzero(products >= np.float32(threshold - _ROUNDING))
            at_row, at_column = np.divmod(at, across.size)
            a, b = block[at_row], across[at_column]
            kept = np.flatnonzero((place[b] < 0) | (place[a] < place[b]))
            kept = kept[~known.shared(a[kept], b[kept])]
            a, b = a[kept], b[kept]
            cosine = _cosines(exact, at_row[kept], vectors, b)
            alike = cosine >= np.float32(threshold)
            yield a[alike], b[alike], np.minimum(cosine[alike], np.float32(1.0))


def _cosines(left: FloatArray, i: IntArray, right: Matrix, j: IntArray) -> NDArray[np.float32]:
    """Of row i[k] and row j[k]: (p,), rounded once, since a matrix product rounds by its shape."""
    cosine = np.empty(i.size, dtype=np.float32)
    for start in range(0, i.size, _BLOCK_PAIRS):
        block = slice(start, start + _BLOCK_PAIRS)
        cosine[block] = np.einsum("ij,ij->i", left[i[block]], right[j[block]].astype(np.float64))
    return cosine


def _span(indexes: IntArray) -> IntArray | slice:
    """Consecutive indexes as a slice, which copies nothing."""
    first, last = int(indexes[0]), int(indexes[-1])
    return slice(first, last + 1) if last - first + 1 == indexes.size else indexes


def _ordered(found: Iterable[tuple[IntArray, IntArray, NDArray[np.float32]]]) -> SimilarPairs:
    none = np.zeros(0, dtype=np.int64)
    ends, others, cosines = zip((none, none, np.zeros(0, dtype=np.float32)), *found, strict=True)
    a, b, cosine = np.concatenate(ends), np.concatenate(others), np.concatenate(cosines)
    i, j = np.minimum(a, b), np.maximum(a, b)
    order = np.lexsort((j, i))
    return SimilarPairs(i[order], j[order], cosine[order])
