"""The order of scores, the same on every machine and after every restart (algorithms.md 5.2).

A sum that is added up in another order differs in its last digits, and so do products of equal rows at
different places of a matrix. What two equal pieces of evidence are worth must not depend on that.
"""

from typing import Final

import numpy as np

from lethe_core.graph.arrays import FloatArray, IntArray

TIE: Final = 1e-12  # of the best score: neighbours in the order that differ by no more are equal


def best_first(scores: FloatArray) -> IntArray:
    """Indexes of n scores, (n,) finite, the highest first; equal ones by index."""
    order = np.argsort(-scores, kind="stable")
    ranked = scores[order]
    apart = -np.diff(ranked) > TIE * np.abs(scores).max(initial=0.0)
    place = np.zeros(len(scores), dtype=np.int64)
    place[order[1:]] = np.cumsum(apart)
    return np.asarray(np.argsort(place, kind="stable"))
