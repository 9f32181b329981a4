"""How a store of an older schema is brought up to this one (architecture.md, "Where things lie").

Each store has a list of migrations, in order; each leads to the next version. All that are due are done in
one transaction, after a backup; whatever ends it before its commit leaves the store as it was. What differs
between the stores is in ``sqlite_migrations`` and ``neo4j_migrations``.
"""

import json
import logging
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from lethe_core.errors import StoreVersionError

_log = logging.getLogger(__name__)

Database = TypeVar("Database")


@dataclass(frozen=True, slots=True)
class Migration(Generic[Database]):
    """From the version before to ``version``; ``change`` works inside the transaction that it is given."""

    version: int
    change: Callable[[Database], None]


def due(
    migrations: Sequence[Migration[Database]], version: int, newest: int, store: object
) -> list[Migration[Database]]:
    """The migrations that lead from a store's version to the newest, in order; none for the newest itself.

    Raises StoreVersionError for a version that is newer, or that nothing leads on from.
    """
    if version > newest:
        raise StoreVersionError(
            f"the store {store} has schema version {version}, this Lethe knows {newest}: "
            "use the newer Lethe that wrote it, or another --store"
        )
    found = [migration for migration in migrations if version < migration.version <= newest]
    if version < 1 or [migration.version for migration in found] != list(range(version + 1, newest + 1)):
        raise StoreVersionError(
            f"the store {store} has schema version {version}, which no Lethe has ever written"
        )
    return found


def backup_name(stem: str, suffix: str, newest: int, folder: Path) -> Path:
    """Where the backup goes: ``graph-before-schema-2-2026-05-31-142201.db``, a name that is not taken."""
    moment = time.strftime("%Y-%m-%d-%H%M%S")
    name = f"{stem}-before-schema-{newest}-{moment}"
    path, number = folder / f"{name}{suffix}", 1
    while path.exists():
        number += 1
        path = folder / f"{name}-{number}{suffix}"
    return path


def series_of(state: str) -> str:
    """The series that a session's state names; empty where the state cannot be read, which a check says."""
    try:
        return str(json.loads(state).get("series", ""))
    except (ValueError, AttributeError):
        return ""


@contextmanager
def told(store: object, version: int, newest: int) -> Iterator[Callable[[Path], None]]:
    """Say what is done to the store, and how it ended.

    The block calls what it is given with the path of the backup that it is about to make. When the block
    fails, nothing was changed, and the backup is removed again.
    """
    backups: list[Path] = []

    def begin(backup: Path) -> None:
        backups.append(backup)
        _log.warning(
            "bringing the store %s from schema %d to %d; its backup: %s", store, version, newest, backup
        )

    started = time.monotonic()
    try:
        yield begin
    except BaseException:
        for backup in backups:
            with suppress(OSError):
                backup.unlink()
        raise
    if backups:
        _log.warning("the store %s has schema %d now (%.1f s)", store, newest, time.monotonic() - started)
