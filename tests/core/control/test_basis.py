"""Coverage, gap, novelty and overlap against their definitions."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lethe_core.control.basis import (
    DEFAULT_BASIS,
    coverage,
    deficits,
    evidence_basis,
    goal_coverage,
    goal_gap,
    novelty,
    overlap,
)
from lethe_core.control.vectors import unit

ALL_COLUMNS = replace(DEFAULT_BASIS, max_columns=10_000)
seeds = st.integers(0, 100_000)
quick = settings(max_examples=60, deadline=None)


def evidence(seed: int, n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return unit(rng.normal(size=(n, d)) + rng.normal(size=d)), rng.uniform(0.3, 0.95, n)


def vectors(seed: int, m: int, d: int) -> np.ndarray:
    return unit(np.random.default_rng(seed + 1_000_003).normal(size=(m, d)))


def gaussian_process_reduction(rows, strengths, queries, ridge=0.1):
    scaled = rows * np.sqrt(strengths)[:, None]
    cross = scaled @ queries.T
    kernel = scaled @ scaled.T + ridge * np.eye(len(scaled))
    return np.sum(cross * np.linalg.solve(kernel, cross), axis=0)


@quick
@given(seeds, st.integers(1, 60), st.integers(2, 40))
def test_coverage_with_all_columns_is_the_variance_that_a_gaussian_process_loses(seed, n, d):
    rows, strengths = evidence(seed, n, d)
    queries = vectors(seed, 5, d)
    basis = evidence_basis(rows, strengths, config=ALL_COLUMNS)
    expected = gaussian_process_reduction(rows, strengths, queries)
    assert coverage(basis, queries) == pytest.approx(expected, abs=1e-9)


@quick
@given(seeds, st.integers(2, 50), st.integers(2, 40))
def test_coverage_grows_with_columns_and_with_rows(seed, n, d):
    rows, strengths = evidence(seed, n, d)
    queries = vectors(seed, 4, d)
    by_columns = [
        coverage(evidence_basis(rows, strengths, config=replace(DEFAULT_BASIS, max_columns=k)), queries)
        for k in (1, 2, 5, 32, 1000)
    ]
    by_rows = [
        coverage(evidence_basis(rows[:m], strengths[:m], config=ALL_COLUMNS), queries) for m in range(n + 1)
    ]
    for series in (by_columns, by_rows):
        assert np.diff(np.array(series), axis=0).min() >= -1e-12
        assert (np.array(series) >= 0).all()
        assert (np.array(series) <= 1).all()


def test_no_evidence_covers_nothing_and_leaves_the_whole_goal_open():
    for rows, strengths in ((np.zeros((0, 6)), np.zeros(0)), (np.zeros((3, 6)), np.ones(3))):
        basis = evidence_basis(rows, strengths)
        goal = vectors(0, 1, 6)[0]
        assert coverage(basis, vectors(1, 3, 6)).tolist() == [0.0] * 3
        assert deficits(basis, vectors(1, 3, 6)).tolist() == [1.0] * 3
        gap = goal_gap(basis, goal)
        assert gap.norm == pytest.approx(1.0)
        assert gap.direction == pytest.approx(goal)


def test_the_basis_is_orthonormal_and_no_wider_than_its_rank_or_32():
    rows, strengths = evidence(3, 200, 64)
    wide = evidence_basis(rows, strengths)
    assert wide.directions.shape == (64, 32)
    assert wide.directions.T @ wide.directions == pytest.approx(np.eye(32), abs=1e-12)
    twins = evidence_basis(np.repeat(rows[:3], 50, axis=0), np.full(150, 0.5))
    assert twins.directions.shape == (64, 3)
    assert twins.n_energy <= 3


def test_more_rows_than_dimensions_give_the_same_basis_as_the_plain_decomposition():
    rows, strengths = evidence(4, 300, 20)
    basis = evidence_basis(rows, strengths)
    _, sigma, vt = np.linalg.svd(rows * np.sqrt(strengths)[:, None], full_matrices=False)
    assert basis.singular_values == pytest.approx(sigma, abs=1e-12)
    assert np.abs(np.sum(basis.directions * vt.T, axis=0)) == pytest.approx(np.ones(20), abs=1e-9)


@quick
@given(seeds, st.integers(0, 80), st.integers(2, 64))
def test_the_gap_is_orthogonal_to_all_evidence_and_completes_the_goal(seed, n, d):
    rows, strengths = evidence(seed, n, d)
    goal = vectors(seed, 1, d)[0]
    basis = evidence_basis(rows, strengths)
    gap = goal_gap(basis, goal)
    inside = float(np.sum((basis.directions.T @ goal) ** 2))
    assert gap.norm**2 + inside == pytest.approx(1.0, abs=1e-12)
    if gap.direction is None:
        assert gap.norm < 1e-3
    else:
        assert np.linalg.norm(gap.direction) == pytest.approx(1.0, abs=1e-12)
        assert np.abs(basis.directions.T @ gap.direction).max(initial=0.0) <= 1e-9


def test_a_goal_that_the_evidence_spans_has_no_gap():
    rows, strengths = evidence(5, 3, 16)
    goal = unit(rows.sum(axis=0))
    assert goal_gap(evidence_basis(rows, strengths), goal).direction is None


def test_goal_coverage_is_the_mean_over_goal_and_tasks():
    rows, strengths = evidence(6, 10, 24)
    goal, tasks = vectors(6, 1, 24)[0], vectors(7, 3, 24)
    basis = evidence_basis(rows, strengths)
    each = coverage(basis, np.vstack([goal, tasks]))
    assert goal_coverage(basis, goal, tasks) == pytest.approx(each.mean())
    assert goal_coverage(basis, goal, tasks[:0]) == pytest.approx(each[0])


@quick
@given(seeds, st.integers(0, 30), st.integers(1, 12), st.integers(2, 40))
def test_novelty_of_an_item_is_its_squared_distance_from_what_came_before(seed, n, b, d):
    rows, strengths = evidence(seed, n, d)
    new = vectors(seed, b, d)
    weights = np.random.default_rng(seed).uniform(0, 1, b)
    basis = evidence_basis(rows, strengths)
    shares = []
    for at in range(b):
        known = np.vstack([basis.directions.T, new[:at]])
        best, *_ = np.linalg.lstsq(known.T, new[at], rcond=1e-10)
        shares.append(float(np.sum((new[at] - known.T @ best) ** 2)))
    expected = float(np.array(shares) @ weights / weights.sum()) if weights.sum() else 0.0
    assert novelty(basis, new, weights) == pytest.approx(expected, abs=1e-7)


def test_what_is_empty_known_or_repeated_is_not_novel():
    rows, strengths = evidence(8, 5, 32)
    nothing = evidence_basis(rows[:0], strengths[:0])
    known = evidence_basis(rows, strengths)
    assert novelty(known, rows[:0], np.zeros(0)) == 0.0
    assert novelty(known, rows, np.ones(5)) == pytest.approx(0.0, abs=1e-12)
    assert novelty(nothing, rows[:1], np.ones(1)) == pytest.approx(1.0)
    assert novelty(nothing, rows[[0, 0]], np.ones(2)) == pytest.approx(0.5)
    assert novelty(nothing, rows[:2], np.zeros(2)) == 0.0
    # What repeats a direction must not take others away.
    other = unit(rows[1] - (rows[1] @ rows[0]) * rows[0])
    assert novelty(nothing, np.stack([rows[0], rows[0], other]), np.ones(3)) == pytest.approx(2 / 3)


def test_a_batch_of_near_copies_does_not_blur_what_is_known():
    rng = np.random.default_rng(12)
    copies = unit(unit(rng.normal(size=20)) + 1e-6 * rng.normal(size=(40, 20)))  # they span the space
    batch = np.vstack([copies, vectors(12, 1, 20)])
    nothing = evidence_basis(batch[:0], np.zeros(0))
    assert novelty(nothing, batch, np.array([0.0] * 40 + [1.0])) == pytest.approx(0.0, abs=1e-12)


@quick
@given(seeds, st.integers(1, 60), st.integers(1, 60), st.integers(2, 48))
def test_overlap_is_symmetric_in_range_full_with_itself_and_blind_to_rotation(seed, n, m, d):
    rows, strengths = evidence(seed, max(n, m), d)
    other, _ = evidence(seed + 7, max(n, m), d)
    a, b = evidence_basis(rows[:n], strengths[:n]), evidence_basis(other[:m], strengths[:m])
    value = overlap(a, b)
    assert 0.0 <= value <= 1.0
    assert overlap(b, a) == pytest.approx(value, abs=1e-12)
    assert overlap(a, a) == pytest.approx(1.0, abs=1e-12)
    rotation, _ = np.linalg.qr(np.random.default_rng(seed).normal(size=(d, d)))
    turned = overlap(
        evidence_basis(rows[:n] @ rotation, strengths[:n]),
        evidence_basis(other[:m] @ rotation, strengths[:m]),
    )
    # Where the spectrum has a near-tie at the cut, the leading columns themselves are arbitrary.
    if _clear_cut(rows[:n], strengths[:n]) and _clear_cut(other[:m], strengths[:m]):
        assert turned == pytest.approx(value, abs=1e-8)


def _clear_cut(rows, strengths):
    sigma = np.linalg.svd(rows * np.sqrt(strengths)[:, None], compute_uv=False)
    energy = np.cumsum(sigma**2) / np.sum(sigma**2)
    return np.diff(sigma).max(initial=-1.0) < -1e-6 and np.abs(energy - 0.9).min() > 1e-9


def test_overlap_without_an_old_basis_is_nothing_and_in_a_full_space_is_everything():
    rows, strengths = evidence(9, 40, 8)
    nothing, full = evidence_basis(rows[:0], strengths[:0]), evidence_basis(rows, strengths)
    assert overlap(nothing, full) == overlap(full, nothing) == 0.0
    axes = evidence_basis(np.eye(4), np.ones(4))
    assert axes.n_energy == 4
    assert overlap(axes, evidence_basis(np.eye(4)[:1], np.ones(1))) == 1.0


def test_overlap_takes_off_what_chance_gives():
    e = np.eye(10)
    a, b = evidence_basis(e[:2], np.ones(2)), evidence_basis(e[1:3], np.ones(2))
    assert overlap(a, b) == pytest.approx((0.5 - 0.2) / 0.8)
    assert overlap(a, evidence_basis(e[4:6], np.ones(2))) == 0.0


def test_the_compared_bases_hold_nine_tenths_of_the_energy():
    e = np.eye(12)
    assert evidence_basis(e[:10], np.ones(10)).n_energy == 9
    assert evidence_basis(e[:10], np.array([9.0] + [0.1] * 9)).n_energy == 1
