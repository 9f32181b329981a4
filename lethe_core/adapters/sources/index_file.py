"""The index of one corpus folder on disk: one SQLite file, a row for each source.

Written in transactions of some hundred files, so that a kill loses little and leaves nothing half
written; two processes may fill it at once. It is only a memory: a damaged or outdated one is put away
and built again.
"""

import contextlib
import json
import os
import sqlite3
import sys
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any, cast

import numpy as np

from lethe_core.errors import StoreUnavailableError
from lethe_core.evidence.page import Chunk, ChunkKind, DateSource, Page
from lethe_core.graph.arrays import Vector

# Goes up with the form of the rows and with every change of readers, chunking or words.
VERSION = 7
_CHECKED_BYTES = 128 * 1024 * 1024  # a larger file is not read through at each opening (a second for 300 MB)
_SCHEMA = """
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS files (
    path BLOB PRIMARY KEY, size INTEGER NOT NULL, modified_ns INTEGER NOT NULL, reason TEXT NOT NULL,
    note TEXT NOT NULL, fingerprint TEXT NOT NULL, title TEXT NOT NULL, date TEXT NOT NULL,
    date_source TEXT NOT NULL, superseded INTEGER NOT NULL, chunks INTEGER NOT NULL,
    page BLOB NOT NULL, words BLOB NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS vectors (
    profile TEXT NOT NULL, key BLOB NOT NULL, vector BLOB NOT NULL, PRIMARY KEY (profile, key)
) WITHOUT ROWID;
"""


@dataclass(frozen=True, slots=True)
class IndexRow:
    """What is kept in memory of one source."""

    path: bytes  # relative to the folder
    size: int
    modified_ns: int
    reason: str  # why it could not be read; empty when it was
    note: str  # what of it was left out
    fingerprint: str
    title: str
    date: str
    date_source: DateSource
    superseded: bool  # says so of itself
    chunks: int


@dataclass(frozen=True, slots=True)
class Entry:
    """A row with its page, chunks and words, as it is written."""

    row: IndexRow
    page: Page | None
    chunks: tuple[Chunk, ...]
    words: tuple[tuple[str, ...], ...]


_ROW = "path, size, modified_ns, reason, note, fingerprint, title, date, date_source, superseded, chunks"


