"""What the buttons of a run's page do to a run on a worker: cancel, retry, suspend and resume."""

import re
import sqlite3
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from lethe_core.adapters.stores import open_store, sqlite_url
from lethe_core.graph.nodes import SessionId
from lethe_core.graph.session_state import SessionState

pytestmark = [pytest.mark.e2e, pytest.mark.prefect, pytest.mark.timeout(600)]

SECONDS = 200  # on a busy machine; what is waited for takes a tenth of it elsewhere


@dataclass
class Researcher:
    """Answers a model's turns: searches, then completes; the second turn as a test wants it."""

    chat: Any
    operations: Any
    task_of: Any
    second: str = ""  # "held", "refused"
    asked: threading.Event = field(default_factory=threading.Event)
    released: threading.Event = field(default_factory=threading.Event)

    def answer(self, body: dict[str, Any]) -> tuple[int, str]:
        turn = len(self.chat.turns)
        if body not in self.chat.turns:  # the check before a run, a section of the report
            return 200, "{}"
        if turn == 1:
            return self.operations({"op": "web_search", "query": "Farrow Point lighthouse built"})
        if turn == 2 and self.second == "refused":
            return 401, "the key has been withdrawn"
        if turn == 2 and self.second == "held":
            self.asked.set()
            self.released.wait(SECONDS)
        source = re.findall(r"(e-[0-9a-f]{4,})[^\n]*lighthouse\.md", body["messages"][-1]["content"])[0]
        said = f"The lighthouse at Farrow Point was built in 1871 by the engineer Maud Ellery [{source}]."
        return self.operations(
            {"op": "complete", "task": self.task_of(body), "result_summary": said, "embed_text": said}
        )


@pytest.fixture
def researcher(chat_server: Any, chat_module: Any) -> Iterator[Researcher]:
    made = Researcher(chat_server, chat_module.operations, chat_module.task_of)
    chat_server.answer = made.answer
    yield made
    made.released.set()


@dataclass(frozen=True)
class Run:
    """A run on the worker, that a scripted model reasons for."""

    deployed: Any
    until: Any
    id: str

    @property
    def session(self) -> str:
        """What a run that was given no name calls its session."""
        return f"s-{self.id.replace('-', '')[:12]}"

    @property
    def state(self) -> dict[str, Any]:
        return dict(self.deployed.ask("GET", f"/flow_runs/{self.id}")["state"])

    def press(self, **state: Any) -> None:
        """What the page sends when a button is pressed."""
        answer = self.deployed.ask("POST", f"/flow_runs/{self.id}/set_state", state=state)
        assert answer["status"] == "ACCEPT", answer

    def ended(self) -> dict[str, Any]:
        """The state that it ends in."""
        last = ("COMPLETED", "FAILED", "CRASHED", "CANCELLED")
        state: dict[str, Any] = self.until(
            lambda: state if (state := self.state)["type"] in last else None, SECONDS
        )
        return state

    def stored(self) -> SessionState:
        with closing(open_store(sqlite_url(self.deployed.home / "graph.db"))) as store:
            return store.load_session(SessionId(self.session))

    def left(self) -> bool:
        """Whether nobody works on the session."""
        with closing(open_store(sqlite_url(self.deployed.home / "graph.db"))) as store:
            return store.lease_holder(SessionId(self.session)) is None

    def owner(self) -> str:
        """Whom the session's lease names, dead or alive; nobody once it was given back."""
        with closing(sqlite3.connect(self.deployed.home / "graph.db")) as database:
            (found,) = database.execute("SELECT owner FROM session WHERE id = ?", (self.session,)).fetchone()
        return str(found)

    def artifact(self, prefix: str) -> str:
        found = self.deployed.ask(
            "POST", "/artifacts/filter", artifacts={"key": {"any_": [f"{prefix}-{self.session}"]}}
        )
        return str(found[-1]["data"]) if found else ""

    def log(self) -> str:
        found = self.deployed.ask("POST", "/logs/filter", logs={"flow_run_id": {"any_": [self.id]}})
        return "\n".join(line["message"] for line in found)

    @property
    def report(self) -> Path:
        return Path(self.deployed.home) / "reports" / self.session / "report.md"


