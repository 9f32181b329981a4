"""Kept answers, indexes and backups are cut by age and size, and what is still needed stays."""

import os
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from lethe_core.adapters.answers import AnswerFolder
from lethe_core.adapters.housekeeping import Removed, back_up_into, prune_answers, prune_indexes
from lethe_core.adapters.stores.sqlite import SqliteStore
from lethe_core.errors import UsageError
from lethe_core.graph.nodes import NodeId, SessionId, TaskNode
from lethe_core.graph.session_state import SessionPatch, SessionState, SessionStatus

DAY = 86400.0
NEVER = 0.0  # "before" for which nothing is old
HUGE = 10**12


@pytest.fixture
def store(tmp_path: Path):
    with closing(SqliteStore(tmp_path / "graph.db")) as opened:
        yield opened


def session(store: SqliteStore, name: str, status: SessionStatus) -> SessionState:
    root = TaskNode(description="Why?", embed_text="Why?", embedding=np.ones(4, dtype=np.float32) / 2)
    state = store.create_session(
        SessionState(
            session_id=SessionId(name),
            uuid=f"uuid-{name}",
            root=NodeId(root.id),
            goal="Why?",
            profile="words-4",
            config={},
        ),
        root,
    )
    lease = store.acquire_lease(state.session_id, "me")
    with store.transaction(lease) as tx:
        tx.update_session(SessionPatch(status=status))
    store.release_lease(lease)
    return replace(state, status=status)


def put(path: Path, *, days: float, size: int = 100) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"x" * size)
    then = time.time() - days * DAY
    os.utime(path, (then, then))
    return path


def test_old_answers_go_but_those_of_an_unfinished_session_stay(store, tmp_path):
    session(store, "s-done", SessionStatus.COMPLETE)
    session(store, "s-open", SessionStatus.RUNNING)
    results = tmp_path / "results"
    old = put(results / "llm-uuid-s-done-1-0", days=40)
    nested = put(results / "deep" / "llm-uuid-gone-1-0", days=40)
    young = put(results / "llm-uuid-s-done-2-0", days=10)
    needed = put(results / "llm-uuid-s-open-1-0", days=400)
    foreign = put(results / "somebody-else", days=400)
    removed = prune_answers(store, AnswerFolder(results), before=time.time() - 30 * DAY, most_bytes=HUGE)
    assert removed == Removed(2, 200)
    assert [path.exists() for path in (old, nested, young, needed, foreign)] == [
        False,
        False,
        True,
        True,
        True,
    ]


def test_above_a_size_the_longest_unused_go_first_until_it_is_kept(store, tmp_path):
    results = tmp_path / "results"
    files = [put(results / f"llm-u-{n}-0", days=20 - n, size=400) for n in range(5)]
    assert prune_answers(store, AnswerFolder(results), before=NEVER, most_bytes=1000) == Removed(3, 1200)
    assert [path.exists() for path in files] == [False, False, False, True, True]


def test_what_is_in_use_stays_whatever_the_size(store, tmp_path):
    used = put(tmp_path / "results" / "llm-u-1-0", days=0.01)
    assert (
        prune_answers(store, AnswerFolder(tmp_path / "results"), before=time.time(), most_bytes=0)
        == Removed()
    )
    assert used.exists()


def test_an_index_goes_whole_with_its_log_and_its_folder(tmp_path):
    index = tmp_path / "index"
    old = [put(index / f"a.sqlite{suffix}", days=50) for suffix in ("", "-wal", "-shm")]
    words = put(index / "words-1" / "vocab.json", days=50)
    then = time.time() - 50 * DAY
    os.utime(index / "words-1", (then, then))
    # Its log was written to today: it is one entry with its database, and in use.
    kept = [put(index / "b.sqlite", days=50), put(index / "b.sqlite-wal", days=1)]
    removed = prune_indexes(tmp_path, before=time.time() - 30 * DAY, most_bytes=HUGE)
    assert removed.entries == 2
    assert not any(path.exists() for path in [*old, words])
    assert all(path.exists() for path in kept)
    assert sorted(path.name for path in index.iterdir()) == ["b.sqlite", "b.sqlite-wal"]


def test_where_there_is_nothing_nothing_is_removed(store, tmp_path):
    assert (
        prune_answers(store, AnswerFolder(tmp_path / "none"), before=time.time(), most_bytes=0) == Removed()
    )
    assert prune_indexes(tmp_path / "none", before=time.time(), most_bytes=0) == Removed()


def test_a_backup_is_a_store_and_the_oldest_make_room(store, tmp_path):
    session(store, "s-1", SessionStatus.COMPLETE)
    folder = tmp_path / "backups"
    made = [back_up_into(store, folder, keep=2, clock=lambda n=n: 1.7e9 + n)[0] for n in range(4)]
    assert sorted(folder.iterdir()) == made[2:]
    with closing(SqliteStore(made[-1])) as backup:
        assert [state.session_id for state in backup.list_sessions()] == ["s-1"]


def test_a_backup_that_cannot_be_written_costs_no_older_one(store, tmp_path):
    folder = tmp_path / "backups"
    made, _ = back_up_into(store, folder, keep=1, clock=lambda: 1.7e9)
    with pytest.raises(UsageError, match="exists already"):
        back_up_into(store, folder, keep=1, clock=lambda: 1.7e9)
    assert list(folder.iterdir()) == [made]
