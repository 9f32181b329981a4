import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lethe_core.evidence.strength import base_strengths, gated_alignments

GOAL = np.array([1.0, 0.0])


def at(cosine: float) -> np.ndarray:
    return np.array([[cosine, np.sqrt(1.0 - cosine**2)]])


def test_at_the_floor_the_gate_is_half_open() -> None:
    # cosine .36 is .68 normalised: a = .68 · .5 = .34, s0 = .30 + .65 · .34
    assert gated_alignments(at(0.36), GOAL, 0.68)[0] == pytest.approx(0.34)
    assert base_strengths(at(0.36), GOAL, 0.68)[0] == pytest.approx(0.521)


@settings(max_examples=100, deadline=None)
@given(st.floats(-1, 1), st.floats(-1, 1), st.floats(0, 1))
def test_strength_grows_with_the_cosine_within_its_range(a: float, b: float, floor: float) -> None:
    low, high = sorted((a, b))
    one, two = (float(base_strengths(at(x), GOAL, floor)[0]) for x in (low, high))
    assert 0.30 <= one <= two + 1e-12 <= 0.95 + 1e-12


def test_without_an_embedding_strength_is_the_floor_and_nothing_is_dropped() -> None:
    assert base_strengths(np.zeros((2, 2)), GOAL, 0.68).tolist() == [0.30, 0.30]
    assert base_strengths(at(1.0), None, 0.68).tolist() == [0.30]
    assert base_strengths(np.zeros((0, 2)), GOAL, 0.68).shape == (0,)
