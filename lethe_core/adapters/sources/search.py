"""Searching corpus folders (architecture.md, "A folder as a source").

Chunks are ranked by BM25 and by cosine, fused; documents by their best chunk.

A query to which nothing in the folders is related brings nothing. How related a chunk is: the share of
the query's words that it has, weighted by rarity, plus half its cosine in units of the embedding
profile's similar_threshold. Of 100 HotpotQA questions over their 994 passages the best chunk reaches .80
at the least; of 50 questions on other subjects (household, engineering, law, medicine) .63 at the most.
Asked of a corpus of 18 documents on a railway, those 100 reach .43 at the most, and one of the 50
("How does a hydraulic ram pump work?") passes .65.
"""

import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Lock
from types import TracebackType

import numpy as np

from lethe_core.adapters.sources.folder_editions import folder_editions
from lethe_core.adapters.sources.index import FolderIndex, Progress, Source, open_index
from lethe_core.adapters.sources.ranking import best_first, chosen_chunks, fused, ranked
from lethe_core.adapters.sources.vectors import ChunkVectors, VectorConfig
from lethe_core.context.lexical import words
from lethe_core.control.embedding import Embedder
from lethe_core.errors import SourceError
from lethe_core.evidence.fingerprint import page_fingerprint
from lethe_core.evidence.page import (
    ALONE,
    Chunk,
    Edition,
    FoundPage,
    Page,
    Revisited,
    SearchOutcome,
    Skipped,
)
from lethe_core.graph.arrays import FloatArray


@dataclass(frozen=True, slots=True)
class SearchConfig:
    documents: int = 8  # new documents a search
    whole_chunks: int = 60  # a page up to this is ingested whole
    best_chunks: int = 40  # of a longer one, each with its neighbours
    fusion_k: float = 60.0
    candidates: int = 300  # chunks of each ranking
    alike: float = 0.80  # cosine of the page embeddings of two editions
    hits: int = 12  # chunks of a page that count as its matches
    # Only what has next to nothing in common with the query is held back: a question in other words than the
    # documents' scores no higher than one from elsewhere; whether something answers is the reader's verdict.
    related: float = 0.25  # the best chunk must reach it, else the query brings nothing
    related_document: float = 0.2  # each further document
    vectors: VectorConfig = field(default_factory=VectorConfig)


