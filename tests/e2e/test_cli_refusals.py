"""What cannot be used is refused before anything is started: the exit code and one line that helps.

Run in this process, since none of it reaches Prefect; nothing may be imported or started for it.
"""

import errno
import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from flows.cli import run
from flows.writable import check_file, check_folder
from lethe_core.adapters.stores import open_store, sqlite_url
from lethe_core.adapters.stores.owner import make_owner
from lethe_core.errors import UsageError
from lethe_core.graph.nodes import SessionId, TaskNode
from lethe_core.graph.session_state import SessionPatch, SessionState, SessionStatus
from lethe_core.session.opening import remembered

QUESTION = "When was the lighthouse at Farrow Point built?"


@pytest.fixture(autouse=True)
def _away_from_everything(tmp_path, monkeypatch):
    """A home of its own, and a Prefect server that no run could reach."""
    before = dict(os.environ)
    for name in before:
        if name.startswith(("LETHE_", "PREFECT_")):
            del os.environ[name]
    monkeypatch.setenv("LETHE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PREFECT_API_URL", "http://127.0.0.1:9/api")
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    yield
    os.environ.clear()
    os.environ.update(before)


@pytest.fixture
def documents(tmp_path) -> str:
    folder = tmp_path / "documents"
    folder.mkdir()
    (folder / "a.md").write_text("# Farrow Point\n\nIts lighthouse was built in 1871.\n")
    return str(folder)


def refused(capsys, *arguments: str) -> tuple[int, str]:
    code = run([str(argument) for argument in arguments])
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "Traceback" not in captured.err
    lines = captured.err.splitlines()
    assert len(lines) == 1, captured.err
    assert lines[0].startswith("lethe: ")
    return code, lines[0]


@pytest.mark.parametrize(
    ("question", "says"),
    [
        ("", "the question is empty"),
        (" \n\t ", "the question is empty"),
        ("\x07\x1b\u202e\u200b", r"'\x07\x1b\u202e\u200b' has no word in it"),
        ("?!", "'?!' has no word in it"),
        ("why " * 5_000, "19,999 characters, at most 8,000"),
        ("what\udcff", "no UTF-8"),
    ],
)
def test_question(capsys, documents, question, says):
    code, line = refused(capsys, "research", question, "--corpus", documents)
    assert code == 2
    assert says in line


@pytest.mark.parametrize(
    ("option", "value", "says"),
    [
        ("--session", "12345", "session name '12345' cannot be used"),
        ("--session", "../up", "session name '../up' cannot be used"),
        ("--max-iterations", "0", "max_iterations"),
        ("--max-iterations", "many", "--max-iterations"),
        ("--time-budget", "-1", "time_budget"),
        ("--time-budget", "nan", "finite"),
        ("--time-budget", "inf", "finite"),
        ("--max-cost", "1", "price_prompt"),
        ("--store", "mysql://x", "unknown kind of graph store"),
        ("--store", "sqlite:///:memory:", "in memory"),
        ("--store", "", "it is empty"),
        ("--session", "", "it is empty"),
        ("--model", " ", "it is empty"),
        ("--config", "absent.toml", "configuration file not found"),
        ("--corpse", "x", "No such option"),
    ],
)
def test_option(capsys, documents, option, value, says):
    code, line = refused(capsys, "research", QUESTION, "--corpus", documents, option, value)
    assert code == 2
    assert says in line


def test_no_iterations_is_one_complaint(capsys, documents):
    code, line = refused(capsys, "research", QUESTION, "--corpus", documents, "--max-iterations", "0")
    assert code == 2
    assert "min_iterations" not in line


def test_no_corpus(capsys):
    code, line = refused(capsys, "research", QUESTION)
    assert code == 2
    assert "--corpus DIR" in line


def test_corpus_that_is_missing_empty_or_a_file(capsys, documents, tmp_path):
    (tmp_path / "empty").mkdir()
    for path, says in (
        (tmp_path / "absent", "not found"),
        (tmp_path / "empty", "no file in the corpus folder"),
        (Path(documents) / "a.md", "is a file, not a folder"),
    ):
        code, line = refused(capsys, "research", QUESTION, "--corpus", path)
        assert code == 2
        assert says in line
        assert str(path) in line


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_corpus_that_may_not_be_read(capsys, documents):
    Path(documents).chmod(0)
    code, line = refused(capsys, "research", QUESTION, "--corpus", documents)
    Path(documents).chmod(0o755)
    assert code == 2
    assert documents in line


