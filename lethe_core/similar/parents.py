"""Whether two nodes lie beneath the same parent, asked for many pairs at once (algorithms.md 6)."""

from collections.abc import Collection, Sequence
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array

from lethe_core.graph.arrays import BoolArray, IntArray


class Parents:
    """The parents of n rows, most of which have one."""

    def __init__(self, parents: Sequence[Collection[int]]) -> None:
        """parents: for each row the ids of its parents, none for a row that shares with no other."""
        self._parents = parents
        self._count = np.full(
            len(parents), -1
        )  # -1: not looked at yet, since most rows are never asked about
        self._first = np.full(len(parents), -1)

    def first(self, rows: IntArray) -> IntArray:
        """The lowest parent of each row, (p,); -1 for a row without any."""
        unseen = np.unique(rows[self._count[rows] < 0])
        own = [self._parents[row] for row in unseen.tolist()]
        self._count[unseen] = [len(parents) for parents in own]
        self._first[unseen] = [min(parents, default=-1) for parents in own]
        return self._first[rows]

    def in_order(self, order: IntArray) -> "Parents":
        """The same rows in another order: (n,) a permutation."""
        return Parents([self._parents[row] for row in order.tolist()])

    def shared(self, a: IntArray, b: IntArray) -> BoolArray:
        """Whether rows a[k] and b[k] have a parent in common: (p,)."""
        first, other = self.first(a), self.first(b)
        common: BoolArray = (first == other) & (self._count[a] > 0)
        unclear = np.flatnonzero(~common & ((self._count[a] > 1) | (self._count[b] > 1)))
        if unclear.size:
            both = self._members[a[unclear]].multiply(self._members[b[unclear]])
            common[unclear] = np.asarray(both.sum(axis=1)).ravel() > 0
        return common

    @cached_property
    def _members(self) -> csr_array:
        """Rows by parents, 1 where the row has the parent: only rows of several are asked about."""
        lists = [sorted(set(own)) for own in self._parents]
        known = {parent: at for at, parent in enumerate(sorted({p for own in lists for p in own}))}
        starts = np.concatenate([[0], np.cumsum([len(own) for own in lists], dtype=np.int64)])
        columns = np.array([known[parent] for own in lists for parent in own], dtype=np.int64)
        ones = np.ones(columns.size, dtype=np.int32)
        return csr_array((ones, columns, starts), shape=(len(lists), max(1, len(known))))
