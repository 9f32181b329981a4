"""Ranking chunks and documents for a query: reciprocal rank fusion of BM25 and cosine.

A chunk scores Σ 1/(k + rank) over the two lists it is in, a document as its best chunk. Ties go by the
chunks' order, which is that of the addresses.
"""

from collections.abc import Sequence

import numpy as np

from lethe_core.graph.arrays import AnyFloats, FloatArray, IntArray


def ranked(scores: AnyFloats, floor: float, most: int) -> IntArray:
    """Indexes of the scores above the floor, best first, ties by index; at most so many."""
    above = np.flatnonzero(scores > floor)
    return above[np.lexsort((above, -scores[above]))][:most].astype(np.int64)


def fused(lists: Sequence[IntArray], count: int, k: float) -> FloatArray:
    """Reciprocal rank fusion: (count,) scores; 0 for what is in no list."""
    scores = np.zeros(count)
    for ranking in lists:
        scores[ranking] += 1.0 / (k + np.arange(1, len(ranking) + 1))
    return scores


def best_first(scores: FloatArray) -> IntArray:
    """Indexes of the positive scores, best first, ties by index."""
    return ranked(scores, 0.0, len(scores))


def chosen_chunks(scores: FloatArray, *, whole: int, best: int) -> list[int]:
    """Which of a page's chunks are ingested, in the page's order.

    scores: (n,) of the page's chunks. A page of at most `whole` chunks: all; of a longer one its `best`
    highest with the neighbours of each. Where fewer than `best` score at all, the page's first ones
    fill up: they say what it is.
    """
    count = len(scores)
    if count <= whole:
        return list(range(count))
    top = [int(index) for index in best_first(scores)[:best]]
    fill = (index for index in range(count) if index not in set(top))
    while len(top) < best:
        top.append(next(fill))
    with_neighbours = {index + step for index in top for step in (-1, 0, 1)}
    return sorted(index for index in with_neighbours if 0 <= index < count)