def test_unusable_setting_in_file_and_environment(capsys, documents, monkeypatch):
    Path("lethe.toml").write_text("max_iteration = 3\n")
    code, line = refused(capsys, "research", QUESTION, "--corpus", documents)
    assert code == 2
    assert "unknown setting 'max_iteration'" in line
    Path("lethe.toml").write_text('llm_api_key = "k"\n')
    code, line = refused(capsys, "research", QUESTION, "--corpus", documents)
    assert code == 2
    assert "secrets belong into the environment" in line
    Path("lethe.toml").unlink()
    monkeypatch.setenv("LETHE_TIME_BUDGET", "soon")
    code, line = refused(capsys, "research", QUESTION, "--corpus", documents)
    assert code == 2
    assert "LETHE_TIME_BUDGET" in line


def test_file_that_is_no_store_and_store_of_a_newer_version(capsys, documents, tmp_path):
    path = tmp_path / "graph.db"
    path.write_bytes(os.urandom(8192))
    code, line = refused(capsys, "research", QUESTION, "--corpus", documents, "--store", f"sqlite:///{path}")
    assert code == 1
    assert "the file is no store" in line
    path.unlink()
    open_store(sqlite_url(path)).close()
    with sqlite3.connect(path) as database:
        database.execute("UPDATE meta SET value = 99 WHERE name = 'schema_version'")
    database.close()
    code, line = refused(capsys, "research", QUESTION, "--corpus", documents, "--store", f"sqlite:///{path}")
    assert code == 2
    assert "schema version 99" in line


@pytest.fixture
def stored(tmp_path):
    """A session that lies in the store of this home, made by a given embedding profile."""

    def store_one(name: str, profile: str = "wordllama-256@l2_supercat", corpus: tuple[str, ...] = ()):
        from lethe_core.config import Settings

        store = open_store(sqlite_url(tmp_path / "home" / "graph.db"))
        root = TaskNode(QUESTION, embed_text=QUESTION, embedding=np.full(256, 1 / 16, dtype=np.float32))
        config = remembered(Settings(corpus=corpus).model_dump(mode="json"))
        store.create_session(
            SessionState(SessionId(name), f"uuid-{name}", root.id, QUESTION, profile, config), root
        )
        return store

    return store_one


def test_session_of_another_embedding_profile(capsys, documents, stored):
    stored("s-other", "some-model@1").close()
    for command in (
        ("research", QUESTION, "--corpus", documents, "--session", "s-other"),
        ("resume", "s-other"),
    ):
        code, line = refused(capsys, *command)
        assert code == 2
        assert "some-model@1" in line
        assert "LETHE_EMBEDDING" in line


@pytest.mark.parametrize("finished", [False, True])
def test_session_of_another_corpus(capsys, documents, stored, tmp_path, finished):
    store = stored("s-mine", corpus=(documents,))
    if finished:
        lease = store.acquire_lease(SessionId("s-mine"), make_owner())
        with store.transaction(lease) as tx:
            tx.update_session(SessionPatch(status=SessionStatus.COMPLETE, stop_reason="converged"))
        store.release_lease(lease)
    store.close()
    other = tmp_path / "other"
    other.mkdir()
    (other / "b.md").write_text("A mill.\n")
    command = ("research", QUESTION, "--session", "s-mine")
    code, line = refused(capsys, *command, "--corpus", other, "--corpus", documents)
    assert code == 2
    assert f"session s-mine works on the folder {documents}, not on the folders {other}" in line
    assert "--session" in line
    assert "lethe resume s-mine" in line


def test_session_that_another_run_holds(capsys, documents, stored):
    store = stored("s-held")
    store.acquire_lease(SessionId("s-held"), make_owner())
    for command in (
        ("research", QUESTION, "--corpus", documents, "--session", "s-held"),
        ("resume", "s-held"),
    ):
        code, line = refused(capsys, *command)
        assert code == 6
        assert "is being worked on by" in line
    store.close()


def test_caps_are_raised_with_resume(capsys, documents, stored, monkeypatch):
    """A session that a cap has stopped goes on in no other way."""
    store = stored("s-capped")
    lease = store.acquire_lease(SessionId("s-capped"), make_owner())
    with store.transaction(lease) as tx:
        tx.update_session(
            SessionPatch(
                status=SessionStatus.PARTIAL,
                stop_reason="token_cap",
                config={**store.load_session(SessionId("s-capped")).config, "max_tokens": 100},
            )
        )
    store.release_lease(lease)
    store.close()
    asked = []
    monkeypatch.setattr("flows.commands.running.run_session", lambda request: asked.append(request) or 0)
    monkeypatch.setenv("LETHE_PRICE_PROMPT", "1")
    monkeypatch.setenv("LETHE_PRICE_COMPLETION", "1")
    monkeypatch.setenv("LETHE_CORPUS", documents)
    assert run(["resume", "s-capped", "--max-tokens", "9000", "--max-cost", "2.5"]) == 0, capsys.readouterr()
    assert (asked[0].settings.max_tokens, asked[0].settings.max_cost) == (9000, 2.5)
    assert run(["resume", "s-capped"]) == 5
    assert "lethe resume s-capped --max-tokens N" in capsys.readouterr().err
    code, line = refused(capsys, "resume", "s-capped", "--max-tokens", "0")
    assert code == 2
    assert "max_tokens" in line


