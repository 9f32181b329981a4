"""Older schemas of the SQLite store: the way from each to the next, and how it is gone (``migrations``).

Everything happens under the file's write lock, the backup included: of two processes that open an old store
at once the second finds it new.
"""

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Final

from lethe_core.adapters.stores.leases import busy
from lethe_core.adapters.stores.migrations import Migration, backup_name, due, series_of
from lethe_core.adapters.stores.owner import owner_is_dead
from lethe_core.adapters.stores.sqlite_schema import EDGE, SCHEMA_VERSION, SERIES, SERIES_INDEX
from lethe_core.errors import SessionBusyError, StoreUnavailableError
from lethe_core.graph.nodes import SessionId


def migrate(database: sqlite3.Connection, path: Path, version: int, begin: Callable[[Path], None]) -> None:
    """Bring the store up to SCHEMA_VERSION inside the caller's write transaction.

    begin: told the path of the backup that is made before anything is changed.
    Raises StoreVersionError, SessionBusyError (an older Lethe is at work in it), StoreUnavailableError.
    """
    migrations = due(MIGRATIONS, version, SCHEMA_VERSION, path)
    _refuse_while_held(database, path)
    backup = backup_name(path.stem, path.suffix, SCHEMA_VERSION, path.parent)
    begin(backup)
    _back_up(path, version, backup)
    for migration in migrations:
        migration.change(database)
    database.execute("UPDATE meta SET value = ? WHERE name = 'schema_version'", (SCHEMA_VERSION,))


def _refuse_while_held(database: sqlite3.Connection, path: Path) -> None:
    held = database.execute(
        "SELECT id, owner, until FROM session WHERE owner <> '' "
        "AND until > (julianday('now') - 2440587.5) * 86400.0"
    ).fetchall()
    for session, owner, until in held:
        if not owner_is_dead(owner):
            raise SessionBusyError(
                f"the store {path} has to be brought to schema {SCHEMA_VERSION}, but "
                f"{busy(SessionId(session), owner, until)}"
            )


def _back_up(path: Path, version: int, file: Path) -> None:
    part = path.with_name(f".{path.name}-backup.part")
    try:
        # What a killed migration has left; nobody else is at one, since the write lock is ours.
        for left in path.parent.iterdir():
            if left.name.startswith(part.name):
                left.unlink()
        # A connection of its own: VACUUM does not run inside a transaction, and reads what was committed.
        try:
            with closing(sqlite3.connect(path, isolation_level=None)) as reader:
                reader.execute("VACUUM INTO ?", (str(part),))
            _to_disk(part)
            part.rename(file)
            _to_disk(path.parent)
        finally:
            part.unlink(missing_ok=True)
    except (sqlite3.Error, OSError) as error:
        raise StoreUnavailableError(
            f"the store {path} has schema version {version} and has to be brought to {SCHEMA_VERSION}, but "
            f"the backup that is made of it first, {file.name} beside it, cannot be written ({error}): make "
            "room there, or move the store; it is as it was"
        ) from error


def _to_disk(place: Path) -> None:
    opened = os.open(place, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


# -- the way from each version to the next --------------------------------------------------------------


def _to_2(database: sqlite3.Connection) -> None:
    """Edges by their ends' numbers, in the order in which they come up; the series in a column of its own."""
    database.execute(f"ALTER TABLE session ADD COLUMN {SERIES}")
    for key, text in database.execute("SELECT key, state FROM session").fetchall():
        database.execute("UPDATE session SET series = ? WHERE key = ?", (series_of(text), key))
    database.execute(SERIES_INDEX)
    database.execute("ALTER TABLE edge RENAME TO edge_1")
    database.execute(EDGE)
    try:
        database.execute(
            """
            INSERT INTO edge
            SELECT e.session, e.type, iif(st.id IS NOT NULL, 't', iif(se.id IS NOT NULL, 'e', NULL)),
                coalesce(tt.sequence, te.sequence), coalesce(st.sequence, se.sequence), e.sequence, e.cosine,
                e.entail_fwd, e.entail_bwd, e.support, e.contradiction, e.equivalence, e.independence,
                e.confidence, e.direction, e.polarity
            FROM edge_1 AS e
            LEFT JOIN task AS st ON st.id = e.source AND +st.session = e.session
            LEFT JOIN evidence AS se ON se.id = e.source AND +se.session = e.session
            LEFT JOIN task AS tt ON tt.id = e.target AND +tt.session = e.session
                AND st.id IS NOT NULL AND e.type <> 'PRODUCED'
            LEFT JOIN evidence AS te ON te.id = e.target AND +te.session = e.session
                AND (se.id IS NOT NULL OR e.type = 'PRODUCED')
            ORDER BY 1, 2, 3, 4, 5
            """
        )
    except sqlite3.IntegrityError as error:
        raise StoreUnavailableError(
            f"the store is damaged: edges lead to nodes that are not there, or that they cannot join "
            f"({error}); it is as it was: restore a backup of it, or choose another --store"
        ) from error
    database.execute("DROP TABLE edge_1")


MIGRATIONS: Final = (Migration(2, _to_2),)
