"""``lethe store``, ``delete`` and ``prune``, run in this process on both stores."""

import contextlib
import os
import signal
import sqlite3
import time
from pathlib import Path

import numpy as np
import pytest

from flows.cli import run
from lethe_core.adapters.stores import open_store, sqlite_url
from lethe_core.adapters.stores.owner import make_owner
from lethe_core.adapters.stores.sqlite import SqliteStore
from lethe_core.graph.nodes import (
    Edge,
    EdgeType,
    EvidenceNode,
    NodeId,
    SessionId,
    Similarity,
    TaskNode,
)
from lethe_core.graph.session_state import SessionPatch, SessionState

VECTOR = np.arange(8, dtype=np.float32)


@pytest.fixture(autouse=True)
def _away_from_everything(tmp_path, monkeypatch):
    # Not the whole environment: the server of the tests, which one of them starts, leaves its password in it.
    for name in list(os.environ):
        if name.startswith(("LETHE_", "PREFECT_")) and "NEO4J" not in name:
            monkeypatch.delenv(name)
    monkeypatch.setenv("LETHE_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    # What is said of what takes long depends on the machine's load.
    monkeypatch.setattr("flows.steps.PLAIN_FIRST_SECONDS", 600.0)


@pytest.fixture(params=["sqlite", "neo4j"])
def url(request, tmp_path) -> str:
    if request.param == "sqlite":
        return sqlite_url(tmp_path / "store.db")
    return request.getfixturevalue("empty_neo4j")()


def fill(url: str, *names: str, clock=time.time) -> None:
    with contextlib.closing(open_store(url, clock=clock)) as store:
        for name in names:
            root = TaskNode("a question", "a question", VECTOR)
            state = store.create_session(SessionState(SessionId(name), "", NodeId(""), "q", "p", {}), root)
            lease = store.acquire_lease(state.session_id, make_owner())
            with store.transaction(lease) as tx:
                found = tx.create_node(EvidenceNode("über", "e", -VECTOR / 3, 0.5, 0.5))
                tx.create_edge(Edge(EdgeType.PRODUCED, state.root, found.id))
            store.release_lease(lease)


def lethe(capsys, *arguments: str | Path) -> tuple[int, str, str]:
    code = run([str(argument) for argument in arguments])
    captured = capsys.readouterr()
    assert "Traceback" not in captured.err
    return code, captured.out, captured.err


def names(url: str) -> list[str]:
    with contextlib.closing(open_store(url)) as store:
        return [state.session_id for state in store.list_sessions()]


def test_a_sound_store_is_said_to_be_sound(capsys, url):
    fill(url, "s-one", "s-two")
    assert lethe(capsys, "store", "check", "--store", url) == (0, f"{url} is sound: 2 sessions\n", "")


def test_damage_is_named_and_ends_with_an_exit_code(capsys, tmp_path):
    url = sqlite_url(tmp_path / "store.db")
    fill(url, "s-one")
    with contextlib.closing(sqlite3.connect(tmp_path / "store.db")) as database:
        database.execute("DELETE FROM evidence")
        database.commit()
    code, out, _ = lethe(capsys, "store", "check", "--store", url)
    assert code == 1
    assert "s-one: a PRODUCED edge dangles" in out
    assert "1 problem in 1 session" in out


def test_a_backup_and_a_copy_hold_the_same(capsys, url, tmp_path):
    fill(url, "s-one", "s-two")
    backup = tmp_path / "backup.db"
    assert lethe(capsys, "store", "backup", backup, "--store", url) == (0, f"{backup}\n", "")
    third = sqlite_url(tmp_path / "third.db")
    code, out, _ = lethe(capsys, "store", "copy", url, third)
    assert code == 0
    assert "copied 2 sessions" in out
    dumps = []
    for place in (url, sqlite_url(backup), third):
        with contextlib.closing(open_store(place)) as store:
            found = [store.dump_session(SessionId(name)) for name in ("s-one", "s-two")]
        texts = [(dump.state_text, dump.edges, dump.counters) for dump in found]
        dumps.append((texts, [[node.embedding.tobytes() for node in dump.nodes] for dump in found]))
    assert dumps[0] == dumps[1] == dumps[2]

    code, _, err = lethe(capsys, "store", "backup", backup, "--store", url)
    assert code == 2
    assert "exists already" in err
    again = lethe(capsys, "store", "copy", url, third)
    assert again == (0, f"copied 0 sessions (2 more there already) from {url} to {third}\n", "")
    assert lethe(capsys, "store", "copy", url, third, "--quiet") == (0, "", "")
    with contextlib.closing(open_store(third)) as store:
        lease = store.acquire_lease(SessionId("s-one"), make_owner())
        with store.transaction(lease) as tx:
            tx.update_session(SessionPatch(message="changed"))
    code, _, err = lethe(capsys, "store", "copy", url, third)
    assert code == 1
    assert "nothing was copied" in err


def test_an_interrupted_copy_says_how_to_go_on(capsys, tmp_path, monkeypatch):
    source, target = sqlite_url(tmp_path / "from.db"), sqlite_url(tmp_path / "to.db")
    fill(source, "s-one", "s-two", "s-three")
    restore, calls = SqliteStore.restore_session, []

    def interrupted(store, dump):
        calls.append(dump)
        if len(calls) == 3:
            signal.raise_signal(signal.SIGINT)
        restore(store, dump)

    monkeypatch.setattr(SqliteStore, "restore_session", interrupted)
    code, out, err = lethe(capsys, "store", "copy", source, target)
    assert (code, out) == (130, "")
    assert err == "lethe: interrupted: copied 2 sessions of 3; the same command goes on\n"
    code, out, _ = lethe(capsys, "store", "copy", source, target)
    assert (code, out) == (0, f"copied 1 session (2 more there already) from {source} to {target}\n")
    assert lethe(capsys, "store", "check", "--store", target, "--quiet") == (0, "", "")


def test_a_session_is_deleted_by_its_name(capsys, url):
    fill(url, "s-one", "s-two")
    assert lethe(capsys, "delete", "s-one", "--store", url) == (0, "deleted s-one\n", "")
    assert names(url) == ["s-two"]
    code, _, err = lethe(capsys, "delete", "s-one", "--store", url)
    assert code == 2
    assert "s-one" in err
    with contextlib.closing(open_store(url)) as store:
        store.acquire_lease(SessionId("s-two"), make_owner())
        code, _, err = lethe(capsys, "delete", "s-two", "--store", url)
    assert code == 6
    assert "being worked on" in err
    assert names(url) == ["s-two"]


def test_bought_answers_go_with_their_session_and_no_others(capsys, url, tmp_path):
    fill(url, "s-old", clock=lambda: time.time() - 10 * 86400)
    fill(url, "s-one", "s-two")
    with contextlib.closing(open_store(url)) as store:
        uuids = {state.session_id: state.uuid for state in store.list_sessions()}
    results = tmp_path / "home" / "results"
    results.mkdir(parents=True)
    for uuid in uuids.values():
        for key in ("1-0", "1-1", "report-2-0"):
            (results / f"llm-{uuid}-{key}").touch()
    (results / "of-something-else").touch()

    def kept() -> set[str]:
        return {name for name, uuid in uuids.items() if any(results.glob(f"llm-{uuid}-*"))}

    assert lethe(capsys, "delete", "s-one", "--store", url)[0] == 0
    assert kept() == {"s-old", "s-two"}
    assert lethe(capsys, "prune", "--older-than", "1w", "--store", url)[0] == 0
    assert kept() == {"s-two"}
    assert (results / "of-something-else").exists()


def test_bought_answers_go_from_where_prefect_is_told_to_keep_them(capsys, url, tmp_path, monkeypatch):
    fill(url, "s-one")
    with contextlib.closing(open_store(url)) as store:
        (state,) = store.list_sessions()
    (tmp_path / "shared").mkdir()
    answer = tmp_path / "shared" / f"llm-{state.uuid}-1-0"
    answer.touch()
    monkeypatch.setenv("PREFECT_RESULTS_LOCAL_STORAGE_PATH", str(tmp_path / "shared"))
    monkeypatch.setenv("PREFECT_DEFAULT_RESULT_STORAGE_BLOCK", "remote-file-system/lethe-answers")
    code, _, err = lethe(capsys, "delete", "s-one", "--store", url)
    assert code == 0
    assert not answer.exists()
    assert "answers that are kept in remote-file-system/lethe-answers go by their age" in err


def test_old_sessions_are_pruned(capsys, url):
    fill(url, "s-old", clock=lambda: time.time() - 10 * 86400)
    fill(url, "s-new")
    assert lethe(capsys, "prune", "--older-than", "2w", "--store", url)[1] == "no session is older than 2w\n"
    assert lethe(capsys, "prune", "--older-than", "9d", "--store", url) == (0, "deleted s-old\n", "")
    assert names(url) == ["s-new"]


@pytest.mark.parametrize("age", ["", "soon", "-1d", "1.5d", "90", "9999999d"])
def test_an_age_that_is_none_is_refused(capsys, age):
    code, _, err = lethe(capsys, "prune", f"--older-than={age}")
    assert code == 2
    assert "90d" in err


@pytest.mark.parametrize(
    "arguments",
    [
        ("store", "check"),
        ("store", "backup", "b.db"),
        ("store", "copy", "sqlite:///none.db", "sqlite:///b.db"),
        ("prune", "--older-than", "1d"),
    ],
)
def test_a_store_that_is_not_there_is_not_made(capsys, tmp_path, arguments):
    code, _, err = lethe(capsys, *arguments)
    assert code == 2
    assert "there is no store" in err
    assert not list(tmp_path.rglob("*.db"))


def test_a_password_in_the_url_is_refused_and_not_shown(capsys):
    code, out, err = lethe(capsys, "sessions", "--store", "neo4j://me:Zq7-secret@host")
    assert code == 2
    assert "LETHE_NEO4J_PASSWORD" in err
    assert "Zq7" not in out + err


# -- from store to store --------------------------------------------------------------------------------

ODD = (
    "`}) MATCH (n) DETACH DELETE n //",
    "Robert'); DROP TABLE evidence; --",
    "\u202e\ufeff👩🏽‍🔬\r\n\x01",
    "",
)


def fill_oddly(url: str) -> None:
    """Each kind of edge, and values that a careless copy would alter."""
    odd = np.array([-0.0, 1e-45, np.float32(1) / 3, -1, 3.4e38, 1.1754944e-38, 0, 1], dtype=np.float32)
    fill(url, "s-one", "s-two")
    with contextlib.closing(open_store(url)) as store:
        lease = store.acquire_lease(SessionId("s-one"), make_owner())
        with store.transaction(lease) as tx:
            root = tx.state.root
            tasks = [tx.create_node(TaskNode(text, text, odd)).id for text in ODD]
            found = [
                tx.create_node(EvidenceNode(text, text, odd, 0.1 + 0.2, 1 / 3, title=text, span=(1, 2))).id
                for text in ODD
            ]
            tx.create_edge(Edge(EdgeType.SUBTASK_OF, tasks[0], root))
            tx.create_edge(Edge(EdgeType.DEPENDS_ON, tasks[0], tasks[1]))
            tx.create_edge(Edge(EdgeType.PRODUCED, tasks[0], found[0]))
            tx.create_edge(Edge(EdgeType.SUPERSEDES, found[0], found[1]))
            tx.upsert_similar(
                [
                    Edge(EdgeType.SIMILAR_TO, tasks[0], tasks[1], Similarity(0.1 + 0.2)),
                    Edge(EdgeType.SIMILAR_TO, found[2], found[3], Similarity(1 / 3, *[1e-300] * 9)),
                ]
            )
            tx.update_session(SessionPatch(message=ODD[0], config={text: text for text in ODD}))
        store.release_lease(lease)


# All that lies in a store's file, but what counts the work on a session in this store.
CONTENTS = (
    "SELECT key, id, state, dimension, created_at, updated_at, last_task, last_evidence, last_edge, series "
    "FROM session ORDER BY key",
    "SELECT * FROM task ORDER BY session, sequence",
    "SELECT * FROM evidence ORDER BY session, sequence",
    "SELECT * FROM edge ORDER BY session, sequence",
)


def rows_of(path: Path) -> list[list[tuple[object, ...]]]:
    with contextlib.closing(sqlite3.connect(path)) as database:
        return [database.execute(query).fetchall() for query in CONTENTS]


def test_a_copy_to_neo4j_and_back_is_equal_in_every_byte(capsys, empty_neo4j, tmp_path):
    first, last, server = tmp_path / "first.db", tmp_path / "last.db", empty_neo4j()
    fill_oddly(sqlite_url(first))
    for source, target in ((sqlite_url(first), server), (server, sqlite_url(last))):
        code, out, _ = lethe(capsys, "store", "copy", source, target)
        assert (code, out) == (0, f"copied 2 sessions from {source} to {target}\n")
        assert lethe(capsys, "store", "check", "--store", target)[0] == 0
    assert [len(rows) for rows in rows_of(first)] == [2, 6, 6, 8]
    assert rows_of(first) == rows_of(last)


# -- files that are none, and older ones ----------------------------------------------------------------


@pytest.mark.parametrize("what", ["truncated", "foreign", "another program's"])
@pytest.mark.parametrize(
    "command",
    [("sessions",), ("store", "check"), ("store", "backup", "b.db"), ("report", "s-one"), ("doctor",)],
)
def test_a_file_that_is_no_store_is_named_in_a_line_and_left_alone(capsys, tmp_path, what, command):
    path = tmp_path / "home" / "graph.db"
    path.parent.mkdir()
    if what == "foreign":
        path.write_bytes(b"Dear diary, " * 500)
    elif what == "truncated":
        fill(sqlite_url(path), "s-one")
        os.truncate(path, path.stat().st_size // 2)
    else:
        with contextlib.closing(sqlite3.connect(path)) as database:
            database.execute("CREATE TABLE session (id TEXT)")
    before = path.read_bytes()
    code, out, err = lethe(capsys, *command)
    assert code in (1, 2)
    assert str(path) in out + err
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "name", ["' OR 1=1 --", "`}) DETACH DELETE n //", "s-one'--", "*", "../s-one", "\udcff"]
)
def test_a_name_that_is_none_finds_and_deletes_nothing(capsys, url, name):
    fill(url, "s-one")
    for command in ("delete", "report", "resume"):
        code, _, err = lethe(capsys, command, name, "--store", url)
        assert code == 2
        assert "cannot be used" in err
    assert names(url) == ["s-one"]


def test_an_older_store_is_brought_up_to_date_and_says_so(request, tmp_path):
    path = tmp_path / "graph.db"
    schema = Path(__file__).parents[1] / "stores" / "sqlite_schema_1.sql"
    with contextlib.closing(sqlite3.connect(path)) as database:
        database.executescript(schema.read_text(encoding="utf-8"))
    ended = request.getfixturevalue("lethe")("sessions", "--store", sqlite_url(path))
    assert ended.code == 0
    assert [line.split()[0] for line in ended.out.splitlines()] == ["session", "s-one", "s-weekly-1"]
    (backup,) = tmp_path.glob("graph-before-schema-*.db")
    said = ended.err.splitlines()
    assert said[0] == f"bringing the store {path} from schema 1 to 2; its backup: {backup}"
    assert said[1].startswith(f"the store {path} has schema 2 now")
    assert len(said) == 2
