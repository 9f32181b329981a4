"""The embedded graph store: one SQLite file, many sessions, no server (architecture.md, "The graph").

Nothing is written while a transaction is being staged; leaving its block writes all of it in one database
transaction, which begins by matching the lease.
"""

import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from operator import itemgetter
from pathlib import Path

from lethe_core.adapters.stores import sqlite_rows as rows
from lethe_core.adapters.stores.bulk import collector_paused
from lethe_core.adapters.stores.leases import busy, check_starts, lost, series_busy
from lethe_core.adapters.stores.owner import owner_is_dead
from lethe_core.adapters.stores.sqlite_connection import SqliteConnection
from lethe_core.adapters.stores.sqlite_loading import load_graph
from lethe_core.adapters.stores.sqlite_reader import SqliteReader
from lethe_core.adapters.stores.turns import Turns
from lethe_core.errors import DuplicateError, SessionNotFoundError
from lethe_core.graph.dump import Counters, SessionDump, check_ends
from lethe_core.graph.nodes import Edge, EvidenceNode, Node, SessionId, TaskNode
from lethe_core.graph.rules import head_of
from lethe_core.graph.serial import decode_state
from lethe_core.graph.session_state import Lease, SessionState
from lethe_core.graph.snapshot import GraphSnapshot
from lethe_core.graph.staging import OpenSession, StagedTransaction, StagedWrite, prepare_session

# Milliseconds are the finest that SQLite's own clock gives; unixepoch('subsec') needs SQLite 3.42.
_NOW = "SELECT (julianday('now') - 2440587.5) * 86400.0"


@dataclass(frozen=True, slots=True)
class _Record:
    """A row of the session table."""

    key: int
    state: SessionState
    dimension: int
    counters: Counters
    revision: int
    owner: str
    until: float
    epoch: int
    starts: int


