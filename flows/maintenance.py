"""Keeping house: a backup, then everything that grows is cut by age and size.

What a deletion cannot bring back comes behind the backup: where one is asked for and cannot be written, the
run fails and nothing is removed. The steps are those of `lethe store backup` and `lethe prune`.
"""

import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Final

from prefect import flow, get_run_logger
from prefect.artifacts import create_table_artifact
from prefect.client.schemas.objects import State, StateType
from pydantic import Field

from flows.ages import seconds_of
from flows.kept_answers import kept_answers
from flows.old_runs import OldRuns, end_hanging, end_silent, remove_old_runs
from flows.parameters import Age, PathOrNone, StoreUrl
from flows.wording import count
from lethe_core.adapters.housekeeping import Removed, back_up_into, prune_answers, prune_indexes
from lethe_core.adapters.stores import open_store
from lethe_core.adapters.stores.copying import prune
from lethe_core.config import Settings, load_settings
from lethe_core.errors import ConfigError, LetheError, SessionNotFoundError
from lethe_core.graph.nodes import SessionId
from lethe_core.graph.session_state import SessionStatus
from lethe_core.graph.store import GraphStore

NAME: Final = "lethe-maintenance"
FLOWS: Final = ("lethe", NAME)
GIGABYTE: Final = 10**9
INTERRUPTED_SECONDS: Final = 3600.0  # a session without a run for so long waits for somebody
LISTED: Final = 20


@dataclass
class _Done:
    """What was done, for the table and the state; what could not be done."""

    rows: list[dict[str, str]] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)

    def note(self, what: str, result: str) -> None:
        self.rows.append({"what": what, "result": result})
        get_run_logger().info("%s: %s", what, result)

    def attempt(self, what: str, step: Callable[[], str]) -> None:
        """One step failing is no reason to leave the others."""
        try:
            self.note(what, step())
        except (LetheError, OSError) as error:
            self.failures.append(f"{what}: {error}")
            self.note(what, f"failed: {error}")
            get_run_logger().error("%s: %s", what, error)


@flow(name=NAME, flow_run_name="maintenance", persist_result=False)
def maintain(
    backup_to: PathOrNone = "",
    keep_backups: Annotated[int, Field(ge=1, le=1000)] = 7,
    sessions_older_than: Age = "",
    answers_older_than: Age = "30d",
    indexes_older_than: Age = "30d",
    cache_gigabytes: Annotated[float, Field(gt=0, le=100_000)] = 10,
    runs_older_than: Age = "90d",
    keep_runs: Annotated[int, Field(ge=1)] = 1000,
    store: StoreUrl = "",
) -> State[Any]:
    """Back the graph store up, remove what is old, end what hangs, and list what waits to be resumed.

    Args:
        backup_to: Folder for backups of the graph store, an absolute path as the worker sees it. Empty: none.
        keep_backups: Backups kept, the newest; 1 to 1000.
        sessions_older_than: Sessions not changed for so long are deleted (90d, 12h, 8w). Empty: none.
        answers_older_than: Kept answers of finished sessions, not used for so long. Empty: only by size.
        indexes_older_than: Indexes of folders, not used for so long. Empty: only by size.
        cache_gigabytes: Kept answers, and indexes, at most, each.
        runs_older_than: Prefect's records of Lethe's runs that ended so long ago. Empty: only by number.
        keep_runs: Of those records at most, the newest.
        store: URL of the graph store, without a password. Empty: the worker's.
    """
    settings = load_settings({"store": store or None}).settings
    done = _Done()
    with closing(open_store(settings.store_url)) as opened:
        if backup_to:
            done.attempt("backup", lambda: _back_up(opened, Path(backup_to), keep_backups))
        if done.failures:
            done.note("everything else", "left: what cannot be backed up is not removed")
        else:
            _cut(
                done,
                opened,
                settings,
                sessions_older_than,
                answers_older_than,
                indexes_older_than,
                cache_gigabytes,
            )
            _cut_runs(done, opened, runs_older_than, keep_runs)
            done.attempt("interrupted sessions", lambda: _interrupted(opened))
    create_table_artifact(table=done.rows, key="lethe-maintenance", description="What was kept and removed")
    if done.failures:
        return State(type=StateType.FAILED, message="; ".join(done.failures))
    return State(
        type=StateType.COMPLETED, message="; ".join(f"{row['what']}: {row['result']}" for row in done.rows)
    )


def _back_up(store: GraphStore, folder: Path, keep: int) -> str:
    if not folder.is_absolute():
        raise ConfigError(f"backup_to must be an absolute path on the worker, not {str(folder)!r}")
    file, removed = back_up_into(store, folder, keep=keep)
    return f"{file}, {_mb(file.stat().st_size)}; {count(removed.entries, 'older one')} removed"


def _cut(
    done: _Done,
    store: GraphStore,
    settings: Settings,
    sessions: str,
    answers: str,
    indexes: str,
    gigabytes: float,
) -> None:
    most = int(gigabytes * GIGABYTE)
    if sessions:
        done.attempt("sessions", lambda: _prune_sessions(store, sessions))
    done.attempt("kept answers", lambda: _prune_kept(store, answers, most))
    done.attempt(
        "indexes", lambda: _said(prune_indexes(settings.home, before=_before(indexes), most_bytes=most))
    )


def _prune_sessions(store: GraphStore, age: str) -> str:
    pruned = prune(store, kept_answers(), before=_before(age))
    left = len(pruned.at_work) + len(pruned.followed)
    return f"{len(pruned.deleted)} deleted, {left} left that are at work or that a series goes on from"


def _prune_kept(store: GraphStore, age: str, most_bytes: int) -> str:
    storage = kept_answers()
    if storage is None:
        return "left: their storage block does not list them; give its bucket a rule for their age"
    return _said(prune_answers(store, storage, before=_before(age), most_bytes=most_bytes))


def _cut_runs(done: _Done, store: GraphStore, age: str, keep: int) -> None:
    def at_work(session: str) -> bool:
        try:
            return store.lease_holder(SessionId(session)) is not None
        except SessionNotFoundError:
            return False

    before = datetime.fromtimestamp(_before(age), UTC) if age else None
    done.attempt("old runs", lambda: f"{remove_old_runs(OldRuns(FLOWS, before, keep))} removed")
    done.attempt("runs that hung in their cancelling", lambda: f"{end_hanging(FLOWS)} ended")
    done.attempt("runs that died unseen", lambda: f"{end_silent(FLOWS, at_work)} ended")


def _interrupted(store: GraphStore) -> str:
    """Sessions whose run has gone, and that nobody goes on with.

    Their leases stay as they are: one that has run out holds nobody up, and a process that only slept through
    its end (a machine that was suspended) may renew it and go on.
    """
    now = time.time()
    waiting = [
        state.session_id
        for state in store.list_sessions()
        if state.status is SessionStatus.RUNNING
        and state.updated_at < now - INTERRUPTED_SECONDS
        and store.lease_holder(state.session_id) is None
    ]
    if not waiting:
        return "none"
    more = f" and {len(waiting) - LISTED} more" if len(waiting) > LISTED else ""
    return f"{', '.join(waiting[:LISTED])}{more}: run them again with the same session, or `lethe resume`"


def _before(age: str) -> float:
    """The time before which something is old; the beginning of all time where age does not matter."""
    return time.time() - seconds_of(age) if age else 0.0


def _said(removed: Removed) -> str:
    return f"{removed.entries} removed, {_mb(removed.bytes)}"


def _mb(size: int) -> str:
    return f"{size / 1e6:.1f} MB"
