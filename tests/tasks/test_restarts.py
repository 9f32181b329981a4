"""A run that is started again after a crash, and a limit on the calls of the model."""

import json
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from prefect.client.orchestration import get_client
from prefect.client.schemas.actions import GlobalConcurrencyLimitCreate
from prefect.client.schemas.objects import State

from flows.session import research
from lethe_core.adapters.stores import open_store, sqlite_url
from lethe_core.errors import ConfigError, SessionBusyError
from lethe_core.graph.nodes import SessionId

pytestmark = [pytest.mark.prefect, pytest.mark.usefixtures("prefect_server")]

QUESTION = "How long is the Tarn bridge, and when was it opened?"
ELSEWHERE = "another-host/4711/boot.namespace.1/0123456789abcdef"  # seen from here neither alive nor dead


def run(corpus: Path, **parameters: Any) -> State[Any]:
    state: State[Any] = research(
        QUESTION, corpus=[str(corpus)], session="s-again", return_state=True, **parameters
    )
    return state


def hold(home: Path, seconds: float) -> None:
    with closing(open_store(sqlite_url(home / "graph.db"))) as store:
        store.acquire_lease(SessionId("s-again"), ELSEWHERE, seconds=seconds, force=True)


def test_a_second_start_waits_for_the_lease_of_the_first_one_s_process(
    home: Path, corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run(corpus, max_iterations=1).is_completed()
    hold(home, 600)
    first = run(corpus)
    with pytest.raises(SessionBusyError, match="by process 4711 on another-host, whose lease"):
        first.result()
    hold(home, 4)
    monkeypatch.setenv("PREFECT__RUNTIME__FLOW_RUN__RUN_COUNT", "2")
    assert run(corpus).is_completed()


def test_a_limit_that_does_not_exist_ends_the_run_and_says_how_to_make_it(
    home: Path, corpus: Path, chat: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LETHE_LLM_LIMIT", "no-such-limit")
    state = run(corpus)
    with pytest.raises(ConfigError, match=r"'no-such-limit'.*bootstrap\.py --model-concurrency"):
        state.result()
    assert home
    assert len(chat.asked) == 1  # the check before a run; nothing was bought


def test_each_call_of_the_model_takes_a_slot_and_gives_it_back(
    corpus: Path, home: Path, chat: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken: list[int] = []
    with get_client(sync_client=True) as client:
        client.create_global_concurrency_limit(GlobalConcurrencyLimitCreate(name="test-model", limit=2))

        def slots() -> int:
            return client.read_global_concurrency_limit_by_name("test-model").active_slots

        def answer(body: dict[str, Any]) -> tuple[int, str]:
            taken.append(slots())
            task = body["messages"][-1]["content"].split("=TASK ")[-1].split()[0]
            return 200, json.dumps({"operations": [{"op": "fail", "task": task, "reason": "not here"}]})

        chat.answer = answer
        monkeypatch.setenv("LETHE_LLM_LIMIT", "test-model")
        assert run(corpus).name == "nothing_found"
        assert taken == [0, 1]  # the check before the run takes none
        assert slots() == 0
    assert home


def test_without_a_model_server_no_slot_is_taken(
    home: Path, corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LETHE_LLM_LIMIT", "no-such-limit")
    assert run(corpus).is_completed()
    assert home
