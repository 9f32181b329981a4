"""The random walks from one task, over the graph and its lexical anchors (algorithms.md 5.1, 5.1b)."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from lethe_core.context.anchors import DEFAULT_ANCHORS, anchored, anchored_seeds, relevance
from lethe_core.context.hops import DEFAULT_HOPS, hop_terms, leading, with_hops
from lethe_core.context.ppr import personalized_pagerank, personalized_pageranks, walk_graph
from lethe_core.context.weights import WeightMatrix
from lethe_core.graph.arrays import FloatArray
from lethe_core.graph.nodes import EvidenceNode, NodeId, TaskNode
from lethe_core.session.lexicon import SessionLexicon

# Nodes and terms. Below, a walk takes a few milliseconds wherever it begins, and begins the same in a session
# that was taken up again: its report is then the same to the last bit.
WARM_FROM: Final = 20_000


class LastWalk:
    """Where the last walk from a task ended: the next one from it begins there."""

    def __init__(self, warm_from: int = WARM_FROM) -> None:
        self._warm_from = warm_from
        self._task: NodeId | None = None
        self._mass: dict[str, float] = {}

    def start(self, task: NodeId, names: Sequence[str]) -> FloatArray | None:
        """The mass of nodes and terms, (n,); None when it was another task, or the graph is small."""
        if task != self._task or len(names) < self._warm_from:
            return None
        start = np.array([self._mass.get(name, 0.0) for name in names], dtype=np.float64)
        return start if start.any() else None

    def keep(self, task: NodeId, names: Sequence[str], scores: FloatArray) -> None:
        """Remember where a walk ended. names, scores: (n) of the nodes and the terms."""
        if len(names) >= self._warm_from:
            self._task, self._mass = task, dict(zip(names, scores.tolist(), strict=True))


class TaskWalk:
    """The walk on the graph and its lexical anchors; only what stands in evidence anchors (5.1b)."""

    def __init__(
        self,
        task: TaskNode,
        nodes: Sequence[NodeId],
        evidence: Sequence[EvidenceNode],
        weights: WeightMatrix,
        structure: FloatArray,
        cosine: FloatArray,
        lexicon: SessionLexicon,
    ) -> None:
        """nodes: (n) tasks and, behind them, the evidence; weights: (n, n) and structure: (n,) of these.

        cosine: of each piece of evidence to what the task asks.
        """
        self.task, self._evidence, self._nodes = task, evidence, nodes
        self._n_tasks = len(nodes) - len(evidence)
        self._structure, self._lexicon = structure, lexicon
        self._mentions = lexicon.anchor_nodes(evidence)
        anchors = lexicon.anchors(evidence)
        self._anchors = replace(anchors, node=anchors.node + self._n_tasks)
        self._graph = walk_graph(anchored(weights, self._anchors))
        self._terms = lexicon.terms_of(task.description)
        self._cosines = cosine

    def relevance(self, query: str) -> FloatArray:
        """How near each node is to the task by meaning, to a query by words: (n,) in [0, 1], 0 for tasks."""
        relevant = np.zeros(self._structure.size)
        relevant[self._n_tasks :] = relevance(self._cosines, self._lexicon.bm25(query, self._evidence))
        return relevant

    def first(self, relevant: FloatArray, last: LastWalk | None) -> FloatArray:
        """Where the walk ends up that begins at what is relevant and the task's terms: (n,)."""
        names = [*self._nodes, *self._anchors.terms]
        found = personalized_pagerank(
            self._graph,
            anchored_seeds(self._structure, relevant, self._terms, self._anchors),
            damping=DEFAULT_ANCHORS.damping,
            start=None if last is None else last.start(self.task.id, names),
        )
        if last is not None:
            last.keep(self.task.id, names, found.scores)
        return found.scores[: self._structure.size]

    def ranks(self, starts: Sequence[tuple[FloatArray, Collection[str]]]) -> list[FloatArray]:
        """Where walks end up that begin at what is relevant, the task's terms and some more: (n,) each."""
        seeds = [
            anchored_seeds(self._structure, relevant, self._terms.union(more), self._anchors)
            for relevant, more in starts
        ]
        ranks = personalized_pageranks(self._graph, np.stack(seeds), damping=DEFAULT_ANCHORS.damping)
        return [rank.scores[: self._structure.size] for rank in ranks]

    def with_hops(self, first: FloatArray, followed: Sequence[str] = ()) -> FloatArray:
        """The first walk's mass with what its best sources lead to: (n,).

        followed: queries by which the task has gone on; a walk is made for each of these as well.
        """
        asked = self.task.embed_text
        starts: list[tuple[FloatArray, Collection[str]]] = []
        for query in followed:
            terms = hop_terms(self._lexicon.terms_of(query), asked, self._anchors)
            if terms:
                starts.append((self.relevance(query), terms))
        for best in leading(
            first[self._n_tasks :], [mention.source for mention in self._mentions], DEFAULT_HOPS.sources
        ):
            terms = hop_terms(self._mentions[best].terms, asked, self._anchors)
            if terms:
                starts.append((self.relevance(f"{asked} {' '.join(terms)}"), terms))
        if not starts:
            return first
        hops = self.ranks(starts)
        mass = first.copy()
        mass[self._n_tasks :] = with_hops(first[self._n_tasks :], [hop[self._n_tasks :] for hop in hops])
        return mass
