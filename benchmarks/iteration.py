"""What Lethe itself adds to an iteration, beside the models and the fetches, as the evidence grows.

Sessions of about 1,000, 10,000 and 100,000 evidence nodes under 20 subtasks are written into a store, opened
and gone on with: every iteration searches (200 new passages come back), every third one synthesises and
completes its task. The texts are made of names and words by topic, 20 passages a topic, so that a passage is
alike to some nine of other tasks; embeddings are made from the topics, since making them is the model's time.
Printed is processor time: of each step of the first iteration, which reads and compares everything once, the
median of the later ones, and of the first one after the session was opened again. The goals are .3, 1 and 8 s
for the later ones, and a growth no worse than that of the evidence.

    python benchmarks/iteration.py
    python benchmarks/iteration.py --evidence 1000 10000 --profile
"""

import argparse
import cProfile
import json
import os
import pstats
import tempfile
import time
import zlib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from lethe_core.adapters.bootstrap import session_deps
from lethe_core.adapters.stores.owner import make_owner
from lethe_core.config import load_settings
from lethe_core.control.embedding import EmbeddingProfile
from lethe_core.evidence.page import ALONE, Chunk, FoundPage, Page, Revisited, SearchOutcome
from lethe_core.graph.arrays import Matrix
from lethe_core.graph.nodes import Edge, EdgeType, EvidenceNode, SessionId, TaskNode
from lethe_core.reasoning.protocol import Answer
from lethe_core.session.answering import due_round, judge
from lethe_core.session.applying import apply_answer
from lethe_core.session.calling import execute_calls
from lethe_core.session.composing import expand, pack_evidence, serialize
from lethe_core.session.handle import SessionHandle
from lethe_core.session.measuring import measure
from lethe_core.session.opening import open_session
from lethe_core.session.selecting import ready_tasks, select
from lethe_core.session.syncing import sync_similar

STEPS = ("select", "sync", "expand", "pack", "serialize", "judge", "apply", "ingest", "signals")
GOALS = {1_000: 0.3, 10_000: 1.0, 100_000: 8.0}  # seconds
TASKS, NEW, ALIKE, DIMENSION = 20, 200, 20, 256
CONSONANTS, VOWELS = "bdfgklmnprstvz", "aeiou"


class Passages:
    """Passages without end, by topic."""

    def __init__(self, topics: int, seed: int = 5) -> None:
        self._rng = np.random.default_rng(seed)
        self._topics = topics
        self._common = [self._word() for _ in range(3_000)]
        self._names = [f"{self._word().title()} {self._word().title()}" for _ in range(4 * topics + 40)]
        self._made = 0

    def make(self, count: int) -> list[tuple[str, str, str]]:
        """Address, title and text of each; two passages in a row are of one source."""
        return [self._next() for _ in range(count)]

    def _next(self) -> tuple[str, str, str]:
        source, topic = self._made // 2, int(self._rng.integers(self._topics))
        self._made += 1
        title = f"{self._names[source % len(self._names)]} {source}"
        said = [self._common[int(at)] for at in len(self._common) * self._rng.random(45) ** 2]
        for place in (8, 20, 33):
            said[place] = self._names[(4 * topic + int(self._rng.integers(6))) % len(self._names)]
        said[40] = f"{self._made} km"
        return f"made/{source}.md", title, f"The topic{topic} {' '.join(said)}."

    def _word(self) -> str:
        letters = self._rng.integers(0, (len(CONSONANTS), len(VOWELS)), (int(self._rng.integers(2, 5)), 2))
        return "".join(CONSONANTS[c] + VOWELS[v] for c, v in letters)


class TopicEmbedder:
    """Vectors by the topic that a text names: cosine about .6 within one, 0 between two."""

    profile = EmbeddingProfile("topics", "1", DIMENSION, "", True, 0.5, 0.95, 0.68)

    def check(self) -> None:
        pass

    def embed_documents(self, texts: Sequence[str]) -> Matrix:
        rows = np.zeros((len(texts), DIMENSION))
        for row, text in enumerate(texts):
            topic = text.partition("topic")[2].split(" ")[0]
            rows[row] = self._random(f"topic{topic}") * 1.25 + self._random(text)
        rows /= np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
        return rows.astype(np.float32)

    embed_queries = embed_documents

    def _random(self, text: str) -> np.ndarray[Any, np.dtype[np.float64]]:
        return np.random.default_rng(zlib.crc32(text.encode())).normal(size=DIMENSION) / DIMENSION**0.5


class MadeSearch:
    """Finds some more passages whatever is asked."""

    name, skipped, state = "made", (), ""

    def __init__(self, passages: Passages) -> None:
        self._passages = passages
        self.ready: SearchOutcome | None = None

    def prepare(self) -> None:
        """Make what the next search brings, outside of what is measured."""
        pages: dict[str, FoundPage] = {}
        for address, title, text in self._passages.make(NEW):
            before = pages[address].chunks if address in pages else ()
            chunk = Chunk(text, f"{title}. {text}", (0, len(text)), "", "prose")
            page = Page(address, title, text, "", "", domain=address)
            pages[address] = FoundPage(page, address, ALONE, (*before, chunk))
        self.ready = SearchOutcome(tuple(pages.values()), ())

    def search(self, query: str, *, known: Collection[str], deadline: float) -> SearchOutcome:  # noqa: ARG002
        found = self.ready
        assert found is not None
        return found

    def revisit(self, known: Mapping[str, str], *, query: str) -> list[Revisited]:  # noqa: ARG002
        return []