class FolderSearch:
    """A `SearchProvider` over corpus folders; safe to use from several threads."""

    def __init__(self, index: FolderIndex, embedder: Embedder, config: SearchConfig | None = None) -> None:
        self.index = index
        self._embedder = embedder
        self._config = config or SearchConfig()
        self._vectors = ChunkVectors(index, embedder, self._config.vectors)
        self._by_address = {source.address: source for source in index.sources}
        self._editions: dict[str, Edition] | None = None
        self._lock = Lock()

    @classmethod
    def open(
        cls,
        roots: Sequence[Path],
        home: Path,
        embedder: Embedder,
        *,
        progress: Progress | None = None,
        config: SearchConfig | None = None,
    ) -> "FolderSearch":
        """Bring the folders' index up to date and search it. Raises as `open_index`."""
        search = cls(open_index(roots, home, progress=progress), embedder, config)
        try:
            search.editions()  # here rather than in the first search, which has a deadline
        except BaseException:
            search.close()
            raise
        return search

    @property
    def name(self) -> str:
        return "folder"

    @property
    def skipped(self) -> tuple[Skipped, ...]:
        """What of the folders could not be read, wholly or in part, by address."""
        return self.index.skipped

    def search(self, query: str, *, known: Collection[str], deadline: float) -> SearchOutcome:
        """Find the documents that fit a query best; see `SearchProvider`.

        A file that vanished since the folders were read is skipped and named; one that changed is read
        again.
        """
        with self._lock:
            return self._search(query, frozenset(known), deadline)

    @property
    def state(self) -> str:
        """A digest of the folders' contents and of how they are searched."""
        config = self._config
        return f"{self.index.digest}-{config.documents}-{config.whole_chunks}-{config.best_chunks}"

    def revisit(self, known: Mapping[str, str], *, query: str) -> list[Revisited]:
        """See `SearchProvider`; a file that was renamed or moved and holds the same is the same page."""
        with self._lock:
            by_content = {source.row.fingerprint: source for source in reversed(self.index.sources)}
            reasons = {skipped.source: skipped.reason for skipped in self.index.skipped}
            return [
                self._revisited(address, fingerprint, by_content, reasons, query)
                for address, fingerprint in known.items()
                if "://" not in address
            ]

    def editions(self) -> dict[str, Edition]:
        """Where each source stands among the versions of its document, by address."""
        with self._lock:
            return dict(self._all_editions())

    def close(self) -> None:
        with self._lock:
            self.index.close()

    def __enter__(self) -> "FolderSearch":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _search(self, query: str, known: frozenset[str], deadline: float) -> SearchOutcome:
        scores = self._scores(query, deadline)
        new: list[FoundPage] = []
        seen: list[FoundPage] = []
        skipped: list[Skipped] = []
        for source in self._ranked_sources(scores):
            try:
                if source.address in known:
                    seen.append(self._matches(source, scores, query))
                else:
                    new.append(self._found(source, scores, query))
            except SourceError as error:
                skipped.append(Skipped(source.address, str(error)))
            if len(new) == self._config.documents or (new and time.monotonic() >= deadline):
                break
        new += self._newest([*new, *seen], known, scores, query, skipped)
        return SearchOutcome(tuple(new), tuple(seen), tuple(skipped))

    def _revisited(
        self,
        address: str,
        fingerprint: str,
        by_content: Mapping[str, Source],
        reasons: Mapping[str, str],
        query: str,
    ) -> Revisited:
        source = self._by_address.get(address)
        same = by_content.get(fingerprint) if source is None else source
        if same is not None and same.row.fingerprint == fingerprint:
            edition = self._all_editions().get(same.address, ALONE)
            return Revisited(address, same.address, edition)
        if source is None:
            return Revisited(address, reason=reasons.get(address, "it is no longer there"))
        try:
            page, chunks = self._vectors.page(source)
        except SourceError as error:
            return Revisited(address, reason=str(error))
        own = self._own(source, self._scores(query, float("inf")))
        chosen = chosen_chunks(own, whole=self._config.whole_chunks, best=self._config.best_chunks)
        whole = replace(self._page(source, page, chunks, range(len(chunks)), own), hits=tuple(chosen))
        return Revisited(address, address, whole.edition, whole)

    def _scores(self, query: str, deadline: float) -> FloatArray:
        """Fused score of every chunk, (chunks,); 0 for those that have nothing to do with the query."""
        config = self._config
        asked = words(query)
        lexical = self.index.lexical.scores(asked)
        coverage = self.index.lexical.coverage(asked)
        by_words = ranked(lexical, 0.0, config.candidates)
        vector = self._embedder.embed_queries([query])[0]
        cosines = self._vectors.cosines(vector, by_words, deadline)
        related = coverage + 0.5 * np.maximum(cosines, 0.0) / self._embedder.profile.similar_threshold
        if related.max() < config.related:
            return np.zeros(self.index.chunk_count)
        by_meaning = ranked(cosines, 0.0, config.candidates)
        scores = fused([by_words, by_meaning], self.index.chunk_count, config.fusion_k)
        scores[related < config.related_document] = 0.0
        return scores

    def _ranked_sources(self, scores: FloatArray) -> list[Source]:
        order = [source for source, _ in self._vectors.places(best_first(scores))]
        return list({source.address: source for source in order}.values())

    def _own(self, source: Source, scores: FloatArray) -> FloatArray:
        return scores[source.start : source.start + source.row.chunks]

    def _found(self, source: Source, scores: FloatArray, query: str) -> FoundPage:
        page, chunks, own = self._current(source, scores, query)
        chosen = chosen_chunks(own, whole=self._config.whole_chunks, best=self._config.best_chunks)
        return self._page(source, page, chunks, chosen, own)

    def _matches(self, source: Source, scores: FloatArray, query: str) -> FoundPage:
        page, chunks, own = self._current(source, scores, query)
        return self._page(source, page, chunks, sorted(best_first(own)[: self._config.hits].tolist()), own)

    def _page(
        self, source: Source, page: Page, chunks: tuple[Chunk, ...], chosen: Sequence[int], own: FloatArray
    ) -> FoundPage:
        edition = self._all_editions().get(source.address, ALONE)
        position = {chunk: index for index, chunk in enumerate(chosen)}
        hits = [position[chunk] for chunk in best_first(own).tolist() if chunk in position]
        return FoundPage(
            page=replace(page, domain=edition.series or source.address),
            fingerprint=page_fingerprint(page.text),
            edition=edition,
            chunks=tuple(chunks[index] for index in chosen),
            hits=tuple(hits[: self._config.hits]),
        )

    def _current(
        self, source: Source, scores: FloatArray, query: str
    ) -> tuple[Page, tuple[Chunk, ...], FloatArray]:
        """A source's page as it is now, its chunks and their scores. Raises SourceError."""
        if not self.index.changed(source):
            page, chunks = self._vectors.page(source)
            return page, chunks, self._own(source, scores)
        page, chunks = self.index.read_again(source)
        asked = frozenset(words(query))
        shared = [len(asked & set(words(chunk.embed_text))) for chunk in chunks]
        return page, chunks, np.array(shared, dtype=np.float64)

    def _newest(
        self,
        found: Sequence[FoundPage],
        known: frozenset[str],
        scores: FloatArray,
        query: str,
        skipped: list[Skipped],
    ) -> list[FoundPage]:
        """The newest editions of those found, where the search did not bring them itself."""
        have = known | {page.page.address for page in found}
        wanted = dict.fromkeys(
            p.edition.newest for p in found if p.edition.older and p.edition.newest not in have
        )
        pages: list[FoundPage] = []
        for address in wanted:
            source = self._by_address.get(address)
            if source is None:
                continue
            try:
                pages.append(self._found(source, scores, query))
            except SourceError as error:
                skipped.append(Skipped(address, str(error)))
        return pages

    def _all_editions(self) -> dict[str, Edition]:
        if self._editions is None:
            self._editions = folder_editions(self.index, self._vectors, self._embedder, self._config.alike)
        return self._editions
