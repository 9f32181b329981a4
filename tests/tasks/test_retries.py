"""What a task is run again for, what it is not, and how often a thing is bought."""

from contextlib import closing
from pathlib import Path
from threading import Event
from types import ModuleType
from typing import Any

import pytest
from prefect.client.schemas.objects import State
from prefect.settings import get_current_settings
from prefect.tasks import Task

import tasks.apply
import tasks.reason
from flows.session import research
from lethe_core.adapters.stores import open_store, sqlite_url
from lethe_core.errors import StoreUnavailableError
from lethe_core.graph.nodes import SessionId
from lethe_core.graph.session_state import SessionState
from lethe_core.session.measuring import measure
from tasks.policies import RETRIED

pytestmark = [pytest.mark.prefect, pytest.mark.usefixtures("prefect_server", "home")]

QUESTION = "How long is the Tarn bridge, and when was it opened?"
TRIES = 1 + RETRIED["retries"]


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the seconds between two tries."""
    found = [vars(module).values() for module in (tasks.apply, tasks.reason)]
    for task in (one for values in found for one in values if isinstance(one, Task)):
        monkeypatch.setattr(task, "retry_delay_seconds", [0.0, 0.0])


def run(corpus: Path, session: str) -> State[Any]:
    state: State[Any] = research(QUESTION, corpus=[str(corpus)], session=session, return_state=True)
    return state


def giving_up(chat_module: ModuleType) -> Any:
    """An answer with which the session ends at once."""
    return lambda body: chat_module.operations(
        {"op": "fail", "task": chat_module.task_of(body), "reason": "not in these papers"}
    )


def stored(home: Path, name: str) -> SessionState:
    with closing(open_store(sqlite_url(home / "graph.db"))) as store:
        return store.load_session(SessionId(name))


def test_a_model_server_that_fails_twice_is_asked_a_third_time_within_the_iteration(
    home: Path, corpus: Path, chat: Any, chat_module: ModuleType
) -> None:
    end = giving_up(chat_module)
    chat.answer = lambda body: (503, "busy") if 0 < len(chat.turns) < TRIES else end(body)
    assert run(corpus, "s-twice").name == "nothing_found"
    session = stored(home, "s-twice")
    assert (len(chat.turns), session.iterations, session.n_unanswered) == (TRIES, 1, 0)
    assert session.tokens == 15  # one answer paid for


def test_one_that_fails_three_times_costs_its_iteration_and_not_the_session(
    home: Path, corpus: Path, chat: Any, chat_module: ModuleType
) -> None:
    end = giving_up(chat_module)
    chat.answer = lambda body: (503, "busy") if 0 < len(chat.turns) <= TRIES else end(body)
    assert run(corpus, "s-thrice").name == "nothing_found"
    assert (len(chat.turns), stored(home, "s-thrice").iterations) == (TRIES + 1, 2)


def test_a_refused_key_is_not_tried_again(
    home: Path, corpus: Path, chat: Any, chat_module: ModuleType
) -> None:
    search = {"op": "web_search", "query": "Tarn bridge"}
    chat.answer = lambda _: (401, "no") if len(chat.turns) == 2 else chat_module.operations(search)
    assert run(corpus, "s-refused").is_failed()
    assert len(chat.turns) == 2
    assert stored(home, "s-refused").iterations == 1


def test_a_server_that_falls_silent_is_given_up_after_the_timeout(
    home: Path, corpus: Path, chat: Any, chat_module: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LETHE_LLM_TIMEOUT", "1")
    end, over = giving_up(chat_module), Event()

    def answer(body: dict[str, Any]) -> tuple[int, str]:
        if len(chat.turns) == 1:
            over.wait(60)
        return end(body)

    chat.answer = answer
    try:
        assert run(corpus, "s-silent").name == "nothing_found"
    finally:
        over.set()
    assert (len(chat.turns), stored(home, "s-silent").iterations) == (2, 1)


@pytest.mark.parametrize(("failures", "name"), [(2, "goal_complete"), (3, "Failed")])
def test_a_store_that_is_away_for_a_moment_is_tried_again(
    corpus: Path, monkeypatch: pytest.MonkeyPatch, failures: int, name: str
) -> None:
    tried = 0

    def away(session: Any) -> Any:
        nonlocal tried
        tried += 1
        if tried <= failures:
            raise StoreUnavailableError("the database does not answer")
        return measure(session)

    monkeypatch.setattr(tasks.apply, "measure", away)
    state = run(corpus, f"s-away-{failures}")
    assert state.name == name
    assert ("the database does not answer" in str(state.message)) is (name == "Failed")


def test_a_mistake_of_the_program_s_is_not_tried_again(corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tried = []

    def broken(session: Any) -> Any:
        tried.append(session)
        raise ZeroDivisionError

    monkeypatch.setattr(tasks.apply, "measure", broken)
    assert run(corpus, "s-broken").is_failed()
    assert len(tried) == 1


def test_of_all_tasks_only_what_is_bought_is_kept(
    home: Path, corpus: Path, chat: Any, chat_module: ModuleType
) -> None:
    results = get_current_settings().results.local_storage_path
    before = {file.name for file in results.iterdir()} if results.exists() else set()
    chat.answer = giving_up(chat_module)
    run(corpus, "s-kept")
    kept = {file.name for file in results.iterdir()} - before
    assert kept == {f"llm-{stored(home, 's-kept').uuid}-1-0"}
