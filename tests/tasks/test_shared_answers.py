"""Bought answers in a bucket: what one worker has bought another finds, and maintenance keeps house."""

import json
import logging
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from prefect import flow
from prefect.filesystems import RemoteFileSystem
from prefect.settings import PREFECT_API_URL, PREFECT_RESULTS_DEFAULT_STORAGE_BLOCK, temporary_settings

from flows import answer_storage
from flows.answer_storage import PatientStorage
from flows.maintenance import maintain
from flows.session import research
from lethe_core.adapters.stores import open_store
from lethe_core.graph.nodes import SessionId
from lethe_core.graph.session_state import SessionState

pytestmark = [pytest.mark.prefect, pytest.mark.usefixtures("prefect_server", "home")]

QUESTION = "How long is the Tarn bridge, and when was it opened?"
BLOCK = "remote-file-system/lethe-answers"
RUN = "import json, sys; from flows.session import research; research(**json.loads(sys.argv[1]))"
# The worker's machine goes when the answer has been kept, before the session's graph knows of it.
DYING = f"import os, tasks.reason; tasks.reason.judge = lambda *_: os._exit(9); {RUN}"


@pytest.fixture
def bucket(s3: Any) -> Iterator[Any]:
    """The S3 server, and a block on Prefect's that names a folder of it."""
    RemoteFileSystem(basepath=s3.url("answers")).save("lethe-answers", overwrite=True)
    yield s3
    for key in s3.keys("answers"):
        s3.client.delete_object(Bucket="lethe-tests", Key=f"answers/{key}")


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Where the graph lies, for all workers."""
    monkeypatch.setenv("LETHE_STORE", f"sqlite:///{tmp_path}/graph.db")
    return f"sqlite:///{tmp_path}/graph.db"


@pytest.fixture(params=["nobody listens", "nobody speaks"])
def silent_bucket(request: pytest.FixtureRequest, s3: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A block that names a bucket of a server which is not to be reached; the keys are there."""
    with socket.create_server(("127.0.0.1", 0)) as listener:  # takes connections and says nothing
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{listener.getsockname()[1]}")
        if request.param == "nobody listens":
            listener.close()
        monkeypatch.setattr(answer_storage, "WAIT_SECONDS", 2.0)
        name = f"lethe-{request.param.replace(' ', '-')}"
        # Its own folder: file systems are kept by their settings, and the other's would be used.
        RemoteFileSystem(basepath=s3.url(name), settings={"config_kwargs": {"user_agent_extra": name}}).save(
            name, overwrite=True
        )
        yield f"remote-file-system/{name}"


def work(script: str, home: Path, **parameters: Any) -> "subprocess.CompletedProcess[str]":
    """A run on another worker: a process with a LETHE_HOME and a Prefect's home of its own."""
    environment = {
        **os.environ,
        "LETHE_HOME": str(home),
        "PREFECT_HOME": str(home / "prefect"),
        "PREFECT_LOCAL_STORAGE_PATH": str(home / "results"),
        "PREFECT_API_URL": str(PREFECT_API_URL.value()),
        "PREFECT_DEFAULT_RESULT_STORAGE_BLOCK": BLOCK,
    }
    return subprocess.run(
        [sys.executable, "-c", script, json.dumps({"question": QUESTION, **parameters})],
        env=environment,
        capture_output=True,
        text=True,
        timeout=200,
    )


def stored(store: str, session: str) -> SessionState:
    with closing(open_store(store)) as opened:
        return opened.load_session(SessionId(session))


def kept(maintenance: Any) -> str:
    """What maintenance, on a worker that keeps its answers there, says of them."""
    with temporary_settings({PREFECT_RESULTS_DEFAULT_STORAGE_BLOCK: BLOCK}):
        state = maintenance(return_state=True)
    (said,) = [part for part in str(state.message).split("; ") if part.startswith("kept answers")]
    return said


