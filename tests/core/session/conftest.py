"""A session's ten steps without Prefect, on a real store, real models and real files."""

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from lethe_core.adapters.bootstrap import session_deps
from lethe_core.adapters.models.embedding_cache import CachedEmbedder
from lethe_core.adapters.models.wordllama import WordLlamaEmbedder
from lethe_core.adapters.stores.owner import make_owner
from lethe_core.config import Settings
from lethe_core.din.read import parse_din
from lethe_core.errors import LetheError
from lethe_core.graph.nodes import SessionId
from lethe_core.reasoning.protocol import Answer, Prompt
from lethe_core.session.answering import ask, due_round, judge
from lethe_core.session.applying import apply_answer
from lethe_core.session.calling import execute_calls
from lethe_core.session.composing import expand, pack_evidence, serialize
from lethe_core.session.deps import SessionDeps
from lethe_core.session.finishing import check_stop, draft_report
from lethe_core.session.handle import SessionHandle
from lethe_core.session.measuring import measure
from lethe_core.session.opening import open_session
from lethe_core.session.selecting import ready_tasks, select
from lethe_core.session.syncing import sync_similar

QUESTION = "How long is the Tarn bridge, and when was it opened?"
PAGES = {
    "tarn-bridge.md": "# Tarn bridge\n\nDate: 2023-04-01\n\nThe Tarn bridge is 412 metres long.\n\n"
    "It was opened on 14 June 1931 by the mayor of Orle.\n",
    "orle.md": "# Orle\n\n"
    "Orle is a town of 8,120 people on the river Tarn. Its mayor sits in the Old Mill.\n",
    "mill.md": "# The Old Mill\n\n"
    "The Old Mill of Orle grinds rye. It was built in 1788 and has two wheels.\n",
    "ferry.md": "# Ferry\n\nThe ferry at Lisk carries 40 cars. It stops in winter.\n",
}


@dataclass
class ScriptedReasoner:
    """Answers what a test wants: for faults and shapes that a real model does not give on demand."""

    answers: list[Any] = field(default_factory=list)
    prompts: list[Prompt] = field(default_factory=list)
    name: str = "scripted"
    extractive: bool = False
    deterministic: bool = True
    context_window: int = 32768

    def check(self) -> None:
        pass

    def answer(self, prompt: Prompt, *, deadline: float) -> Answer:  # noqa: ARG002
        self.prompts.append(prompt)
        given = self.answers.pop(0)
        if isinstance(given, Exception):
            raise given
        if callable(given):
            given = given(parse_din(prompt.user))
        text = given if isinstance(given, str) else json.dumps({"operations": given})
        return Answer(text=text, prompt_tokens=100, completion_tokens=50, model=self.name)


class Driver:
    """Runs the steps of a session one by one."""

    def __init__(self, session: SessionHandle) -> None:
        self.session = session

    def steps(self) -> list[Callable[[], object]]:
        """The ten steps of an iteration; each may be repeated, or the process end between any two."""
        session = self.session
        return [
            lambda: select(session, ready_tasks(session)),
            lambda: sync_similar(session),
            self.compose,
            self.answer,
            lambda: apply_answer(session),
            lambda: execute_calls(session),
            lambda: measure(session),
        ]

    def compose(self) -> None:
        task = self.session.record.task
        expand(self.session, task)
        pack_evidence(self.session, task)
        serialize(self.session, task)

    def answer(self) -> None:
        while (round_number := due_round(self.session)) is not None:
            try:
                answer: Answer | LetheError = ask(self.session, round_number)
            except LetheError as error:
                answer = error
            judge(self.session, round_number, answer)

    def iterate(self) -> None:
        for step in self.steps():
            step()

    def run(self) -> str:
        """Iterate until the session stops; returns the reason."""
        while not (reason := check_stop(self.session)):
            self.iterate()
        sync_similar(self.session, final=True)
        return reason

    def report(self, reason: str) -> Any:
        return draft_report(self.session, reason).report


@dataclass
class World:
    """Opens sessions over one corpus and one store."""

    home: Path
    corpus: Path
    stack: ExitStack
    embedder: WordLlamaEmbedder  # the configured one, read once for all tests

    def deps(self, **settings: Any) -> SessionDeps:
        """Real dependencies; ``reasoner`` may be a scripted one."""
        reasoner = settings.pop("reasoner", None)
        own = any(name.startswith("embedding") for name in settings)
        embedder = None if own else CachedEmbedder(self.embedder)
        merged = Settings(**{"home": self.home, "corpus": (self.corpus,), **settings})
        deps = self.stack.enter_context(session_deps(merged, embedder=embedder))
        return deps if reasoner is None else replace(deps, reasoner=reasoner)

    def open(self, question: str = QUESTION, name: str = "s-test", **settings: Any) -> Driver:
        cancelled = settings.pop("cancelled", lambda: False)
        deps = self.deps(**settings)
        session = open_session(
            deps, question, SessionId(name), owner=make_owner(), cancelled=cancelled, force=True
        )
        self.stack.callback(session.close)
        return Driver(session)

    def scripted(
        self, *answers: Any, question: str = QUESTION, name: str = "s-test", **settings: Any
    ) -> Driver:
        return self.open(question, name, reasoner=ScriptedReasoner(list(answers)), **settings)


@pytest.fixture(scope="session")
def embedder() -> WordLlamaEmbedder:
    return WordLlamaEmbedder()


@pytest.fixture
def world(tmp_path: Path, embedder: WordLlamaEmbedder) -> Iterator[World]:
    corpus = tmp_path / "papers"
    corpus.mkdir()
    for name, text in PAGES.items():
        (corpus / name).write_text(text, encoding="utf-8")
    with ExitStack() as stack:
        yield World(tmp_path / "home", corpus, stack, embedder)
