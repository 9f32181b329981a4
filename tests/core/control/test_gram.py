"""The kept Gram matrix against the full decomposition of all evidence."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lethe_core.control.basis import (
    EvidenceBasis,
    coverage,
    evidence_basis,
    goal_gap,
    novelty,
    overlap,
)
from lethe_core.control.gram import EvidenceSubspace, gram_basis
from lethe_core.control.signals import complexity_of
from lethe_core.control.vectors import unit
from lethe_core.errors import ConfigError

D = 12
quick = settings(max_examples=60, deadline=None)
seeds = st.integers(0, 100_000)


def rows(seed: int, n: int, spread: float = 0.5) -> np.ndarray:
    """Rows about three topics, some repeated exactly, some missing."""
    rng = np.random.default_rng(seed)
    found = unit(rng.normal(size=(3, D))[rng.integers(0, 3, n)] + spread * rng.normal(size=(n, D)))
    found[rng.random(n) < 0.1] = found[0] if n else 0.0
    found[rng.random(n) < 0.05] = 0.0
    return found.astype(np.float32)


def assert_alike(found: EvidenceBasis, full: EvidenceBasis, seed: int) -> None:
    """Every signal that a basis decides is the same, whichever sign or rotation its columns have."""
    targets = unit(np.random.default_rng(seed + 1).normal(size=(6, D)))
    assert found.singular_values == pytest.approx(full.singular_values, rel=1e-9)
    assert found.n_energy == full.n_energy
    assert coverage(found, targets) == pytest.approx(coverage(full, targets), abs=1e-9)
    assert goal_gap(found, targets[0]).norm == pytest.approx(goal_gap(full, targets[0]).norm, abs=1e-7)
    weights = np.ones(6)
    assert novelty(found, targets, weights) == pytest.approx(novelty(full, targets, weights), abs=1e-9)
    if found.n_energy:
        assert overlap(found, full) == pytest.approx(1.0, abs=1e-9)
    assert complexity_of(0.5, 0.5, found) == pytest.approx(complexity_of(0.5, 0.5, full), abs=1e-9)


@quick
@given(seeds, st.integers(0, 200))
def test_the_basis_of_a_gram_matrix_gives_the_signals_of_the_full_decomposition(seed, n):
    given_rows = rows(seed, n).astype(np.float64)
    strengths = np.random.default_rng(seed).uniform(0.3, 0.95, n)
    scaled = given_rows * np.sqrt(strengths)[:, None]
    assert_alike(gram_basis(scaled.T @ scaled), evidence_basis(given_rows, strengths), seed)


@settings(max_examples=30, deadline=None)
@given(seeds, st.lists(st.tuples(st.integers(0, 900), st.booleans()), min_size=1, max_size=5))
def test_evidence_that_grew_and_was_superseded_and_weighed_anew_has_the_basis_of_the_whole(seed, steps):
    rng = np.random.default_rng(seed)
    pool = rows(seed, sum(more for more, _ in steps))
    kept, weights = EvidenceSubspace(), np.zeros(0)
    for more, reweigh in steps:
        weights = np.concatenate([weights, rng.uniform(0.3, 0.95, more)])
        if reweigh and weights.size:
            some = rng.integers(0, weights.size, 1 + weights.size // 10)
            weights[some] = np.where(rng.random(some.size) < 0.5, 0.0, rng.uniform(0.3, 0.95, some.size))
        found = kept.basis(pool[: weights.size], weights)
        before = weights[: weights.size - more]
        kept.basis(pool[: before.size], before)  # the same evidence without the last step's
    fresh = EvidenceSubspace().basis(pool[: weights.size], weights)
    assert found.directions.tobytes() == fresh.directions.tobytes()
    assert found.singular_values.tobytes() == fresh.singular_values.tobytes()
    counted = weights > 0
    assert_alike(found, evidence_basis(pool[: weights.size][counted], weights[counted]), seed)


def test_a_basis_that_was_asked_for_before_is_not_computed_again():
    kept, pool = EvidenceSubspace(), rows(3, 40)
    first = kept.basis(pool, np.full(40, 0.5))
    kept.basis(pool, np.full(40, 0.6))
    assert kept.basis(pool, np.full(40, 0.5)) is first


def test_control_vectors_are_made_of_the_embeddings():
    wide = np.hstack([rows(4, 50), np.ones((50, 7), dtype=np.float32)])
    shortened = EvidenceSubspace(lambda given: unit(given[:, :D])).basis(wide, np.full(50, 0.5))
    assert shortened.directions.shape[0] == D
    assert_alike(shortened, evidence_basis(unit(wide[:, :D]), np.full(50, 0.5)), 4)


def test_more_copies_of_one_text_than_dimensions_are_one_direction():
    same = np.tile(rows(5, 1), (5 * D, 1))
    basis = EvidenceSubspace().basis(same, np.full(5 * D, 0.6))
    assert basis.singular_values == pytest.approx([np.sqrt(3 * D)])
    assert basis.n_energy == 1


def test_without_evidence_or_with_none_that_counts_there_is_no_basis():
    for n, weight in ((0, 0.5), (3, 0.0), (5 * D, 0.0)):
        basis = EvidenceSubspace().basis(rows(6, n), np.full(n, weight))
        assert (basis.directions.shape, basis.n_energy) == ((D, 0), 0)
    assert gram_basis(np.zeros((D, D))).directions.shape == (D, 0)


@pytest.mark.parametrize("worst", [float("nan"), float("inf"), -0.1])
def test_a_strength_that_is_none_is_refused_and_not_turned_into_nan(worst):
    with pytest.raises(ConfigError, match="finite"):
        EvidenceSubspace().basis(rows(7, 2), np.array([0.5, worst]))
    with pytest.raises(ConfigError, match=f"row 1 is {worst}"):
        evidence_basis(rows(7, 2), np.array([0.5, worst]))


def test_evidence_that_holds_nan_is_refused():
    broken = rows(8, 3)
    broken[2, 1] = np.nan
    with pytest.raises(ConfigError, match="row 2"):
        evidence_basis(broken, np.full(3, 0.5))