def test_what_one_worker_has_bought_another_does_not_buy_again(
    bucket: Any, store: str, corpus: Path, chat: Any, chat_module: ModuleType, tmp_path: Path
) -> None:
    chat.answer = lambda _: chat_module.operations({"op": "web_search", "query": "Tarn bridge length"})
    asked = {"corpus": [str(corpus)], "session": "s-shared", "max_iterations": 1}
    died = work(DYING, tmp_path / "first", **asked)
    assert died.returncode == 9, died.stderr
    session = stored(store, "s-shared")
    assert (len(chat.turns), session.tokens) == (1, 0)
    assert bucket.keys("answers") == [f"llm-{session.uuid}-1-0"]
    # Of a session that is not finished nothing is removed, however old.
    bucket.age(f"answers/llm-{session.uuid}-1-0", days=400)
    assert kept(maintain) == "kept answers: 0 removed, 0.0 MB"

    done = work(RUN, tmp_path / "second", **asked)
    assert done.returncode == 0, done.stderr
    session = stored(store, "s-shared")
    assert len(chat.turns) == session.iterations
    assert session.tokens == 15 * session.iterations
    turns = {f"llm-{session.uuid}-{n}-0" for n in range(1, session.iterations + 1)}
    assert turns <= set(bucket.keys("answers"))
    assert all(name.startswith(f"llm-{session.uuid}-") for name in bucket.keys("answers"))
    for home in ("first", "second"):
        assert not list((tmp_path / home).rglob("llm-*"))
    # Now that it is finished the old one goes.
    assert kept(maintain) == "kept answers: 1 removed, 0.0 MB"
    assert f"llm-{session.uuid}-1-0" not in bucket.keys("answers")


def test_a_storage_whose_library_is_missing_is_named_and_costs_no_answer(
    corpus: Path, chat: Any, chat_module: ModuleType
) -> None:
    RemoteFileSystem(basepath="hdfs://nowhere/answers").save("lethe-hdfs", overwrite=True)
    chat.answer = lambda _: chat_module.operations({"op": "web_search", "query": "Tarn bridge length"})
    with temporary_settings({PREFECT_RESULTS_DEFAULT_STORAGE_BLOCK: "remote-file-system/lethe-hdfs"}):
        state = research(
            QUESTION, corpus=[str(corpus)], session="s-hdfs", max_iterations=1, return_state=True
        )
        assert state.name == "iteration_cap", state.message
        assert len(chat.turns) == 2  # one an iteration; the graph has them
        state = maintain(return_state=True)
    assert state.is_failed()
    assert "kept answers: the storage block 'remote-file-system/lethe-hdfs'" in str(state.message)


def test_a_bucket_that_cannot_be_reached_is_named_once_and_costs_no_answer(
    silent_bucket: str,
    store: str,
    corpus: Path,
    chat: Any,
    chat_module: ModuleType,
    caplog: pytest.LogCaptureFixture,
) -> None:
    chat.answer = lambda _: chat_module.operations({"op": "web_search", "query": "Tarn bridge length"})
    with temporary_settings({PREFECT_RESULTS_DEFAULT_STORAGE_BLOCK: silent_bucket}):
        state = research(
            QUESTION, corpus=[str(corpus)], session="s-silent", max_iterations=1, return_state=True
        )
    assert state.name == "iteration_cap", state.message
    session = stored(store, "s-silent")
    assert (len(chat.turns), session.iterations, session.tokens) == (2, 2, 30)
    warned = [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]
    (said,) = [message for message in warned if "answers" in message or "transaction" in message]
    assert said.startswith("the storage of answers at s3://lethe-tests/lethe-nobody-")
    assert "cannot be reached: nothing within 2 s (the run goes on without it" in said


def test_a_storage_that_was_away_is_used_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.chdir(tmp_path)
    place = tmp_path / "mount"
    place.write_text("not mounted yet")
    storage = PatientStorage(RemoteFileSystem(basepath="local://mount/answers"), again=0.0)

    @flow
    def keep() -> None:
        for _ in range(2):
            storage.write_path("llm-1", b"kept nowhere")
        with pytest.raises(FileNotFoundError):
            storage.read_path("llm-1")
        place.unlink()
        storage.write_path("llm-1", b"kept")
        assert storage.read_path("llm-1") == b"kept"
        with pytest.raises(FileNotFoundError):
            storage.read_path("llm-2")

    keep()
    assert (place / "answers" / "llm-1").read_bytes() == b"kept"
    said = [record.getMessage() for record in caplog.records if "storage of answers" in record.getMessage()]
    assert len(said) == 2
    assert said[0].startswith("the storage of answers at local://mount/answers cannot be reached: ")
    assert said[1] == "the storage of answers at local://mount/answers is there again"
