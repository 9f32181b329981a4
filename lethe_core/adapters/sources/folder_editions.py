"""Editions over a whole index, not over what happened to be found (architecture.md, "A folder as a source").

Kept beside the word index of the same state: of 100,000 files they take half a minute.
"""

import contextlib
import json
import os
import tempfile
from dataclasses import astuple
from hashlib import blake2b
from pathlib import Path

from lethe_core.adapters.sources.index import FolderIndex, Source
from lethe_core.adapters.sources.vectors import ChunkVectors
from lethe_core.control.embedding import Embedder
from lethe_core.errors import SourceError
from lethe_core.evidence.editions import EditionCandidate, editions
from lethe_core.evidence.fingerprint import page_embedding
from lethe_core.evidence.page import ALONE, Edition
from lethe_core.graph.arrays import Vector


def folder_editions(
    index: FolderIndex, vectors: ChunkVectors, embedder: Embedder, alike: float
) -> dict[str, Edition]:
    """Where each source stands among the versions of its document, by address; those alone are left out.

    alike: cosine of two page embeddings from which they may be editions of one document.
    """
    profile = embedder.profile
    key = blake2b(f"{profile.name}@{profile.revision}:{profile.dimension}:{alike}".encode(), digest_size=8)
    path = index.state / f"editions-{key.hexdigest()}.json"
    kept = _read(path)
    if kept is not None:
        return kept
    pages = _PageEmbeddings(index, vectors, embedder)

    def are_alike(one: int, other: int) -> bool:
        if float(pages.titled(one) @ pages.titled(other)) >= alike:
            return True
        # Each chunk's embedding holds the title: two editions that are titled differently ("The playing
        # guide", "Aldermere Trust: the playing guide", .73) are told by their texts alone (.81).
        return float(pages.untitled(one) @ pages.untitled(other)) >= alike

    found = editions([_candidate(source) for source in index.sources], are_alike)
    placed = {address: edition for address, edition in found.items() if edition != ALONE}
    _write(path, placed)
    return placed


class _PageEmbeddings:
    """Page embeddings of the few sources that share a stem with another."""

    def __init__(self, index: FolderIndex, vectors: ChunkVectors, embedder: Embedder) -> None:
        self._index = index
        self._vectors = vectors
        self._embedder = embedder
        self._titled: dict[int, Vector] = {}
        self._untitled: dict[int, Vector] = {}

    def titled(self, member: int) -> Vector:
        if member not in self._titled:
            self._titled[member] = page_embedding(self._vectors.of_source(self._index.sources[member]))
        return self._titled[member]

    def untitled(self, member: int) -> Vector:
        if member not in self._untitled:
            try:
                chunks = self._vectors.page(self._index.sources[member])[1]
            except SourceError:  # another run replaced it meanwhile
                chunks = ()
            texts = [chunk.text for chunk in chunks]
            self._untitled[member] = page_embedding(self._embedder.embed_documents(texts))
        return self._untitled[member]


def _candidate(source: Source) -> EditionCandidate:
    row = source.row
    # A time of modification is shown and never decides.
    date = "" if row.date_source == "modified" else row.date
    return EditionCandidate(source.address, row.title, date, row.superseded)


def _read(path: Path) -> dict[str, Edition] | None:
    try:
        loaded = json.loads(path.read_text(encoding="utf-8"))
        return {address: Edition(*fields) for address, fields in loaded.items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return None


def _write(path: Path, placed: dict[str, Edition]) -> None:
    # Only a memory: without it the next run computes the same.
    with contextlib.suppress(OSError):
        handle, made = tempfile.mkstemp(dir=path.parent)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump({address: astuple(edition) for address, edition in placed.items()}, file)
        Path(made).replace(path)
