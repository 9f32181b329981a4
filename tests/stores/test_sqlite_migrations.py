"""SQLite: an older store is backed up and brought up to date, once and wholly, or left as it was."""

import contextlib
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

import lethe_core
from lethe_core.adapters.stores import open_store, sqlite_connection, sqlite_migrations, sqlite_url
from lethe_core.adapters.stores.copying import check_store
from lethe_core.adapters.stores.migrations import Migration, due
from lethe_core.adapters.stores.owner import make_owner, shown_owner
from lethe_core.adapters.stores.sqlite import SqliteStore
from lethe_core.adapters.stores.sqlite_schema import SCHEMA_VERSION
from lethe_core.errors import DuplicateError, SessionBusyError, StoreUnavailableError, StoreVersionError
from lethe_core.graph.nodes import Edge, EdgeType, EvidenceNode, NodeId, SessionId, Similarity
from lethe_core.graph.session_state import SessionPatch

SCHEMA_1 = Path(__file__).with_name("sqlite_schema_1.sql")


def number(n):
    return NodeId(f"{n:08x}-0000-4000-8000-{n:012x}")


ROOT, TASK, FIRST, SECOND, THIRD, SYNTHESIS = (number(n) for n in (1, 3, 4, 5, 6, 7))
EDGES = (  # of the old store, by their numbers
    Edge(EdgeType.SUBTASK_OF, TASK, ROOT),
    Edge(EdgeType.PRODUCED, TASK, FIRST),
    Edge(EdgeType.PRODUCED, TASK, SECOND),
    Edge(EdgeType.PRODUCED, TASK, THIRD),
    Edge(EdgeType.PRODUCED, TASK, SYNTHESIS),
    Edge(EdgeType.PRODUCED, ROOT, FIRST),
    Edge(EdgeType.SUPERSEDES, SYNTHESIS, SECOND),
    Edge(EdgeType.SIMILAR_TO, FIRST, THIRD, Similarity(0.75, *[0.125] * 9)),
    Edge(EdgeType.SIMILAR_TO, ROOT, TASK, Similarity(1 / 3)),
)


def make_old(path):
    with contextlib.closing(sqlite3.connect(path)) as database:
        database.executescript(SCHEMA_1.read_text(encoding="utf-8"))
    return path


@pytest.fixture
def old(tmp_path):
    return make_old(tmp_path / "graph.db")


def rows_of(path):
    with contextlib.closing(sqlite3.connect(path)) as database:
        return list(database.iterdump())


def version_of(path):
    with contextlib.closing(sqlite3.connect(path)) as database:
        return database.execute("SELECT value FROM meta").fetchone()[0]


def backups(path):
    return sorted(file for file in path.parent.iterdir() if "before-schema" in file.name)


def python(code, *arguments, **options):
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        env=os.environ | {"PYTHONPATH": str(Path(lethe_core.__file__).parents[1])},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )


def test_an_old_store_has_all_that_it_had(old):
    store = SqliteStore(old)
    dump = store.dump_session(SessionId("s-one"))
    assert dump.edges == tuple(enumerate(EDGES, start=1))
    assert [node.id for node in dump.nodes] == [ROOT, TASK, FIRST, SECOND, THIRD, SYNTHESIS]
    assert [node.embedding.tolist() for node in dump.nodes[2:]] == [[0, -1], [1, -1], [2, -1], [0.5, 0.5]]
    assert (dump.nodes[1].status, dump.nodes[1].result_summary) == ("DONE", "12 years")
    assert dump.nodes[3].superseded
    assert dump.state.signals == ({"convergence": float("inf")},)
    assert [state.session_id for state in store.list_sessions("weekly")] == ["s-weekly-1"]
    assert [state.session_id for state in store.list_sessions()] == ["s-one", "s-weekly-1"]
    assert check_store(store) == []
    store.close()


@pytest.mark.parametrize("state", ["", "no JSON", "[]", '{"series": 7}'])
def test_a_state_that_cannot_be_read_is_carried_over_as_it_is(old, state):
    with contextlib.closing(sqlite3.connect(old, isolation_level=None)) as database:
        database.execute("UPDATE session SET state = ? WHERE id = 's-weekly-1'", (state,))
    store = SqliteStore(old)
    assert len(store.dump_session(SessionId("s-one")).edges) == len(EDGES)
    store.close()
    with contextlib.closing(sqlite3.connect(old)) as database:
        assert database.execute("SELECT state FROM session WHERE key = 2").fetchone() == (state,)


def test_work_goes_on_in_a_store_that_was_migrated(old):
    store = SqliteStore(old)
    lease = store.acquire_lease(SessionId("s-one"), make_owner())
    with pytest.raises(DuplicateError), store.transaction(lease) as tx:
        tx.create_edge(EDGES[5])
    with store.transaction(lease) as tx:
        tx.upsert_similar([Edge(EdgeType.SIMILAR_TO, FIRST, THIRD, Similarity(0.5))])
        tx.delete_similar([EDGES[8]])
        tx.create_edge(Edge(EdgeType.PRODUCED, ROOT, THIRD))
    edges = store.dump_session(SessionId("s-one")).edges
    assert [key for key, _ in edges] == [*range(1, 9), 11]  # 10: a number of the upsert, given up for 8
    assert edges[7][1].similarity == Similarity(0.5)
    store.close()


