"""Older schemas of the Neo4j store: the way from each to the next, and how it is gone (``migrations``).

The backup is a SQLite store under LETHE_HOME, made by reading what is there as a copy does. The change itself
is one transaction, which locks every session first and sees whether one was worked on since the backup. Of
several processes one has the turn, so that one backup is made.
"""

import os
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from neo4j import ManagedTransaction

from lethe_core.adapters.stores.copying import back_up
from lethe_core.adapters.stores.leases import busy
from lethe_core.adapters.stores.migrations import Migration, backup_name, due, series_of, told
from lethe_core.adapters.stores.neo4j_connection import Neo4jConnection
from lethe_core.adapters.stores.neo4j_reader import new_token
from lethe_core.adapters.stores.neo4j_schema import SCHEMA_VERSION, make_indexes, make_schema, stored_version
from lethe_core.adapters.stores.owner import make_owner, owner_is_dead
from lethe_core.config import default_home
from lethe_core.errors import LetheError, SessionBusyError, StoreUnavailableError
from lethe_core.graph.nodes import SessionId
from lethe_core.graph.store import GraphStore

DISTURBED: Final = 3  # backups that a session at work may make useless, one after the other
TURN_SECONDS: Final = 900.0  # after which another process takes over from one that is not seen to be dead
POLL_SECONDS: Final = 0.5

_LOCK: Final = (
    "MATCH (m:Meta {name: 'lethe'}) SET m.lock = $token RETURN m.schema_version, m.migrated_by, "
    "coalesce(m.migrating, ''), coalesce(m.migrating_until, 0.0), datetime.realtime().epochMillis / 1000.0"
)
_TURN: Final = "MATCH (m:Meta {name: 'lethe'}) SET m.migrating = $owner, m.migrating_until = $until"
_NO_TURN: Final = "MATCH (m:Meta {name: 'lethe', migrating: $owner}) REMOVE m.migrating, m.migrating_until"
_LOCK_SESSIONS: Final = "MATCH (s:Session) SET s.session_lock = $token"
_MOMENT: Final = (
    "MATCH (s:Session) WHERE s.session_state IS NOT NULL "
    "RETURN s.session_id, s.session_revision, s.session_owner, s.session_until, "
    "datetime.realtime().epochMillis / 1000.0 ORDER BY s.session_id"
)
_DONE: Final = "MATCH (m:Meta {name: 'lethe'}) SET m.schema_version = $version, m.migrated_by = $token"


class _DisturbedError(Exception):
    """Something was written between the backup and the change."""


def prepare_schema(store: GraphStore, connection: Neo4jConnection) -> None:
    """Make what the store needs in a database that is new to it; bring an older store up to date.

    Raises StoreVersionError (newer, or unheard of), SessionBusyError and StoreUnavailableError (an older one
    that cannot be migrated now); the store is then as it was.
    """
    version = stored_version(connection)
    if version is None:
        make_schema(connection)
        version = stored_version(connection) or SCHEMA_VERSION
    owner, disturbed = make_owner(), 0
    while migrations := due(MIGRATIONS, version, SCHEMA_VERSION, connection.url):
        if _takes_turn(connection, owner):
            try:
                with told(connection.url, version, SCHEMA_VERSION) as begin:
                    _migrate(store, connection, migrations, begin)
            except _DisturbedError as error:
                disturbed += 1
                if disturbed == DISTURBED:
                    raise StoreUnavailableError(
                        f"the store {connection.url} has to be brought to schema {SCHEMA_VERSION}, but its "
                        "sessions are being worked on all the time: end those runs of an older Lethe first; "
                        "it is as it was"
                    ) from error
            finally:
                connection.run(_NO_TURN, owner=owner)
        else:
            time.sleep(POLL_SECONDS)
        version = stored_version(connection) or version


def _takes_turn(connection: Neo4jConnection, owner: str) -> bool:
    """Whether this process is the one to migrate now; the others wait for it."""

    def take(tx: ManagedTransaction) -> bool:
        version, _, holder, until, now = tx.run(_LOCK, token=owner).single(strict=True).values()
        if holder not in ("", owner) and until > now and not owner_is_dead(holder):
            return False
        tx.run(_TURN, owner=owner, until=now + TURN_SECONDS).consume()
        return bool(version < SCHEMA_VERSION)

    return connection.write(take)


def _migrate(
    store: GraphStore,
    connection: Neo4jConnection,
    migrations: list[Migration[ManagedTransaction]],
    begin: Callable[[Path], None],
) -> None:
    moment, token = connection.read(lambda tx: _moment(tx, connection.url)), new_token()
    backup = _backup_path(connection.url)
    begin(backup)
    _back_up(store, connection.url, backup)
    make_indexes(connection)

    def change(tx: ManagedTransaction) -> None:
        version, migrated_by, *_ = tx.run(_LOCK, token=token).single(strict=True).values()
        if migrated_by == token:
            return  # the connection broke after it had been committed
        tx.run(_LOCK_SESSIONS, token=token).consume()
        if version == SCHEMA_VERSION or _moment(tx, connection.url) != moment:
            raise _DisturbedError
        for migration in migrations:
            migration.change(tx)
        tx.run(_DONE, version=SCHEMA_VERSION, token=token).consume()

    connection.write(change)


def _moment(tx: ManagedTransaction, url: str) -> list[tuple[str, int]]:
    """The revisions of all sessions. Raises SessionBusyError when one of them is held."""
    found = [record.values() for record in tx.run(_MOMENT)]
    for session, _, owner, until, now in found:
        if owner and until > now and not owner_is_dead(owner):
            raise SessionBusyError(
                f"the store {url} has to be brought to schema {SCHEMA_VERSION}, but "
                f"{busy(SessionId(session), owner, until)}"
            )
    return [(session, revision) for session, revision, *_ in found]


def _backup_path(url: str) -> Path:
    home = Path(os.environ.get("LETHE_HOME") or default_home()).expanduser().absolute()
    place = re.sub(r"[^A-Za-z0-9]+", "-", url).strip("-")
    return backup_name(place, ".db", SCHEMA_VERSION, home / "backups")


def _back_up(store: GraphStore, url: str, file: Path) -> None:
    try:
        back_up(store, file)
    except LetheError as error:
        raise StoreUnavailableError(
            f"the store {url} has to be brought to schema {SCHEMA_VERSION} and is still as it was: {error}; "
            f"or let the Lethe that wrote it do `lethe store backup FILE --store {url}`, and this one `lethe "
            "store copy sqlite:///FILE` into an empty database"
        ) from error


# -- the way from each version to the next --------------------------------------------------------------


def _to_2(tx: ManagedTransaction) -> None:
    """The series of a session in a property of its own."""
    for session, state in [record.values() for record in tx.run(_STATES)]:
        tx.run(_SERIES, session=session, series=series_of(state)).consume()


_STATES: Final = "MATCH (s:Session) WHERE s.session_state IS NOT NULL RETURN s.session_id, s.session_state"
_SERIES: Final = "MATCH (s:Session {session_id: $session}) SET s.session_series = $series"

MIGRATIONS: Final = (Migration(2, _to_2),)
