"""Packing the context: marginal information gain under a token budget (algorithms.md 5.3).

Chooses the set S that maximises F(S) = log det(I + Y_S Y_Sᵀ/λ), y_i = √score_i · x_i, within a number of
tokens. F is monotone and submodular, so greedy choice is near the best and the gains left at its end
bound what any choice could reach; that bound is returned with the choice.

The gain of y given S is log(1 + yᵀMy/λ) with M = (I + Y_SᵀY_S/λ)⁻¹. M = I − UᵀU, where each choice adds
one row u = My/√(λ + yᵀMy) to U; u·y_i is the entry that an incremental Cholesky factorisation would append
for candidate i, but it depends on no other entry of that candidate. So many candidates that fell behind
are brought up to date by one matrix product, which is what makes the lazy greedy fast in numpy.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lethe_core.errors import ConfigError
from lethe_core.graph.arrays import AnyFloats, FloatArray, IntArray

_NOTHING = 1e-12  # a smaller residual, or difference of F in nats, is rounding
_TIE = 1e-12  # relative; equal items may differ by rounding, and the first of them is taken
_BATCH = 32  # candidates brought up to date together; 16 and 32 are equally fast, 8 and 64 slower
_BLOCK = 4096  # the same when all are: bounds the memory of one matrix product


@dataclass(frozen=True, slots=True)
class PackingConfig:
    """λ, against which information is measured: smaller means that near-copies still count for something."""

    regularisation: float = 0.1
    # Where few items fit, the first choice decides too much: up to that many chosen items, the choice is
    # tried again from each of the items that are worth most. Against the optimum of 1,500 small cases
    # the worst ratio rises from .76 to .93, the mean from .9991 to .9998.
    few_items: int = 8
    first_choices: int = 8


@dataclass(frozen=True, slots=True)
class Packing:
    """What goes into the context."""

    required: tuple[int, ...]  # required items that fit, in the order of their importance
    chosen: tuple[int, ...]  # the others, in order of choice
    dropped_required: tuple[int, ...]  # required items that did not fit: to be said
    tokens: int  # of required and chosen together
    value: float  # F, nats
    bound: float  # no choice with these required items reaches more than this; ≥ value

    @property
    def selected(self) -> tuple[int, ...]:
        """Required and chosen items."""
        return self.required + self.chosen


def information(vectors: AnyFloats, scores: AnyFloats, *, config: PackingConfig | None = None) -> float:
    """F of all the given items: log det(I + Y Yᵀ/λ), in nats, ≥ 0.

    vectors: (n, d); scores: (n,) non-negative.
    """
    config = config or PackingConfig()
    rows = _weighted_rows(vectors, scores)
    gram = rows @ rows.T if rows.shape[0] <= rows.shape[1] else rows.T @ rows
    return float(np.linalg.slogdet(np.eye(len(gram)) + gram / config.regularisation)[1])


def pack(
    vectors: AnyFloats,
    scores: AnyFloats,
    tokens: Sequence[int] | IntArray,
    budget: int,
    *,
    required: Sequence[int] = (),
    config: PackingConfig | None = None,
) -> Packing:
    """Choose items for a context of at most ``budget`` tokens.

    vectors: (n, d) unit rows (a zero row is never chosen); scores: (n,) non-negative, [0, 1] in a
    context; tokens: (n,) of each item as it will be written, at least 1; required: indexes in order of
    importance (the task, its parent, dependencies newest first), kept first and as far as they fit.
    Deterministic: of equal items the one with the lower index is taken. Items without information given
    the others are left out even when they would fit.
    Raises ConfigError on shapes that do not agree, values outside these ranges, or a negative budget.
    """
    config = config or PackingConfig()
    rows = _weighted_rows(vectors, scores)
    sizes = _checked_sizes(tokens, len(rows))
    _check_request(budget, required, len(rows), config)

    kept: list[int] = []
    dropped: list[int] = []
    start = _Selection(rows, sizes, config.regularisation, budget)
    for item in required:
        if sizes[item] <= start.remaining:
            start.add(item)
            kept.append(item)
        else:
            dropped.append(item)
    start.refresh()
    bound = start.bound(start.remaining)

    best = start
    if len(sizes) == 0 or sizes.min() == sizes.max():
        best = best.or_better(start, len(kept), per_token=True)  # both orders of choice are the same
    else:
        for per_token in (True, False):
            best = best.or_better(start, len(kept), per_token=per_token)
        if len(best.order) - len(kept) <= config.few_items:
            for item in start.worth_most(config.first_choices):
                begun = start.copy()
                begun.add(item)
                best = best.or_better(begun, len(kept) + 1, per_token=True)
    best.refresh()
    bound = min(bound, best.bound(start.remaining))
    return Packing(
        required=tuple(kept),
        chosen=tuple(best.order[len(kept) :]),
        dropped_required=tuple(dropped),
        tokens=budget - best.remaining,
        value=best.value,
        bound=max(bound, best.value),
    )


def select_diverse(
    vectors: AnyFloats,
    relevance: AnyFloats,
    limit: int,
    *,
    required: Sequence[int] = (),
    config: PackingConfig | None = None,
) -> tuple[int, ...]:
    """Choose at most ``limit`` items that are relevant and say different things, in order of choice.

    vectors: (n, d) unit rows; relevance: (n,) non-negative. The same choice as ``pack`` with items of
    one token each; required items come first and count. Raises ConfigError as ``pack`` does.
    """
    sizes = np.ones(len(vectors), dtype=np.int64)
    return pack(vectors, relevance, sizes, limit, required=required, config=config).selected


class _Selection:
    """A set in the making: its directions U, its F, and for every item an upper bound of yᵀMy."""

    def __init__(self, rows: FloatArray, sizes: IntArray, regularisation: float, budget: int) -> None:
        self.rows = rows  # (n, d) y_i
        self.sizes = sizes  # (n,) tokens
        self.regularisation = regularisation
        self.remaining = budget  # tokens
        self.order: list[int] = []
        self.values = [0.0]  # F of each prefix of order
        most = int(np.searchsorted(np.cumsum(np.sort(sizes)), budget, side="right"))
        self.directions = np.empty((most, rows.shape[1]))  # the first len(order) rows are U
        self.squares: FloatArray = np.einsum("ij,ij->i", rows, rows)
        self.residual = self.squares.copy()  # (n,) yᵀMy with M of the first `seen` choices: never too small
        self.seen = np.zeros(len(rows), dtype=np.int64)
        self.taken = np.zeros(len(rows), dtype=np.bool_)

    @property
    def value(self) -> float:
        return self.values[-1]

    def copy(self) -> "_Selection":
        return self.prefix(len(self.order), self.residual, self.seen)

    def prefix(self, length: int, residual: FloatArray, seen: IntArray) -> "_Selection":
        """The selection as it stood after its first ``length`` choices, with what is known of the others."""
        other = _Selection.__new__(_Selection)
        other.rows, other.sizes, other.squares = self.rows, self.sizes, self.squares
        other.regularisation = self.regularisation
        other.order = self.order[:length]
        other.values = self.values[: length + 1]
        other.remaining = self.remaining + int(self.sizes[self.order[length:]].sum())
        other.directions = self.directions.copy()
        other.residual, other.seen = residual.copy(), seen.copy()
        other.taken = np.zeros_like(self.taken)
        other.taken[other.order] = True
        return other

    def gains(self, residual: FloatArray) -> FloatArray:
        """log(d²/λ) of the incremental Cholesky factorisation, nats."""
        gains: FloatArray = np.log1p(residual / self.regularisation)
        return gains

    def refresh(self, items: IntArray | None = None) -> None:
        """Bring the bounds of these items, by default of all, up to date: then they are exact."""
        count = len(self.order)
        items = np.flatnonzero(self.seen < count) if items is None else items
        for first in range(0, len(items), _BLOCK):
            block = items[first : first + _BLOCK]
            seen = self.seen[block]
            oldest = int(seen.min())
            entries = self.rows[block] @ self.directions[oldest:count].T
            entries[np.arange(oldest, count) < seen[:, None]] = 0.0
            lost = np.einsum("ij,ij->i", entries, entries)
            self.residual[block] = np.maximum(self.residual[block] - lost, 0.0)
            self.seen[block] = count

    def add(self, item: int) -> None:
        """Choose an item; its tokens are taken from what remains."""
        row = self.rows[item]
        used = self.directions[: len(self.order)]
        entries = used @ row
        residual = max(float(self.squares[item] - np.einsum("i,i->", entries, entries)), 0.0)
        self.directions[len(self.order)] = (row - entries @ used) / np.sqrt(self.regularisation + residual)
        self.values.append(self.value + float(np.log1p(residual / self.regularisation)))
        self.order.append(item)
        self.taken[item] = True
        self.remaining -= int(self.sizes[item])

    def extend(self, *, per_token: bool) -> None:
        """Lazy greedy: add the item of the largest gain (per token) that fits, until none adds anything."""
        cost = self.sizes.astype(np.float64) if per_token else np.ones(len(self.sizes))
        priority = self.gains(self.residual) / cost
        priority[self.taken | (self.residual <= _NOTHING)] = 0.0
        while len(priority):
            priority[self.sizes > self.remaining] = 0.0
            top = float(priority.max())
            if top <= 0.0:
                return
            pick = int(np.argmax(priority >= top * (1.0 - _TIE)))
            if self.seen[pick] == len(self.order):
                self.add(pick)
                priority[pick] = 0.0
                continue
            batch = self._most_promising_stale(priority, pick)
            self.refresh(batch)
            residual = self.residual[batch]
            priority[batch] = np.where(residual > _NOTHING, self.gains(residual) / cost[batch], 0.0)

    def _most_promising_stale(self, priority: FloatArray, pick: int) -> IntArray:
        leading = (
            np.argpartition(priority, -_BATCH)[-_BATCH:]
            if len(priority) > _BATCH
            else np.arange(len(priority))
        )
        stale = leading[(self.seen[leading] < len(self.order)) & (priority[leading] > 0.0)]
        return np.append(stale[stale != pick], pick)

    def worth_most(self, count: int) -> list[int]:
        """The items of the largest gain among those that fit, at most ``count``, best first."""
        gains = np.where((self.sizes <= self.remaining) & ~self.taken, self.gains(self.residual), 0.0)
        leading = np.argsort(-gains, kind="stable")[:count]
        return [int(item) for item in leading if gains[item] > _NOTHING]

    def or_better(self, start: "_Selection", shortest: int, *, per_token: bool) -> "_Selection":
        """This selection, or what greedy choice from ``start`` reaches when that is worth more."""
        greedy = start.copy()
        greedy.extend(per_token=per_token)
        best = greedy if greedy.value > self.value + _NOTHING else self
        return greedy.best_prefix_and_item(shortest, worth_more_than=best.value) or best

    def best_prefix_and_item(self, shortest: int, *, worth_more_than: float) -> "_Selection | None":
        """The best of all sets "a prefix of the choices, at least ``shortest`` long, and one item that fits".

        What room is left after it is filled by gain per token. None when no such set is worth more.
        """
        target = worth_more_than + _NOTHING
        largest = float(self.gains(self.squares).max(initial=0.0))
        best: tuple[int, int, FloatArray] | None = None
        residual: FloatArray | None = None
        taken, remaining = self.taken.copy(), self.remaining
        for length in range(len(self.order) - 1, shortest - 1, -1):
            # F only falls towards the front: from here on no single item can close the gap.
            if self.values[length] + largest <= target:
                break
            if residual is None:
                self.refresh()
                residual = self.residual.copy()
            # Taking the last choice back gives its entry back to every other item.
            residual += (self.rows @ self.directions[length]) ** 2
            taken[self.order[length]] = False
            remaining += int(self.sizes[self.order[length]])
            gains = np.where((self.sizes <= remaining) & ~taken, self.gains(residual), 0.0)
            item = int(np.argmax(gains >= gains.max() * (1.0 - _TIE)))
            if self.values[length] + float(gains[item]) > target:
                target = self.values[length] + float(gains[item])
                best = (length, item, residual.copy())
        if best is None:
            return None
        length, item, residual = best
        found = self.prefix(length, residual, np.full_like(self.seen, length))
        found.add(item)
        found.extend(per_token=True)
        return found

    def bound(self, budget: int) -> float:
        """F plus the fractional knapsack of the gains left, over ``budget`` tokens; all items up to date."""
        open_items = np.flatnonzero(~self.taken & (self.sizes <= budget))
        gains = self.gains(self.residual[open_items])
        sizes = self.sizes[open_items]
        order = np.argsort(-gains / sizes, kind="stable")
        gains, filled = gains[order], np.cumsum(sizes[order])
        whole = int(np.searchsorted(filled, budget, side="right"))
        total = self.value + float(gains[:whole].sum())
        if whole < len(gains):
            before = int(filled[whole - 1]) if whole else 0
            total += float(gains[whole]) * (budget - before) / int(sizes[order[whole]])
        return total


def _weighted_rows(vectors: AnyFloats, scores: AnyFloats) -> FloatArray:
    """y_i = √score_i · x_i: (n, d)."""
    rows = np.asarray(vectors, dtype=np.float64)
    weights = np.asarray(scores, dtype=np.float64)
    if rows.ndim != 2 or weights.shape != (len(rows),):
        raise ConfigError(f"vectors have shape {rows.shape}, scores {weights.shape}: must be (n, d) and (n,)")
    if not np.isfinite(rows).all():
        raise ConfigError("a vector holds NaN or infinity")
    if not (np.isfinite(weights).all() and weights.min(initial=0.0) >= 0.0):
        worst = int(np.flatnonzero(~(np.isfinite(weights) & (weights >= 0.0)))[0])
        raise ConfigError(f"score of item {worst} is {weights[worst]}, must be finite and not negative")
    return rows * np.sqrt(weights)[:, None]


def _checked_sizes(tokens: Sequence[int] | IntArray, n: int) -> IntArray:
    sizes = np.asarray(tokens, dtype=np.int64)
    if sizes.shape != (n,):
        raise ConfigError(f"tokens have shape {sizes.shape}, there are {n} items")
    if sizes.min(initial=1) < 1:
        worst = int(np.argmin(sizes))
        raise ConfigError(f"item {worst} has {sizes[worst]} tokens, must be at least 1")
    return sizes


def _check_request(budget: int, required: Sequence[int], n: int, config: PackingConfig) -> None:
    if budget < 0:
        raise ConfigError(f"token budget is {budget}, must not be negative")
    if config.regularisation <= 0.0:
        raise ConfigError(f"regularisation is {config.regularisation}, must be positive")
    if len(set(required)) != len(required) or not all(0 <= item < n for item in required):
        raise ConfigError(f"required items {list(required)} must be different ones among the {n} items")
