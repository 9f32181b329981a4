"""The index over one or several corpus folders: what they hold now, chunked, and searchable by words.

A file is read again only when its size or its modification time changed (architecture.md, "A folder
as a source"). Pages and chunks stay on disk; in memory are a row a source, and BM25.
"""

import logging
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Final

from lethe_core.adapters.sources.folder import SourceFile, WalkConfig, walk
from lethe_core.adapters.sources.index_file import VERSION, Entry, IndexFile, IndexRow
from lethe_core.adapters.sources.isolated import ReaderProcess
from lethe_core.adapters.sources.lexical import StoredLexicalIndex
from lethe_core.adapters.sources.reading import Parse, ReadConfig, load, page_of
from lethe_core.context.lexical import LexicalIndex, words
from lethe_core.errors import CorpusError, SourceAccessError, SourceError, StoreUnavailableError
from lethe_core.evidence.chunk import chunk_page
from lethe_core.evidence.editions import says_superseded
from lethe_core.evidence.fingerprint import page_fingerprint
from lethe_core.evidence.page import Chunk, Page, Skipped

_log = logging.getLogger(__name__)
_NEVER: Final = -1  # a modification time that no file has: read again at the next opening

Progress = Callable[[int, int, str], None]
"""Called with how many files are done, how many there are, and the address of the one that is read."""


@dataclass(frozen=True, slots=True)
class IndexConfig:
    batch: int = 200  # files a transaction
    most_named: int = 3  # unreadable files named in an error


@dataclass(frozen=True, slots=True)
class Source:
    """One readable document of the corpus."""

    file: SourceFile
    row: IndexRow
    start: int  # its first chunk among all chunks

    @property
    def address(self) -> str:
        return self.file.address


class FolderIndex:
    """What the folders hold. Made by `open_index`; closed by whoever opened it."""

    def __init__(
        self,
        sources: tuple[Source, ...],
        skipped: tuple[Skipped, ...],
        files: dict[Path, IndexFile],
        lexical: LexicalIndex,
        reader: ReaderProcess,
        hidden: int,
        notes: tuple[str, ...],
        state: Path,
    ) -> None:
        self.sources = sources  # by address
        self.skipped = skipped  # left out wholly or in part, by address
        self.lexical = lexical
        self.hidden = hidden  # files and folders whose name begins with a dot
        self.notes = notes  # what a person should know of the index itself
        self.files = files
        self.state = state  # a folder for what is computed from exactly these sources; may be gone
        self._reader = reader

    @property
    def digest(self) -> str:
        """Of what the folders hold: the same for the same documents under the same addresses."""
        return _state(self.sources)

    @property
    def chunk_count(self) -> int:
        return self.sources[-1].start + self.sources[-1].row.chunks if self.sources else 0

    def page(self, source: Source) -> tuple[Page, tuple[Chunk, ...]]:
        """A source's page and chunks as the index holds them. Raises SourceError when they are gone."""
        found = self.files[source.file.root].page(source.row.path)
        if found is None or len(found[1]) != source.row.chunks:
            raise SourceError("changed in the index by another run; the next run reads it anew")
        return found

    def changed(self, source: Source) -> bool:
        """Whether the file on disk is no longer the one that was read. Raises SourceError when it is gone."""
        try:
            status = source.file.path.stat()
        except FileNotFoundError:
            raise SourceError("gone since the folder was read") from None
        except OSError as error:
            raise SourceError(f"not readable any more: {error.strerror}") from error
        return (status.st_size, status.st_mtime_ns) != (source.row.size, source.row.modified_ns)

    def read_again(self, source: Source) -> tuple[Page, tuple[Chunk, ...]]:
        """Read a source that changed since; the index keeps what it had. Raises SourceError."""
        return _read(source.file, self._reader.parse)[0:2]

    def close(self) -> None:
        """Close the files and end the reading process."""
        self._reader.close()
        for file in self.files.values():
            file.close()


def open_index(
    roots: Sequence[Path],
    home: Path,
    *,
    progress: Progress | None = None,
    config: IndexConfig | None = None,
    walk_config: WalkConfig | None = None,
) -> FolderIndex:
    """Bring the index of the folders up to date and open it.

    roots: absolute paths of folders; home: LETHE_HOME, below which the index lies.
    Raises CorpusError when a folder can't be used or holds nothing readable, StoreUnavailableError when
    the index can't be written.
    """
    config = config or IndexConfig()
    begun = time.monotonic()
    found = walk(roots, walk_config)
    folder = home / "index"
    files: dict[Path, IndexFile] = {}
    reader = ReaderProcess()
    try:
        for root in dict.fromkeys(file.root for file in found.files):
            files[root] = IndexFile(folder / f"{_digest(os.fsencode(root))}.sqlite")
        rows = _update(found.files, files, reader, progress or _silent, config)
        notes = tuple(
            f"the index of {root.name} was built anew: {file.rebuilt}"
            for root, file in files.items()
            if file.rebuilt
        )
        for note in notes:
            _log.warning("%s", note)
        sources, skipped = _sources(found.files, rows)
        if not sources:
            raise _nothing_readable(roots, [*found.skipped, *skipped], config)
        state = folder / f"words-{_state(sources)}"
        lexical = _lexical(sources, files, state)
        for root, file in files.items():
            file.drop_vectors_beyond(50_000 + 4 * sum(s.row.chunks for s in sources if s.file.root == root))
    except BaseException:
        reader.close()
        for file in files.values():
            file.close()
        raise
    _log.info(
        "%d documents indexed in %.1f s, %d left out",
        len(sources),
        time.monotonic() - begun,
        len(found.skipped) + len(skipped),
    )
    merged = tuple(sorted([*found.skipped, *skipped], key=lambda entry: (entry.source, entry.reason)))
    return FolderIndex(sources, merged, files, lexical, reader, found.hidden, notes, state)


