"""Cross-parent pairs against an all-against-all reference."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lethe_core.errors import ConfigError
from lethe_core.similar.pairs import SimilarPairs, similar_pairs
from lethe_core.similar.prefilter import Groups

BAND = 1e-6
quick = settings(max_examples=60, deadline=None)
worlds = st.tuples(st.integers(0, 100_000), st.integers(0, 40), st.integers(1, 24), st.floats(0.05, 0.99))


def world(seed: int, n: int, d: int) -> tuple[np.ndarray, list[frozenset[int]]]:
    """Vectors about three topics, and one to three parents each, sometimes none; ids with gaps."""
    rng = np.random.default_rng(seed)
    topics = rng.normal(size=(3, d))
    rows = topics[rng.integers(0, 3, n)] + 0.6 * rng.normal(size=(n, d))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    parents = [frozenset((rng.integers(0, 6, rng.integers(0, 4)) * 17).tolist()) for _ in range(n)]
    return rows.astype(np.float32), parents


def as_set(pairs: SimilarPairs) -> set[tuple[int, int]]:
    return set(zip(pairs.i.tolist(), pairs.j.tolist(), strict=True))


def with_cosines(pairs: SimilarPairs) -> dict[tuple[int, int], float]:
    return dict(zip(zip(pairs.i.tolist(), pairs.j.tolist(), strict=True), pairs.cosine.tolist(), strict=True))


def reference(rows, parents, threshold, new=None) -> set[tuple[int, int]]:
    exact = rows.astype(np.float64)
    return {
        (i, j)
        for i in range(len(rows))
        for j in range(i + 1, len(rows))
        if not parents[i] & parents[j]
        and float(exact[i] @ exact[j]) >= threshold
        and (new is None or i in new or j in new)
    }


def assert_exact(pairs: SimilarPairs, rows, parents, threshold, new=None) -> None:
    found = as_set(pairs)
    assert len(found) == len(pairs)
    assert found >= reference(rows, parents, threshold + BAND, new)
    assert found <= reference(rows, parents, threshold - BAND, new)
    assert list(zip(pairs.i.tolist(), pairs.j.tolist(), strict=True)) == sorted(found)
    expected = np.sum(rows[pairs.i].astype(np.float64) * rows[pairs.j], axis=1)
    assert pairs.cosine == pytest.approx(expected, abs=BAND)


@quick
@given(worlds, st.integers(1, 50))
def test_pairs_are_those_of_all_against_all_whatever_the_block(given_world, block):
    seed, n, d, threshold = given_world
    rows, parents = world(seed, n, d)
    assert_exact(similar_pairs(rows, parents, threshold, block_rows=block), rows, parents, threshold)


@quick
@given(worlds, st.integers(1, 50), st.floats(0, 1))
def test_new_rows_bring_exactly_the_pairs_that_have_one_of_them(given_world, block, share):
    seed, n, d, threshold = given_world
    rows, parents = world(seed, n, d)
    new = np.flatnonzero(np.random.default_rng(seed).random(n) < share)
    pairs = similar_pairs(rows, parents, threshold, new=new, block_rows=block)
    assert_exact(pairs, rows, parents, threshold, set(new.tolist()))


@quick
@given(worlds)
def test_a_graph_that_grew_step_by_step_has_the_pairs_of_the_whole_to_the_bit(given_world):
    seed, n, d, threshold = given_world
    rows, parents = world(seed, n, d)
    grown: dict[tuple[int, int], float] = {}
    cuts = [0, n // 3, n // 2, n]
    for start, end in pairwise(cuts):
        step = similar_pairs(rows[:end], parents[:end], threshold, new=np.arange(start, end))
        assert not grown.keys() & as_set(step)
        grown |= with_cosines(step)
    assert grown == with_cosines(similar_pairs(rows, parents, threshold))


@quick
@given(worlds, st.integers(1, 12), st.sampled_from([0.02, 0.2, 0.6]), st.integers(1, 30))
def test_comparing_groups_by_their_centroids_first_loses_no_pair(given_world, groups, spread, block):
    seed, n, d, threshold = given_world
    rng = np.random.default_rng(seed)
    centres, group = rng.normal(size=(groups, d)), rng.integers(0, groups, n)
    rows = centres[group] / np.linalg.norm(centres[group], axis=1, keepdims=True)
    rows = rows + spread * rng.normal(size=(n, d))
    rows = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    rows[rng.random(n) < 0.05] = 0.0
    # A group is what lies beneath one task, with some found by another task too, and some by none.
    parents = [{int(own)} | ({int(rng.integers(groups))} if rng.random() < 0.2 else set()) for own in group]
    parents = [set() if rng.random() < 0.05 else own for own in parents]
    pairs = similar_pairs(rows, parents, threshold, block_rows=block, prefilter=True)
    assert_exact(pairs, rows, parents, threshold)


def test_groups_that_are_far_apart_are_not_compared():
    rows = np.eye(4, dtype=np.float32)[[0, 0, 1, 1, 0]]
    groups = Groups(rows, np.array([7, 7, 9, 9, 8]))
    assert groups.of.tolist() == [0, 0, 2, 2, 1]
    assert groups.reachable(np.array([0, 1]), 0.5).tolist() == [True, True, False]
    assert groups.reachable(np.array([0, 2]), 0.5).tolist() == [True, True, True]


def test_one_shared_parent_of_several_is_enough_to_leave_a_pair_out():
    same = np.tile(np.array([1.0, 0.0], dtype=np.float32), (5, 1))
    parents = [{1}, {1, 2}, {2}, {3}, set()]
    assert as_set(similar_pairs(same, parents, 0.5)) == {
        (0, 2), (0, 3), (0, 4), (1, 3), (1, 4), (2, 3), (2, 4), (3, 4),
    }  # fmt: skip


def test_a_row_without_embedding_pairs_with_nothing_and_no_cosine_exceeds_one():
    rows = np.array([[1.0000002, 0.0], [1.0, 0.0], [0.0, 0.0]], dtype=np.float32)
    pairs = similar_pairs(rows, [{1}, {2}, {3}], 0.05)
    assert as_set(pairs) == {(0, 1)}
    assert pairs.cosine.max() <= 1.0


def test_nothing_gives_no_pairs():
    empty = np.zeros((0, 4), dtype=np.float32)
    assert len(similar_pairs(empty, [], 0.5)) == 0
    one = np.ones((1, 1), dtype=np.float32)
    assert len(similar_pairs(one, [set()], 0.5)) == 0
    assert len(similar_pairs(one, [set()], 0.5, new=np.zeros(0, dtype=np.int64))) == 0


@pytest.mark.parametrize("threshold", [0.0, -0.2, 1.1, float("nan")])
def test_a_threshold_that_would_pair_everything_or_nothing_is_refused(threshold):
    with pytest.raises(ConfigError, match="similar_threshold"):
        similar_pairs(np.zeros((0, 4), dtype=np.float32), [], threshold)


def test_what_would_give_wrong_pairs_is_refused():
    rows = np.eye(3, dtype=np.float32)
    with pytest.raises(ConfigError, match="must be as many"):
        similar_pairs(rows, [{1}], 0.5)
    with pytest.raises(ConfigError, match="not all among the 3 rows"):
        similar_pairs(rows, [{1}, {2}, {3}], 0.5, new=np.array([1, 3]))
    rows[1, 2] = np.nan
    with pytest.raises(ConfigError, match="row 1 holds NaN"):
        similar_pairs(rows, [{1}, {2}, {3}], 0.5)
