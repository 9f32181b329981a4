"""Equal scores stand in the order of their indexes, whatever their last digits."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from lethe_core.context.ranking import best_first

scores = arrays(np.float64, st.integers(0, 12), elements=st.floats(0.0, 1.0, width=16))


@given(scores, st.integers(0, 2**32 - 1), st.sampled_from([1.0, 1e-7, 1e5]))
def test_the_order_is_that_of_the_scores_and_no_noise_changes_it(
    values: np.ndarray, seed: int, scale: float
) -> None:
    order = best_first(values * scale)
    assert sorted(order.tolist()) == list(range(len(values)))
    assert order.tolist() == sorted(range(len(values)), key=lambda i: (-values[i], i))
    noise = 1.0 + np.random.default_rng(seed).uniform(-1e-13, 1e-13, len(values))
    assert best_first(values * scale * noise).tolist() == order.tolist()


@pytest.mark.parametrize("size", [0, 1, 5])
def test_without_a_difference_the_order_is_that_of_the_indexes(size: int) -> None:
    assert best_first(np.zeros(size)).tolist() == list(range(size))
    assert best_first(np.full(size, 0.1) + np.arange(size) * 1e-15).tolist() == list(range(size))
