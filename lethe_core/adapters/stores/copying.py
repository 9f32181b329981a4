"""Sessions moved between stores, backed up, checked, deleted and pruned: what ``lethe store`` does."""

import os
import tempfile
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

from lethe_core.adapters.answers import AnswerStorage, names_of
from lethe_core.adapters.stores.sqlite import SqliteStore
from lethe_core.errors import DuplicateError, LetheError, SessionBusyError, UsageError
from lethe_core.graph.dump import same_dump
from lethe_core.graph.integrity import problems_of
from lethe_core.graph.nodes import SessionId
from lethe_core.graph.session_state import SessionState
from lethe_core.graph.store import GraphStore
from lethe_core.session.following import last_good


@dataclass(frozen=True, slots=True)
class Copied:
    """How far a copy has come, in sessions."""

    total: int
    there: int = 0  # the target had them already, and equal
    copied: int = 0


def copy_sessions(
    source: GraphStore, target: GraphStore, progress: Callable[[Copied], None] = lambda _: None
) -> Copied:
    """Copy every session, oldest first, bit for bit; one that is there already and equal is left.

    So a copy that was interrupted goes on. progress: told after each session.
    Raises DuplicateError when one is there and differs: then nothing is copied.
    """
    sessions = [state.session_id for state in source.list_sessions()]
    there = {state.session_id for state in target.list_sessions()}
    done, different = Copied(len(sessions)), []
    for session in (session for session in sessions if session in there):
        if same_dump(source.dump_session(session), target.dump_session(session)):
            done = replace(done, there=done.there + 1)
            progress(done)
        else:
            different.append(session)
    if different:
        raise DuplicateError(
            f"{target.url} has {len(different)} of the sessions already, and not as they are in "
            f"{source.url}, the first: {different[0]}; nothing was copied "
            "(delete them there, or copy into an empty store)"
        )
    for session in (session for session in sessions if session not in there):
        target.restore_session(source.dump_session(session))
        done = replace(done, copied=done.copied + 1)
        progress(done)
    return done


def back_up(store: GraphStore, file: Path) -> None:
    """Write the whole store into a SQLite file that is not there yet; it appears when it is whole.

    Raises UsageError (it exists, or its folder cannot be written to), StoreError.
    """
    if file.exists():
        raise UsageError(f"the backup's file exists already: {file} (name another one)")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=file.parent, prefix=f".{file.name}-") as made:
            part = Path(made) / "graph.db"
            if isinstance(store, SqliteStore):
                store.backup(part)
            else:
                with closing(SqliteStore(part)) as target:
                    copy_sessions(store, target)
            with part.open("rb") as written:
                os.fsync(written.fileno())
            part.rename(file)
    except OSError as error:
        raise UsageError(
            f"the backup cannot be written to {file}: {error.strerror or error} (name another FILE)"
        ) from error


def check_store(
    store: GraphStore, progress: Callable[[int, int], None] = lambda _done, _total: None
) -> list[str]:
    """What is wrong with the store and its sessions, a sentence each; empty for a sound one.

    progress: told (done, total) of the sessions.
    """
    found = store.check()
    states = store.list_sessions()
    for done, state in enumerate(states):
        progress(done, len(states))
        try:
            found += problems_of(store.dump_session(state.session_id))
        except (LetheError, ValueError, KeyError, TypeError) as error:
            found.append(f"session {state.session_id}: it cannot be read whole ({error})")
    return found


def delete_session(store: GraphStore, state: SessionState, answers: AnswerStorage | None) -> None:
    """Remove a session's graph and the answers that it bought.

    answers: where they are kept; None where they cannot be listed, and are left.
    Raises SessionNotFoundError, SessionBusyError, StoreUnavailableError.
    """
    store.delete_session(state.session_id)
    # By its UUID: a name used again must find nothing old.
    if answers is not None:
        for answer in answers.list(names_of(state.uuid)):
            answers.remove(answer)


@dataclass(frozen=True, slots=True)
class Pruned:
    """What became of the sessions that were old enough."""

    deleted: tuple[SessionId, ...]
    at_work: tuple[SessionId, ...] = ()  # left
    followed: tuple[SessionId, ...] = ()  # left: the next run of their series starts from them


def prune(store: GraphStore, answers: AnswerStorage | None, *, before: float) -> Pruned:
    """Delete what was last changed before a time, but sessions at work and each series' last good run.

    answers: as for `delete_session`.
    before: seconds since the epoch.
    """
    states = store.list_sessions()
    series: dict[str, list[SessionState]] = {}
    for state in states:
        if state.series:
            series.setdefault(state.series, []).append(state)
    needed = {last.session_id for runs in series.values() if (last := last_good(runs)) is not None}
    deleted, at_work, followed = [], [], []
    for state in states:
        if state.updated_at >= before:
            continue
        if state.session_id in needed:
            followed.append(state.session_id)
            continue
        try:
            delete_session(store, state, answers)
        except SessionBusyError:
            at_work.append(state.session_id)
        else:
            deleted.append(state.session_id)
    return Pruned(tuple(deleted), tuple(at_work), tuple(followed))
