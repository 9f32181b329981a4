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
    embeddings: dict[int, Vector] = {}

    def embedding(member: int) -> Vector:
        if member not in embeddings:
            embeddings[member] = page_embedding(vectors.of_source(index.sources[member]))
        return embeddings[member]

    found = editions(
        [_candidate(source) for source in index.sources],
        lambda one, other: float(embedding(one) @ embedding(other)) >= alike,
    )
    placed = {address: edition for address, edition in found.items() if edition != ALONE}
    _write(path, placed)
    return placed


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
