"""A bounded memory of embeddings around any embedder, keyed by the text's hash and its mode."""

from collections import OrderedDict
from collections.abc import Callable, Sequence
from hashlib import blake2b
from threading import Lock

import numpy as np

from lethe_core.control.embedding import Embedder, EmbeddingProfile
from lethe_core.graph.arrays import Matrix, Vector


class CachedEmbedder:
    """An `Embedder` that asks the inner one once for each different text, in one call a batch.

    capacity: vectors kept, the least recently used go first (50,000 of 256 dimensions: 51 MB).
    Safe to use from several threads.
    """

    def __init__(self, inner: Embedder, *, capacity: int = 50_000) -> None:
        self._inner = inner
        self._capacity = capacity
        self._kept: OrderedDict[bytes, Vector] = OrderedDict()
        self._lock = Lock()

    @property
    def profile(self) -> EmbeddingProfile:
        return self._inner.profile

    def embed_documents(self, texts: Sequence[str]) -> Matrix:
        """As the inner embedder: (n, d) unit float32; the caller's own copy."""
        return self._embed(texts, b"document", self._inner.embed_documents)

    def embed_queries(self, texts: Sequence[str]) -> Matrix:
        """As the inner embedder: (n, d) unit float32; the caller's own copy."""
        return self._embed(texts, b"query", self._inner.embed_queries)

    def _embed(self, texts: Sequence[str], mode: bytes, ask: Callable[[Sequence[str]], Matrix]) -> Matrix:
        keys = [
            blake2b(text.encode("utf-8", "surrogatepass"), key=mode, digest_size=16).digest()
            for text in texts
        ]
        found: dict[bytes, Vector] = {}
        with self._lock:
            for key in keys:
                if key in self._kept:
                    self._kept.move_to_end(key)
                    found[key] = self._kept[key]
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in found}
        if missing:
            fresh = ask(list(missing.values()))
            # A row's copy, so that one kept vector does not keep its whole batch alive.
            found.update((key, row.copy()) for key, row in zip(missing, fresh, strict=True))
            with self._lock:
                self._kept.update((key, found[key]) for key in missing)
                while len(self._kept) > self._capacity:
                    self._kept.popitem(last=False)
        rows = np.zeros((len(texts), self.profile.dimension), dtype=np.float32)
        for index, key in enumerate(keys):
            rows[index] = found[key]
        return rows
