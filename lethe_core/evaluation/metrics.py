"""How good a ranking is, and how sure that is: recall, all evidence, bootstrap intervals.

Pure functions of ids and numbers; nothing here knows where a ranking comes from.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from lethe_core.errors import ConfigError
from lethe_core.graph.arrays import AnyFloats

_BLOCK = 1_000_000  # draws made at once: 8 MB


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean and where it may lie."""

    mean: float
    low: float
    high: float


def recall_at(ranking: Sequence[str], gold: Collection[str], k: int) -> float:
    """Share of the gold ids among the first k of a ranking, in [0, 1].

    An id that stands twice counts once and takes two places. Raises ConfigError for k < 1 or no gold.
    """
    wanted = _checked(gold, k)
    return len(wanted.intersection(ranking[:k])) / len(wanted)


def all_evidence_at(ranking: Sequence[str], gold: Collection[str], k: int) -> bool:
    """Whether every gold id is among the first k of a ranking. Raises ConfigError for k < 1 or no gold."""
    return _checked(gold, k) <= set(ranking[:k])


def bootstrap_mean(
    values: AnyFloats | Sequence[float], *, level: float = 0.95, resamples: int = 2000, seed: int = 0
) -> Interval:
    """The mean of n values with its percentile bootstrap interval, the values drawn with replacement.

    The same values give the same interval. Of the difference of two methods give the differences, question by
    question: their interval is narrower than the two intervals suggest, since the questions are the same.
    Raises ConfigError on no values, a value that is not finite, a level outside (0, 1), or no resamples.
    """
    sample = np.asarray(values, dtype=np.float64)
    if sample.ndim != 1 or sample.size == 0 or not np.isfinite(sample).all():
        raise ConfigError(
            f"{sample.size} values of shape {sample.shape}: one row of finite numbers is needed"
        )
    if not 0.0 < level < 1.0:
        raise ConfigError(f"the interval's level is {level}; it must lie between 0 and 1")
    if resamples < 1:
        raise ConfigError(f"resamples is {resamples}; it must be at least 1")
    random = np.random.default_rng(seed)
    rows = max(1, _BLOCK // sample.size)
    means = np.concatenate(
        [
            sample[random.integers(0, sample.size, (min(rows, resamples - start), sample.size))].mean(axis=1)
            for start in range(0, resamples, rows)
        ]
    )
    low, high = np.quantile(means, [(1.0 - level) / 2.0, (1.0 + level) / 2.0])
    mean = float(sample.mean())
    # Rounding of the resampled means: of equal values the interval is the value.
    return Interval(mean, min(float(low), mean), max(float(high), mean))


def _checked(gold: Collection[str], k: int) -> set[str]:
    if k < 1:
        raise ConfigError(f"k is {k}; it must be at least 1")
    if not gold:
        raise ConfigError("a question without gold ids has no recall")
    return set(gold)
