"""The graph store for production: a Neo4j database, many sessions (architecture.md, "The graph").

Nothing is written while a transaction is being staged; leaving its block writes all of it in one database
transaction, which begins by locking the session and matching the lease. A piece of work may be done twice
when a connection breaks; a token on the session's record tells it that the first time succeeded.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Final

from neo4j import ManagedTransaction

from lethe_core.adapters.stores import neo4j_rows as rows
from lethe_core.adapters.stores.bulk import collector_paused
from lethe_core.adapters.stores.leases import busy, check_starts, lost, series_busy
from lethe_core.adapters.stores.neo4j_address import Credentials, parse_address
from lethe_core.adapters.stores.neo4j_commit import write_staged
from lethe_core.adapters.stores.neo4j_connection import Neo4jConnection
from lethe_core.adapters.stores.neo4j_deletion import delete_session, finish_deletions, is_being_deleted
from lethe_core.adapters.stores.neo4j_loading import load_session
from lethe_core.adapters.stores.neo4j_migrations import prepare_schema
from lethe_core.adapters.stores.neo4j_reader import Known, Neo4jReader, new_token
from lethe_core.adapters.stores.neo4j_record import (
    Record,
    held_in_series,
    list_states,
    locked_record,
    new_record,
    read_record,
)
from lethe_core.adapters.stores.neo4j_restoring import restore_session
from lethe_core.adapters.stores.neo4j_schema import missing_schema
from lethe_core.adapters.stores.turns import Turns
from lethe_core.errors import DuplicateError, SessionNotFoundError
from lethe_core.graph.dump import Counters, SessionDump
from lethe_core.graph.nodes import SessionId, TaskNode
from lethe_core.graph.session_state import Lease, SessionState
from lethe_core.graph.snapshot import GraphSnapshot
from lethe_core.graph.staging import OpenSession, StagedTransaction, StagedWrite, prepare_session

_TAKEN: Final = (
    "OPTIONAL MATCH (n:Lethe {id: $root}) OPTIONAL MATCH (s:Session {session_id: $session}) "
    "RETURN n.id IS NOT NULL, s.session_token"
)
_CREATE: Final = "CREATE (n:Lethe:TaskNode:Session) SET n = $values"
_LEASE: Final = (
    "MATCH (s:Session {session_id: $session}) SET s.session_owner = $owner, s.session_until = $until, "
    "s.session_epoch = $epoch, s.session_starts = $starts, s.session_token = $token"
)
_UNTIL: Final = "MATCH (s:Session {session_id: $session}) SET s.session_until = $until"
_RELEASE: Final = "MATCH (s:Session {session_id: $session}) SET s.session_owner = '', s.session_until = 0.0"


class Neo4jStore:
    """Implements ``GraphStore`` on one database of a server.

    url: SCHEME://HOST[:PORT][/DATABASE], see ``neo4j_address``.
    credentials: default: LETHE_NEO4J_USER and LETHE_NEO4J_PASSWORD.
    clock: seconds since the epoch for created_at and updated_at; leases go by the database's own clock.
    retry_seconds: how long a server that is gone is waited for once it has been reached.
    Raises ConfigError, CredentialsError, StoreUnavailableError, StoreVersionError.
    """

    def __init__(
        self,
        url: str,
        *,
        credentials: Credentials | None = None,
        clock: Callable[[], float] = time.time,
        retry_seconds: float = 60.0,
    ) -> None:
        self._clock = clock
        self._connection = Neo4jConnection(
            parse_address(url), credentials or Credentials.from_environment(), retry_seconds=retry_seconds
        )
        self._turns = Turns()
        self._known: Known | None = None  # of the session that was used last
        try:
            prepare_schema(self, self._connection)
        except BaseException:
            self._connection.close()
            raise

    @property
    def url(self) -> str:
        return self._connection.url

    def create_session(self, state: SessionState, root: TaskNode) -> SessionState:
        state, text, root = prepare_session(state, root, self._clock())
        token = new_token()
        values = {
            **rows.task_row(root),
            **new_record(state, text, len(root.embedding), Counters(1, 0, 0), token),
        }

        def create(tx: ManagedTransaction) -> bool:
            if is_being_deleted(tx, state.session_id):
                return False
            taken, other = tx.run(_TAKEN, root=root.id, session=state.session_id).single(strict=True).values()
            if other == token:
                return True
            if taken or other is not None:
                raise self._duplicate(state)
            tx.run(_CREATE, values=values).consume()
            return True

        while not self._creating(create, state):
            finish_deletions(self._connection)
        return state

    def load_session(self, session_id: SessionId) -> SessionState:
        return self._read_record(session_id).state

    def list_sessions(self, series: str = "") -> list[SessionState]:
        return self._connection.read(lambda tx: list_states(tx, series))

    def load_snapshot(self, session_id: SessionId) -> GraphSnapshot:
        with collector_paused():
            loaded = load_session(self._connection, session_id)
            snapshot = GraphSnapshot.build(loaded.nodes, [edge for _, edge in loaded.edges])
        self._known_of(loaded.record).learn_all(loaded.nodes, loaded.record.revision)
        return snapshot

    @contextmanager
    def transaction(self, lease: Lease) -> Iterator[StagedTransaction]:
        with self._turns.taken():
            yield from self._staged(lease)

    def acquire_lease(
        self, session_id: SessionId, owner: str, *, seconds: float = 60.0, force: bool = False
    ) -> Lease:
        token = new_token()

        def acquire(tx: ManagedTransaction) -> Lease:
            record = locked_record(tx, session_id, self.url, token)
            if record.token == token:
                return Lease(session_id, record.owner, record.until, record.epoch)
            if record.held and record.owner != owner:
                raise busy(session_id, record.owner, record.until)
            other = held_in_series(tx, record, self.url, token)
            if other is not None:
                raise series_busy(record.state.series, other.state.session_id, other.owner, other.until)
            starts = 0 if force else record.starts
            check_starts(session_id, starts)
            lease = Lease(session_id, owner, record.now + seconds, record.epoch + 1)
            tx.run(
                _LEASE,
                session=session_id,
                owner=owner,
                until=lease.until,
                epoch=lease.epoch,
                starts=starts + 1,
                token=token,
            ).consume()
            return lease

        return self._connection.write(acquire)

    def renew_lease(self, lease: Lease, *, seconds: float = 60.0) -> Lease:
        def renew(tx: ManagedTransaction) -> Lease:
            record = self._locked_under(lease, tx)
            renewed = replace(lease, until=record.now + seconds)
            tx.run(_UNTIL, session=lease.session_id, until=renewed.until).consume()
            return renewed

        return self._connection.write(renew)

    def release_lease(self, lease: Lease) -> None:
        def release(tx: ManagedTransaction) -> None:
            try:
                record = locked_record(tx, lease.session_id, self.url, "")
            except SessionNotFoundError:
                return
            if (record.owner, record.epoch) == (lease.owner, lease.epoch):
                tx.run(_RELEASE, session=lease.session_id).consume()

        self._connection.write(release)

    def lease_holder(self, session_id: SessionId) -> Lease | None:
        record = self._read_record(session_id)
        return Lease(session_id, record.owner, record.until, record.epoch) if record.held else None

    def delete_session(self, session_id: SessionId) -> None:
        delete_session(self._connection, session_id, new_token())

    def dump_session(self, session_id: SessionId) -> SessionDump:
        with collector_paused():
            return load_session(self._connection, session_id).dump()

    def restore_session(self, dump: SessionDump) -> None:
        restore_session(self._connection, dump)

    def check(self) -> list[str]:
        return missing_schema(self._connection)

    def close(self) -> None:
        self._connection.close()

    # -- private --------------------------------------------------------------------------------

    def _staged(self, lease: Lease) -> Iterator[StagedTransaction]:
        try:
            record = self._read_record(lease.session_id)
        except SessionNotFoundError as error:
            raise lost(lease) from error
        if (record.owner, record.epoch) != (lease.owner, lease.epoch):
            raise lost(lease)
        known = self._known_of(record)
        staged = StagedTransaction(
            Neo4jReader(self._connection, lease.session_id, known),
            OpenSession(record.state, record.counters, record.dimension),
            self._clock(),
        )
        try:
            yield staged
            write = staged.finish()
            self._commit(lease, record, write)
            known.learn([*write.created, *write.updated], record.revision + 1)
            staged.committed()
        finally:
            staged.abandon()

    def _commit(self, lease: Lease, record: Record, write: StagedWrite) -> None:
        token = new_token()

        def commit(tx: ManagedTransaction) -> None:
            # The fence comes first: nothing is written for a lease that is not held any more.
            now = self._locked_under(lease, tx)
            if now.token == token:
                return  # the connection broke after it had been committed
            if now.revision != record.revision:
                raise lost(lease)
            write_staged(tx, lease.session_id, write, revision=record.revision + 1, token=token)

        try:
            self._connection.write(commit)
        except DuplicateError as error:
            raise DuplicateError(f"an id given to a new node is taken in another session: {error}") from error

    def _locked_under(self, lease: Lease, tx: ManagedTransaction) -> Record:
        """The locked record of a session whose lease is still this one. Raises SessionLostError."""
        try:
            record = locked_record(tx, lease.session_id, self.url, lease.owner)
        except SessionNotFoundError as error:
            raise lost(lease) from error
        if (record.owner, record.epoch) != (lease.owner, lease.epoch):
            raise lost(lease)
        return record

    def _read_record(self, session_id: SessionId) -> Record:
        return self._connection.read(lambda tx: read_record(tx, session_id, self.url))

    def _known_of(self, record: Record) -> Known:
        """What this store knows of the session at the record's revision."""
        known = self._known
        if known is None or (known.uuid, known.revision) != (record.state.uuid, record.revision):
            known = self._known = Known(record.state.uuid, record.revision)
        return known

    def _creating(self, create: Callable[[ManagedTransaction], bool], state: SessionState) -> bool:
        try:
            return self._connection.write(create)
        except DuplicateError as error:
            raise self._duplicate(state) from error

    def _duplicate(self, state: SessionState) -> DuplicateError:
        return DuplicateError(
            f"a session {state.session_id!r}, or a node with its root's id, exists already in {self.url}"
        )