def _update(
    found: Sequence[SourceFile],
    files: dict[Path, IndexFile],
    reader: ReaderProcess,
    progress: Progress,
    config: IndexConfig,
) -> dict[str, IndexRow]:
    """Read what is new or changed; the row of each source by its address."""
    known = {root: file.rows() for root, file in files.items()}
    rows: dict[str, IndexRow] = {}
    pending: dict[Path, list[Entry]] = {root: [] for root in files}
    total = len(found)
    for done, source in enumerate(found):
        path = _relative(source)
        row = known[source.root].pop(path, None)
        if row is None or (row.size, row.modified_ns) != (source.size, source.modified_ns):
            progress(done, total, source.address)
            entry = _entry(source, path, reader.parse)
            row = entry.row
            pending[source.root].append(entry)
            if len(pending[source.root]) >= config.batch:
                files[source.root].write(pending[source.root])
                pending[source.root].clear()
        rows[source.address] = row
    for root, file in files.items():
        gone = list(known[root])
        if pending[root] or gone:
            file.write(pending[root], gone)
    progress(total, total, "")
    return rows


def _entry(source: SourceFile, path: bytes, parse: Parse) -> Entry:
    try:
        page, chunks, note = _read(source, parse)
    except SourceError as error:
        # A verdict on the content stands until the file changes; that a file could not be opened does not.
        stands = _NEVER if isinstance(error, SourceAccessError) else source.modified_ns
        row = IndexRow(path, source.size, stands, str(error), "", "", "", "", "", False, 0)
        return Entry(row, None, (), ())
    row = IndexRow(
        path=path,
        size=source.size,
        modified_ns=source.modified_ns,
        reason="",
        note=note,
        fingerprint=page_fingerprint(page.text),
        title=page.title,
        date=page.date,
        date_source=page.date_source,
        superseded=says_superseded(page.text),
        chunks=len(chunks),
    )
    return Entry(row, page, chunks, tuple(tuple(words(chunk.embed_text)) for chunk in chunks))


def _read(source: SourceFile, parse: Parse) -> tuple[Page, tuple[Chunk, ...], str]:
    data, modified = load(source.path, ReadConfig())
    reading = page_of(data, source.path.suffix, source.address, modified, parse)
    chunks = tuple(chunk_page(reading.page))
    if not chunks:
        raise SourceError("holds no text")
    return reading.page, chunks, reading.note


def _sources(
    found: Sequence[SourceFile], rows: dict[str, IndexRow]
) -> tuple[tuple[Source, ...], tuple[Skipped, ...]]:
    sources: list[Source] = []
    skipped: list[Skipped] = []
    start = 0
    for file in found:
        row = rows[file.address]
        if row.reason or row.note:
            skipped.append(Skipped(file.address, row.reason or row.note))
        if not row.reason:
            sources.append(Source(file, row, start))
            start += row.chunks
    return tuple(sources), tuple(skipped)


def _state(sources: Sequence[Source]) -> str:
    """A digest of what the folders hold: the same for the same documents under the same addresses."""
    state = blake2b(f"{VERSION}\n".encode(), digest_size=16)
    for source in sources:
        state.update(f"{source.address}\0{source.row.fingerprint}\0{source.row.chunks}\n".encode())
    return state.hexdigest()


def _lexical(sources: Sequence[Source], files: dict[Path, IndexFile], path: Path) -> StoredLexicalIndex:
    index = StoredLexicalIndex.load(path)
    if index is not None:
        return index
    by_file = {root: dict(file.words()) for root, file in files.items()}
    chunks: list[list[str]] = []
    for source in sources:
        own = by_file[source.file.root].get(source.row.path, [])
        # Another process may have read a newer state of the file meanwhile.
        chunks.extend((own + [[]] * source.row.chunks)[: source.row.chunks])
    index = StoredLexicalIndex(chunks, [s.address for s in sources for _ in range(s.row.chunks)])
    try:
        index.save(path)
    except OSError as error:
        raise StoreUnavailableError(
            f"the index of the corpus cannot be written to {path.parent}: {error.strerror} "
            "(free some space, or set LETHE_HOME to another folder)"
        ) from error
    return index


def _nothing_readable(roots: Sequence[Path], skipped: Sequence[Skipped], config: IndexConfig) -> CorpusError:
    named = "; ".join(f"{entry.source}: {entry.reason}" for entry in skipped[: config.most_named])
    more = len(skipped) - config.most_named
    return CorpusError(
        f"nothing readable in the corpus folder {', '.join(str(root) for root in roots)}: {named}"
        + (f"; and {more:,} more" if more > 0 else "")
        + " (Markdown, text, HTML, PDF, DOCX and CSV are read)"
    )


def _relative(source: SourceFile) -> bytes:
    return os.fsencode(source.path.relative_to(source.root))


def _digest(name: bytes) -> str:
    return blake2b(name, digest_size=12).hexdigest()


def _silent(done: int, total: int, name: str) -> None:
    """Progress that nobody watches."""