def fill(session: SessionHandle, passages: Passages, count: int) -> None:
    """Write subtasks and evidence, an equal share under each."""
    embedder = session.deps.embedder
    asked = [f"What is known of topic{n} and its makers?" for n in range(TASKS)]
    with session.write() as tx:
        tasks = [
            tx.create_node(TaskNode(text, text, vector))
            for text, vector in zip(asked, embedder.embed_documents(asked), strict=True)
        ]
        for task in tasks:
            tx.create_edge(Edge(EdgeType.SUBTASK_OF, task.id, session.snapshot.root.id))
    for first in range(0, count, 5_000):
        made = passages.make(min(5_000, count - first))
        vectors = embedder.embed_documents([f"{title}. {text}" for _, title, text in made])
        with session.write() as tx:
            for n, ((address, title, text), vector) in enumerate(zip(made, vectors, strict=True), first):
                node = tx.create_node(
                    EvidenceNode(
                        text,
                        f"{title}. {text}",
                        vector,
                        0.6,
                        0.6,
                        address=address,
                        title=title,
                        domain=address,
                        content_hash=f"{n:064x}",
                    )
                )
                tx.create_edge(Edge(EdgeType.PRODUCED, tasks[n // 2 % TASKS].id, node.id))


def answer(session: SessionHandle, number: int) -> Answer:
    """What a model would say: search on, or synthesise what it was shown and be done."""
    operations: list[dict[str, Any]] = [{"op": "web_search", "query": f"more about made thing {number}"}]
    if number % 3 == 2:
        shown = [
            session.snapshot.evidence[node].short_id
            for node in session.record.packed
            if node in session.snapshot.evidence
        ][:5]
        text = f"It is known of topic{number} that it grew for long in all of the five places."
        operations.append({"op": "synthesize", "sources": shown, "content": text, "embed_text": text})
        task = session.snapshot.tasks[session.record.task]
        if task != session.snapshot.root:
            done = {"op": "complete", "task": task.short_id, "result_summary": text, "embed_text": text}
            operations = [operations[-1], done]
    return Answer(
        text=json.dumps({"operations": operations}), prompt_tokens=1, completion_tokens=1, model="-"
    )


def iterate(session: SessionHandle, search: MadeSearch, number: int) -> dict[str, float]:
    """One iteration; seconds of processor time by step."""
    times = dict.fromkeys(STEPS, 0.0)

    def timed(step: str, act: Callable[[], Any]) -> Any:
        start = time.process_time()
        result = act()
        times[step] += time.process_time() - start
        return result

    search.prepare()
    task = timed("select", lambda: select(session, ready_tasks(session)))
    timed("sync", lambda: sync_similar(session))
    timed("expand", lambda: expand(session, task))
    timed("pack", lambda: pack_evidence(session, task))
    timed("serialize", lambda: serialize(session, task))
    while (round_number := due_round(session)) is not None:
        given = answer(session, number)
        timed("judge", lambda n=round_number, given=given: judge(session, n, given))
    timed("apply", lambda: apply_answer(session))
    timed("ingest", lambda: execute_calls(session))
    timed("signals", lambda: measure(session))
    return times


def run(count: int, iterations: int, *, profile: bool) -> float:
    passages = Passages(count // ALIKE)
    search = MadeSearch(passages)
    with tempfile.TemporaryDirectory(prefix="lethe-iteration-") as made:
        corpus = Path(made) / "corpus"
        corpus.mkdir()
        (corpus / "one.md").write_text("# One\n\nA document.\n", "utf-8")
        settings = load_settings({"corpus": (corpus,), "home": Path(made) / "home"}).settings
        with session_deps(settings) as opened:
            deps = replace(opened, embedder=TopicEmbedder(), search=(search,))
            name, owner = SessionId("s-bench"), make_owner()
            session = open_session(deps, "What is known of topic0 and all others?", name, owner=owner)
            fill(session, passages, max(NEW, count - NEW * iterations // 2))
            session.close()
            start = time.process_time()
            session = open_session(deps, "", name, owner=owner)
            loaded = time.process_time() - start
            try:
                rows = [iterate(session, search, 0)]
                watched = cProfile.Profile() if profile else None
                if watched:
                    watched.enable()
                rows += [iterate(session, search, number) for number in range(1, iterations)]
                if watched:
                    watched.disable()
                    pstats.Stats(watched).sort_stats("cumulative").print_stats(45)
                session.close()
                session = open_session(deps, "", name, owner=owner)
                again = iterate(session, search, iterations)
                edges = len(session.snapshot.edges)
            finally:
                session.close()
    later = {step: float(np.median([row[step] for row in rows[1:]])) for step in STEPS}
    steady = float(np.median([sum(row.values()) for row in rows[1:]]))
    sums = (("first", rows[0], sum(rows[0].values())), ("later", later, steady))
    for label, row, total in (*sums, ("again", again, sum(again.values()))):
        cells = " ".join(f"{row[step]:9.3f}" for step in STEPS)
        print(f"{count:8d} {edges:8d} {label:>6} {cells} {total:9.3f}")
    goal = GOALS.get(count)
    if goal is not None:
        print(f"{'':17} goal {goal} s: {steady / goal:.2f} of it; opened in {loaded:.1f} s", flush=True)
    return steady


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--evidence", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument(
        "--iterations", type=int, default=7, help="the first, which reads everything, included"
    )
    parser.add_argument("--profile", action="store_true", help="show where the later iterations' time goes")
    arguments = parser.parse_args()
    print(f"evidence    edges        {' '.join(f'{step:>9}' for step in STEPS)}       sum")
    before = SimpleNamespace(count=0, seconds=0.0)
    for count in arguments.evidence:
        seconds = run(count, arguments.iterations, profile=arguments.profile)
        if before.count:
            growth = seconds / before.seconds
            print(f"{'':17} {count / before.count:.0f} times the evidence, {growth:.1f} times the seconds")
        before = SimpleNamespace(count=count, seconds=seconds)


if __name__ == "__main__":
    main()
