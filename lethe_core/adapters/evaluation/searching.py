"""The loop as a ranking: what a session packs first after it has searched a second time (algorithms.md 5.1b).

A real session over the passages as files: the folder's index and search, ingestion, SIMILAR_TO, expansion,
scores and packing are those of any run. Only the reasoner is told to do nothing but search: first for the
question, then for what the evidence found so far leads to.
"""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from lethe_core.adapters.bootstrap import IndexProgress, session_deps
from lethe_core.adapters.stores.owner import make_owner
from lethe_core.config import Settings
from lethe_core.control.embedding import Embedder
from lethe_core.din.operations import Continue, Operation, WebSearch
from lethe_core.din.read import parse_din
from lethe_core.evaluation.questions import Passage, Question
from lethe_core.graph.nodes import EvidenceNode, SessionId
from lethe_core.reasoning.hops import second_searches
from lethe_core.reasoning.protocol import Answer, Prompt
from lethe_core.reasoning.queries import first_queries, reworded, searched, unused
from lethe_core.session.answering import ask, due_round, judge
from lethe_core.session.applying import apply_answer
from lethe_core.session.calling import execute_calls
from lethe_core.session.composing import expand, pack_evidence, serialize
from lethe_core.session.deps import SessionDeps
from lethe_core.session.handle import SessionHandle
from lethe_core.session.measuring import measure
from lethe_core.session.opening import open_session
from lethe_core.session.selecting import ready_tasks, select
from lethe_core.session.syncing import sync_similar

_LETTERS: Final = "abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True, slots=True)
class Rounds:
    """A question's passages in the packed order, best first, after one search and after a second."""

    first: tuple[str, ...]  # ids
    second: tuple[str, ...]
    found: frozenset[str]  # every passage that the two searches brought


class Searcher:
    """A `Reasoner` that searches: for the question, then for what was found; and goes on."""

    name = "searcher"
    extractive = True
    deterministic = True
    context_window = 32_768

    def check(self) -> None:
        """Nothing to reach, nothing to check."""

    def answer(self, prompt: Prompt, *, deadline: float) -> Answer:  # noqa: ARG002 - takes no time
        """The next searches of the task that a DIN-Read text shows."""
        din = parse_din(prompt.user)
        made = searched(din.warns)
        if not made.answered:
            queries = first_queries(din.goal)
        else:
            found = unused(second_searches(din.goal, din.evidence), made)
            queries = found or unused(reworded(din.goal), made)
        operations: list[Operation] = [WebSearch(op="web_search", query=query[:1000]) for query in queries]
        if not operations:
            operations = [Continue(op="continue", task=din.task)]
        text = json.dumps({"operations": [one.model_dump(mode="json") for one in operations]})
        return Answer(text, prompt_tokens=0, completion_tokens=0, model=self.name)


class PassageLoop:
    """Runs questions over a corpus, a session each."""

    def __init__(self, deps: SessionDeps, names: dict[str, str]) -> None:
        self._deps = deps
        self._names = names  # file name → id
        self._asked = 0

    @classmethod
    @contextmanager
    def over(
        cls,
        passages: Sequence[Passage],
        folder: Path,
        *,
        embedder: Embedder,
        progress: IndexProgress | None = None,
    ) -> Iterator["PassageLoop"]:
        """Write the passages below an empty folder, index them, and be ready for questions."""
        corpus = folder / "passages"
        corpus.mkdir()
        names: dict[str, str] = {}
        for number, passage in enumerate(passages):
            name = f"{_spelled(number)}.md"
            names[name] = passage.id
            title = " ".join(passage.title.split())
            text = f"# {title}\n\n{passage.text}\n" if title else f"{passage.text}\n"
            (corpus / name).write_text(text, "utf-8", errors="replace")
        settings = Settings(home=folder / "home", corpus=(corpus,))
        with session_deps(settings, progress=progress, embedder=embedder) as deps:
            yield cls(replace(deps, reasoner=Searcher()), names)

    def ask(self, question: Question) -> Rounds:
        """Search twice for a question; what would be packed after each time."""
        self._asked += 1
        session = open_session(self._deps, question.text, SessionId(f"q-{self._asked}"), owner=make_owner())
        try:
            _iterate(session)
            first = self._packed(session)
            _finish(session)
            second = self._packed(session)
            found = {self._id(node) for node in session.snapshot.evidence.values()}
            return Rounds(first, second, frozenset(found))
        finally:
            session.close()

    def _packed(self, session: SessionHandle) -> tuple[str, ...]:
        """Begin an iteration up to its packed context: the passages in their order, each once."""
        _compose(session)
        nodes = [session.snapshot.node(node) for node in session.record.packed]
        return tuple(dict.fromkeys(self._id(node) for node in nodes if isinstance(node, EvidenceNode)))

    def _id(self, node: EvidenceNode) -> str:
        return self._names[node.address.rpartition("/")[2]]


def _iterate(session: SessionHandle) -> None:
    _compose(session)
    _finish(session)


def _compose(session: SessionHandle) -> None:
    task = select(session, ready_tasks(session))
    sync_similar(session)
    expand(session, task)
    pack_evidence(session, task)
    serialize(session, task)


def _finish(session: SessionHandle) -> None:
    while (round_number := due_round(session)) is not None:
        judge(session, round_number, ask(session, round_number))
    apply_answer(session)
    execute_calls(session)
    measure(session)


def _spelled(number: int) -> str:
    """A file name in letters alone: digits would be read as an edition, a year, an issue."""
    name = ""
    while number or not name:
        number, letter = divmod(number, len(_LETTERS))
        name = _LETTERS[letter] + name
    return f"passage-{name}"
