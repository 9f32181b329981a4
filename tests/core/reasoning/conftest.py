"""A small world for the reasoner: an embedder of hashed words, blocks and DINs with defaults."""

import zlib
from collections.abc import Sequence

import numpy as np
import pytest

from lethe_core.control.embedding import EmbeddingProfile
from lethe_core.graph.arrays import Matrix
from lethe_core.reasoning.terms import content

DIMENSION = 64


class HashedWords:
    """Unit vectors of hashed stems: the same words, the same vector."""

    profile = EmbeddingProfile("hashed-words", "1", DIMENSION, "", False, 0.5, 0.95, 0.65)

    def embed_documents(self, texts: Sequence[str]) -> Matrix:
        rows = np.zeros((len(texts), DIMENSION), dtype=np.float32)
        for row, text in enumerate(texts):
            for word in content(text):
                rows[row, zlib.crc32(word.encode()) % DIMENSION] += 1
        norms = np.linalg.norm(rows, axis=1, keepdims=True)
        return np.divide(rows, norms, out=rows, where=norms > 0)

    def embed_queries(self, texts: Sequence[str]) -> Matrix:
        return self.embed_documents(texts)


@pytest.fixture
def embedder() -> HashedWords:
    return HashedWords()
