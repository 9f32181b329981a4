"""The subspace that the evidence spans: coverage, the goal's gap, novelty and overlap (algorithms.md 2).

One basis serves all four: the right singular vectors of the evidence rows, each row scaled by the
square root of its strength. Vectors are control vectors (``vectors.control_vectors``), float64.
"""

from dataclasses import dataclass

import numpy as np

from lethe_core.control.vectors import clamp01, unit
from lethe_core.errors import ConfigError
from lethe_core.graph.arrays import AnyFloats, FloatArray


@dataclass(frozen=True, slots=True)
class BasisConfig:
    """How much of the evidence's spectrum counts."""

    max_columns: int = 32
    ridge: float = 0.1  # λ of coverage: how much evidence a direction needs to count as known
    energy: float = 0.9  # share of Σσ² that the bases compared by overlap hold
    min_gap: float = 1e-3  # a shorter residual of the goal is no direction


DEFAULT_BASIS = BasisConfig()

_DEPENDENT = 1e-8  # a residual below this is rounding, not a direction


@dataclass(frozen=True, slots=True)
class EvidenceBasis:
    """Orthonormal directions of the evidence, strongest first; k = 0 when there is none."""

    directions: FloatArray  # (d, k)
    singular_values: FloatArray  # (k,) > 0, falling
    n_energy: int  # how many leading columns hold the configured share of the energy; <= k


@dataclass(frozen=True, slots=True)
class Gap:
    """What of the goal no evidence reaches."""

    direction: FloatArray | None  # (d,) unit; None when nothing is left
    norm: float  # length of the unit goal's residual, in [0, 1]


def evidence_basis(
    rows: AnyFloats, strengths: AnyFloats, *, config: BasisConfig = DEFAULT_BASIS
) -> EvidenceBasis:
    """Decompose the evidence, all of it: `gram.EvidenceSubspace` does the same for evidence that grows.

    rows: (n, d) unit, finite, a zero row adds nothing; strengths: (n,) finite, >= 0. n may be 0, d may not.
    Raises ConfigError when a value is not as above.
    """
    weights = np.asarray(strengths, dtype=np.float64)
    if not (np.isfinite(weights).all() and weights.min(initial=0.0) >= 0.0):
        worst = int(np.flatnonzero(~(np.isfinite(weights) & (weights >= 0.0)))[0])
        raise ConfigError(f"strength of row {worst} is {weights[worst]}, must be finite and not negative")
    scaled = np.asarray(rows, dtype=np.float64) * np.sqrt(weights)[:, None]
    if not np.isfinite(scaled).all():
        worst = int(np.flatnonzero(~np.isfinite(scaled).all(axis=1))[0])
        raise ConfigError(f"row {worst} of the evidence holds NaN or infinity")
    n, d = scaled.shape
    if n == 0 or not scaled.any():
        return EvidenceBasis(np.zeros((d, 0)), np.zeros(0), 0)
    # The triangle has the same right factors and spares the n left vectors that nothing uses.
    compact = np.linalg.qr(scaled, mode="r") if n > d else scaled
    _, sigma, vt = np.linalg.svd(compact, full_matrices=False)
    rank = int(np.count_nonzero(sigma > sigma[0] * max(n, d) * np.finfo(np.float64).eps))
    k = min(config.max_columns, rank)
    energy = np.cumsum(sigma**2)
    # The margin keeps a spectrum that reaches the share exactly from taking one column more by rounding.
    n_energy = int(np.searchsorted(energy, config.energy * energy[-1] * (1.0 - 1e-12))) + 1
    return EvidenceBasis(np.ascontiguousarray(vt[:k].T), sigma[:k], min(n_energy, k))


def coverage(basis: EvidenceBasis, vectors: AnyFloats, *, config: BasisConfig = DEFAULT_BASIS) -> FloatArray:
    """How much of each unit vector (m, d) the evidence explains: (m,) in [0, 1]; without evidence 0.

    With every column this is the variance that a Gaussian process with a linear kernel and noise
    λ loses by having seen the evidence.
    """
    energies = basis.singular_values**2
    projections = np.asarray(vectors, dtype=np.float64) @ basis.directions
    return clamp01(projections**2 @ (energies / (energies + config.ridge)))


def deficits(basis: EvidenceBasis, vectors: AnyFloats, *, config: BasisConfig = DEFAULT_BASIS) -> FloatArray:
    """What the evidence leaves open of each task (m, d): 1 - coverage, (m,) in [0, 1]."""
    return 1.0 - coverage(basis, vectors, config=config)


def goal_coverage(
    basis: EvidenceBasis, goal: AnyFloats, live_tasks: AnyFloats, *, config: BasisConfig = DEFAULT_BASIS
) -> float:
    """Mean coverage over the goal (d,) and the live tasks (m, d), m >= 0: in [0, 1].

    Live is every task that has not FAILED, the root left out. The goal alone would saturate after
    a few on-topic pages.
    """
    targets = np.vstack([np.asarray(goal, dtype=np.float64)[None, :], live_tasks])
    return float(coverage(basis, targets, config=config).mean())


def goal_gap(basis: EvidenceBasis, goal: AnyFloats, *, config: BasisConfig = DEFAULT_BASIS) -> Gap:
    """The residual of the unit goal (d,) after projection on the evidence; orthogonal to it within 1e-9."""
    target = np.asarray(goal, dtype=np.float64)
    residual = target - basis.directions @ (basis.directions.T @ target)
    norm = float(np.linalg.norm(residual))
    direction = unit(residual) if norm >= config.min_gap else None
    return Gap(direction, clamp01(norm))


def novelty(old: EvidenceBasis, new_rows: AnyFloats, weights: AnyFloats) -> float:
    """Weighted mean share of the new evidence that neither the old basis nor the batch before it has.

    new_rows: (b, d) unit, in the order of ingestion; weights: (b,) >= 0, the items' gated goal
    alignments (algorithms.md 8). In [0, 1]; 0 for an empty batch; a duplicate inside the batch adds 0.
    """
    rows = np.asarray(new_rows, dtype=np.float64)
    relevance = np.asarray(weights, dtype=np.float64)
    total = float(relevance.sum())
    if rows.shape[0] == 0 or not total > 0.0:
        return 0.0
    d, k = old.directions.shape
    directions = np.empty((min(k + rows.shape[0], d), d))
    directions[:k] = old.directions.T
    shares = np.zeros(rows.shape[0])
    for at, row in enumerate(rows):
        if k == d:
            break  # the whole space is known
        known = directions[:k]
        residual = row - (known @ row) @ known
        residual -= (known @ residual) @ known  # the second pass restores what rounding lost
        norm = float(np.linalg.norm(residual))
        if norm > _DEPENDENT:
            shares[at] = norm * norm
            directions[k] = residual / norm
            k += 1
    return clamp01(float(shares @ relevance) / total)


def overlap(old: EvidenceBasis, new: EvidenceBasis) -> float:
    """How much of the evidence's main subspace stayed: 1 when the same, 0 as by chance or with no old basis.

    Compares the columns that hold the configured energy; what two random subspaces of that size
    share in d dimensions is taken off. Invariant under rotation of the whole space.
    """
    a, b = old.directions[:, : old.n_energy], new.directions[:, : new.n_energy]
    if old.n_energy == 0 or new.n_energy == 0:
        return 0.0
    d = int(a.shape[0])
    shared = float(np.square(a.T @ b).sum()) / min(old.n_energy, new.n_energy)
    chance = max(old.n_energy, new.n_energy) / d
    if chance >= 1.0:
        return 1.0
    return clamp01((shared - chance) / (1.0 - chance))
