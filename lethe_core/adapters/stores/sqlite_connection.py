"""One connection to a SQLite file: opened with what durability needs, and its errors said in our words.

WAL with ``synchronous=FULL``: what was committed survives a kill and a power failure. Threads share the
connection under a lock (the lease is renewed from a thread of its own).
"""

import shutil
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from lethe_core.adapters.stores.encoding import lone_surrogates_refused
from lethe_core.adapters.stores.migrations import due, told
from lethe_core.adapters.stores.mounts import network_type
from lethe_core.adapters.stores.sqlite_migrations import MIGRATIONS, migrate
from lethe_core.adapters.stores.sqlite_schema import APPLICATION_ID, SCHEMA_VERSION, STATEMENTS
from lethe_core.errors import StoreError, StoreUnavailableError

OLDEST_SQLITE: Final = (3, 37, 0)  # STRICT tables

MIGRATION_SECONDS: Final = 600.0  # that another process may take to bring the store up to date

FULL_BYTES: Final = 64 * 1024  # less room than what opening a store takes

CACHE_KIB: Final = 32 * 1024  # SQLite's 2 MB spill in the middle of a transaction of some 1,000 nodes


class SqliteConnection:
    """A store file, made when there is none.

    Raises StoreUnavailableError (no right to write, not a store, damaged, on a network file system) and
    StoreVersionError (written by a newer Lethe).
    """

    def __init__(self, path: Path, *, busy_seconds: float = 30.0) -> None:
        self.path = path
        self._busy_seconds = busy_seconds
        self._lock = threading.RLock()
        if sqlite3.sqlite_version_info < OLDEST_SQLITE:
            raise StoreUnavailableError(
                f"SQLite {sqlite3.sqlite_version} is too old for the store: 3.37 or newer is needed "
                "(it comes with Python; use a newer build of it)"
            )
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreUnavailableError(
                f"cannot make the folder of the store {path}: {error.strerror} "
                "(choose another --store, or --home, where it lies by default)"
            ) from error
        if path.is_dir():
            raise StoreUnavailableError(
                f"the store {path} is a folder, not a file: name the file in it (LETHE_STORE or --store: "
                f"sqlite:///{path / 'graph.db'})"
            )
        if kind := network_type(path.parent):
            raise StoreUnavailableError(
                f"the store {path} lies on a network file system ({kind}), where SQLite loses data: put it "
                "on a local disk, or use Neo4j"
            )
        with self._errors():
            self._connection = sqlite3.connect(
                path, timeout=busy_seconds, isolation_level=None, check_same_thread=False
            )
        try:
            with self._errors():
                self._prepare()
        except BaseException:
            self._connection.close()
            raise

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """One consistent view of the file for everything that is read in the block."""
        with self._lock, self._errors(), self._transaction("BEGIN"):
            yield self._connection

    @contextmanager
    def reading_once(self) -> Iterator[sqlite3.Connection]:
        """For a single statement, which is consistent by itself and whose rows are all fetched here."""
        with self._lock, self._errors():
            yield self._connection

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """The only writer of the file until the block is left; an error rolls everything back."""
        with self._lock, self._errors(), self._transaction("BEGIN IMMEDIATE"):
            yield self._connection

    def vacuum_into(self, file: Path) -> None:
        """Copy the database, as it stands at one moment, into a file that must not exist."""
        with self._lock, self._errors():
            self._connection.execute("VACUUM INTO ?", (str(file),))

    def close(self) -> None:
        with self._lock:
            self._connection.close()

    # -- private --------------------------------------------------------------------------------

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[None]:
        self._connection.execute(begin)
        try:
            yield
            self._connection.execute("COMMIT")
        except BaseException:
            # A full disk may have rolled back already.
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            with lone_surrogates_refused():
                yield
        except sqlite3.Error as error:
            raise _translated(error, self.path, self._busy_seconds) from error

    def _prepare(self) -> None:
        execute = self._connection.execute
        execute("PRAGMA synchronous = FULL")
        execute("PRAGMA foreign_keys = ON")
        execute("PRAGMA temp_store = MEMORY")
        execute(f"PRAGMA cache_size = -{CACHE_KIB}")
        version = self._version()
        self._enter_wal()
        if version is None:
            self._make()
        elif version < SCHEMA_VERSION:
            self._bring_up(version)

    def _make(self) -> None:
        with self._transaction("BEGIN IMMEDIATE"):
            if self._version() is not None:
                return  # another process was faster
            for statement in STATEMENTS:
                self._connection.execute(statement)
            self._connection.execute("INSERT INTO meta VALUES ('schema_version', ?)", (SCHEMA_VERSION,))
            self._connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")

    def _bring_up(self, version: int) -> None:
        """Migrate the store, once another process that may be at it already has ended."""
        self._connection.execute(f"PRAGMA busy_timeout = {round(MIGRATION_SECONDS * 1000)}")
        with told(self.path, version, SCHEMA_VERSION) as begin, self._transaction("BEGIN IMMEDIATE"):
            version = self._version() or version
            if version < SCHEMA_VERSION:
                migrate(self._connection, self.path, version, begin)
        self._connection.execute(f"PRAGMA busy_timeout = {round(self._busy_seconds * 1000)}")

    def _version(self) -> int | None:
        """The version of the store; None when the file is still empty.

        Raises StoreUnavailableError (another program's), StoreVersionError (newer, or unheard of).
        """
        execute = self._connection.execute
        (mark,) = execute("PRAGMA application_id").fetchone()
        (tables,) = execute("SELECT count(*) FROM sqlite_schema").fetchone()
        if mark == 0 and tables == 0:
            return None
        if mark != APPLICATION_ID:
            raise StoreUnavailableError(
                f"{self.path} is a database of another program, and left untouched (choose another --store)"
            )
        row = execute("SELECT value FROM meta WHERE name = 'schema_version'").fetchone()
        version = int(row[0]) if row else 0
        due(MIGRATIONS, version, SCHEMA_VERSION, self.path)
        return version

    def _enter_wal(self) -> None:
        # Changing the journal's mode does not wait for other processes by itself.
        deadline = time.monotonic() + self._busy_seconds
        while True:
            try:
                (mode,) = self._connection.execute("PRAGMA journal_mode = WAL").fetchone()
            except sqlite3.OperationalError as error:
                if _primary(error) != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                    raise
                time.sleep(0.02)
                continue
            if mode != "wal":
                raise StoreUnavailableError(
                    f"the file system of {self.path} cannot hold a write-ahead log: put the store on a local "
                    "disk"
                )
            return


