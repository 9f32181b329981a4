"""The words of a session's evidence, kept as it grows: BM25 and the terms that lexical anchors join by."""

from collections.abc import Sequence

import numpy as np

from lethe_core.context.anchors import AnchorNode
from lethe_core.context.lexical import LexicalIndex, words
from lethe_core.evidence.terms import anchor_terms, spaced, title_term
from lethe_core.evidence.titles import TitleIndex
from lethe_core.graph.arrays import FloatArray
from lethe_core.graph.nodes import EvidenceNode, NodeId


class SessionLexicon:
    """Each node's text is read once; each title is looked for once in each text."""

    def __init__(self) -> None:
        self._terms: dict[NodeId, set[str]] = {}
        self._texts: dict[NodeId, str] = {}
        self._words: dict[NodeId, list[str]] = {}
        self._titles = TitleIndex()
        self._indexed: tuple[NodeId, ...] = ()
        self._index = LexicalIndex([])

    def anchor_nodes(self, evidence: Sequence[EvidenceNode]) -> list[AnchorNode]:
        """What each of the nodes mentions, titles of other sources included."""
        self._read(evidence)
        return [
            AnchorNode(
                source=node.address or node.id, title=title_term(node.title), terms=self._terms[node.id]
            )
            for node in evidence
        ]

    def terms_of(self, text: str) -> frozenset[str]:
        """The terms of a task, titles of sources among them."""
        return anchor_terms(text) | self._titles.in_text(spaced(text))

    def bm25(self, query: str, evidence: Sequence[EvidenceNode]) -> FloatArray:
        """BM25 of each node for a query: (n,) non-negative."""
        if not evidence:
            return np.zeros(0)
        self._read(evidence)
        asked = tuple(node.id for node in evidence)
        if asked != self._indexed:
            self._index = LexicalIndex(
                [self._words[node] for node in asked], [node.address or node.id for node in evidence]
            )
            self._indexed = asked
        return self._index.scores(words(query))

    def _read(self, evidence: Sequence[EvidenceNode]) -> None:
        new = [node for node in evidence if node.id not in self._terms]
        for node in new:
            self._terms[node.id] = set(anchor_terms(node.content))
            self._texts[node.id] = spaced(node.content)
            self._words[node.id] = words(node.embed_text)
        added = TitleIndex(self._titles.add(title_term(node.title) for node in new))
        fresh = {node.id for node in new}
        for node_id, text in self._texts.items():
            self._terms[node_id] |= (self._titles if node_id in fresh else added).in_text(text)
