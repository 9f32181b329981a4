"""What grows under LETHE_HOME and beside it, cut by age and size: kept answers, indexes, backups.

Nothing here removes what cannot be made again: an answer that an unfinished session may still need stays,
and an index is only a memory of its folder.
"""

import shutil
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Final

from lethe_core.adapters.answers import AnswerStorage, names_of
from lethe_core.adapters.stores.copying import back_up
from lethe_core.graph.session_state import SessionStatus
from lethe_core.graph.store import GraphStore

IN_USE_SECONDS: Final = 3600.0  # what was touched within the last hour belongs to a run that is at work
BACKUP: Final = "lethe-{}.db"


@dataclass(frozen=True, slots=True)
class Removed:
    """How much was removed."""

    entries: int = 0
    bytes: int = 0


@dataclass(frozen=True, slots=True)
class _Entry:
    """What is kept or removed as a whole: an answer, a database with its log, a folder."""

    remove: Callable[[], None]
    used: float  # when it was last written or read
    size: int


def prune_answers(store: GraphStore, answers: AnswerStorage, *, before: float, most_bytes: int) -> Removed:
    """Remove kept answers that were last used before a time, then the longest unused ones above a size.

    Those of a session that is not finished stay, whatever their age: no answer is bought twice.
    Raises StoreError.
    """
    unfinished = tuple(
        names_of(state.uuid) for state in store.list_sessions() if state.status is SessionStatus.RUNNING
    )
    return _prune(
        (
            _Entry(partial(answers.remove, answer), answer.used, answer.size)
            for answer in answers.list()
            if not answer.name.startswith(unfinished)
        ),
        before=before,
        most_bytes=most_bytes,
    )


def prune_indexes(home: Path, *, before: float, most_bytes: int) -> Removed:
    """Remove indexes of corpus folders not used since a time, then the longest unused ones above a size."""
    groups: dict[str, tuple[Path, ...]] = {}
    for path in (home / "index").glob("*"):
        name = path.name.removesuffix("-wal").removesuffix("-shm")
        groups[name] = (*groups.get(name, ()), path)
    entries = (entry for paths in groups.values() if (entry := _entry(paths)) is not None)
    return _prune(entries, before=before, most_bytes=most_bytes)


def back_up_into(
    store: GraphStore, folder: Path, *, keep: int, clock: Callable[[], float] = time.time
) -> tuple[Path, Removed]:
    """Back the store up into a new file of a folder, then remove all but the newest `keep` backups there.

    Raises UsageError, StoreError; then no older backup is removed.
    """
    stamp = datetime.fromtimestamp(clock(), UTC).strftime("%Y%m%d-%H%M%S")
    file = folder / BACKUP.format(stamp)
    back_up(store, file)
    # Their names are times: the last ones are the newest.
    old = sorted(folder.glob(BACKUP.format("*")))[: -max(1, keep)]
    size = sum(path.stat().st_size for path in old)
    for path in old:
        path.unlink(missing_ok=True)
    return file, Removed(len(old), size)


def _prune(found: Iterable[_Entry], *, before: float, most_bytes: int) -> Removed:
    entries = list(found)
    left = sum(entry.size for entry in entries)
    in_use = time.time() - IN_USE_SECONDS
    n, size = 0, 0
    for entry in sorted(entries, key=lambda entry: entry.used):
        if entry.used > in_use or (entry.used >= before and left <= most_bytes):
            break
        entry.remove()
        left, size, n = left - entry.size, size + entry.size, n + 1
    return Removed(n, size)


def _remove(paths: Iterable[Path]) -> None:
    for path in paths:
        _remove_one(path)


def _remove_one(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        # Away at once, so that nobody opens half of it.
        away = path.with_name(f".{path.name}.removed")
        path.rename(away)
        shutil.rmtree(away, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _entry(paths: tuple[Path, ...]) -> _Entry | None:
    try:
        # Of a folder only what lies in it: to look into it is to use the folder itself.
        files = [part for path in paths for part in (path, *path.rglob("*")) if not part.is_dir()]
        stats = [part.stat() for part in files]
        written = max(path.stat().st_mtime for path in paths)
    except FileNotFoundError:
        return None  # it went while we looked
    used = max((max(stat.st_mtime, stat.st_atime) for stat in stats), default=written)
    return _Entry(partial(_remove, paths), used, sum(stat.st_size for stat in stats))
