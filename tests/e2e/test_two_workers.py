"""Two real workers and eight sessions, one worker killed with its runs: all end, none does anything twice.

Beside them one run that fails and one that is cancelled: nobody starts these again. The model's server writes
every request down, so that it is seen what was bought.
"""

import json
import os
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import pytest

from benchmarks.kills.corpus import QUESTION, write_corpus
from benchmarks.kills.model_server import COMPLETION_TOKENS, PROMPT_TOKENS, read_log
from benchmarks.kills.researcher import SECTION, answer
from benchmarks.kills.servers import model_server
from lethe_core.adapters.stores import open_store, sqlite_url
from lethe_core.graph.session_state import SessionState, SessionStatus

pytestmark = [pytest.mark.e2e, pytest.mark.prefect, pytest.mark.timeout(1500)]

SESSIONS: Final = tuple(f"w-{n}" for n in range(1, 9))
CRASH_AFTER: Final = 60  # seconds; two heartbeats
SECONDS: Final = 400.0  # for each thing that is waited for, on a busy machine


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("model") / "requests.jsonl"


@pytest.fixture(scope="module")
def model(log: Path) -> Iterator[str]:
    """The scripted researcher's address."""
    with model_server(log) as made:
        yield made.address


def bought(log: Path, session: str) -> int:
    return sum(line.bought and line.what == "began" for line in read_log(log, session)) if log.exists() else 0


def test_eight_sessions_on_two_workers_end_though_one_of_them_is_killed(
    deployed: Any, deployed_module: ModuleType, model: str, log: Path, tmp_path: Path
) -> None:
    corpus = write_corpus(tmp_path / "crossings")
    boot = deployed.script("bootstrap.py", "--crash-after", str(CRASH_AFTER))
    assert boot.code == 0, boot.said

    def begin(session: str, **more: Any) -> str:
        settings = tmp_path / f"{session}.toml"
        settings.write_text(f'llm_base_url = "{model}/{session}/v1"\nllm_model = "scripted"\n', "utf-8")
        parameters = {"question": QUESTION, "corpus": [str(corpus)], "config_file": str(settings)}
        return str(deployed.create_run("lethe/research", **{**parameters, "session": session, **more}))

    def state(run: str) -> dict[str, Any]:
        found: dict[str, Any] = deployed.ask("GET", f"/flow_runs/{run}")
        return found

    until = deployed_module.until
    failing = begin("w-failing", corpus=["/nowhere/papers"])
    until(lambda: _ended(state(failing)), SECONDS)
    cancelled = begin("w-cancelled")
    runs: dict[str, str] = {}

    def stand() -> list[str]:
        every = {"w-failing": failing, "w-cancelled": cancelled, **runs}
        now = {session: state(run)["state"] for session, run in every.items()}
        return [
            f"{session}: {one['name']} {one['message']}, {bought(log, session)} calls"
            for session, one in now.items()
        ]

    until(lambda: bought(log, "w-cancelled") >= 2, SECONDS, instead=stand)
    deployed.ask(
        "POST", f"/flow_runs/{cancelled}/set_state", state={"type": "CANCELLING", "name": "Cancelling"}
    )
    until(lambda: _ended(state(cancelled)), SECONDS, instead=stand)
    with deployed.worker("second") as second:

        def in_hand() -> list[str]:
            return _of_worker(deployed_module.family(second.pid), runs, state)

        # The first worker stands still until the second has begun: it might have done everything by then.
        first = int(json.loads((deployed.home / "worker.json").read_text("utf-8"))["owner"].split("/")[1])
        os.kill(first, signal.SIGSTOP)
        try:
            runs |= {session: begin(session) for session in SESSIONS}
            until(in_hand, SECONDS, instead=stand)
        finally:
            os.kill(first, signal.SIGCONT)
        # Of the second worker's sessions one has to be in its midst.
        until(lambda: any(3 <= bought(log, session) < 12 for session in in_hand()), SECONDS, instead=stand)
        deployed_module.kill_tree(second.pid, signal.SIGSTOP)
        time.sleep(2)  # what they have already said reaches the server
        victims = in_hand()
        mine = [session for session in victims if bought(log, session) >= 3]
        assert mine, stand()
        killed_at = time.monotonic()
        deployed_module.kill_tree(second.pid)
    until(lambda: all(_ended(state(run)) for run in runs.values()), SECONDS, every=2, instead=stand)
    took = time.monotonic() - killed_at
    ends = {session: state(run) for session, run in runs.items()}

    assert {end["state"]["name"] for end in ends.values()} == {"goal_complete"}
    restarted = {session for session, end in ends.items() if end["run_count"] > 1}
    assert restarted >= set(mine)
    with closing(open_store(sqlite_url(deployed.home / "graph.db"))) as store:
        sessions = {str(one.session_id): one for one in store.list_sessions()}
    assert set(SESSIONS) <= sessions.keys()
    answers = {session: _answers(sessions[session]) for session in SESSIONS}
    # All of them did the same, and each did it once: a kill costs one call, and only where it cut one off.
    assert len(set(answers.values())) == 1, answers
    assert {sessions[session].status for session in SESSIONS} == {SessionStatus.COMPLETE}
    extra = Counter({session: bought(log, session) - answers[session] for session in SESSIONS})
    assert all(extra[session] <= (session in victims) for session in SESSIONS), extra

    # What failed and what was cancelled stays what it is.
    for run, kind in ((failing, "FAILED"), (cancelled, "CANCELLED")):
        end = state(run)
        assert (end["state"]["type"], end["run_count"]) == (kind, 1), end["state"]
    assert sessions["w-cancelled"].stop_reason == "cancelled"
    sys.stderr.write(f"killed: {victims}; all ended {took:.0f} s after it; extra calls {+extra}\n")