class SqliteStore:
    """Implements ``GraphStore`` on one file.

    path: the file; it and its folder are made when there are none.
    clock: seconds since the epoch for created_at and updated_at; leases go by the database's own clock.
    busy_seconds: how long to wait for another process that is writing.
    Raises StoreUnavailableError, StoreVersionError.
    """

    def __init__(
        self, path: Path, *, clock: Callable[[], float] = time.time, busy_seconds: float = 30.0
    ) -> None:
        self._path = path.absolute()
        self._clock = clock
        self._connection = SqliteConnection(self._path, busy_seconds=busy_seconds)
        # One transaction at a time; the connection itself stays free for the lease's renewal.
        self._turns = Turns()

    @property
    def url(self) -> str:
        return f"sqlite:///{self._path}"

    def create_session(self, state: SessionState, root: TaskNode) -> SessionState:
        state, text, root = prepare_session(state, root, self._clock())
        with self._connection.writing() as database:
            if database.execute("SELECT 1 FROM evidence WHERE id = ?", (root.id,)).fetchone():
                raise DuplicateError(f"a node with the root's id {root.id} exists already in {self.url}")
            try:
                cursor = database.execute(
                    "INSERT INTO session (id, state, dimension, created_at, updated_at, series, last_task, "
                    "last_evidence, last_edge) VALUES (?, ?, ?, ?, ?, ?, 1, 0, 0)",
                    (
                        *(state.session_id, text, len(root.embedding)),
                        *(state.created_at, state.updated_at, state.series),
                    ),
                )
                assert cursor.lastrowid is not None
                database.execute(rows.INSERT_TASK, rows.task_row(root, cursor.lastrowid))
            except sqlite3.IntegrityError as error:
                raise DuplicateError(
                    f"a session {state.session_id!r}, or a node with its root's id, exists already in "
                    f"{self.url}"
                ) from error
        return state

    def load_session(self, session_id: SessionId) -> SessionState:
        with self._connection.reading() as database:
            return self._record(database, session_id).state

    def list_sessions(self, series: str = "") -> list[SessionState]:
        with self._connection.reading() as database:
            found = database.execute(
                rows.SELECT_SERIES if series else rows.SELECT_SESSIONS, (series,) if series else ()
            ).fetchall()
        return [replace(decode_state(text, name), updated_at=updated_at) for name, text, updated_at in found]

    def load_snapshot(self, session_id: SessionId) -> GraphSnapshot:
        with collector_paused(), self._connection.reading() as database:
            key = self._record(database, session_id).key
            nodes, edges = load_graph(database, key, session_id)
            return GraphSnapshot.build(nodes, map(itemgetter(1), edges))

    @contextmanager
    def transaction(self, lease: Lease) -> Iterator[StagedTransaction]:
        with self._turns.taken():
            yield from self._staged(lease)

    def acquire_lease(
        self, session_id: SessionId, owner: str, *, seconds: float = 60.0, force: bool = False
    ) -> Lease:
        with self._connection.writing() as database:
            record = self._record(database, session_id)
            (now,) = database.execute(_NOW).fetchone()
            if self._is_held(record, now) and record.owner != owner:
                raise busy(session_id, record.owner, record.until)
            self._check_series(database, record, now)
            starts = 0 if force else record.starts
            check_starts(session_id, starts)
            lease = Lease(session_id, owner, now + seconds, record.epoch + 1)
            database.execute(
                "UPDATE session SET owner = ?, until = ?, epoch = ?, starts = ? WHERE key = ?",
                (lease.owner, lease.until, lease.epoch, starts + 1, record.key),
            )
            return lease

    def renew_lease(self, lease: Lease, *, seconds: float = 60.0) -> Lease:
        with self._connection.writing() as database:
            (now,) = database.execute(_NOW).fetchone()
            changed = database.execute(
                "UPDATE session SET until = ? WHERE id = ? AND owner = ? AND epoch = ?",
                (now + seconds, lease.session_id, lease.owner, lease.epoch),
            )
            if changed.rowcount != 1:
                raise lost(lease)
            return replace(lease, until=now + seconds)

    def release_lease(self, lease: Lease) -> None:
        with self._connection.writing() as database:
            database.execute(
                "UPDATE session SET owner = '', until = 0 WHERE id = ? AND owner = ? AND epoch = ?",
                (lease.session_id, lease.owner, lease.epoch),
            )

    def lease_holder(self, session_id: SessionId) -> Lease | None:
        with self._connection.reading() as database:
            record = self._record(database, session_id)
            (now,) = database.execute(_NOW).fetchone()
        held = self._is_held(record, now)
        return Lease(session_id, record.owner, record.until, record.epoch) if held else None

    def delete_session(self, session_id: SessionId) -> None:
        with self._connection.writing() as database:
            record = self._record(database, session_id)
            (now,) = database.execute(_NOW).fetchone()
            if self._is_held(record, now):
                raise busy(session_id, record.owner, record.until)
            database.execute("DELETE FROM session WHERE key = ?", (record.key,))

    def dump_session(self, session_id: SessionId) -> SessionDump:
        with collector_paused(), self._connection.reading() as database:
            record = self._record(database, session_id)
            (text,) = database.execute("SELECT state FROM session WHERE key = ?", (record.key,)).fetchone()
            nodes, edges = load_graph(database, record.key, session_id)
        return SessionDump(record.state, text, record.dimension, record.counters, tuple(nodes), tuple(edges))

    def restore_session(self, dump: SessionDump) -> None:
        state, counters = dump.state, dump.counters
        check_ends(dump)
        ends = {node.id: head_of(node) for node in dump.nodes}
        with self._connection.writing() as database:
            try:
                cursor = database.execute(
                    "INSERT INTO session (id, state, dimension, created_at, updated_at, series, last_task, "
                    "last_evidence, last_edge) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                    (
                        *(state.session_id, dump.state_text, dump.dimension),
                        *(state.created_at, state.updated_at, state.series),
                        *(counters.task, counters.evidence, counters.edge),
                    ),
                )
                assert cursor.lastrowid is not None
                self._insert(database, dump.nodes, dump.edges, ends, cursor.lastrowid)
            except sqlite3.IntegrityError as error:
                raise DuplicateError(
                    f"session {state.session_id!r}, or one of its nodes, exists already in {self.url} "
                    f"({error})"
                ) from error

    def check(self) -> list[str]:
        with self._connection.reading_once() as database:
            found = [row[0] for row in database.execute("PRAGMA integrity_check").fetchall()]
            found += [
                f"row {row[1]} of {row[0]} belongs to no session"
                for row in database.execute("PRAGMA foreign_key_check").fetchall()
            ]
        return [f"{self._path}: {problem}" for problem in found if problem != "ok"]

    def backup(self, file: Path) -> None:
        """Write a copy of the whole store, as it stands at one moment, into a file that is not there yet."""
        self._connection.vacuum_into(file)

    def close(self) -> None:
        self._connection.close()

    # -- private --------------------------------------------------------------------------------

    def _staged(self, lease: Lease) -> Iterator[StagedTransaction]:
        with self._connection.reading() as database:
            try:
                record = self._record(database, lease.session_id)
            except SessionNotFoundError as error:
                raise lost(lease) from error
        if (record.owner, record.epoch) != (lease.owner, lease.epoch):
            raise lost(lease)
        reader = SqliteReader(self._connection, record.key, lease.session_id)
        staged = StagedTransaction(
            reader, OpenSession(record.state, record.counters, record.dimension), self._clock()
        )
        try:
            yield staged
            self._commit(lease, record, staged.finish())
            staged.committed()
        finally:
            staged.abandon()

    def _commit(self, lease: Lease, record: _Record, write: StagedWrite) -> None:
        session = record.key
        with self._connection.writing() as database:
            # The fence comes first: nothing is written for a lease that is not held any more.
            fenced = database.execute(
                "UPDATE session SET revision = revision + 1, updated_at = ?, state = coalesce(?, state), "
                "last_task = ?, last_evidence = ?, last_edge = ?, "
                "starts = CASE WHEN ? THEN 0 ELSE starts END "
                "WHERE key = ? AND owner = ? AND epoch = ? AND revision = ?",
                (
                    write.now,
                    write.state_text or None,
                    write.counters.task,
                    write.counters.evidence,
                    write.counters.edge,
                    write.progressed,
                    session,
                    lease.owner,
                    lease.epoch,
                    record.revision,
                ),
            )
            if fenced.rowcount != 1:
                raise lost(lease)
            try:
                self._insert(database, write.created, (), {}, session)
            except sqlite3.IntegrityError as error:
                raise DuplicateError(
                    f"an id given to a new node is taken in another session: {error}"
                ) from error
            database.executemany(
                rows.UPDATE_TASK,
                [rows.update_row(node, session) for node in write.updated if isinstance(node, TaskNode)],
            )
            database.executemany(
                rows.UPDATE_EVIDENCE,
                [rows.update_row(node, session) for node in write.updated if isinstance(node, EvidenceNode)],
            )
            removed = [rows.key_row(key, write.ends, session) for key in write.removed]
            database.executemany(rows.DELETE_EDGE, removed)
            self._insert(database, (), write.edges, write.ends, session)

    @staticmethod
    def _insert(
        database: sqlite3.Connection,
        nodes: Iterable[Node],
        edges: Iterable[tuple[int, Edge]],
        ends: rows.Ends,
        session: int,
    ) -> None:
        tasks = [rows.task_row(node, session) for node in nodes if isinstance(node, TaskNode)]
        database.executemany(rows.INSERT_TASK, tasks)
        evidence = [rows.evidence_row(node, session) for node in nodes if isinstance(node, EvidenceNode)]
        database.executemany(rows.INSERT_EVIDENCE, evidence)
        # In the order of the table's key, each page is written once: 50,000 edges in half the time.
        links = sorted(
            (rows.edge_row(number, edge, ends, session) for number, edge in edges),
            key=itemgetter(1, 2, 3, 4),
        )
        database.executemany(rows.UPSERT_EDGE, links)

    def _record(self, database: sqlite3.Connection, session_id: SessionId) -> _Record:
        # A name from a command line may be no text at all: the database would stumble over it.
        name = session_id.encode(errors="replace").decode()
        row = database.execute(
            "SELECT key, state, updated_at, dimension, last_task, last_evidence, last_edge, revision, owner, "
            "until, epoch, starts FROM session WHERE id = ?",
            (name,),
        ).fetchone()
        if row is None or name != session_id:
            raise SessionNotFoundError(
                f"no session {session_id!r} in {self.url} (`lethe sessions` lists them)"
            )
        state = replace(decode_state(row[1], name), updated_at=row[2])
        return _Record(row[0], state, row[3], Counters(row[4], row[5], row[6]), *row[7:])

    @staticmethod
    def _is_held(record: _Record, now: float) -> bool:
        return bool(record.owner) and record.until > now and not owner_is_dead(record.owner)

    def _check_series(self, database: sqlite3.Connection, record: _Record, now: float) -> None:
        """Raises SeriesBusyError when another session of the record's series is held."""
        if not record.state.series:
            return
        for (name,) in database.execute(
            "SELECT id FROM session WHERE owner != '' AND until > ? AND key != ? AND series = ?",
            (now, record.key, record.state.series),
        ).fetchall():
            other = self._record(database, name)
            if self._is_held(other, now):
                raise series_busy(other.state.series, name, other.owner, other.until)
