"""A session's own record: the properties of its root task that begin with ``session_``.

Whoever is going to change it locks it first and reads it then, in one transaction: a query that matches a
value and sets another lets several racers win.
"""

from dataclasses import dataclass, replace
from typing import Any, Final

from neo4j import ManagedTransaction

from lethe_core.adapters.stores.owner import owner_is_dead
from lethe_core.errors import SessionNotFoundError
from lethe_core.graph.dump import Counters
from lethe_core.graph.nodes import SessionId
from lethe_core.graph.serial import decode_state
from lethe_core.graph.session_state import SessionState

_LOCK: Final = "MATCH (s:Session {session_id: $session}) SET s.session_lock = $token"
# realtime(): the others stand still while the transaction waits for a lock.
_READ: Final = (
    "MATCH (s:Session {session_id: $session}) RETURN s.session_state, s.session_updated_at, "
    "s.session_dimension, s.session_last_task, s.session_last_evidence, s.session_last_edge, "
    "s.session_revision, s.session_token, s.session_owner, s.session_until, s.session_epoch, "
    "s.session_starts, datetime.realtime().epochMillis / 1000.0"
)
_LISTED: Final = (
    "RETURN s.session_id, s.session_state, s.session_updated_at ORDER BY s.session_created_at, s.session_id"
)
_LIST: Final = f"MATCH (s:Session) WHERE s.session_state IS NOT NULL {_LISTED}"  # others may call theirs so
_LIST_SERIES: Final = f"MATCH (s:Session {{session_series: $series}}) {_LISTED}"
# Two sessions of a series lock two nodes of their own: what they have in common is the database.
_LOCK_ALL: Final = "MATCH (m:Meta {name: 'lethe'}) SET m.lock = $token"
_OTHERS: Final = (
    "MATCH (s:Session {session_series: $series}) WHERE s.session_owner <> '' AND s.session_until > $now "
    "AND s.session_id <> $session RETURN s.session_id"
)


@dataclass(frozen=True, slots=True)
class Record:
    """What a session's root task says of the session."""

    state: SessionState
    text: str  # of the state, as it lies there
    dimension: int
    counters: Counters
    revision: int  # raised by every commit
    token: str  # of the last change of the record: how a repeated piece of work knows its own
    owner: str
    until: float
    epoch: int
    starts: int
    now: float  # the database's clock, seconds since the epoch

    @property
    def held(self) -> bool:
        return bool(self.owner) and self.until > self.now and not owner_is_dead(self.owner)


def read_record(tx: ManagedTransaction, session_id: SessionId, url: str) -> Record:
    """Raises SessionNotFoundError."""
    # A name from a command line may be no text at all: the driver would stumble over it.
    name = session_id.encode(errors="replace").decode()
    found = tx.run(_READ, session=name).single()
    if found is None or name != session_id:
        raise SessionNotFoundError(f"no session {session_id!r} in {url} (`lethe sessions` lists them)")
    text, updated_at, dimension, task, evidence, edge, *rest = found.values()
    state = replace(decode_state(text, name), updated_at=updated_at)
    return Record(state, text, dimension, Counters(task, evidence, edge), *rest)


def locked_record(tx: ManagedTransaction, session_id: SessionId, url: str, token: str) -> Record:
    """The record, which nobody else changes until this transaction ends. Raises SessionNotFoundError."""
    tx.run(_LOCK, session=session_id.encode(errors="replace").decode(), token=token).consume()
    return read_record(tx, session_id, url)


def new_record(
    state: SessionState, text: str, dimension: int, counters: Counters, token: str
) -> dict[str, Any]:
    """The properties of a session that nobody has worked on in this database yet."""
    return {
        "session_state": text,
        "session_series": state.series,
        "session_dimension": dimension,
        "session_created_at": state.created_at,
        "session_updated_at": state.updated_at,
        "session_last_task": counters.task,
        "session_last_evidence": counters.evidence,
        "session_last_edge": counters.edge,
        "session_revision": 0,
        "session_token": token,
        "session_owner": "",
        "session_until": 0.0,
        "session_epoch": 0,
        "session_starts": 0,
    }


def list_states(tx: ManagedTransaction, series: str = "") -> list[SessionState]:
    """All sessions, or those of one series, oldest first."""
    found = tx.run(_LIST_SERIES if series else _LIST, series=series)
    return [
        replace(decode_state(text, name), updated_at=updated_at)
        for name, text, updated_at in (record.values() for record in found)
    ]


def held_in_series(tx: ManagedTransaction, record: Record, url: str, token: str) -> Record | None:
    """Another session of the record's series that is held; nobody takes one until this transaction ends."""
    series = record.state.series
    if not series:
        return None
    tx.run(_LOCK_ALL, token=token).consume()
    found = tx.run(_OTHERS, now=record.now, session=record.state.session_id, series=series)
    for name in [row[0] for row in found]:
        other = read_record(tx, name, url)
        if other.held:
            return other
    return None