def test_the_file_of_a_migrated_store_is_built_as_that_of_a_new_one(old, tmp_path):
    SqliteStore(old).close()
    SqliteStore(tmp_path / "new.db").close()
    built = []
    for path in (old, tmp_path / "new.db"):
        with contextlib.closing(sqlite3.connect(path)) as database:
            tables = [name for (name,) in database.execute("SELECT name FROM sqlite_schema ORDER BY name")]
            columns = [database.execute(f"PRAGMA table_xinfo({name})").fetchall() for name in tables]
            lists = [database.execute(f"PRAGMA {kind}(edge)").fetchall() for kind in ("index_list",)]
            checks = database.execute("SELECT sql FROM sqlite_schema WHERE name = 'edge'").fetchone()
            built.append((tables, columns, lists, checks[0].replace('"', "").split()))
    assert built[0] == built[1]


def test_the_backup_lies_beside_the_file_and_is_the_store_as_it_was(old):
    before = rows_of(old)
    SqliteStore(old).close()
    (backup,) = backups(old)
    assert backup.name.startswith("graph-before-schema-2-")
    assert backup.suffix == ".db"
    assert rows_of(backup) == before
    assert version_of(backup) == 1
    assert version_of(old) == SCHEMA_VERSION
    assert sorted(file.name for file in old.parent.iterdir()) == sorted(["graph.db", backup.name])
    store = SqliteStore(backup)  # it can be gone back to, and is migrated itself then
    assert store.dump_session(SessionId("s-one")).edges == tuple(enumerate(EDGES, start=1))
    store.close()


def test_a_store_of_today_is_opened_without_a_word(old, caplog):
    SqliteStore(old).close()
    assert caplog.records[0].getMessage().startswith(f"bringing the store {old} from schema 1 to 2")
    caplog.clear()
    SqliteStore(old).close()
    assert len(backups(old)) == 1
    assert caplog.records == []


# -- the list of migrations -----------------------------------------------------------------------------


@pytest.fixture
def further(monkeypatch):
    """Adds migrations after those that there are."""

    def add(*changes):
        added = [Migration(SCHEMA_VERSION + place, change) for place, change in enumerate(changes, start=1)]
        every = (*sqlite_migrations.MIGRATIONS, *added)
        for module in (sqlite_migrations, sqlite_connection):
            monkeypatch.setattr(module, "MIGRATIONS", every)
            monkeypatch.setattr(module, "SCHEMA_VERSION", SCHEMA_VERSION + len(changes))

    return add


def test_all_that_are_due_are_done_in_their_order(old, further):
    further(
        lambda database: database.execute("CREATE TABLE third (edges INTEGER)"),
        lambda database: database.execute("INSERT INTO third SELECT count(letter) FROM edge"),
    )
    SqliteStore(old).close()
    assert version_of(old) == SCHEMA_VERSION + 2
    assert 'INSERT INTO "third" VALUES(9);' in rows_of(old)
    assert len(backups(old)) == 1


