import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from lethe_core.evidence.fingerprint import page_embedding, page_fingerprint


def test_weights_fall_with_the_root_of_the_place() -> None:
    eye = np.eye(4, dtype=np.float32)
    page = page_embedding(eye)
    assert np.allclose(page / page[0], [1.0, 2**-0.5, 3**-0.5, 0.5], atol=1e-6)


@settings(max_examples=100, deadline=None)
@given(st.integers(1, 20), st.integers(0, 2**32 - 1))
def test_a_page_embedding_has_unit_norm(n: int, seed: int) -> None:
    chunks = np.random.default_rng(seed).normal(size=(n, 8)).astype(np.float32)
    chunks /= np.linalg.norm(chunks, axis=1, keepdims=True)
    page = page_embedding(chunks)
    assert page.dtype == np.float32
    assert abs(float(np.linalg.norm(page)) - 1.0) < 1e-5


def test_a_page_without_chunks_has_the_zero_vector() -> None:
    assert page_embedding(np.zeros((0, 3), np.float32)).tolist() == [0.0, 0.0, 0.0]


def test_white_space_does_not_change_a_pages_fingerprint() -> None:
    assert page_fingerprint("a  b\n") == page_fingerprint(" a b") != page_fingerprint("ab")
