"""Neo4j: an older store is backed up and brought up to date, once and wholly, or left as it was."""

import os
import threading

import pytest

from lethe_core.adapters.stores import neo4j_migrations, open_store, sqlite_url
from lethe_core.adapters.stores.migrations import Migration
from lethe_core.adapters.stores.neo4j_schema import SCHEMA_VERSION
from lethe_core.adapters.stores.owner import make_owner, shown_owner
from lethe_core.errors import SessionBusyError, StoreUnavailableError
from lethe_core.graph.nodes import Edge, EdgeType


@pytest.fixture
def place(neo4j):
    return neo4j


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("LETHE_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def old(url, home, new_world, neo4j_query):
    """The URL of a store as schema 1 had it: two sessions, one of them of a series."""
    assert home
    store = open_store(url)
    one, two = new_world(store, "s-one"), new_world(store, "s-two")
    found = one.evidence()
    one.write(lambda tx: tx.create_edge(Edge(EdgeType.PRODUCED, one.root, found)))
    for world in (one, two):
        store.release_lease(world.lease)
    store.close()
    neo4j_query(
        "MATCH (s:Session {session_id: 's-one'}) SET s.session_state = replace(s.session_state, $none, $one)",
        none='"series":""',
        one='"series":"weekly"',
    )
    neo4j_query("MATCH (s:Session) REMOVE s.session_series")
    neo4j_query("DROP INDEX lethe_series")
    neo4j_query("MATCH (m:Meta) SET m.schema_version = 1 REMOVE m.migrated_by, m.migrating")
    yield url
    neo4j_query("CREATE INDEX lethe_series IF NOT EXISTS FOR (n:Session) ON (n.session_series)")
    neo4j_query("MATCH (m:Meta) SET m.schema_version = $version", version=SCHEMA_VERSION)


@pytest.fixture
def graph(neo4j_query):
    """All that lies in the database, but locks and tokens."""

    def look():
        nodes = neo4j_query("MATCH (n) RETURN labels(n), properties(n)")
        for _, properties in nodes:
            for name in ("lock", "session_lock"):
                properties.pop(name, None)
        edges = neo4j_query("MATCH (a)-[r]->(b) RETURN a.id, type(r), properties(r), b.id")
        return sorted(map(repr, nodes)), sorted(map(repr, edges))

    return look


def backups(home):
    return sorted((home / "backups").iterdir()) if (home / "backups").exists() else []


def test_an_old_store_is_brought_up_to_date_after_a_backup(old, home, neo4j_query, caplog):
    store = open_store(old)
    assert [state.session_id for state in store.list_sessions("weekly")] == ["s-one"]
    assert neo4j_query("MATCH (m:Meta) RETURN m.schema_version") == [[SCHEMA_VERSION]]
    assert store.check() == []
    (file,) = backups(home)
    assert file.name.startswith("bolt-127-0-0-1-")
    assert "-before-schema-2-" in file.name
    assert str(file) in caplog.records[0].getMessage()
    backup = open_store(sqlite_url(file))
    for name in ("s-one", "s-two"):
        dumps = [which.dump_session(name) for which in (store, backup)]
        assert dumps[0].state_text == dumps[1].state_text
        assert dumps[0].edges == dumps[1].edges
        assert [node.id for node in dumps[0].nodes] == [node.id for node in dumps[1].nodes]
    backup.close()
    store.close()
    caplog.clear()
    open_store(old).close()
    assert caplog.records == []
    assert len(backups(home)) == 1


@pytest.fixture
def migrations(monkeypatch):
    def put(*changes):
        listed = tuple(Migration(version, change) for version, change in enumerate(changes, start=2))
        monkeypatch.setattr(neo4j_migrations, "MIGRATIONS", listed)
        monkeypatch.setattr(neo4j_migrations, "SCHEMA_VERSION", 1 + len(changes))

    return put


def test_all_that_are_due_are_done_in_their_order(old, migrations, neo4j_query):
    (first,) = neo4j_migrations.MIGRATIONS
    migrations(
        first.change,
        lambda tx: tx.run("MATCH (s:Session) SET s.second = s.session_series").consume(),
        lambda tx: tx.run("MATCH (s:Session) SET s.third = s.second + '!'").consume(),
    )
    open_store(old).close()
    assert neo4j_query("MATCH (s:Session) RETURN s.third ORDER BY s.third") == [["!"], ["weekly!"]]
    assert neo4j_query("MATCH (m:Meta) RETURN m.schema_version") == [[4]]


def test_one_that_fails_leaves_the_store_as_it_was_and_no_backup(old, home, migrations, graph):
    before = graph()
    migrations(lambda tx: tx.run("MATCH (n:EvidenceNode) DETACH DELETE n").consume(), lambda _: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        open_store(old)
    assert graph() == before
    assert backups(home) == []


def test_of_several_that_open_it_at_once_one_migrates(old, home, migrations, neo4j_query, caplog):
    errors = []
    (first,) = neo4j_migrations.MIGRATIONS

    def change(tx):
        first.change(tx)
        tx.run("MATCH (s:Session) SET s.times = coalesce(s.times, 0) + 1").consume()

    migrations(change)

    def come():
        try:
            open_store(old).close()
        except Exception as error:  # noqa: BLE001
            errors.append(error)

    threads = [threading.Thread(target=come) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert neo4j_query("MATCH (s:Session) RETURN DISTINCT s.times") == [[1]]
    assert len(backups(home)) == 1
    assert [record.getMessage().startswith("bringing") for record in caplog.records] == [True, False]


def test_the_turn_of_a_process_that_died_is_taken(old, home, neo4j_query):
    dead = make_owner().replace(f"/{os.getpid()}/", "/999999999/")
    neo4j_query("MATCH (m:Meta) SET m.migrating = $dead, m.migrating_until = 1e11", dead=dead)
    open_store(old).close()
    assert len(backups(home)) == 1
    assert neo4j_query("MATCH (m:Meta) RETURN m.schema_version, m.migrating") == [[SCHEMA_VERSION, None]]


@pytest.mark.usefixtures("old")
def test_a_connection_lost_at_the_commit_migrates_once(home, migrations, neo4j_query, neo4j_proxy):
    (first,) = neo4j_migrations.MIGRATIONS

    def change(tx):
        first.change(tx)
        tx.run("MATCH (s:Session) SET s.times = coalesce(s.times, 0) + 1").consume()
        neo4j_proxy.after_commit = 1

    migrations(change)
    open_store(f"bolt://127.0.0.1:{neo4j_proxy.port}").close()
    assert neo4j_proxy.lost == 1
    assert neo4j_query("MATCH (s:Session) RETURN DISTINCT s.times") == [[1]]
    assert len(backups(home)) == 1


def test_a_session_at_work_in_an_older_lethe_is_waited_for(old, home, graph, neo4j_query):
    owner = make_owner()  # this process, which lives
    neo4j_query(
        "MATCH (s:Session {session_id: 's-one'}) SET s.session_owner = $owner, s.session_until = 1e11",
        owner=owner,
    )
    before = graph()
    with pytest.raises(SessionBusyError, match=rf"schema 2.*s-one.*{shown_owner(owner)}"):
        open_store(old)
    assert graph() == before
    assert backups(home) == []


def test_a_session_worked_on_since_the_backup_is_backed_up_again(old, home, monkeypatch, neo4j_query):
    back_up, made = neo4j_migrations.back_up, []

    def disturbed(store, file):
        back_up(store, file)
        made.append(file)
        if len(made) == 1:
            neo4j_query("MATCH (s:Session) SET s.session_revision = s.session_revision + 1")

    monkeypatch.setattr(neo4j_migrations, "back_up", disturbed)
    open_store(old).close()
    assert len(made) == 2
    assert backups(home) == made[1:]
    assert neo4j_query("MATCH (m:Meta) RETURN m.schema_version") == [[SCHEMA_VERSION]]


def test_a_backup_that_cannot_be_written_stops_it_and_says_how(old, home, graph):
    home.mkdir()
    (home / "backups").touch()  # a file where the folder should be
    before = graph()
    with pytest.raises(
        StoreUnavailableError,
        match=r"as it was.*backup cannot be written.*lethe store backup FILE.*store copy",
    ):
        open_store(old)
    assert graph() == before
