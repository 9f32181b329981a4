"""``lethe store``, ``delete`` and ``prune``, run in this process on both stores."""

import contextlib
import os
import sqlite3
import time
from pathlib import Path

import numpy as np
import pytest

from flows.cli import run
from lethe_core.adapters.stores import open_store, sqlite_url
from lethe_core.adapters.stores.owner import make_owner
from lethe_core.graph.nodes import Edge, EdgeType, EvidenceNode, NodeId, SessionId, TaskNode
from lethe_core.graph.session_state import SessionState

VECTOR = np.arange(8, dtype=np.float32)


@pytest.fixture(autouse=True)
def _away_from_everything(tmp_path, monkeypatch):
    # Not the whole environment: the server of the tests, which one of them starts, leaves its password in it.
    for name in list(os.environ):
        if name.startswith(("LETHE_", "PREFECT_")) and "NEO4J" not in name:
            monkeypatch.delenv(name)
    monkeypatch.setenv("LETHE_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)


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
    code, _, err = lethe(capsys, "store", "copy", url, third)
    assert code == 1
    assert "nothing was copied" in err


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
