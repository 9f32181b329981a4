"""Vector primitives: ranges, symmetries, and what a missing vector means."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lethe_core.control.profiles import MINILM_L6, QWEN3_4B
from lethe_core.control.vectors import (
    alignment,
    alignments,
    clamp01,
    control_vectors,
    cosine,
    cosines,
    normalize_cosine,
    slerp,
    soft_gate,
    unit,
)

ordinary = st.floats(-50, 50, allow_nan=False)
quick = settings(max_examples=100, deadline=None)


def units(seed: int, n: int, d: int) -> np.ndarray:
    return unit(np.random.default_rng(seed).normal(size=(n, d)))


@quick
@given(st.floats(), st.floats(-10, 10), st.floats(0.1, 1e4))
def test_soft_gate_never_overflows_and_stays_in_range(x, threshold, sharpness):
    if math.isnan(x):
        return
    with np.errstate(all="raise"):
        assert 0.0 <= soft_gate(x, threshold, sharpness) <= 1.0
    assert 0.0 <= soft_gate(np.array([x]), threshold, sharpness)[0] <= 1.0


@quick
@given(ordinary, ordinary, st.floats(0.1, 40))
def test_soft_gate_is_symmetric_about_its_threshold(x, threshold, sharpness):
    both = soft_gate(threshold + x, threshold, sharpness) + soft_gate(threshold - x, threshold, sharpness)
    # The sum threshold + x is itself rounded, which the sharpness magnifies.
    assert both == pytest.approx(1.0, abs=1e-11)
    assert soft_gate(threshold, threshold, sharpness) == 0.5


@quick
@given(st.lists(ordinary, min_size=1, max_size=8))
def test_soft_gate_of_an_array_is_that_of_its_elements(xs):
    assert soft_gate(np.array(xs), 0.3, 7.0).tolist() == pytest.approx([soft_gate(x, 0.3, 7.0) for x in xs])


@pytest.mark.parametrize(
    ("x", "expected"), [(math.nan, 0.0), (-0.1, 0.0), (1.5, 1.0), (math.inf, 1.0), (0.25, 0.25)]
)
def test_clamp01_cuts_and_takes_nan_for_zero(x, expected):
    assert clamp01(x) == expected
    assert clamp01(np.array([x]))[0] == expected


@pytest.mark.parametrize(("c", "expected"), [(-1.0, 0.0), (0.0, 0.5), (1.0, 1.0), (1.0000001, 1.0)])
def test_normalized_cosine_maps_to_the_unit_interval(c, expected):
    assert normalize_cosine(c) == expected


def test_a_missing_or_zero_vector_aligns_with_nothing():
    a, zero = np.array([1.0, 0.0]), np.zeros(2)
    assert alignment(a, np.array([0.0, 1.0])) == 0.5
    for x, y in ((a, zero), (zero, a), (zero, zero), (None, a), (a, None)):
        assert alignment(x, y) == 0.0
        assert cosine(x, y) == 0.0
    assert alignments(np.stack([a, zero]), a).tolist() == [1.0, 0.0]
    assert alignments(np.stack([a, zero]), None).tolist() == [0.0, 0.0]
    assert alignments(np.stack([a, zero]), zero).tolist() == [0.0, 0.0]
    assert cosines(np.stack([a, zero]), a).tolist() == [1.0, 0.0]


def test_what_has_no_finite_direction_becomes_the_zero_vector():
    assert unit(np.array([[3.0, 4.0], [0.0, 0.0], [np.nan, 1.0], [np.inf, 1.0]])).tolist() == [
        [0.6, 0.8],
        [0.0, 0.0],
        [0.0, 0.0],
        [0.0, 0.0],
    ]


@quick
@given(st.integers(0, 10_000), st.integers(2, 64), st.floats(0.0, 1.0))
def test_slerp_keeps_the_norm_and_divides_the_angle(seed, d, w):
    a, b = units(seed, 2, d)
    omega = math.acos(float(np.clip(a @ b, -1, 1)))
    if math.pi - omega < 1e-3:  # no one geodesic
        return
    point = slerp(a, b, w)
    assert np.linalg.norm(point) == pytest.approx(1.0, abs=1e-12)
    assert math.acos(float(np.clip(a @ point, -1, 1))) == pytest.approx(w * omega, abs=1e-6)
    assert slerp(b, a, 1.0 - w) == pytest.approx(point, abs=1e-9)


@pytest.mark.parametrize("angle", [0.0, 1e-9, 5e-5, 2e-4, math.pi - 2e-4, math.pi - 5e-5, math.pi])
def test_slerp_is_finite_and_unit_at_the_degenerate_angles(angle):
    a, b = np.array([1.0, 0.0]), np.array([math.cos(angle), math.sin(angle)])
    for w in (0.0, 0.25, 0.5, 1.0):
        assert np.linalg.norm(slerp(a, b, w)) == pytest.approx(1.0, abs=1e-12)
    if math.pi - angle < 1e-4:
        assert slerp(a, b, 0.5).tolist() == a.tolist()


def test_slerp_gives_its_ends_untouched():
    a, b = units(1, 2, 8)
    for w in (0.0, -1.0, math.nan):
        assert slerp(a, b, w).tolist() == a.tolist()
    for w in (1.0, 2.0):
        assert slerp(a, b, w).tolist() == b.tolist()
    assert slerp(a, np.zeros(8), 0.5).tolist() == a.tolist()


def test_control_vectors_are_a_renormalised_prefix_only_for_matryoshka_models():
    rows = units(2, 3, 2560).astype(np.float32)
    rows[1] = 0.0
    short = control_vectors(rows, QWEN3_4B)
    assert short.shape == (3, 256)
    assert short.dtype == np.float64
    assert np.linalg.norm(short, axis=1) == pytest.approx([1.0, 0.0, 1.0], abs=1e-12)
    assert short[0] == pytest.approx(unit(rows[0, :256].astype(np.float64)))
    assert control_vectors(rows[0], QWEN3_4B) == pytest.approx(short[0])
    full = control_vectors(units(3, 2, 384), MINILM_L6)
    assert full.shape == (2, 384)