def test_session_that_does_not_exist(capsys):
    for command in (("resume", "s-absent"), ("report", "s-absent")):
        code, line = refused(capsys, *command)
        assert code == 2
        assert "lethe sessions" in line


def test_report_that_cannot_be_written(capsys, stored, tmp_path):
    stored("s-there").close()
    (tmp_path / "file").write_text("")
    code, line = refused(capsys, "report", "s-there", "--out", tmp_path / "file" / "report.md")
    assert code == 2
    assert "cannot be written" in line


@pytest.mark.parametrize("option", ["--corpus", "--out", "--home"])
def test_empty_path_is_not_the_working_folder(capsys, documents, option):
    code, line = refused(capsys, "research", QUESTION, "--corpus", documents, option, "")
    assert code == 2
    assert "the path is empty" in line
    assert option in line


@pytest.mark.parametrize("below", ["", "reports"])
def test_folder_for_the_report_is_tried_before_the_work(capsys, documents, tmp_path, below):
    (tmp_path / "file").write_text("kept")
    code, line = refused(
        capsys, "research", QUESTION, "--corpus", documents, "--out", tmp_path / "file" / below
    )
    assert code == 2
    assert "the report cannot be written to" in line
    assert "--out" in line
    assert (tmp_path / "file").read_text() == "kept"


def test_full_disk_takes_no_report(tmp_path, monkeypatch):
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("tempfile.TemporaryFile", full)
    for check, name in ((check_folder, "folder"), (check_file, "file.md")):
        with pytest.raises(UsageError, match="No space left"):
            check(tmp_path / name)


def test_room_for_a_part_of_a_report_is_none(tmp_path):
    code = f"""
import resource, pathlib
from flows.writable import PROBE_BYTES, check_folder
resource.setrlimit(resource.RLIMIT_FSIZE, (PROBE_BYTES // 2, PROBE_BYTES // 2))
check_folder(pathlib.Path({str(tmp_path)!r}))
"""
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "UsageError: the report cannot be written to" in ended.stderr


def test_trying_leaves_nothing_and_changes_nothing(tmp_path):
    (tmp_path / "report.md").write_text("kept")
    check_folder(tmp_path)
    check_file(tmp_path / "report.md")
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == ["report.md"]
    assert (tmp_path / "report.md").read_text() == "kept"


def test_home_that_cannot_be_written(capsys, documents, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    for home in (tmp_path / "file", tmp_path / "file" / "home"):
        for command in (("research", QUESTION, "--corpus", documents), ("store", "check"), ("sessions",)):
            code, line = refused(capsys, *command, "--home", home)
            assert code == 2
            assert f"cannot be {home} (--home): {tmp_path / 'file'} is a file" in line
    monkeypatch.setenv("LETHE_HOME", str(tmp_path / "file"))
    code, line = refused(capsys, "store", "check")
    assert code == 2
    assert "(LETHE_HOME)" in line
    assert "--store" not in line


def test_store_that_is_a_folder(capsys, documents, tmp_path, monkeypatch):
    monkeypatch.setenv("LETHE_STORE", f"sqlite:///{tmp_path}")
    for command in (("research", QUESTION, "--corpus", documents), ("store", "check")):
        code, line = refused(capsys, *command)
        assert code == 1
        assert f"the store {tmp_path} is a folder" in line
        assert "LETHE_STORE" in line


def test_nothing_is_made_by_looking(capsys, tmp_path):
    assert run(["sessions"]) == 0
    assert "lethe research" in capsys.readouterr().out
    assert run(["server", "status"]) == 0
    assert run(["server", "stop"]) == 0
    assert not (tmp_path / "home").exists()


def test_prefect_server_that_is_configured_and_does_not_answer(capsys):
    assert run(["doctor"]) == 2
    said = capsys.readouterr().out
    assert "FAIL" in said
    assert "PREFECT_API_URL" in said
