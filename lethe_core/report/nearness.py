"""Whether a claim answers a question in other words than the question's (architecture.md, "finding").

The measure is the reasoner's own (`lethe_core.reasoning.about`), taken over the session's evidence. It
speaks for questions without names only: one that names things is about these.
"""

from collections.abc import Sequence

import numpy as np

from lethe_core.control.embedding import Embedder
from lethe_core.control.vectors import cosines
from lethe_core.din.document import EvidenceBlock
from lethe_core.graph.nodes import EvidenceKind, EvidenceNode
from lethe_core.graph.snapshot import GraphSnapshot
from lethe_core.reasoning.about import AboutConfig, has_figure, share, weights_of
from lethe_core.reasoning.relevance import Question, split_lead, understand
from lethe_core.reasoning.terms import content_set


class Nearness:
    """Judges the claims of one report; what it knows of a task it computes once."""

    def __init__(
        self, snapshot: GraphSnapshot, embedder: Embedder, config: AboutConfig | None = None
    ) -> None:
        self._embedder = embedder
        self._config = config or AboutConfig()
        self._shown = [
            EvidenceBlock(
                short_id=node.short_id,
                title=node.title,
                source=node.address,
                date="",
                older_than=None,
                older=False,
                period="",
                synthesis=False,
                place=node.place,
                content=node.content,
            )
            for node in snapshot.evidence.values()
            if node.kind is EvidenceKind.CHUNK
        ]
        self._questions: dict[str, Question] = {}

    def near(self, task: str, text: str, chunks: Sequence[EvidenceNode]) -> bool:
        """Whether a text that rests on these chunks is about a task that names nothing."""
        question = self._questions.get(task)
        if question is None:
            question = self._questions[task] = understand(task, self._shown, self._embedder)
        if question.names or not question.terms:
            return False
        weights = weights_of(question)
        ordinary = sum(weights.values()) / len(weights)
        asked = self._embedder.embed_queries(
            [split_lead(task)[1], *(clause.text for clause in question.clauses)]
        )
        figure = self._config.figure * has_figure(question, text)
        for chunk in chunks:
            stems = content_set(f"{chunk.title} {chunk.place} {text}")
            told = {term: question.match(term, stems) for term in question.terms}
            said = self._embedder.embed_documents([f"{chunk.title}. {text}"])
            whole = max(0.0, float(cosines(np.atleast_2d(chunk.embedding), asked[0])[0]))
            for row, clause in enumerate(question.clauses, start=1):
                cosine = max(0.0, float(cosines(said, asked[row])[0]))
                shared = share(question, clause.terms, weights, told, ordinary)
                if shared + cosine + whole + figure >= self._config.enough:
                    return True
        return False
