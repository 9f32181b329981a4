"""Recall, all evidence and the bootstrap keep what their names promise."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lethe_core.errors import ConfigError
from lethe_core.evaluation.metrics import all_evidence_at, bootstrap_mean, recall_at

IDS = [f"p{n}" for n in range(12)]
rankings = st.lists(st.sampled_from(IDS), unique=True)
golds = st.sets(st.sampled_from(IDS), min_size=1)
values = st.lists(st.floats(-1.0, 1.0), min_size=1, max_size=60)


def test_worked_out_by_hand() -> None:
    ranking, gold = ["a", "x", "b", "y", "c"], {"a", "b", "c"}
    assert recall_at(ranking, gold, 1) == pytest.approx(1 / 3)
    assert recall_at(ranking, gold, 3) == pytest.approx(2 / 3)
    assert not all_evidence_at(ranking, gold, 4)
    assert all_evidence_at(ranking, gold, 5)
    assert recall_at([], gold, 5) == 0.0


@given(rankings, golds, st.integers(1, 15))
def test_recall_grows_with_k_and_is_1_exactly_when_all_evidence_is_there(
    ranking: list[str], gold: set[str], k: int
) -> None:
    here = recall_at(ranking, gold, k)
    assert 0.0 <= here <= recall_at(ranking, gold, k + 1) <= 1.0
    assert all_evidence_at(ranking, gold, k) == (here == 1.0)


@given(rankings, golds, st.integers(1, 15))
def test_what_stands_behind_k_does_not_matter(ranking: list[str], gold: set[str], k: int) -> None:
    assert recall_at(ranking, gold, k) == recall_at(ranking[:k], gold, k)
    assert recall_at(ranking, gold, k) == recall_at(ranking[:k][::-1] + ranking[k:], gold, k)


@given(values, st.floats(0.5, 0.99))
def test_the_interval_holds_the_mean_and_lies_within_the_values(sample: list[float], level: float) -> None:
    found = bootstrap_mean(sample, level=level, resamples=200)
    assert found.mean == pytest.approx(np.mean(sample))
    assert min(sample) - 1e-12 <= found.low <= found.mean <= found.high <= max(sample) + 1e-12
    assert found == bootstrap_mean(sample, level=level, resamples=200)


@given(values)
def test_a_surer_interval_is_no_narrower(sample: list[float]) -> None:
    narrow = bootstrap_mean(sample, level=0.8, resamples=200)
    wide = bootstrap_mean(sample, level=0.95, resamples=200)
    assert wide.low <= narrow.low
    assert narrow.high <= wide.high


def test_the_interval_of_a_share_is_about_two_standard_errors_wide_on_each_side() -> None:
    sample = [1.0] * 50 + [0.0] * 50  # standard error .05
    found = bootstrap_mean(sample)
    assert found.mean == 0.5
    assert found.low == pytest.approx(0.40, abs=0.015)
    assert found.high == pytest.approx(0.60, abs=0.015)


def test_many_values_are_drawn_in_blocks_and_give_the_same_kind_of_interval() -> None:
    sample = np.tile([0.0, 1.0], 300_000)
    found = bootstrap_mean(sample, resamples=20)
    assert found.high - found.low < 0.01


@pytest.mark.parametrize("sample", [[], [float("nan")], [float("inf"), 1.0], [[1.0, 2.0]]])
def test_what_has_no_mean_is_refused(sample: list[float]) -> None:
    with pytest.raises(ConfigError, match="values"):
        bootstrap_mean(sample)


def test_settings_out_of_range_are_refused() -> None:
    with pytest.raises(ConfigError, match="level is 1"):
        bootstrap_mean([1.0], level=1.0)
    with pytest.raises(ConfigError, match="resamples is 0"):
        bootstrap_mean([1.0], resamples=0)
    with pytest.raises(ConfigError, match="k is 0"):
        recall_at(["a"], ["a"], 0)
    with pytest.raises(ConfigError, match="gold"):
        all_evidence_at(["a"], [], 1)
