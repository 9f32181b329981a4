"""The evidence's subspace without a decomposition of all evidence (algorithms.md 2).

The right singular vectors of n scaled rows are the eigenvectors of their d×d Gram matrix Σ strength·x xᵀ.
That matrix is kept as a sum of blocks of rows, of which only those are computed anew whose strengths
changed: what is returned depends on the rows and their weights alone, bit for bit, not on the order of
events that led to them, so that a session that was taken up again goes on as if it had never stopped.

Squared singular values lose what lies below √ε of the largest one. With up to d rows, where such a direction
may be evidence of its own, the rows are decomposed themselves; with more, `max_columns` leave it out anyway.
"""

from collections.abc import Callable

import numpy as np
from scipy.linalg import eigh

from lethe_core.control.basis import DEFAULT_BASIS, BasisConfig, EvidenceBasis, evidence_basis
from lethe_core.errors import ConfigError
from lethe_core.graph.arrays import AnyFloats, FloatArray, Matrix

_ROWS = 1024  # of a block, or 4d: the blocks' matrices then take at most as much memory as the embeddings
_KEPT = 4  # bases of the last moments: before and after an iteration, and between its steps


def gram_basis(gram: FloatArray, *, config: BasisConfig = DEFAULT_BASIS) -> EvidenceBasis:
    """The basis of rows whose Gram matrix this is: (d, d) symmetric, positive semi-definite, finite.

    As `evidence_basis` of the rows, up to rounding, but for directions whose singular value is below some
    1e-7 of the largest: these do not count as evidence here.
    """
    d = len(gram)
    total = float(np.trace(gram))
    if not total > 0.0:
        return EvidenceBasis(np.zeros((d, 0)), np.zeros(0), 0)
    first = max(0, d - config.max_columns)
    energies, vectors = eigh(gram, subset_by_index=[first, d - 1])
    energies, vectors = energies[::-1], vectors[:, ::-1]
    k = int(np.count_nonzero(energies > energies[0] * d * 4.0 * np.finfo(np.float64).eps))
    held = np.cumsum(energies[:k])
    n_energy = int(np.searchsorted(held, config.energy * total * (1.0 - 1e-12))) + 1
    return EvidenceBasis(np.ascontiguousarray(vectors[:, :k]), np.sqrt(energies[:k]), min(n_energy, k))


class EvidenceSubspace:
    """The basis of evidence that grows by rows and whose weights change."""

    def __init__(
        self, shorten: Callable[[Matrix], FloatArray] | None = None, *, config: BasisConfig = DEFAULT_BASIS
    ) -> None:
        """shorten: from embeddings (n, D) to control vectors (n, d), row by row; None: as they are."""
        self._shorten = shorten or (lambda rows: np.asarray(rows, dtype=np.float64))
        self._config = config
        self._weights: list[FloatArray] = []  # of each block, as its matrix was computed with
        self._grams: list[FloatArray] = []  # (d, d) each
        self._bases: dict[bytes, EvidenceBasis] = {}

    def basis(self, vectors: Matrix, weights: AnyFloats) -> EvidenceBasis:
        """The basis of rows, each scaled by the root of its weight.

        vectors: (n, D); the first rows must be those of the call before, n may be less than there.
        weights: (n,) finite, ≥ 0: the strength, 0 for a row that does not count.
        Raises ConfigError when a weight is not as above or the shapes do not agree.
        """
        own = np.asarray(weights, dtype=np.float64)
        if own.shape != (len(vectors),) or not (np.isfinite(own).all() and own.min(initial=0.0) >= 0.0):
            raise ConfigError(
                f"{len(vectors)} rows need as many finite weights that are not negative, got {own.shape}"
            )
        key = own.tobytes()
        if key not in self._bases:
            if len(self._bases) == _KEPT:
                del self._bases[next(iter(self._bases))]
            self._bases[key] = self._decomposed(vectors, own)
        return self._bases[key]

    def _decomposed(self, vectors: Matrix, weights: FloatArray) -> EvidenceBasis:
        counted = np.flatnonzero(weights)
        rows = self._shorten(vectors[counted[:1]])
        if counted.size <= rows.shape[1]:
            return evidence_basis(self._shorten(vectors[counted]), weights[counted], config=self._config)
        return gram_basis(self._gram(vectors, weights, rows.shape[1]), config=self._config)

    def _gram(self, vectors: Matrix, weights: FloatArray, dimension: int) -> FloatArray:
        total = np.zeros((dimension, dimension))
        size = max(_ROWS, 4 * dimension)
        for block, first in enumerate(range(0, len(weights), size)):
            own = weights[first : first + size]
            if block == len(self._grams) or not np.array_equal(own, self._weights[block]):
                scaled = self._shorten(vectors[first : first + size]) * np.sqrt(own)[:, None]
                gram = scaled.T @ scaled
                if block == len(self._grams):
                    self._grams.append(gram)
                    self._weights.append(own.copy())
                else:
                    self._grams[block], self._weights[block] = gram, own.copy()
            total += self._grams[block]
        return total
