import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lethe_core.context.scoring import (
    ScoringConfig,
    alternating_order,
    novelty_term,
    pagerank_term,
    score_candidates,
    score_weights,
    spread,
)
from lethe_core.errors import ConfigError
from lethe_core.graph.arrays import FloatArray

unit = st.floats(0, 1)
anything = st.floats(allow_nan=True, allow_infinity=True)


def terms(rows: list[tuple[float, float, float, float]]) -> tuple[FloatArray, ...]:
    return tuple(np.array(rows, dtype=np.float64).reshape(-1, 4).T)


def test_weights_without_pressure_are_the_specified_ones() -> None:
    weights = score_weights(0.0)
    assert (weights.alignment, weights.pagerank, weights.strength, weights.novelty) == pytest.approx(
        (0.35, 0.40, 0.15, 0.10)
    )


def test_full_pressure_gives_alignment_seventy_percent_and_shrinks_the_others_alike() -> None:
    weights = score_weights(1.0)
    shrunk = 0.30 / 0.65
    assert (weights.alignment, weights.pagerank, weights.strength, weights.novelty) == pytest.approx(
        (0.70, 0.40 * shrunk, 0.15 * shrunk, 0.10 * shrunk)
    )


def test_pressure_moves_alignment_by_its_square() -> None:
    assert score_weights(0.5).alignment == pytest.approx(0.35 + 0.35 * 0.25)


@given(anything)
def test_weights_add_up_to_one_at_every_pressure(pressure: float) -> None:
    weights = score_weights(pressure)
    parts = (weights.alignment, weights.pagerank, weights.strength, weights.novelty)
    assert sum(parts) == pytest.approx(1.0)
    assert min(parts) > 0


@pytest.mark.parametrize(
    "config",
    [
        ScoringConfig(pagerank=0.5),
        ScoringConfig(alignment=-0.1, pagerank=0.85),
        ScoringConfig(alignment_under_pressure=0.9),
        ScoringConfig(alignment=1.0, pagerank=0.0, strength=0.0, novelty=0.0),
    ],
)
def test_weights_that_do_not_add_up_are_refused(config: ScoringConfig) -> None:
    with pytest.raises(ConfigError):
        score_weights(0.0, config=config)


def test_pagerank_term_is_the_root_of_the_share_of_the_best() -> None:
    assert pagerank_term(np.array([0.04, 0.01, 0.0])) == pytest.approx([1.0, 0.5, 0.0])


def test_pagerank_term_of_nothing_is_nothing() -> None:
    assert pagerank_term(np.zeros(3)).tolist() == [0.0, 0.0, 0.0]
    assert pagerank_term(np.zeros(0)).tolist() == []


def test_novelty_is_what_the_nearest_required_item_leaves() -> None:
    vectors = np.array([[1, 0], [0.6, 0.8], [-1, 0], [0, 0]], dtype=np.float32)
    required = np.array([[1, 0], [0, 1]], dtype=np.float32)
    # Nearest cosines 1, .8, 0 and, without an embedding, none.
    assert novelty_term(vectors, required) == pytest.approx([0.0, 0.2, 1.0, 0.0], abs=1e-6)


def test_an_item_opposite_to_all_that_is_required_is_no_more_than_new() -> None:
    vectors = np.array([[-1, 0]], dtype=np.float32)
    assert novelty_term(vectors, -vectors).tolist() == [1.0]


def test_everything_is_new_when_nothing_is_required() -> None:
    vectors = np.array([[1, 0], [0, 0]], dtype=np.float32)
    assert novelty_term(vectors, np.zeros((0, 2), dtype=np.float32)).tolist() == [1.0, 0.0]


def test_vectors_of_another_dimension_are_refused() -> None:
    with pytest.raises(ConfigError, match="dimension"):
        novelty_term(np.zeros((2, 3), dtype=np.float32), np.zeros((1, 2), dtype=np.float32))


def test_a_score_by_hand() -> None:
    alignment, pagerank, strength, novelty = terms([(0.8, 0.04, 0.6, 0.5), (0.5, 0.01, 1.0, 0.0)])
    scores = score_candidates(alignment, pagerank, strength, novelty, 0.0)
    # .35 · .8 + .4 · 1 + .15 · .6 + .1 · .5 = .82; .35 · .5 + .4 · .5 + .15 · 1 = .525
    assert scores == pytest.approx([0.82, 0.525])


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(anything, anything, anything, anything), max_size=8), anything)
def test_scores_lie_between_zero_and_one_whatever_comes_in(
    rows: list[tuple[float, float, float, float]], pressure: float
) -> None:
    alignment, pagerank, strength, novelty = terms(rows)
    scores = score_candidates(alignment, pagerank, strength, novelty, pressure)
    assert scores.shape == (len(rows),)
    assert ((scores >= 0) & (scores <= 1)).all()


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.tuples(unit, unit, unit, unit), min_size=2, max_size=8),
    unit,
    st.integers(0, 3),
    st.floats(0, 1),
)
def test_a_better_term_never_lowers_the_score(
    rows: list[tuple[float, float, float, float]], pressure: float, term: int, gain: float
) -> None:
    before = terms(rows)
    after = tuple(values.copy() for values in before)
    after[term][0] = min(1.0, after[term][0] + gain)
    first = score_candidates(*before, pressure)[0]
    assert score_candidates(*after, pressure)[0] >= first - 1e-12


def test_terms_of_unequal_length_are_refused() -> None:
    with pytest.raises(ConfigError, match="one length"):
        score_candidates(np.zeros(2), np.zeros(3), np.zeros(2), np.zeros(2), 0.0)


told_apart = st.integers(0, 1000).map(lambda n: n / 1000)  # what differs by less than 1e-12 is equal


@given(st.lists(st.tuples(told_apart, told_apart), max_size=30))
def test_an_alternating_order_has_every_item_once_and_the_best_of_each_score_first(
    rows: list[tuple[float, float]],
) -> None:
    scores = np.array(rows, dtype=np.float64).reshape(-1, 2).T
    order = alternating_order(*scores).tolist()
    assert sorted(order) == list(range(len(rows)))
    for k in range(1, len(rows) + 1):
        for values in scores:
            best = np.lexsort((np.arange(len(values)), -values))[:k]
            assert set(best.tolist()) <= set(order[: 2 * k])


@given(st.lists(st.tuples(told_apart, st.sampled_from("abc")), max_size=30))
def test_spreading_keeps_the_best_of_each_source_and_the_order_within_it(
    rows: list[tuple[float, str]],
) -> None:
    scores = np.array([score for score, _ in rows], dtype=np.float64)
    sources = [source for _, source in rows]
    divided = spread(scores, sources)
    assert (divided <= scores).all()
    for source in set(sources):
        own = [index for index, other in enumerate(sources) if other == source]
        best = max(own, key=lambda index: (scores[index], -index))
        assert divided[best] == scores[best]
        ranked = sorted(own, key=lambda index: (-scores[index], index))
        assert all(divided[a] >= divided[b] for a, b in itertools.pairwise(ranked))


def test_the_eleventh_of_a_source_counts_half() -> None:
    divided = spread(np.full(11, 0.8), ["table"] * 11)
    assert divided[0] == 0.8
    assert divided[10] == pytest.approx(0.4)