@pytest.fixture
def start(
    deployed: Any, deployed_module: Any, corpus: Path, question: str, researcher: Researcher, tmp_path: Path
) -> Any:
    def begin(second: str) -> Run:
        researcher.second = second
        config = tmp_path / "lethe.toml"
        config.write_text(f'llm_base_url = "{researcher.chat.url}"\nllm_model = "scripted"\n', "utf-8")
        made = deployed.create_run(
            "lethe/research", question=question, corpus=[str(corpus)], config_file=str(config)
        )
        return Run(deployed, deployed_module.until, made)

    return begin


def test_cancel_ends_a_run_in_the_middle_of_a_call_with_a_partial_report(
    start: Any, researcher: Researcher
) -> None:
    run = start("held")
    assert researcher.asked.wait(SECONDS)
    run.press(type="CANCELLING", name="Cancelling")
    pressed = time.monotonic()
    state = run.ended()
    sys.stderr.write(f"cancelled {time.monotonic() - pressed:.1f} s after the button\n")
    assert (state["type"], state["name"]) == ("CANCELLED", "Cancelled")
    session = run.stored()
    assert (session.status.value, session.stop_reason, session.iterations) == ("cancelled", "cancelled", 1)
    report = run.report.read_text("utf-8")
    assert "1871" in report
    assert "Cancelled" in report
    assert run.artifact("report") == report
    assert float(run.artifact("progress")) < 100
    # A worker kills what has not ended 30 seconds after its signal: who gave its lease back ended by itself.
    assert run.owner() == ""


def test_retry_of_a_failed_run_goes_on_with_its_session(start: Any, researcher: Researcher) -> None:
    run = start("refused")
    failed = run.ended()
    assert (failed["type"], failed["name"]) == ("FAILED", "Failed")
    assert "LETHE_LLM_API_KEY" in failed["message"]
    assert run.stored().iterations == 1
    researcher.second = ""
    run.press(type="SCHEDULED", name="AwaitingRetry", message="Retry from the UI")
    ended = run.ended()
    assert ended["name"] == "goal_complete", ended
    session = run.stored()
    assert session.iterations == 2
    assert len(session.searches) == 1  # the first iteration's, and not once more
    assert run.deployed.ask("GET", f"/flow_runs/{run.id}")["run_count"] == 2
    assert "1871" in run.artifact("report")
    # What the core has to say is in the run's log, and how the run ended.
    assert "3 documents indexed in" in run.log()
    # A run's last lines reach the server after its state.
    run.until(lambda: "every part of the question was worked through (goal_complete)" in run.log(), SECONDS)


def test_a_suspended_run_leaves_its_worker_and_goes_on_when_it_is_resumed(
    start: Any, researcher: Researcher
) -> None:
    run = start("held")
    assert researcher.asked.wait(SECONDS)
    later = "2100-01-01T00:00:00Z"
    run.press(
        type="PAUSED", name="Suspended", state_details={"pause_timeout": later, "pause_reschedule": True}
    )
    researcher.second = "search"
    researcher.operations, complete = _searching(researcher), researcher.operations
    researcher.released.set()
    run.until(run.left, SECONDS)
    assert run.state["name"] == "Suspended"
    before = run.stored()
    # Prefect itself leaves at the start of a task, Lethe at that of an iteration.
    assert (before.status.value, before.iterations in (1, 2)) == ("running", True), run.log()
    assert len(researcher.chat.turns) == 2
    researcher.operations = complete
    run.deployed.ask("POST", f"/flow_runs/{run.id}/resume")
    ended = run.ended()
    assert ended["name"] == "goal_complete", ended
    session = run.stored()
    assert session.iterations == 3
    assert len(researcher.chat.turns) == 3  # one an iteration: what had been answered was not asked again
    assert session.searches[: len(before.searches)] == before.searches


def _searching(researcher: Researcher) -> Any:
    """Whatever is to be answered: a search, with which the session goes on."""
    plain = researcher.operations
    return lambda *_: plain({"op": "web_search", "query": "Farrow Point lighthouse engineer"})
