"""Rankings of a whole corpus in one shot: what the loop is compared with (algorithms.md 5.1b).

Every passage is one piece of evidence. Lethe's context is the code of a session's steps, expansion, scores
and order, on a graph that holds them all and no structure; a session never sees such a graph.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from lethe_core.adapters.sources.ranking import fused, ranked
from lethe_core.context.ppr import personalized_pagerank
from lethe_core.context.weights import EdgeArrays, adjacency
from lethe_core.control.embedding import Embedder
from lethe_core.control.vectors import cosines
from lethe_core.evaluation.questions import Passage, Question
from lethe_core.evidence.strength import base_strengths
from lethe_core.graph.arrays import FloatArray, IntArray, Matrix, Vector
from lethe_core.graph.nodes import EvidenceNode, NodeId, ShortId, TaskNode
from lethe_core.graph.snapshot import GraphSnapshot
from lethe_core.session.lexicon import SessionLexicon
from lethe_core.session.reaching import reach, weigh
from lethe_core.similar.pairs import similar_pairs

METHODS: Final = ("dense", "bm25", "fusion", "ppr", "context")
_FUSION_K: Final = 60.0
_SEEDS: Final = 16  # passages at which the plain walk restarts, with mass ∝ cosine⁴, as in section 5.1b
_SHARPNESS: Final = 4.0


class WholeCorpus:
    """All passages as evidence, embedded and joined once."""

    def __init__(self, passages: Sequence[Passage], vectors: Matrix, embedder: Embedder) -> None:
        """vectors: (n, d) of the passages' embed_text, document mode."""
        profile = embedder.profile
        self._embedder, self._vectors = embedder, vectors
        self._ids = [passage.id for passage in passages]
        self._nodes = [
            EvidenceNode(
                content=passage.text,
                embed_text=passage.embed_text,
                embedding=vector,
                strength=0.0,
                base_strength=0.0,
                address=passage.id,
                title=passage.title,
                id=NodeId(f"passage-{number}"),
                short_id=ShortId(f"e-{number:04x}"),
                sequence=number,
            )
            for number, (passage, vector) in enumerate(zip(passages, vectors, strict=True), start=1)
        ]
        pairs = similar_pairs(vectors, [()] * len(passages), profile.similar_threshold)
        self._similar = EdgeArrays(
            source=pairs.i,
            target=pairs.j,
            kind=np.full(len(pairs), "SIMILAR_TO"),
            cosine=pairs.cosine.astype(np.float64),
        )
        self._lexicon = SessionLexicon()
        self._alone = adjacency(len(passages), self._similar)
        # Behind a task that nothing joins them to: the nodes of a session's graph begin with its tasks.
        self._behind_task = adjacency(
            len(passages) + 1, replace(self._similar, source=pairs.i + 1, target=pairs.j + 1)
        )

    def rankings(self, question: Question) -> dict[str, tuple[str, ...]]:
        """Ids of the passages, best first, by each of METHODS; what a method does not reach is left out."""
        asked = self._embedder.embed_queries([question.text])[0]
        cosine = cosines(self._vectors, asked)
        bm25 = self._lexicon.bm25(question.text, self._nodes)
        dense, lexical = (ranked(scores, -np.inf, len(self._ids)) for scores in (cosine, bm25))
        both = fused([dense, lexical], len(self._ids), _FUSION_K)
        return {
            "dense": self._named(dense),
            "bm25": self._named(lexical),
            "fusion": self._named(ranked(both, 0.0, len(self._ids))),
            "ppr": self._named(ranked(self._walk(cosine), 0.0, len(self._ids))),
            "context": self._context(question, asked),
        }

    def _walk(self, cosine: FloatArray) -> FloatArray:
        """The walk on similarity alone, from the passages nearest to the question."""
        seeds = np.zeros(len(cosine))
        best = ranked(cosine, 0.0, _SEEDS)
        if not best.size:
            return seeds
        seeds[best] = cosine[best] ** _SHARPNESS
        return personalized_pagerank(self._alone, seeds).scores

    def _context(self, question: Question, asked: Vector) -> tuple[str, ...]:
        root = TaskNode(
            description=question.text,
            embed_text=question.text,
            embedding=self._embedder.embed_documents([question.text])[0],
            id=NodeId("question"),
            short_id=ShortId("t-0000"),
            sequence=1,
        )
        strengths = base_strengths(self._vectors, asked, self._embedder.profile.ga_floor)
        evidence = [
            replace(node, strength=float(strength))
            for node, strength in zip(self._nodes, strengths, strict=True)
        ]
        snapshot = GraphSnapshot.build([root, *evidence], [])
        reached = reach(snapshot, root.id, asked, self._lexicon, weights=self._behind_task)
        order = weigh(snapshot, root.id, asked, reached, 0.0).order
        return tuple(snapshot.evidence[reached.nodes[index]].address for index in order)

    def _named(self, order: IntArray) -> tuple[str, ...]:
        return tuple(self._ids[int(index)] for index in order)
