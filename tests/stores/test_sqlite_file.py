"""The SQLite store's file: damaged, foreign, newer, read-only, on a full disk; and that it is sound."""

import contextlib
import os
import shutil
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import lethe_core
from lethe_core.adapters.stores import sqlite_schema
from lethe_core.adapters.stores.sqlite import SqliteStore
from lethe_core.errors import SessionNotFoundError, StoreUnavailableError, StoreVersionError


@pytest.fixture
def path(tmp_path):
    return tmp_path / "graph.db"


@pytest.fixture
def filled(path, new_world):
    """A closed store file with a session of 200 nodes."""
    store = SqliteStore(path)
    world = new_world(store)
    world.write(lambda tx: [tx.create_node(world.new_evidence("word " * 200)) for _ in range(200)])
    store.close()
    assert list(path.parent.iterdir()) == [path]  # one file, nothing beside it
    return path


def integrity(path):
    with contextlib.closing(sqlite3.connect(path)) as database:
        return database.execute("PRAGMA integrity_check").fetchall()


def pragma(store, name):
    with store._connection.reading_once() as database:
        return database.execute(f"PRAGMA {name}").fetchone()[0]


def test_durable_by_its_settings(path):
    store = SqliteStore(path)
    assert pragma(store, "journal_mode") == "wal"
    assert pragma(store, "synchronous") == 2  # FULL
    assert pragma(store, "foreign_keys") == 1
    assert pragma(store, "application_id") == sqlite_schema.APPLICATION_ID
    store.close()


def test_missing_folders_are_made(tmp_path):
    SqliteStore(tmp_path / "a" / "b" / "graph.db").close()
    assert (tmp_path / "a" / "b" / "graph.db").exists()


def test_several_may_create_the_file_at_once(path):
    errors = []

    def create():
        try:
            SqliteStore(path).close()
        except Exception as error:  # noqa: BLE001
            errors.append(error)

    threads = [threading.Thread(target=create) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert integrity(path) == [("ok",)]


def test_a_store_killed_in_the_middle_is_sound(path, new_world):
    store = SqliteStore(path)
    world = new_world(store)
    world.evidence()
    # What a kill leaves: the file and its log, copied while the store is open.
    copy = path.with_name("copy.db")
    shutil.copy(path, copy)
    shutil.copy(f"{path}-wal", f"{copy}-wal")
    store.close()
    again = SqliteStore(copy)
    assert len(again.load_snapshot(world.id).evidence) == 1
    again.close()
    assert integrity(copy) == [("ok",)]


@pytest.mark.parametrize("keep", [0.0001, 0.01, 0.5, 0.99])
def test_a_truncated_file_is_said_to_be_damaged_and_left_alone(filled, keep):
    size = int(filled.stat().st_size * keep)
    os.truncate(filled, size)
    before = filled.read_bytes()

    def use():
        store = SqliteStore(filled)
        try:
            store.load_snapshot("s-world")
        finally:
            store.close()

    with pytest.raises(StoreUnavailableError, match=r"(damaged|no store).*backup.*graph\.db"):
        use()
    assert filled.read_bytes() == before


@pytest.mark.parametrize("content", [b"Dear diary, " * 500, b"%PDF-1.7 \0\0", os.urandom(10_000)])
def test_a_file_that_is_no_database_is_refused_and_left_alone(path, content):
    path.write_bytes(content)
    with pytest.raises(StoreUnavailableError, match=r"no store.*graph\.db"):
        SqliteStore(path)
    assert path.read_bytes() == content


def test_another_program_s_database_is_refused_and_left_alone(path):
    with contextlib.closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE session (id TEXT)")
    before = path.read_bytes()
    with pytest.raises(StoreUnavailableError, match=r"graph\.db.*another program"):
        SqliteStore(path)
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


def test_a_newer_store_is_refused_and_left_alone(filled):
    with contextlib.closing(sqlite3.connect(filled, isolation_level=None)) as database:
        database.execute("UPDATE meta SET value = value + 1")
    before = filled.read_bytes()
    with pytest.raises(StoreVersionError, match=r"graph\.db.*version 3.*newer"):
        SqliteStore(filled)
    assert filled.read_bytes() == before


def test_an_empty_file_becomes_a_store(path):
    path.touch()
    store = SqliteStore(path)
    assert store.list_sessions() == []
    store.close()


def test_a_folder_in_the_file_s_place_is_refused(path):
    path.mkdir()
    with pytest.raises(StoreUnavailableError, match=r"graph\.db"):
        SqliteStore(path)


@pytest.mark.skipif(sys.platform == "win32", reason="rights of another kind")
def test_a_read_only_folder_is_named(locked_folder, read_only):
    with read_only(locked_folder), pytest.raises(StoreUnavailableError, match=str(locked_folder)):
        SqliteStore(locked_folder / "graph.db")
    with read_only(locked_folder), pytest.raises(StoreUnavailableError, match=str(locked_folder)):
        SqliteStore(locked_folder / "new" / "graph.db")
    assert list(locked_folder.iterdir()) == []


@pytest.mark.skipif(sys.platform == "win32", reason="rights of another kind")
def test_a_store_in_a_read_only_folder_is_named_and_unharmed(locked_folder, read_only, filled):
    path = shutil.copy(filled, locked_folder / "graph.db")
    path.chmod(0o444)
    with read_only(locked_folder), pytest.raises(StoreUnavailableError, match=str(path)):
        SqliteStore(path)
    assert path.read_bytes() == filled.read_bytes()


def test_another_writer_that_never_ends_is_named(path, new_world):
    store = SqliteStore(path, busy_seconds=0.1)
    world = new_world(store)
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreUnavailableError, match=r"another process.*graph\.db"):
            world.evidence()
        assert len(world.snapshot().evidence) == 0  # reading goes on
    world.evidence()
    store.close()


