"""Embeddings of an index's chunks, made when they are needed and kept by the text's hash.

A small corpus is embedded whole, so that a chunk which shares no word with a query is found too; of a
large one only the chunks that a query's words bring.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import numpy as np

from lethe_core.adapters.sources.index import FolderIndex, Source
from lethe_core.adapters.sources.index_file import vector_key
from lethe_core.control.embedding import Embedder
from lethe_core.errors import SourceError
from lethe_core.evidence.page import Chunk, Page
from lethe_core.graph.arrays import BoolArray, IntArray, Matrix, Vector


@dataclass(frozen=True, slots=True)
class VectorConfig:
    embed_all: int = 5_000  # chunks up to which the whole corpus is embedded: a second with static vectors
    batch: int = 256  # texts between two looks at the clock
    pages: int = 512  # unpacked pages kept in memory


class ChunkVectors:
    """Looks up or makes the embeddings of an index's chunks. Use from one thread at a time."""

    def __init__(self, index: FolderIndex, embedder: Embedder, config: VectorConfig | None = None) -> None:
        self._index = index
        self._embedder = embedder
        self._config = config or VectorConfig()
        profile = embedder.profile
        self._profile = f"{profile.name}@{profile.revision}:{profile.dimension}"
        self._starts = np.array([source.start for source in index.sources], dtype=np.int64)
        self._all: Matrix | None = None
        self._pages = lru_cache(maxsize=self._config.pages)(self._load)

    def page(self, source: Source) -> tuple[Page, tuple[Chunk, ...]]:
        """A source's page and chunks, as the index holds them. Raises SourceError."""
        return self._pages(source)

    def of_source(self, source: Source, deadline: float = float("inf")) -> Matrix:
        """The embeddings of all chunks of a source: (n, d); zero rows for what the deadline left out."""
        return self._rows([(source, position) for position in range(source.row.chunks)], deadline)[0]

    def cosines(self, query: Vector, candidates: IntArray, deadline: float) -> Vector:
        """Cosine of a query with every chunk of a small corpus, with the candidates of a large one.

        Returns (chunks,) in [-1, 1]; -1 where it is not known.
        """
        count = self._index.chunk_count
        cosines = np.full(count, -1.0, dtype=np.float32)
        if count <= self._config.embed_all:
            matrix = self._whole(deadline)
            known = matrix.any(axis=1)
            cosines[known] = matrix[known] @ query
            return cosines
        places = self.places(candidates)
        matrix, made = self._rows(places, deadline)
        cosines[candidates[made]] = matrix[made] @ query
        return cosines

    def places(self, chunks: IntArray) -> list[tuple[Source, int]]:
        """The source of each chunk, and its position there."""
        owners = np.searchsorted(self._starts, chunks, side="right") - 1
        return [
            (self._index.sources[owner], int(chunk - self._starts[owner]))
            for owner, chunk in zip(owners, chunks, strict=True)
        ]

    def _whole(self, deadline: float) -> Matrix:
        if self._all is None:
            places = [
                (source, position) for source in self._index.sources for position in range(source.row.chunks)
            ]
            matrix, made = self._rows(places, deadline)
            if not made.all():
                return matrix  # the next search goes on where this one stopped
            self._all = matrix
        return self._all

    def _rows(self, places: Sequence[tuple[Source, int]], deadline: float) -> tuple[Matrix, BoolArray]:
        matrix = np.zeros((len(places), self._embedder.profile.dimension), dtype=np.float32)
        made = np.zeros(len(places), dtype=np.bool_)
        texts = [self._text(source, position) for source, position in places]
        keys = [vector_key(text) for text in texts]
        by_file: dict[Path, list[int]] = {}
        for index, (source, _) in enumerate(places):
            by_file.setdefault(source.file.root, []).append(index)
        for root, indexes in by_file.items():
            file = self._index.files[root]
            kept = file.vectors(self._profile, list(dict.fromkeys(keys[index] for index in indexes)))
            missing = list(
                {keys[index]: texts[index] for index in indexes if keys[index] not in kept}.items()
            )
            for start in range(0, len(missing), self._config.batch):
                if time.monotonic() >= deadline:
                    break
                batch = missing[start : start + self._config.batch]
                rows = self._embedder.embed_documents([text for _, text in batch])
                fresh = {key: row for (key, _), row in zip(batch, rows, strict=True)}
                file.keep_vectors(self._profile, fresh)
                kept |= fresh
            for index in indexes:
                if keys[index] in kept:
                    matrix[index] = kept[keys[index]]
                    made[index] = True
        return matrix, made

    def _text(self, source: Source, position: int) -> str:
        try:
            return self._pages(source)[1][position].embed_text
        except SourceError:
            return ""  # another run replaced it; an empty text has the zero vector

    def _load(self, source: Source) -> tuple[Page, tuple[Chunk, ...]]:
        page, chunks = self._index.page(source)
        # Two sets of folders may call the same folder by different names.
        return replace(page, address=source.address, domain=source.address), chunks
