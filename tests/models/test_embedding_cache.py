"""The cache around an embedder: same vectors, fewer questions, bounded memory."""

from collections.abc import Sequence

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from lethe_core.adapters.models.embedding_cache import CachedEmbedder
from lethe_core.control.embedding import EmbeddingProfile
from lethe_core.graph.arrays import Matrix

PROFILE = EmbeddingProfile("letters", "1", 4, "ask: ", False, 0.5, 0.95, 0.6)


class Letters:
    """Counts what it is asked; documents and queries differ."""

    profile = PROFILE

    def __init__(self) -> None:
        self.asked: list[str] = []

    def embed_documents(self, texts: Sequence[str]) -> Matrix:
        self.asked += texts
        rows = np.array([[len(t), sum(map(ord, t)) % 97, 1, 0] for t in texts], dtype=np.float32).reshape(
            -1, 4
        )
        return (rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)).astype(np.float32)

    def embed_queries(self, texts: Sequence[str]) -> Matrix:
        return -self.embed_documents(texts)


TEXTS = st.lists(st.text(alphabet="abc\ud800", max_size=3), max_size=8)


@settings(max_examples=80, deadline=None)
@given(batches=st.lists(TEXTS, max_size=5), capacity=st.integers(0, 4))
def test_the_cache_changes_no_vector(batches: list[list[str]], capacity: int) -> None:
    cached, plain = CachedEmbedder(Letters(), capacity=capacity), Letters()
    for texts in batches:
        np.testing.assert_array_equal(cached.embed_documents(texts), plain.embed_documents(texts))
        np.testing.assert_array_equal(cached.embed_queries(texts), plain.embed_queries(texts))


def test_a_text_is_asked_for_once() -> None:
    inner = Letters()
    cached = CachedEmbedder(inner)
    cached.embed_documents(["a", "b", "a"])
    cached.embed_documents(["b", "c"])
    assert inner.asked == ["a", "b", "c"]


def test_the_least_recently_used_goes_first() -> None:
    inner = Letters()
    cached = CachedEmbedder(inner, capacity=2)
    cached.embed_documents(["a", "b"])
    cached.embed_documents(["a"])
    cached.embed_documents(["c"])
    cached.embed_documents(["a"])
    assert inner.asked == ["a", "b", "c"]


def test_changing_a_result_does_not_change_what_is_kept() -> None:
    cached = CachedEmbedder(Letters())
    cached.embed_documents(["a"])[:] = 9
    assert np.abs(cached.embed_documents(["a"])).max() <= 1
