"""Vector primitives that every control decision is computed with (algorithms.md 1).

Everything here is float64: in float32 the gap's orthogonality is only good to 5e-5. A missing or
zero vector means "no embedding": it aligns with nothing (0, not the .5 of an orthogonal vector).
"""

import math
from typing import overload

import numpy as np

from lethe_core.control.embedding import EmbeddingProfile
from lethe_core.graph.arrays import AnyFloats, BoolArray, FloatArray

CONTROL_DIMENSION = 256

_NO_DIRECTION = 1e-12  # a norm below this is no embedding
_ROWS = 4096  # made float64 at a time: of a hundred thousand rows that would be hundreds of megabytes
_PARALLEL = 1e-4  # radians: below this sin Ω divides noise


@overload
def clamp01(x: float) -> float: ...
@overload
def clamp01(x: FloatArray) -> FloatArray: ...
def clamp01(x: float | FloatArray) -> float | FloatArray:
    """Cut to [0, 1]; NaN becomes 0, so that a broken signal never pushes towards stopping."""
    if isinstance(x, np.ndarray):
        return np.clip(np.nan_to_num(x, nan=0.0), 0.0, 1.0)
    return min(max(float(x), 0.0), 1.0) if x == x else 0.0


@overload
def soft_gate(x: float, threshold: float, sharpness: float = 10.0) -> float: ...
@overload
def soft_gate(x: FloatArray, threshold: float, sharpness: float = 10.0) -> FloatArray: ...
def soft_gate(x: float | FloatArray, threshold: float, sharpness: float = 10.0) -> float | FloatArray:
    """Logistic step 1 / (1 + exp(-sharpness (x - threshold))): .5 at the threshold, never overflows."""
    if isinstance(x, np.ndarray):
        with np.errstate(over="ignore"):
            z = sharpness * (x - threshold)
        tails = np.exp(-np.abs(z))
        return np.asarray(np.where(z >= 0, 1.0, tails) / (1.0 + tails))
    distance = sharpness * (float(x) - threshold)
    tail = math.exp(-abs(distance))
    return (1.0 if distance >= 0 else tail) / (1.0 + tail)


@overload
def normalize_cosine(c: float) -> float: ...
@overload
def normalize_cosine(c: FloatArray) -> FloatArray: ...
def normalize_cosine(c: float | FloatArray) -> float | FloatArray:
    """Map a cosine in [-1, 1] to [0, 1]."""
    return clamp01((1.0 + c) / 2.0)


def unit(x: AnyFloats) -> FloatArray:
    """Normalise a vector (d,) or the rows of a matrix (n, d); what has no finite direction becomes zero."""
    wide = np.asarray(x, dtype=np.float64)
    norms = np.sqrt(np.einsum("...i,...i->...", wide, wide))[..., None]
    usable = np.isfinite(norms) & (norms > _NO_DIRECTION)
    return np.asarray(np.where(usable, wide, 0.0) / np.where(usable, norms, 1.0))


def cosines(matrix: AnyFloats, vector: AnyFloats) -> FloatArray:
    """Cosine of each row of ``matrix`` (n, d) with ``vector`` (d,): (n,); 0 where either is zero."""
    return np.clip(_products(matrix, vector)[0], -1.0, 1.0)


def alignments(matrix: AnyFloats, vector: AnyFloats | None) -> FloatArray:
    """Normalised cosine of each row of ``matrix`` (n, d) with ``vector`` (d,): (n,) in [0, 1].

    0, not .5, for a row without embedding, and for every row when the vector is missing or zero.
    """
    if vector is None:
        return np.zeros(np.shape(matrix)[0])
    products, present = _products(matrix, vector)
    return np.where(present, normalize_cosine(products), 0.0)


def _products(matrix: AnyFloats, vector: AnyFloats) -> tuple[FloatArray, BoolArray]:
    """Of each row's direction with the vector's, and whether there are two: (n,) each."""
    direction = unit(vector)
    n = np.shape(matrix)[0]
    products, present = np.zeros(n), np.zeros(n, dtype=np.bool_)
    for first in range(0, n, _ROWS):
        block = slice(first, first + _ROWS)
        rows = unit(matrix[block])
        products[block] = rows @ direction
        present[block] = rows.any(axis=1) & bool(direction.any())
    return products, present


def cosine(a: AnyFloats | None, b: AnyFloats | None) -> float:
    """Cosine of two vectors (d,); 0 when either is missing or zero."""
    if a is None or b is None:
        return 0.0
    return float(np.clip(unit(a) @ unit(b), -1.0, 1.0))


def alignment(a: AnyFloats | None, b: AnyFloats | None) -> float:
    """Normalised cosine of two vectors (d,), in [0, 1]; 0 when either is missing or zero."""
    if a is None or b is None:
        return 0.0
    return float(alignments(np.asarray(a)[None, :], b)[0])


def slerp(a: AnyFloats, b: AnyFloats, w: float) -> FloatArray:
    """Walk the share ``w`` of the great circle from unit vector ``a`` to unit vector ``b``.

    w <= 0 (or NaN) gives a, w >= 1 gives b, as they are. Opposite vectors have no one geodesic
    between them, and a zero vector no direction: both give a. Otherwise the norm is 1 within 1e-12.
    """
    start, end = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if not w > 0.0:
        return start
    if w >= 1.0:
        return end
    if not start.any() or not end.any():
        return start
    # atan2 of the chords keeps its digits at both ends, where arccos loses half of them.
    omega = 2.0 * math.atan2(float(np.linalg.norm(start - end)), float(np.linalg.norm(start + end)))
    if omega < _PARALLEL:
        return unit((1.0 - w) * start + w * end)
    if math.pi - omega < _PARALLEL:
        return start
    return unit((math.sin((1.0 - w) * omega) * start + math.sin(w * omega) * end) / math.sin(omega))


def control_vectors(
    x: AnyFloats, profile: EmbeddingProfile, *, dimension: int = CONTROL_DIMENSION
) -> FloatArray:
    """Shorten embeddings, (n, d) or (d,), to what signals and selection are computed with.

    A renormalised prefix of ``dimension`` components where the model supports that, else the full
    vector; thresholds (SIMILAR_TO, duplicates, goal alignment) always use the full vectors.
    """
    values = np.asarray(x)
    return unit(values[..., :dimension] if profile.matryoshka else values)