# -- a full disk ------------------------------------------------------------------------------------

FILL = """
import sys
from pathlib import Path
import numpy as np
from lethe_core.adapters.stores.sqlite import SqliteStore
from lethe_core.errors import StoreUnavailableError
from lethe_core.graph.nodes import EvidenceNode, NodeId, TaskNode
from lethe_core.graph.session_state import SessionPatch, SessionState
limit = int(sys.argv[2])
if limit:
    import resource
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
store = SqliteStore(Path(sys.argv[1]))
zero = np.zeros(6, dtype=np.float32)
store.create_session(SessionState("s-full", "", NodeId(""), "g", "p", {}), TaskNode("q", "q", zero))
lease = store.acquire_lease("s-full", "host/1/x/y")
batch = 0
try:
    while batch < 10_000:
        batch += 1
        with store.transaction(lease) as tx:
            for number in range(10):
                tx.create_node(EvidenceNode(f"{batch}.{number} " + "x" * 3000, "e", zero, 0.5, 0.5))
            tx.update_session(SessionPatch(iterations=batch))
except StoreUnavailableError as error:
    print(batch - 1, error, flush=True)
    # What was committed can still be read through the same store.
    assert len(store.load_snapshot("s-full").evidence) == 10 * (batch - 1)
    store.close()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no limit to set")
@pytest.mark.parametrize("by", ["disk", "limit"])
def test_a_full_disk_loses_nothing_committed_and_says_what_to_do(tmp_path, small_disk, by):
    with small_disk(tmp_path / "small") as mounted:
        limit = 2_000_000 if by == "limit" else 0 if mounted else 4_000_000
        path = tmp_path / "small" / "graph.db"
        done = subprocess.run(
            [sys.executable, "-c", FILL, str(path), str(limit)],
            env=os.environ | {"PYTHONPATH": str(Path(lethe_core.__file__).parents[1])},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        batches, _, message = done.stdout.partition(" ")
        assert str(path) in message
        assert "room" in message
        assert int(batches) > 0
        copies = [shutil.copy(file, tmp_path) for file in path.parent.iterdir()]
        assert copies
    assert integrity(tmp_path / "graph.db") == [("ok",)]
    store = SqliteStore(tmp_path / "graph.db")
    assert store.load_session("s-full").iterations == int(batches)
    found = store.load_snapshot("s-full").evidence.values()
    expected = [f"{batch}.{number}" for batch in range(1, int(batches) + 1) for number in range(10)]
    assert [node.content.split()[0] for node in found] == expected
    with pytest.raises(SessionNotFoundError):
        store.load_session("s-other")
    store.close()


@pytest.mark.skipif(sys.platform != "linux", reason="needs a file system to mount")
def test_a_store_that_is_opened_on_a_full_disk_is_told_so_by_name(tmp_path, small_disk):
    with small_disk(tmp_path / "small") as mounted:
        if not mounted:
            pytest.skip("only root can mount a small file system")
        path = tmp_path / "small" / "graph.db"
        SqliteStore(path).close()
        with contextlib.suppress(OSError), (tmp_path / "small" / "else").open("wb", buffering=0) as file:
            while True:
                file.write(b"0" * 1024)
        with pytest.raises(StoreUnavailableError, match="disk of the store is full: make room"):
            SqliteStore(path)
        (tmp_path / "small" / "else").unlink()
        SqliteStore(path).close()


# -- a hand at the file -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE task SET description = 'forged'",
        "UPDATE task SET status = 'PENDING'",
        "UPDATE evidence SET content = 'forged'",
        "UPDATE evidence SET base_strength = 0.9",
        "UPDATE evidence SET strength = 2",
        "UPDATE task SET embedding = 7",
        "INSERT INTO edge VALUES (1, 'LIKES', 't', 1, 1, 9" + ", NULL" * 10 + ")",
        "INSERT INTO edge VALUES (1, 'PRODUCED', 'e', 1, 1, 9" + ", NULL" * 10 + ")",
        "INSERT INTO edge VALUES (1, 'SIMILAR_TO', 'e', 1, 1, 9" + ", NULL" * 10 + ")",
    ],
)
def test_the_file_itself_holds_what_must_not_change(path, new_world, statement):
    store = SqliteStore(path)
    world = new_world(store)
    world.evidence()
    world.finish(world.root, "DONE")
    with contextlib.closing(sqlite3.connect(path)) as database, pytest.raises(sqlite3.IntegrityError):
        database.execute(statement)
    store.close()
