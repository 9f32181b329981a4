"""The signals of one iteration, computed from the evidence before and after it (algorithms.md 2).

``compute_signals`` takes the previous iteration's signals and the graph's arrays and gives the new
signals. An `IterationSignals` holds all the history that the next one needs, so a stored record is
enough to go on from; bases and gap are recomputed from the graph.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

import numpy as np

from lethe_core.control.basis import (
    DEFAULT_BASIS,
    BasisConfig,
    EvidenceBasis,
    coverage,
    goal_coverage,
    goal_gap,
    novelty,
    overlap,
)
from lethe_core.control.vectors import alignments, clamp01
from lethe_core.graph.arrays import AnyFloats, BoolArray, FloatArray


@dataclass(frozen=True, slots=True)
class SignalsConfig:
    """Constants of the signals."""

    basis: BasisConfig = DEFAULT_BASIS
    zero_yield_step: float = 0.08  # added to convergence for each fruitless iteration in a row
    plateau_scale: float = 0.02  # a mean gain of this size leaves a plateau of 1/e
    plateau_window: int = 3
    plateau_min_gains: int = 2
    complexity_novelty: float = 0.5
    complexity_uncovered: float = 0.3
    complexity_spread: float = 0.2


DEFAULT_SIGNALS = SignalsConfig()


class CallOutcome(StrEnum):
    """What one tool call came to."""

    YIELDED = "yielded"  # answered, with something new and on topic
    NOTHING = "nothing"  # answered, without
    FAILED = "failed"  # network or provider: says nothing about what there is to find


@dataclass(frozen=True, slots=True)
class IterationSignals:
    """What an iteration came to; every number finite, the shares in [0, 1]. JSON by `as_record`."""

    coverage: float  # of the goal
    goal_coverage: float  # mean over the goal and the live tasks
    gap_norm: float
    novelty: float
    overlap: float
    raw_convergence: float  # overlap · (1 − novelty), carried over when nothing changed
    convergence: float
    plateau: float
    complexity: float
    n_zero_yield: int  # consecutive iterations whose calls answered and yielded nothing
    n_failed_search: int  # consecutive iterations whose calls all failed
    gains: tuple[float, ...]  # of goal coverage, the last few iterations, newest last

    @property
    def gain(self) -> float:
        """The last gain of goal coverage; 0 before the first."""
        return self.gains[-1] if self.gains else 0.0

    def as_record(self) -> dict[str, Any]:
        """Plain values that JSON keeps exactly."""
        record = asdict(self)
        record["gains"] = list(self.gains)
        return record

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> "IterationSignals":
        """The inverse of `as_record`."""
        return cls(**{**record, "gains": tuple(record["gains"])})


INITIAL_SIGNALS = IterationSignals(
    coverage=0.0,
    goal_coverage=0.0,
    gap_norm=1.0,
    novelty=0.0,
    overlap=0.0,
    raw_convergence=0.0,
    convergence=0.0,
    plateau=0.0,
    complexity=1.0,
    n_zero_yield=0,
    n_failed_search=0,
    gains=(),
)
"""Before the first iteration."""


@dataclass(frozen=True, slots=True)
class IterationArrays:
    """What one iteration did to the non-superseded evidence, in control vectors (document mode)."""

    goal: FloatArray  # (d,)
    live_tasks: FloatArray  # (m, d): every task that has not FAILED at the end, without the root
    survivors: BoolArray  # (m,): which of them were alive at the end of the iteration before
    before: EvidenceBasis
    after: EvidenceBasis
    changed: bool  # whether the iteration added, superseded or re-weighted evidence
    new_vectors: FloatArray  # (b, d) evidence that this iteration added, in the order of ingestion
    new_alignments: FloatArray  # (b,) its gated goal alignments (algorithms.md 8)
    calls: tuple[CallOutcome, ...] = ()


def call_yields(
    new_items: AnyFloats, goal_query: AnyFloats | None, task_query: AnyFloats | None, ga_floor: float
) -> bool:
    """Whether a tool call brought at least one new item that is on the goal's or on its task's topic.

    new_items: (b, d) full document vectors of the items that were new; the queries: (d,) full query
    vectors, None when missing; ga_floor: normalised cosine, the profile's.
    """
    if np.shape(new_items)[0] == 0:
        return False
    best = np.maximum(alignments(new_items, goal_query), alignments(new_items, task_query))
    return bool(best.max() >= ga_floor)


def next_zero_yield(count: int, calls: Sequence[CallOutcome]) -> int:
    """Count on the iterations in a row that found nothing; without an answered call the count stands."""
    answered = [call for call in calls if call is not CallOutcome.FAILED]
    if not answered:
        return count
    return 0 if CallOutcome.YIELDED in answered else count + 1


def next_failed_search(count: int, calls: Sequence[CallOutcome]) -> int:
    """Count on the iterations in a row whose every call failed; without a call the count stands."""
    if not calls:
        return count
    return count + 1 if all(call is CallOutcome.FAILED for call in calls) else 0


def plateau_of(gains: Sequence[float], *, config: SignalsConfig = DEFAULT_SIGNALS) -> float:
    """How flat goal coverage has become, in [0, 1]: exp(−mean positive gain / .02) over the last three.

    0 until two gains exist. The mean is over the last iterations, not over the last positive gains:
    over these it would freeze at 0 and a fruitless session run to its cap.
    """
    if len(gains) < config.plateau_min_gains:
        return 0.0
    recent = gains[-config.plateau_window :]
    mean = sum(max(0.0, gain) for gain in recent) / len(recent)
    return math.exp(-mean / config.plateau_scale)


def complexity_of(
    novelty: float, goal_coverage: float, basis: EvidenceBasis, *, config: SignalsConfig = DEFAULT_SIGNALS
) -> float:
    """How much there is to think about, in [0, 1]: new material, open questions, spread of the evidence."""
    k = basis.singular_values.size
    spread = 0.0
    if k >= 2:
        shares = basis.singular_values**2 / np.sum(basis.singular_values**2)
        spread = float(-np.sum(shares * np.log(np.maximum(shares, np.finfo(np.float64).tiny)))) / math.log(k)
    return clamp01(
        config.complexity_novelty * novelty
        + config.complexity_uncovered * (1.0 - goal_coverage)
        + config.complexity_spread * spread
    )


def compute_signals(
    previous: IterationSignals, arrays: IterationArrays, *, config: SignalsConfig = DEFAULT_SIGNALS
) -> IterationSignals:
    """The signals at the end of an iteration; `INITIAL_SIGNALS` is the previous of the first.

    Every number of the result is finite, the shares in [0, 1], whatever the arrays hold; costs nothing that
    grows with the evidence but for what the iteration added.
    """
    old, new = arrays.before, arrays.after
    fresh = novelty(old, arrays.new_vectors, arrays.new_alignments)
    stayed = overlap(old, new)
    raw = clamp01(stayed * (1.0 - fresh)) if arrays.changed else previous.raw_convergence

    both_ends = arrays.live_tasks[arrays.survivors]
    gain = goal_coverage(new, arrays.goal, both_ends, config=config.basis) - goal_coverage(
        old, arrays.goal, both_ends, config=config.basis
    )
    gains = (*previous.gains, gain)[-config.plateau_window :]
    covered = goal_coverage(new, arrays.goal, arrays.live_tasks, config=config.basis)
    n_zero_yield = next_zero_yield(previous.n_zero_yield, arrays.calls)
    return IterationSignals(
        coverage=float(coverage(new, arrays.goal[None, :], config=config.basis)[0]),
        goal_coverage=covered,
        gap_norm=goal_gap(new, arrays.goal, config=config.basis).norm,
        novelty=fresh,
        overlap=stayed,
        raw_convergence=raw,
        convergence=clamp01(raw + config.zero_yield_step * n_zero_yield),
        plateau=plateau_of(gains, config=config),
        complexity=complexity_of(fresh, covered, new, config=config),
        n_zero_yield=n_zero_yield,
        n_failed_search=next_failed_search(previous.n_failed_search, arrays.calls),
        gains=gains,
    )
