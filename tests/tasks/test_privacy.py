"""What a run leaves on Prefect's server: no secret, and of documents only what the report quotes."""

import json
import logging
from pathlib import Path
from typing import Any

import pytest
from prefect.client.orchestration import get_client
from prefect.client.schemas.filters import FlowRunFilter

from flows.session import research

pytestmark = [pytest.mark.prefect, pytest.mark.usefixtures("prefect_server")]

QUESTION = "How long is the Tarn bridge, and when was it opened?"
SECRETS = {
    "LETHE_LLM_API_KEY": "sk-secret-4711",
    "LETHE_NEO4J_PASSWORD": "graph-secret-0815",
    "LETHE_NEO4J_USER": "user-secret-99",
}
# Of a document that is found and quoted, what stands far from every quotation.
APART = "The minutes of the parish council were bound in calfskin at Whitsun."


class Heard(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage() + str(record.exc_info or ""))


@pytest.fixture
def heard() -> Any:
    handler = Heard()
    names = ("prefect", "prefect.flow_runs", "prefect.task_runs", "lethe_core")
    for name in names:
        logging.getLogger(name).addHandler(handler)
    yield handler
    for name in names:
        logging.getLogger(name).removeHandler(handler)


def left_by(session: str) -> dict[str, str]:
    """Everything that the server has of the session's runs, as text."""
    with get_client(sync_client=True) as client:
        runs = [run for run in client.read_flow_runs() if run.parameters.get("session") == session]
        assert runs
        ids = FlowRunFilter(id={"any_": [run.id for run in runs]})
        artifacts = client.read_artifacts(flow_run_filter=ids)
        tasks = client.read_task_runs(flow_run_filter=ids)
    return {
        "flow runs": json.dumps([run.model_dump(mode="json") for run in runs]),
        "task runs": json.dumps([run.model_dump(mode="json") for run in tasks]),
        "artifacts": json.dumps([artifact.model_dump(mode="json") for artifact in artifacts]),
    }


def test_neither_secrets_nor_whole_documents_reach_the_server_or_the_log(
    home: Path, corpus: Path, monkeypatch: pytest.MonkeyPatch, heard: Any
) -> None:
    for name, value in SECRETS.items():
        monkeypatch.setenv(name, value)
    page = corpus / "tarn-bridge.md"
    filler = "\n\n".join(f"Paragraph {n} tells of the weather at Orle in spring." for n in range(40))
    page.write_text(page.read_text("utf-8") + f"\n# Annals\n\n{filler}\n\n{APART}\n", "utf-8")
    state = research(QUESTION, corpus=[str(corpus)], session="s-private", return_state=True)
    assert state.name == "goal_complete"
    left = left_by("s-private")
    assert "412 metres" in left["artifacts"]  # what is quoted is there
    for where, text in {**left, "log": "\n".join(heard.lines)}.items():
        assert text, where
        assert APART not in text, where
        for secret in SECRETS.values():
            assert secret not in text, where
    assert heard.lines
    for kept in (home / "results").rglob("*"):
        assert not any(secret.encode() in kept.read_bytes() for secret in SECRETS.values() if kept.is_file())


def test_a_key_that_the_server_refuses_is_in_no_message(
    home: Path, corpus: Path, chat: Any, monkeypatch: pytest.MonkeyPatch, heard: Any
) -> None:
    monkeypatch.setenv("LETHE_LLM_API_KEY", "sk-secret-4711")
    chat.answer = lambda _: (401, "the key sk-secret-4711 is not known")
    state = research(QUESTION, corpus=[str(corpus)], session="s-refused", return_state=True)
    assert state.is_failed()
    assert home
    for where, text in {**left_by("s-refused"), "log": "\n".join(heard.lines)}.items():
        assert "sk-secret-4711" not in text, where