def _primary(error: sqlite3.Error) -> int:
    code = getattr(error, "sqlite_errorcode", None)
    return (code or 0) & 0xFF


def _no_room(path: Path) -> bool:
    with suppress(OSError):
        return shutil.disk_usage(path.parent).free < FULL_BYTES
    return False


def _translated(error: sqlite3.Error, path: Path, busy_seconds: float) -> StoreError:
    """What happened, where, and what to do; nothing that was committed is lost by any of these."""
    code = _primary(error)
    if code == sqlite3.SQLITE_IOERR and _no_room(path):
        code = sqlite3.SQLITE_FULL  # opening a store makes files beside it, whose failure is called otherwise
    what = {
        sqlite3.SQLITE_FULL: "the disk of the store is full: make room and run again",
        sqlite3.SQLITE_READONLY: "the store cannot be written: check the rights on the file and its folder",
        sqlite3.SQLITE_PERM: "the store cannot be opened: check the rights on the file and its folder",
        sqlite3.SQLITE_CANTOPEN: "the store cannot be opened: check that its folder is there and writable",
        sqlite3.SQLITE_BUSY: f"another process has been writing to the store for {busy_seconds:g} s: "
        "wait for it, or stop it",
        sqlite3.SQLITE_IOERR: "reading or writing the store failed: check the disk and the room on it",
        sqlite3.SQLITE_NOTADB: "the file is no store: choose another --store, or restore a backup of it",
        sqlite3.SQLITE_CORRUPT: "the store is damaged or cut short: restore a backup of it, or choose "
        "another --store",
    }.get(code)
    if what is None:
        return StoreError(f"the store {path} failed: {error}")
    return StoreUnavailableError(f"{what} ({path}; {error})")
