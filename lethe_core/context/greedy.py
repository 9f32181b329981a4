"""The greedy choice behind packing: a set in the making, and what each item would add (algorithms.md 5.3).

The gain of y given S is log(1 + yᵀMy/λ) with M = (I + Y_SᵀY_S/λ)⁻¹. M = I − UᵀU, where each choice adds
one row u = My/√(λ + yᵀMy) to U; u·y_i is the entry that an incremental Cholesky factorisation would append
for candidate i, but it depends on no other entry of that candidate. So many candidates that fell behind
are brought up to date by one matrix product, which is what makes the lazy greedy fast in numpy.
"""

import numpy as np

from lethe_core.graph.arrays import FloatArray, IntArray

NOTHING = 1e-12  # a smaller residual, or difference of F in nats, is rounding
_TIE = 1e-12  # relative; equal items may differ by rounding, and the first of them is taken
_BATCH = 32  # candidates brought up to date together; 16 and 32 are equally fast, 8 and 64 slower
_BATCHES = 500  # of very many candidates so much more at a time that finding them costs less than the product
_BLOCK = 4096  # the same when all are: bounds the memory of one matrix product


class Selection:
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

    def copy(self) -> "Selection":
        return self.prefix(len(self.order), self.residual, self.seen)

    def prefix(self, length: int, residual: FloatArray, seen: IntArray) -> "Selection":
        """The selection as it stood after its first ``length`` choices, with what is known of the others."""
        other = Selection.__new__(Selection)
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
        priority[self.taken | (self.residual <= NOTHING)] = 0.0
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
            priority[batch] = np.where(residual > NOTHING, self.gains(residual) / cost[batch], 0.0)

    def _most_promising_stale(self, priority: FloatArray, pick: int) -> IntArray:
        most = max(_BATCH, len(priority) // _BATCHES)
        leading = (
            np.argpartition(priority, -most)[-most:] if len(priority) > most else np.arange(len(priority))
        )
        stale = leading[(self.seen[leading] < len(self.order)) & (priority[leading] > 0.0)]
        return np.append(stale[stale != pick], pick)

    def worth_most(self, count: int) -> list[int]:
        """The items of the largest gain among those that fit, at most ``count``, best first."""
        gains = np.where((self.sizes <= self.remaining) & ~self.taken, self.gains(self.residual), 0.0)
        leading = np.argsort(-gains, kind="stable")[:count]
        return [int(item) for item in leading if gains[item] > NOTHING]

    def or_better(self, start: "Selection", shortest: int, *, per_token: bool) -> "Selection":
        """This selection, or what greedy choice from ``start`` reaches when that is worth more."""
        greedy = start.copy()
        greedy.extend(per_token=per_token)
        best = greedy if greedy.value > self.value + NOTHING else self
        return greedy.best_prefix_and_item(shortest, worth_more_than=best.value) or best

    def best_prefix_and_item(self, shortest: int, *, worth_more_than: float) -> "Selection | None":
        """The best of all sets "a prefix of the choices, at least ``shortest`` long, and one item that fits".

        What room is left after it is filled by gain per token. None when no such set is worth more.
        """
        target = worth_more_than + NOTHING
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
