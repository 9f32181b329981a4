"""The last state of a run tells the truth by its name and message, and its log says what the core said."""

import json
import logging
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from prefect.client.orchestration import get_client
from prefect.client.schemas.filters import ArtifactFilter
from prefect.client.schemas.objects import State

from flows.session import research

pytestmark = [pytest.mark.prefect, pytest.mark.usefixtures("prefect_server", "home")]

QUESTION = "How long is the Tarn bridge, and when was it opened?"
SEARCH = {"op": "web_search", "query": "Tarn bridge length"}


def run(corpus: Path, session: str, question: str = QUESTION, **parameters: Any) -> State[Any]:
    state: State[Any] = research(
        question, corpus=[str(corpus)], session=session, return_state=True, **parameters
    )
    return state


def artifact(key: str) -> Any:
    """The newest artifact of that key."""
    with get_client(sync_client=True) as client:
        (found,) = client.read_artifacts(artifact_filter=ArtifactFilter(key={"any_": [key]}))
    return found


@pytest.fixture
def log(caplog: pytest.LogCaptureFixture) -> Iterator[pytest.LogCaptureFixture]:
    """What goes into the log of runs."""
    loggers = [logging.getLogger(name) for name in ("prefect.flow_runs", "prefect.task_runs")]
    for logger in loggers:
        logger.addHandler(caplog.handler)
    yield caplog
    for logger in loggers:
        logger.removeHandler(caplog.handler)


def test_a_complete_run_says_what_it_has_found_and_why_it_ended(corpus: Path) -> None:
    state = run(corpus, "s-whole")
    assert (state.type, state.name) == ("COMPLETED", "goal_complete")
    assert str(state.message).startswith("complete: ")
    assert "; every part of the question was worked through (goal_complete); report: /" in str(state.message)
    progress = artifact("progress-s-whole")
    assert float(progress.data) == 100
    assert "every part of the question was worked through" in progress.description
    rows = json.loads(artifact("signals-s-whole").data)
    assert [row["iteration"] for row in rows] == list(range(1, len(rows) + 1))
    assert "Tarn" in rows[0]["searched"]
    assert sum(row["new"] for row in rows) > 0


def test_a_cap_is_completed_by_its_own_name_and_called_partial(
    corpus: Path, chat: Any, chat_module: ModuleType
) -> None:
    chat.answer = lambda _: chat_module.operations(SEARCH)
    state = run(corpus, "s-cap", max_tokens=20)
    assert (state.type, state.name) == ("COMPLETED", "token_cap")
    assert str(state.message).startswith("partial: ")
    assert "the limit on tokens was reached (token_cap)" in str(state.message)
    assert float(artifact("progress-s-cap").data) < 100


def test_nothing_found_is_failed_and_says_so(corpus: Path) -> None:
    state = run(corpus, "s-nothing", "Which enzyme limits the rate of cholesterol synthesis?")
    assert (state.type, state.name) == ("FAILED", "nothing_found")
    assert str(state.message).startswith("nothing_found: nothing was found in 0 sources; ")


def test_an_outage_is_failed_by_its_own_name_with_what_the_server_said(corpus: Path, chat: Any) -> None:
    chat.answer = lambda _: (500, "out of order")
    state = run(corpus, "s-outage")
    assert (state.type, state.name) == ("FAILED", "model_unavailable")
    assert "out of order" in str(state.message)


def test_an_error_is_failed_with_its_message(corpus: Path, chat: Any, chat_module: ModuleType) -> None:
    chat.answer = lambda _: (401, "no") if chat.turns[1:] else chat_module.operations(SEARCH)
    state = run(corpus, "s-error")
    assert (state.type, state.name) == ("FAILED", "Failed")
    assert "LETHE_LLM_API_KEY" in str(state.message)
    assert float(artifact("progress-s-error").data) < 100


def test_what_the_core_logs_stands_in_the_run_s_log(corpus: Path, log: pytest.LogCaptureFixture) -> None:
    before = list(logging.getLogger("lethe_core").handlers)
    run(corpus, "s-log")
    said = {(record.name, record.getMessage().partition(" in ")[0]) for record in log.records}
    assert ("prefect.flow_runs", "2 documents indexed") in said
    assert logging.getLogger("lethe_core").handlers == before
