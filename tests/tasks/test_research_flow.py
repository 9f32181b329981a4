"""The session flow under a real Prefect server: states that tell the truth, nothing bought twice."""

import itertools
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from threading import Timer
from typing import Any
from uuid import UUID

import pytest
from prefect import task_engine
from prefect.client.orchestration import get_client
from prefect.client.schemas.filters import ArtifactFilter, FlowRunFilter, FlowRunFilterId
from prefect.client.schemas.objects import State
from prefect.exceptions import TerminationSignal
from prefect.runtime import flow_run
from prefect.settings import PREFECT_API_URL
from prefect.states import Cancelling, Paused

from flows.session import research
from flows.watching import watched_by
from lethe_core.adapters.stores import open_store, sqlite_url
from lethe_core.errors import ConfigError, CredentialsError, SessionMismatchError
from lethe_core.graph.nodes import SessionId, TaskStatus
from lethe_core.graph.session_state import SessionState, SessionStatus
from lethe_core.session.handle import Progress

pytestmark = [pytest.mark.prefect, pytest.mark.usefixtures("prefect_server")]

QUESTION = "How long is the Tarn bridge, and when was it opened?"


def run(corpus: Path, **parameters: Any) -> State[Any]:
    given = {"question": QUESTION, "corpus": [str(corpus)], "session": "s-flow", **parameters}
    return research(**given, return_state=True)


def stored(home: Path, name: str = "s-flow") -> SessionState:
    store = open_store(sqlite_url(home / "graph.db"))
    try:
        return store.load_session(SessionId(name))
    finally:
        store.close()


def test_a_session_stays_with_its_folders(home: Path, corpus: Path, tmp_path: Path, monkeypatch: Any) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "mill.md").write_text("# Mill\n\nThe mill was built in 1790.\n", encoding="utf-8")
    assert run(corpus, max_iterations=1).is_completed()
    before = stored(home)
    with pytest.raises(SessionMismatchError, match=rf"the folder {corpus}, not on the folder {other}"):
        run(other, max_iterations=2).result()
    assert stored(home) == before
    monkeypatch.setenv("LETHE_CORPUS", str(other))
    again = research(QUESTION, session="s-flow", max_iterations=2, return_state=True)
    assert again.is_completed()
    assert stored(home).config["corpus"] == [str(corpus)]


@dataclass
class Interrupting:
    """Does something in the middle of an iteration."""

    act: Callable[[], None]
    at: int = 2

    def checking(self, model: str) -> None:
        pass

    def indexing(self, done: int, total: int, name: str) -> None:
        pass

    def assembling(self) -> None:
        pass

    def stop_asked(self) -> bool:
        return False

    def iteration(self, progress: Progress) -> None:
        if progress.iteration == self.at and not progress.applied:
            self.act()


def test_a_run_is_named_by_why_it_stopped_and_its_ten_tasks_an_iteration_are_to_be_seen(
    home: Path, corpus: Path
) -> None:
    state = run(corpus)
    assert (state.type, state.name) == ("COMPLETED", "goal_complete")
    report = home / "reports" / "s-flow"
    assert str(report / "report.md") in str(state.message)
    assert "412 metres" in (report / "report.md").read_text("utf-8")
    session = stored(home)
    assert session.status is SessionStatus.COMPLETE
    run_id = state.state_details.flow_run_id
    with get_client(sync_client=True) as client:
        flow = client.read_flow_run(run_id)
        assert flow.name == "How long is the Tarn bridge, and when w… · s-flow"
        runs = []
        for _ in range(100):  # the server records task runs in batches, some time behind
            runs = client.read_task_runs(flow_run_filter=FlowRunFilter(id=FlowRunFilterId(any_=[run_id])))
            if any(task.name == "end, sync similar" for task in runs):
                break
            time.sleep(0.1)
        artifacts = client.read_artifacts(
            artifact_filter=ArtifactFilter(), flow_run_filter=FlowRunFilter(id=FlowRunFilterId(any_=[run_id]))
        )
    names = [task.name for task in runs]
    assert {"01 ready set", "01 select task", "01 call model, round 0", "end, sync similar"} <= set(names)
    assert len(names) >= 10 * session.iterations
    by_key = {artifact.key: artifact for artifact in artifacts}
    assert by_key["report-s-flow"].data == (report / "report.md").read_text("utf-8")
    assert len(json.loads(str(by_key["signals-s-flow"].data))) == session.iterations
    assert "progress-s-flow" in by_key