def _of_worker(processes: set[int], runs: dict[str, str], state: Callable[[str], Any]) -> list[str]:
    """Sessions whose run is one of these processes, and not at its end."""
    found = []
    for session, run in runs.items():
        now = state(run)
        pid = str(now["infrastructure_pid"] or "").rpartition(":")[2]
        if pid.isdecimal() and int(pid) in processes and not _ended(now):
            found.append(session)
    return found


def _ended(run: dict[str, Any]) -> bool:
    return run["state"]["type"] in ("COMPLETED", "FAILED", "CANCELLED")


def _answers(state: SessionState) -> int:
    answers, rest = divmod(state.tokens, PROMPT_TOKENS + COMPLETION_TOKENS)
    assert rest == 0
    return answers


class Slow:
    """Takes its time to answer, and counts how many it serves at a time."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.open = self.most = self.served = 0

    def count(self, change: int) -> None:
        with self.lock:
            self.open += change
            self.served += change > 0
            self.most = max(self.most, self.open)

    def answer(self, body: dict[str, Any]) -> tuple[int, str]:
        user = body["messages"][-1]["content"]
        if "=TASK " not in user and not user.startswith(SECTION):
            return 200, '{"ok": "yes"}'  # the check before a run takes no slot
        self.count(1)
        time.sleep(1.0)
        self.count(-1)
        return 200, answer(user)


def test_a_limit_on_the_model_s_calls_holds_for_all_runs_together(
    deployed: Any, deployed_module: ModuleType, chat_server: Any, tmp_path: Path
) -> None:
    corpus = write_corpus(tmp_path / "crossings")
    slow = Slow()
    chat_server.answer = slow.answer
    settings = tmp_path / "slow.toml"
    # Named here, and not only in the pool's environment: a running worker looks at its pool every 30 seconds.
    settings.write_text(
        f'llm_base_url = "{chat_server.url}"\nllm_model = "scripted"\nllm_limit = "lethe-model"\n', "utf-8"
    )
    assert "created concurrency limit" in deployed.script("bootstrap.py", "--model-concurrency", "1").said
    try:
        # Each run is a process of its own, whichever worker starts it.
        runs = [
            deployed.create_run(
                "lethe/research",
                question=QUESTION,
                corpus=[str(corpus)],
                session=f"w-slow-{n}",
                config_file=str(settings),
                max_iterations=2,
            )
            for n in range(2)
        ]

        def ended() -> bool:
            return all(_ended(run) for run in deployed.runs(runs).values())

        deployed_module.until(ended, SECONDS, every=1)
        states = [run["state"]["name"] for run in deployed.runs(runs).values()]
        assert "Failed" not in states, states
        assert slow.served >= 8
        assert slow.most == 1
    finally:
        assert "removed concurrency limit" in deployed.script("bootstrap.py", "--model-concurrency", "0").said
