"""Fusion and the choice of chunks: figures by hand, and what holds for all."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lethe_core.adapters.sources.ranking import best_first, chosen_chunks, fused, ranked


def test_reciprocal_rank_fusion_by_hand() -> None:
    scores = fused([np.array([2, 0]), np.array([0])], 3, 60.0)
    assert scores == pytest.approx([1 / 62 + 1 / 61, 0.0, 1 / 61])
    assert best_first(scores).tolist() == [0, 2]


def test_ties_go_by_order() -> None:
    assert ranked(np.array([1.0, 3.0, 3.0, 0.0]), 0.0, 9).tolist() == [1, 2, 0]


def test_of_a_long_page_the_best_come_with_their_neighbours() -> None:
    scores = np.zeros(10)
    scores[[4, 9]] = (1.0, 2.0)
    assert chosen_chunks(scores, whole=9, best=2) == [3, 4, 5, 8, 9]
    assert chosen_chunks(scores, whole=10, best=2) == list(range(10))


def test_where_nothing_scores_the_beginning_is_taken() -> None:
    assert chosen_chunks(np.zeros(10), whole=5, best=3) == [0, 1, 2, 3]


@given(
    scores=st.lists(st.floats(0, 1), max_size=90).map(np.array),
    whole=st.integers(1, 60),
    best=st.integers(1, 40),
)
def test_chosen_chunks_are_in_order_and_hold_the_best(scores: np.ndarray, whole: int, best: int) -> None:
    chosen = chosen_chunks(scores, whole=whole, best=min(best, whole))
    assert chosen == sorted(set(chosen))
    assert set(best_first(scores)[: min(best, whole)].tolist()) <= set(chosen)
    assert len(chosen) >= min(len(scores), best, whole)


@given(st.lists(st.permutations(range(6)), min_size=1, max_size=3), st.permutations(range(6)))
def test_fusion_does_not_depend_on_the_order_of_the_lists(lists: list[list[int]], order: list[int]) -> None:
    arrays = [np.array(one) for one in lists]
    del order
    assert fused(arrays, 6, 60.0) == pytest.approx(fused(arrays[::-1], 6, 60.0))
