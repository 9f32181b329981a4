"""The thresholds of a model are quantiles of what lies in its own vectors."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lethe_core.errors import ConfigError
from lethe_core.evaluation.calibration import CalibrationConfig, calibrate
from lethe_core.graph.arrays import Matrix


def unit_rows(seed: int, n: int, d: int, shift: float = 0.0) -> Matrix:
    rows = np.random.default_rng(seed).normal(size=(n, d)) + shift
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), dtype=np.float32)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 40), st.integers(1, 10), st.integers(1, 5))
def test_thresholds_are_the_quantiles_of_all_pairs(seed: int, n: int, m: int, sources: int) -> None:
    passages, questions = unit_rows(seed, n, 8, 0.3), unit_rows(seed + 1, m, 8, 0.3)
    owner = [f"s{k % (sources + 1)}" for k in range(n)]
    found = calibrate(passages, owner, questions)
    pairs = [
        float(passages[i] @ passages[j]) for i in range(n) for j in range(i + 1, n) if owner[i] != owner[j]
    ]
    assert found.n_pairs == len(pairs)
    expected = min(max(float(np.quantile(pairs, 0.995)), 0.30), 0.95)
    assert found.similar_threshold == pytest.approx(expected, abs=1e-5)
    asked = float(np.quantile((questions @ passages.T).ravel(), 0.99))
    assert found.ga_floor == pytest.approx((1 + asked) / 2, abs=1e-5)
    assert found.duplicate_threshold == 0.95


def test_pairs_of_one_source_do_not_count() -> None:
    same = np.tile(unit_rows(1, 1, 8), (20, 1))
    other = unit_rows(2, 1, 8)
    found = calibrate(np.concatenate([same, other]), ["a"] * 20 + ["b"], other)
    assert found.n_pairs == 20
    assert found.similar_threshold == pytest.approx(max(0.30, float(same[0] @ other[0])), abs=1e-5)


def test_a_large_corpus_is_sampled_and_the_sample_is_the_same_each_time() -> None:
    passages, questions = unit_rows(3, 300, 8), unit_rows(4, 5, 8)
    config = CalibrationConfig(most_passages=50)
    found = calibrate(passages, list(range(300)), questions, config=config)
    assert found.n_pairs == 50 * 49 // 2
    assert found == calibrate(passages, list(range(300)), questions, config=config)


def test_vectors_that_are_all_alike_do_not_join_everything() -> None:
    passages = np.tile(unit_rows(1, 1, 8), (10, 1))
    assert calibrate(passages, list(range(10)), passages).similar_threshold == 0.95


def test_texts_without_a_vector_are_left_out() -> None:
    passages = np.concatenate([unit_rows(1, 3, 8), np.zeros((2, 8), dtype=np.float32)])
    assert calibrate(passages, list(range(5)), passages).n_pairs == 3


@pytest.mark.parametrize(
    ("passages", "sources", "questions", "said"),
    [
        (unit_rows(1, 3, 8), ["a"] * 3, unit_rows(2, 2, 8), "1 sources"),
        (np.zeros((3, 8), np.float32), [1, 2, 3], unit_rows(2, 2, 8), "0 sources"),
        (unit_rows(1, 3, 8), [1, 2, 3], np.zeros((2, 8), np.float32), "no question"),
        (unit_rows(1, 3, 8), [1, 2], unit_rows(2, 2, 8), "do not fit"),
        (unit_rows(1, 3, 8), [1, 2, 3], unit_rows(2, 2, 4), "do not fit"),
    ],
)
def test_what_has_no_quantile_is_refused(
    passages: Matrix, sources: list[int], questions: Matrix, said: str
) -> None:
    with pytest.raises(ConfigError, match=said):
        calibrate(passages, sources, questions)
