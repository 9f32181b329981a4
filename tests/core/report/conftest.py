"""A hand-built session: tasks, chunks, syntheses and the state around them."""

import hashlib
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from lethe_core.control.embedding import EmbeddingProfile
from lethe_core.graph.nodes import (
    Edge,
    EdgeType,
    EvidenceKind,
    EvidenceNode,
    NodeId,
    SessionId,
    ShortId,
    Similarity,
    TaskNode,
    TaskStatus,
)
from lethe_core.graph.session_state import CallOutcome, SearchRecord, SessionState
from lethe_core.graph.snapshot import GraphSnapshot
from lethe_core.reasoning.terms import content


class WordEmbedder:
    """A text's vector is the mean of its stems' vectors, each drawn from the stem's hash."""

    profile = EmbeddingProfile(
        name="words-32",
        revision="1",
        dimension=32,
        query_prompt="",
        matryoshka=False,
        similar_threshold=0.5,
        duplicate_threshold=0.95,
        ga_floor=0.65,
    )

    def embed_documents(self, texts: Sequence[str]) -> np.ndarray:
        rows = np.zeros((len(texts), 32), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in content(text):
                seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:4], "big")
                row += np.random.default_rng(seed).normal(size=32).astype(np.float32)
            if row.any():
                row /= np.linalg.norm(row)
        return rows

    def embed_queries(self, texts: Sequence[str]) -> np.ndarray:
        return self.embed_documents(texts)


class SessionBuilder:
    """Builds a snapshot and its state step by step; short ids are given in order of creation."""

    def __init__(self) -> None:
        self.embedder = WordEmbedder()
        self.nodes: list[TaskNode | EvidenceNode] = []
        self.edges: list[Edge] = []
        self.searches: list[SearchRecord] = []
        self._n = {"t": 0, "e": 0}

    def task(self, description, parent=None, *, status=TaskStatus.DONE, result="", reason=""):
        short_id, node_id, sequence = self._ids("t")
        node = TaskNode(
            description=description,
            embed_text=description,
            embedding=self.embedder.embed_documents([description])[0],
            status=status,
            result_summary=result,
            failure_reason=reason,
            id=node_id,
            short_id=short_id,
            sequence=sequence,
        )
        self.nodes.append(node)
        if parent is not None:
            self.edges.append(Edge(EdgeType.SUBTASK_OF, node.id, parent.id))
        return node

    def chunk(self, content, address="notes.md", *, task=None, strength=0.7, **fields):
        short_id, node_id, sequence = self._ids("e")
        node = EvidenceNode(
            content=content,
            embed_text=content,
            embedding=self.embedder.embed_documents([content])[0],
            strength=strength,
            base_strength=strength,
            address=address,
            title=fields.pop("title", address),
            id=node_id,
            short_id=short_id,
            sequence=sequence,
            **fields,
        )
        return self._produce(node, task)

    def synthesis(self, content, sources, *, task=None):
        short_id, node_id, sequence = self._ids("e")
        node = EvidenceNode(
            content=content,
            embed_text=content,
            embedding=self.embedder.embed_documents([content])[0],
            strength=0.8,
            base_strength=0.8,
            kind=EvidenceKind.SYNTHESIS,
            id=node_id,
            short_id=short_id,
            sequence=sequence,
        )
        self.edges += [Edge(EdgeType.SUPERSEDES, node.id, source.id) for source in sources]
        superseded = {source.id for source in sources}
        self.nodes = [
            replace(n, superseded=True) if isinstance(n, EvidenceNode) and n.id in superseded else n
            for n in self.nodes
        ]
        return self._produce(node, task)

    def result(self, task, text, status=TaskStatus.DONE):
        """Give a task its result, which may cite chunks made after it."""
        self.nodes = [
            replace(n, result_summary=text, status=status) if n.id == task.id else n for n in self.nodes
        ]

    def search(self, task, query, outcome=CallOutcome.NOTHING):
        self.searches.append(SearchRecord(task.id, query, 1, outcome, 0))

    def contradiction(self, a, b, score):
        self.edges.append(Edge(EdgeType.SIMILAR_TO, a.id, b.id, Similarity(0.8, contradiction=score)))

    def snapshot(self) -> GraphSnapshot:
        return GraphSnapshot.build(self.nodes, self.edges)

    def state(self, **fields) -> SessionState:
        defaults = {
            "session_id": SessionId("s-test"),
            "uuid": "u",
            "root": self.nodes[0].id,
            "goal": self.nodes[0].description,
            "profile": "words-32",
            "config": {},
            "stop_reason": "goal_complete",
            "iterations": 4,
            "seconds": 12.34,
            "models": ("extractive",),
            "searches": tuple(self.searches),
        }
        return SessionState(**{**defaults, **fields})

    def _ids(self, letter):
        self._n[letter] += 1
        n = self._n[letter]
        return ShortId(f"{letter}-{n:04x}"), NodeId(f"{letter}{n:04x}-0000"), n

    def _produce(self, node, task):
        self.nodes.append(node)
        owner = task or next(n for n in self.nodes if isinstance(n, TaskNode))
        self.edges.append(Edge(EdgeType.PRODUCED, owner.id, node.id))
        return node


@pytest.fixture
def session() -> SessionBuilder:
    return SessionBuilder()


@pytest.fixture(scope="session")
def new_session() -> type[SessionBuilder]:
    """For property tests, which need a new session for each example."""
    return SessionBuilder


@pytest.fixture(scope="session")
def embedder() -> WordEmbedder:
    return WordEmbedder()