class IndexFile:
    """Open index of one folder. Use from one thread at a time."""

    def __init__(self, path: Path) -> None:
        """Open or make it. Raises StoreUnavailableError when it can't be written."""
        self.path = path
        self.rebuilt = ""  # why an earlier index was put away; empty when it was not
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            try:
                self._connection = self._open()
            except sqlite3.OperationalError:
                raise
            except (sqlite3.DatabaseError, ValueError) as error:
                self._put_away(str(error))
                self._connection = self._open()
        except (OSError, sqlite3.Error) as error:
            raise self._unusable(error) from error

    def close(self) -> None:
        with contextlib.suppress(sqlite3.Error):
            self._connection.close()

    def rows(self) -> dict[bytes, IndexRow]:
        """All rows by path, without pages."""
        return {row[0]: IndexRow(*row) for row in self._all(f"SELECT {_ROW} FROM files")}  # noqa: S608

    def words(self) -> Iterator[tuple[bytes, list[list[str]]]]:
        """The words of each chunk, source after source."""
        for path, packed in self._all("SELECT path, words FROM files WHERE chunks > 0"):
            with contextlib.suppress(zlib.error, UnicodeDecodeError):
                lines = _unpack(packed).split("\n")
                # Interned: 100,000 files have 3.5 million words, of which few are different.
                yield path, [[sys.intern(word) for word in line.split(" ") if word] for line in lines]

    def page(self, path: bytes) -> tuple[Page, tuple[Chunk, ...]] | None:
        """A source's page and its chunks; None when there is none or the index was damaged since."""
        found = self._all("SELECT page FROM files WHERE path = ? AND chunks > 0", (path,))
        try:
            return _page_from(found[0][0]) if found else None
        except (zlib.error, ValueError, KeyError, TypeError):
            return None

    def write(self, entries: Sequence[Entry], gone: Iterable[bytes] = ()) -> None:
        """Put and remove sources in one transaction. Raises StoreUnavailableError."""
        rows = [
            (
                *(getattr(entry.row, name.strip()) for name in _ROW.split(",")),
                _page_to(entry.page, entry.chunks),
                _pack("\n".join(" ".join(words) for words in entry.words)),
            )
            for entry in entries
        ]
        with self._transaction() as connection:
            connection.executemany("DELETE FROM files WHERE path = ?", [(path,) for path in gone])
            marks = ", ".join("?" * 13)
            connection.executemany(f"INSERT OR REPLACE INTO files VALUES ({marks})", rows)  # noqa: S608

    def vectors(self, profile: str, keys: Sequence[bytes]) -> dict[bytes, Vector]:
        """Those of the embeddings that are kept, by the key of their text."""
        found: dict[bytes, Vector] = {}
        for start in range(0, len(keys), 500):
            part = keys[start : start + 500]
            query = (
                f"SELECT key, vector FROM vectors WHERE profile = ? AND key IN ({', '.join('?' * len(part))})"  # noqa: S608
            )
            for key, vector in self._all(query, (profile, *part)):
                found[key] = np.frombuffer(vector, dtype="<f4").astype(np.float32)
        return found

    def keep_vectors(self, profile: str, vectors: dict[bytes, Vector]) -> None:
        """Keep embeddings. Raises StoreUnavailableError."""
        rows = [(profile, key, vector.astype("<f4").tobytes()) for key, vector in vectors.items()]
        with self._transaction() as connection:
            connection.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)", rows)

    def drop_vectors_beyond(self, most: int) -> None:
        """Forget all embeddings when there are more than `most`: those of texts long gone pile up."""
        if self._all("SELECT count(*) FROM vectors")[0][0] > most:
            with self._transaction() as connection:
                connection.execute("DELETE FROM vectors")

    def _open(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self.path, timeout=30, isolation_level=None, check_same_thread=False)
        try:
            # A memory that can be built again: after a power cut the last transactions may be missing.
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.executescript(_SCHEMA)
            connection.execute("INSERT OR IGNORE INTO meta VALUES ('version', ?)", (str(VERSION),))
            (version,) = connection.execute("SELECT value FROM meta WHERE key = 'version'").fetchone()
            if version != str(VERSION):
                raise ValueError(f"written by another version ({version} instead of {VERSION})")
            if self.path.stat().st_size <= _CHECKED_BYTES:
                (state,) = connection.execute("PRAGMA quick_check(1)").fetchone()
                if state != "ok":
                    raise ValueError(f"damaged ({state})")
        except BaseException:
            connection.close()
            raise
        return connection

    def _put_away(self, reason: str) -> None:
        self.rebuilt = reason
        for suffix in ("", "-wal", "-shm"):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(f"{self.path}{suffix}")  # noqa: PTH108

    def _all(self, query: str, values: Sequence[Any] = ()) -> list[Any]:
        try:
            return self._connection.execute(query, values).fetchall()
        except sqlite3.Error as error:
            raise self._unusable(error) from error

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            except BaseException:
                with contextlib.suppress(sqlite3.Error):
                    self._connection.execute("ROLLBACK")
                raise
        except sqlite3.Error as error:
            raise self._unusable(error) from error

    def _unusable(self, error: BaseException) -> StoreUnavailableError:
        text = str(error)
        if "full" in text or "No space" in text:
            return StoreUnavailableError(
                f"the disk is full: the index of the corpus cannot be written to {self.path} "
                "(free some space, or set LETHE_HOME to a folder on another disk)"
            )
        return StoreUnavailableError(
            f"the index of the corpus at {self.path} cannot be used: {text} "
            "(check the folder's permissions, or delete the file: it is built again)"
        )


def vector_key(text: str) -> bytes:
    """The key under which a text's embedding is kept: 16 bytes."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _pack(text: str) -> bytes:
    return zlib.compress(text.encode("utf-8", "surrogatepass"), 1)


def _unpack(packed: bytes) -> str:
    return zlib.decompress(packed).decode("utf-8", "surrogatepass")


def _page_to(page: Page | None, chunks: tuple[Chunk, ...]) -> bytes:
    if page is None:
        return b""
    fields = {name: getattr(page, name) for name in Page.__slots__}
    pieces = [[c.text, c.embed_text, c.span[0], c.span[1], c.place, c.kind] for c in chunks]
    return _pack(json.dumps([fields, pieces]))


def _page_from(packed: bytes) -> tuple[Page, tuple[Chunk, ...]]:
    fields, pieces = json.loads(_unpack(packed))
    page = Page(**{**fields, "page_starts": tuple(fields["page_starts"])})
    return page, tuple(
        Chunk(text, embed_text, (start, end), place, cast(ChunkKind, kind))
        for text, embed_text, start, end, place, kind in pieces
    )
