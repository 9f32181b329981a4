"""Which groups of nodes can hold alike pairs at all, by their centroids (algorithms.md 6).

Every row of a group lies within an angle ρ of the group's centroid, so no pair of rows of groups A and B is
nearer than θ_AB − ρ_A − ρ_B: where the cosine of that is below the threshold, nothing is lost by leaving
the pair of groups out.
"""

from typing import Final

import numpy as np

from lethe_core.control.vectors import unit
from lethe_core.graph.arrays import BoolArray, FloatArray, IntArray, Matrix

# Rows from which on it costs nothing to try (benchmarks/similar.py --break-even). Where groups are loose, as
# those of texts are, nothing can be left out, and trying takes .1 to .2 more time with 5,000 rows, .05 with
# 20,000 and none that can be measured with 50,000; where they are tight it takes .44 of the time with 5,000
# and .06 with 50,000.
PREFILTER_FROM: Final = 50_000
_SLACK: Final = 1e-4  # radians, and cosine at the threshold: more than float32 rounds


class Groups:
    """Rows by group, with centroids and angular radii."""

    def __init__(self, vectors: Matrix, labels: IntArray) -> None:
        """vectors: (n, d) unit, finite, or zero; labels: (n,) any integers, a group each."""
        _, self.of = np.unique(labels, return_inverse=True)  # (n,) 0 … g−1
        count = int(self.of.max(initial=-1)) + 1
        order = np.argsort(self.of, kind="stable")
        sizes = np.bincount(self.of, minlength=count)
        starts = np.cumsum(sizes) - sizes
        self._centroids: FloatArray = np.zeros((count, vectors.shape[1]))
        self._radii: FloatArray = np.zeros(count)  # radians
        for group, (start, size) in enumerate(zip(starts, sizes, strict=True)):
            rows = unit(vectors[order[start : start + size]])
            self._centroids[group] = unit(rows.sum(axis=0))
            present = rows.any(axis=1)
            if present.any():
                nearness = rows[present] @ self._centroids[group]
                self._radii[group] = float(np.arccos(np.clip(nearness.min(), -1.0, 1.0)))

    def reachable(self, rows: IntArray, threshold: float) -> BoolArray:
        """Which groups may hold a row alike to one of these: (g,)."""
        own = np.unique(self.of[rows])
        apart = np.arccos(np.clip(self._centroids[own] @ self._centroids.T, -1.0, 1.0))
        nearest = apart - self._radii[own, None] - self._radii - _SLACK
        return np.asarray((np.cos(np.maximum(0.0, nearest)) >= threshold - _SLACK).any(axis=0))