def test_nothing_found_is_a_failed_state_of_that_name(home: Path, corpus: Path) -> None:
    state = run(corpus, question="Which enzyme limits the rate of cholesterol synthesis?")
    assert (state.type, state.name) == ("FAILED", "nothing_found")
    assert stored(home).status is SessionStatus.NOTHING_FOUND


def test_a_relative_corpus_is_refused_before_anything_is_made(home: Path, corpus: Path) -> None:
    state = run(Path("papers"))
    assert state.type == "FAILED"
    with pytest.raises(ConfigError, match="relative"):
        state.result()
    assert not (home / "graph.db").exists()
    assert corpus.exists()


def test_a_silent_model_server_ends_in_its_own_name_with_a_report(
    home: Path, corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    monkeypatch.setenv("LETHE_LLM_BASE_URL", f"http://127.0.0.1:{port}/v1")
    monkeypatch.setenv("LETHE_LLM_MODEL", "m")
    state = run(corpus)
    assert (state.type, state.name) == ("FAILED", "model_unavailable")
    assert (home / "reports" / "s-flow" / "report.md").is_file()


def test_a_server_that_sends_no_completions_ends_like_a_silent_one(
    home: Path, corpus: Path, chat: Any
) -> None:
    chat.body = b"<html>Welcome</html>"
    state = run(corpus)
    assert (state.type, state.name) == ("FAILED", "model_unavailable")
    report = (home / "reports" / "s-flow" / "report.md").read_text()
    assert "Nothing was found that answers the question." in report
    assert "no completion: '&lt;html>Welcome" in report
    assert stored(home).status is SessionStatus.FAILED


def test_a_model_that_never_gives_valid_operations_ends_with_a_report_that_says_so(
    home: Path, corpus: Path, chat: Any
) -> None:
    def answer(_: dict[str, Any]) -> tuple[int, str]:
        search = {"operations": [{"op": "web_search", "query": "Tarn bridge"}]}
        return 200, json.dumps(search) if len(chat.asked) == 2 else "I am a teapot."

    chat.answer = answer
    state = run(corpus)
    assert (state.type, state.name) == ("FAILED", "model_unavailable")
    report = (home / "reports" / "s-flow" / "report.md").read_text()
    assert "The Tarn bridge is 412 metres long." in report
    assert "answered, but not with valid operations" in report
    assert "answered, but not with valid operations" in stored(home).message


def test_a_refused_key_ends_the_run_before_a_session_is_made(home: Path, corpus: Path, chat: Any) -> None:
    chat.answer = lambda _: (401, "no")
    state = run(corpus)
    with pytest.raises(CredentialsError, match="LETHE_LLM_API_KEY"):
        state.result()
    assert not (home / "reports").exists()


def test_ctrl_c_leaves_a_report_and_the_next_run_goes_on(home: Path, corpus: Path) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    with watched_by(Interrupting(interrupt)):
        state = run(corpus)
    assert state.type == "CANCELLED"
    cancelled = stored(home)
    assert (cancelled.status, cancelled.stop_reason) == (SessionStatus.CANCELLED, "cancelled")
    assert cancelled.phase is not None
    assert (home / "reports" / "s-flow" / "report.md").is_file()
    again = run(corpus)
    assert again.name == "goal_complete"
    finished = stored(home)
    assert finished.iterations >= cancelled.phase.iteration
    assert [record.query for record in finished.searches[: len(cancelled.searches)]] == [
        record.query for record in cancelled.searches
    ]


ENDED_BY_A_WORKER = """
import os, signal, sys
import tasks.select
from flows.session import research

ready_tasks = tasks.select.ready_tasks

def ended(session):
    if session.state.iterations == 1:
        os.kill(os.getpid(), signal.SIGTERM)
    return ready_tasks(session)

tasks.select.ready_tasks = ended
research(question=sys.argv[1], corpus=[sys.argv[2]], session="s-flow")
"""


def test_a_worker_that_ends_the_run_gets_its_signal_back_after_the_report(home: Path, corpus: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", ENDED_BY_A_WORKER, QUESTION, str(corpus)],
        env={**os.environ, "PREFECT_API_URL": str(PREFECT_API_URL.value())},
        timeout=120,
        check=False,
    )
    assert done.returncode == -signal.SIGTERM
    assert stored(home).status is SessionStatus.CANCELLED
    assert (home / "reports" / "s-flow" / "report.md").is_file()


def test_the_pages_cancel_stops_a_directly_called_run(home: Path, corpus: Path) -> None:
    def cancel() -> None:
        with get_client(sync_client=True) as client:
            client.set_flow_run_state(flow_run.id, Cancelling(), force=True)

    with watched_by(Interrupting(cancel, at=1)):
        state = run(corpus)
    assert state.type == "CANCELLED"
    assert stored(home).iterations == 1


def test_a_run_that_is_paused_stands_still_and_goes_on_when_it_is_resumed(home: Path, corpus: Path) -> None:
    seen: list[str] = []

    def pause() -> None:
        run_id = UUID(str(flow_run.id))
        with get_client(sync_client=True) as client:
            client.set_flow_run_state(run_id, Paused(timeout_seconds=600), force=True)
        Timer(3, resume, [run_id]).start()

    def resume(run_id: UUID) -> None:
        with get_client(sync_client=True) as client:
            seen.append(f"{client.read_flow_run(run_id).state_name}, {stored(home).iterations}")
            client.resume_flow_run(run_id)

    with watched_by(Interrupting(pause, at=1)):
        state = run(corpus)
    assert state.name == "goal_complete"
    assert seen == ["Paused, 1"]


def turns(chat: Any) -> list[dict[str, Any]]:
    """The requests that are turns of the loop, not the check before it."""
    return [body for body in chat.asked if "=TASK" in body["messages"][-1]["content"]]


def operations(*given: dict[str, Any]) -> tuple[int, str]:
    return 200, json.dumps({"operations": list(given)})


def test_an_answer_whose_bytes_arrived_is_never_bought_again(
    home: Path, corpus: Path, chat: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    import tasks.reason

    chat.answer = lambda _: operations({"op": "web_search", "query": "Tarn bridge length"})
    keep = tasks.reason.judge

    def lost(*_: Any) -> list[str]:
        raise RuntimeError("the process ends between the answer's arrival and its commit")

    monkeypatch.setattr(tasks.reason, "judge", lost)
    assert run(corpus, max_iterations=1).type == "FAILED"
    bought = len(turns(chat))
    assert bought == 1
    assert stored(home).phase is not None
    monkeypatch.setattr(tasks.reason, "judge", keep)
    state = run(corpus, max_iterations=1)
    assert state.name in ("iteration_cap", "budget", "converged")
    session = stored(home)
    assert session.iterations >= 1
    bought = len(turns(chat))
    assert bought == session.iterations
    assert session.tokens == 15 * session.iterations


def test_a_server_that_is_overloaded_for_a_moment_is_asked_again(home: Path, corpus: Path, chat: Any) -> None:
    def answer(body: dict[str, Any]) -> tuple[int, str]:
        if len(turns(chat)) == 1:
            return 503, "busy"
        task = (
            body["messages"][1]["content"].split("=TASK ")[-1].split()[0] if len(body["messages"]) > 1 else ""
        )
        return operations({"op": "fail", "task": task, "reason": "not in these papers"})

    chat.answer = answer
    state = run(corpus)
    assert state.name == "nothing_found"
    session = stored(home)
    assert (session.iterations, session.stop_reason, session.n_unanswered) == (1, "no_ready_tasks", 0)


def test_a_finished_session_that_is_asked_again_ends_as_it_did(home: Path, corpus: Path) -> None:
    first = run(corpus)
    iterations = stored(home).iterations
    again = run(corpus)
    assert (again.type, again.name) == (first.type, first.name)
    assert stored(home).iterations == iterations


def test_the_root_is_done_when_the_goal_is_complete(home: Path, corpus: Path) -> None:
    run(corpus)
    store = open_store(sqlite_url(home / "graph.db"))
    try:
        assert store.load_snapshot(SessionId("s-flow")).root.status is TaskStatus.DONE
    finally:
        store.close()


@pytest.mark.parametrize("signal_of", [KeyboardInterrupt, partial(TerminationSignal, signal=signal.SIGTERM)])
def test_a_signal_that_reaches_prefect_while_it_makes_a_task_run_cancels(
    home: Path, corpus: Path, monkeypatch: pytest.MonkeyPatch, signal_of: Callable[[], BaseException]
) -> None:
    made = itertools.count(1)
    make = task_engine._create_task_run_locally

    def interrupted(*arguments: Any, **named: Any) -> Any:
        if next(made) == 15:  # the second iteration's
            raise signal_of()
        return make(*arguments, **named)

    monkeypatch.setattr(task_engine, "_create_task_run_locally", interrupted)
    with watched_by(Interrupting(lambda: None)):
        state = run(corpus)
    assert state.is_cancelled(), state
    session = stored(home)
    assert (session.stop_reason, session.iterations) == ("cancelled", 1)
