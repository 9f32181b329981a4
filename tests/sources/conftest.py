"""A small corpus on disk and an embedder that needs no model."""

from collections.abc import Callable, Sequence
from hashlib import blake2b
from pathlib import Path

import numpy as np
import pytest

from lethe_core.context.lexical import words
from lethe_core.control.embedding import EmbeddingProfile
from lethe_core.graph.arrays import Matrix


class WordBagEmbedder:
    """A text is the sum of one fixed random direction a word: cosine is the words shared."""

    profile = EmbeddingProfile("word bag", "1", 512, "", False, 0.5, 0.95, 0.6)

    def __init__(self) -> None:
        self.embedded: list[str] = []

    def embed_documents(self, texts: Sequence[str]) -> Matrix:
        self.embedded += texts
        return self.embed_queries(texts)

    def embed_queries(self, texts: Sequence[str]) -> Matrix:
        rows = np.zeros((len(texts), 512), dtype=np.float32)
        for index, text in enumerate(texts):
            for word in set(words(text)):
                seed = int.from_bytes(blake2b(word.encode(), digest_size=8).digest(), "big")
                rows[index] += np.random.default_rng(seed).standard_normal(512).astype(np.float32)
        norms = np.linalg.norm(rows, axis=1, keepdims=True)
        return np.divide(rows, norms, out=rows, where=norms > 0)


@pytest.fixture
def embedder() -> WordBagEmbedder:
    return WordBagEmbedder()


@pytest.fixture
def corpus(tmp_path: Path) -> Callable[[dict[str, str]], Path]:
    """Makes a folder of the files given, name to text."""

    def make(files: dict[str, str], name: str = "corpus") -> Path:
        for path, text in files.items():
            target = tmp_path / name / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")
        return tmp_path / name

    return make
