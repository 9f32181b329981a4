"""The score by which candidates for the context are weighed (algorithms.md 5.2).

A weighted mean of goal alignment, PageRank, strength and novelty; budget pressure moves weight to
alignment. What fits into the context is packing's business.
"""

import math
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import astuple, dataclass
from typing import Final

import numpy as np

from lethe_core.context.ranking import best_first
from lethe_core.control.vectors import clamp01
from lethe_core.errors import ConfigError
from lethe_core.graph.arrays import BoolArray, FloatArray, IntArray, Matrix

SOURCE_SHARE: Final = 0.1  # by which each better item of the same source divides: the 11th counts half


@dataclass(frozen=True, slots=True)
class ScoringConfig:
    """Weights at pressure 0, which add up to 1, and how far full pressure moves the first."""

    alignment: float = 0.35
    alignment_under_pressure: float = 0.35  # added at pressure 1
    pagerank: float = 0.40
    strength: float = 0.15
    novelty: float = 0.10


@dataclass(frozen=True, slots=True)
class ScoreWeights:
    """What each term counts at one pressure; they add up to 1."""

    alignment: float
    pagerank: float
    strength: float
    novelty: float


def score_weights(pressure: float, *, config: ScoringConfig | None = None) -> ScoreWeights:
    """Weights at a budget pressure, clamped to [0, 1]: alignment .35 + .35·p², the others scaled to the rest.

    Raises ConfigError for a configuration whose weights are negative, do not add up to 1, or leave
    nothing for the others at full pressure.
    """
    config = config or ScoringConfig()
    others = config.pagerank + config.strength + config.novelty
    if (
        min(astuple(config)) < 0.0
        or others <= 0.0
        or not math.isclose(config.alignment + others, 1.0, abs_tol=1e-9)
    ):
        raise ConfigError(f"score weights must be non-negative and add up to 1: {config}")
    if config.alignment + config.alignment_under_pressure > 1.0:
        raise ConfigError(f"alignment may not weigh more than 1 under full pressure: {config}")
    p = float(clamp01(pressure))
    alignment = config.alignment + config.alignment_under_pressure * p**2
    scale = (1.0 - alignment) / others
    return ScoreWeights(
        alignment=alignment,
        pagerank=config.pagerank * scale,
        strength=config.strength * scale,
        novelty=config.novelty * scale,
    )


def pagerank_term(pagerank: FloatArray) -> FloatArray:
    """√(π/π_max): (n,) in [0, 1], the best of those given 1; all 0 when none has any mass."""
    mass = np.clip(np.nan_to_num(np.asarray(pagerank, dtype=np.float64), nan=0.0), 0.0, None)
    largest = float(mass.max(initial=0.0))
    term: FloatArray = np.sqrt(mass / largest) if largest > 0.0 else np.zeros_like(mass)
    return term


def novelty_term(vectors: Matrix, required: Matrix) -> FloatArray:
    """1 − the largest cosine to a required item: (n,) in [0, 1].

    vectors: (n, d), required: (m, d), unit rows. With nothing required all is new; a zero row (no
    embedding) counts 0, since nothing is known to be new about it.
    """
    if vectors.ndim != 2 or required.ndim != 2 or (len(required) and vectors.shape[1] != required.shape[1]):
        raise ConfigError(f"vectors {vectors.shape} and required {required.shape} are not of one dimension")
    present: BoolArray = np.any(vectors != 0.0, axis=1)
    if not len(required):
        return present.astype(np.float64)
    nearest = (vectors @ required.T).max(axis=1).astype(np.float64)
    return clamp01(np.where(present, 1.0 - nearest, 0.0))


def score_candidates(
    alignment: FloatArray,
    pagerank: FloatArray,
    strength: FloatArray,
    novelty: FloatArray,
    pressure: float,
    *,
    config: ScoringConfig | None = None,
) -> FloatArray:
    """Score n candidates: (n,) in [0, 1], non-decreasing in each term.

    alignment: (n,) normalised cosine to the goal, [0, 1]; pagerank: (n,) mass of the walk, any scale
    (its largest value here counts as 1); strength: (n,) [0, 1], 1 for a task; novelty: (n,) [0, 1];
    pressure: budget pressure, [0, 1]. Values outside their range are clamped, NaN counts 0.
    Raises ConfigError when the arrays differ in length.
    """
    shapes = {np.shape(term) for term in (alignment, pagerank, strength, novelty)}
    if len(shapes) != 1 or len(next(iter(shapes))) != 1:
        raise ConfigError(f"the terms of the score must be of one length, got shapes {sorted(shapes)}")
    weights = score_weights(pressure, config=config)
    total = (
        weights.alignment * clamp01(alignment)
        + weights.pagerank * pagerank_term(pagerank)
        + weights.strength * clamp01(strength)
        + weights.novelty * clamp01(novelty)
    )
    return clamp01(total)


def spread(scores: FloatArray, sources: Sequence[Hashable], *, share: float = SOURCE_SHARE) -> FloatArray:
    """Scores of n items, each divided by 1 + share × the number of better ones of its source: (n,).

    The rows of one table are alike, and a question about one of them is near all: undivided, they would
    take the room from every other source.
    """
    before: Counter[Hashable] = Counter()
    divided = np.array(scores, dtype=np.float64)
    items = Counter(sources)
    several = np.array([index for index, source in enumerate(sources) if items[source] > 1], dtype=np.int64)
    for index in several[best_first(divided[several])]:
        divided[index] /= 1.0 + share * before[sources[index]]
        before[sources[index]] += 1
    return divided


def alternating_order(*rankings: FloatArray) -> IntArray:
    """Indexes of n items, the best of each of several scores in turn; each item once, ties by index.

    rankings: (n,) each, higher is better. A score that mixes many things, and one that is only about the
    question, are right about different items: taken in turn, neither hides what the other sees.
    """
    orders = [best_first(scores) for scores in rankings]
    taken = np.stack(orders, axis=1).ravel() if orders and len(orders[0]) else np.zeros(0, dtype=np.int64)
    return np.array(list(dict.fromkeys(taken.tolist())), dtype=np.int64)