def test_one_that_fails_leaves_the_store_as_it_was_and_no_backup(old, further):
    before = rows_of(old)
    further(lambda database: database.execute("DELETE FROM evidence"), lambda _: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        SqliteStore(old)
    assert rows_of(old) == before
    assert backups(old) == []


@pytest.mark.parametrize("version", [0, -1, 3, 99])
def test_a_version_that_nothing_leads_on_from_is_refused(version):
    with pytest.raises(StoreVersionError, match=rf"a\.db has schema version {version}"):
        due((Migration(2, print),), version, 2, "a.db")


def test_a_gap_in_the_list_is_refused():
    with pytest.raises(StoreVersionError):
        due((Migration(2, print), Migration(4, print)), 1, 4, "a.db")
    assert [one.version for one in due((Migration(2, print), Migration(3, print)), 2, 3, "a.db")] == [3]


# -- what may go wrong ----------------------------------------------------------------------------------

STOPPED = """
import sys, time
from pathlib import Path
from lethe_core.adapters.stores import sqlite_connection, sqlite_migrations
from lethe_core.adapters.stores.sqlite import SqliteStore
change = sqlite_migrations.MIGRATIONS[0].change

def changed(database):
    change(database)
    print("changed", flush=True)
    time.sleep(60)

sqlite_migrations.MIGRATIONS = (sqlite_migrations.Migration(2, changed),)
SqliteStore(Path(sys.argv[1]))
"""


def test_one_that_is_killed_leaves_the_store_as_it_was_and_the_next_opening_does_it(old):
    before = rows_of(old)
    process = python(STOPPED, old)
    assert process.stdout.readline() == "changed\n"
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert rows_of(old) == before
    assert version_of(old) == 1
    (first,) = backups(old)
    assert rows_of(first) == before
    old.with_name(".graph.db-backup.part").write_bytes(b"what a kill in the middle of a backup leaves")
    store = SqliteStore(old)
    assert store.dump_session(SessionId("s-one")).edges == tuple(enumerate(EDGES, start=1))
    store.close()
    assert not old.with_name(".graph.db-backup.part").exists()
    assert len(backups(old)) == 2


OPEN = """
import sys
from pathlib import Path
from lethe_core.adapters.stores.sqlite import SqliteStore
sys.stdin.readline()
store = SqliteStore(Path(sys.argv[1]))
print(len(store.dump_session("s-one").edges))
"""


def test_of_several_that_open_it_at_once_one_migrates(old):
    racers = [python(OPEN, old, stdin=subprocess.PIPE) for _ in range(5)]
    ended = []
    for racer in racers:
        racer.stdin.write("\n")
        racer.stdin.flush()
    for racer in racers:
        ended.append(racer.communicate())
    assert [(racer.returncode, out) for racer, (out, _) in zip(racers, ended, strict=True)] == [
        (0, "9\n")
    ] * 5
    said = "".join(err for _, err in ended)
    assert said.count("bringing the store") == 1, said
    assert len(backups(old)) == 1
    assert version_of(old) == SCHEMA_VERSION


def test_a_session_at_work_in_an_older_lethe_is_waited_for(old):
    owner = make_owner()  # this process, which lives
    with contextlib.closing(sqlite3.connect(old, isolation_level=None)) as database:
        database.execute("UPDATE session SET owner = ?, until = 1e11 WHERE id = 's-one'", (owner,))
    before = rows_of(old)
    with pytest.raises(SessionBusyError, match=rf"schema 2.*s-one.*{shown_owner(owner)}"):
        SqliteStore(old)
    assert rows_of(old) == before
    assert backups(old) == []
    with contextlib.closing(sqlite3.connect(old, isolation_level=None)) as database:
        dead = owner.replace(f"/{os.getpid()}/", "/999999999/")
        database.execute("UPDATE session SET owner = ?", (dead,))
    SqliteStore(old).close()


@pytest.mark.parametrize(
    "damage",
    [
        "DELETE FROM evidence WHERE sequence = 1",
        "UPDATE edge SET target = 'x' WHERE type = 'SUPERSEDES'",
        "UPDATE edge SET target = (SELECT id FROM task LIMIT 1) WHERE type = 'SUPERSEDES'",
        "INSERT INTO edge SELECT session, 'PRODUCED', target, source, 99"
        + ", NULL" * 10
        + " FROM edge LIMIT 1",
    ],
)
def test_a_damaged_store_is_said_to_be_damaged_and_left_as_it_was(old, damage):
    with contextlib.closing(sqlite3.connect(old)) as database:
        database.executescript(damage)
    before = rows_of(old)
    with pytest.raises(StoreUnavailableError, match=r"damaged.*as it was"):
        SqliteStore(old)
    assert rows_of(old) == before
    assert backups(old) == []


LIMITED = """
import sys
from pathlib import Path
from lethe_core.adapters.stores.sqlite import SqliteStore
from lethe_core.errors import StoreUnavailableError
limit = int(sys.argv[2])
if limit:
    import resource
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
try:
    SqliteStore(Path(sys.argv[1]))
except StoreUnavailableError as error:
    print(error)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no limit to set")
def test_no_room_for_the_backup_is_said_and_the_store_left_as_it_was(tmp_path, small_disk):
    with small_disk(tmp_path / "small") as mounted:
        path = make_old(tmp_path / "small" / "graph.db")
        with contextlib.closing(sqlite3.connect(path)) as database:
            database.execute(
                "UPDATE task SET description = hex(randomblob(1200000)) WHERE status = 'PENDING' "
                "AND session = 2"
            )
            database.commit()
        before = rows_of(path)
        done = python(LIMITED, path, 0 if mounted else path.stat().st_size - 100_000)
        out, err = done.communicate()
        assert done.returncode == 0, err
        assert "make room" in out
        assert str(path) in out
        assert "as it was" in out
        assert rows_of(path) == before
        assert [file.name for file in path.parent.iterdir()] == ["graph.db"]


@pytest.mark.skipif(sys.platform == "win32", reason="rights of another kind")
def test_an_old_store_in_a_read_only_folder_is_named_and_left_as_it_was(old, locked_folder, read_only):
    before = old.read_bytes()
    path = Path(shutil.copy(old, locked_folder / "graph.db"))
    path.chmod(0o666)  # the file may be written, but nothing beside it
    with read_only(locked_folder), pytest.raises(StoreUnavailableError, match=str(path)):
        SqliteStore(path)
    assert path.read_bytes() == before
    assert [file.name for file in locked_folder.iterdir()] == ["graph.db"]


def test_a_new_session_in_a_migrated_store_is_found_by_its_series(old, new_world):
    store = open_store(sqlite_url(old))
    world = new_world(store)
    world.write(lambda tx: tx.update_session(SessionPatch(message='"series":"weekly"')))
    assert [state.session_id for state in store.list_sessions("weekly")] == ["s-weekly-1"]
    assert isinstance(world.write(lambda tx: tx.create_node(world.new_evidence())).created[0], EvidenceNode)
    store.close()
