"""The words of a session's evidence, kept as it grows: BM25 and the terms that lexical anchors join by."""

from array import array
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from lethe_core.context.anchors import AnchorIndex, AnchorNode, Anchors
from lethe_core.context.lexical import words
from lethe_core.context.lexical_growing import GrowingLexicalIndex
from lethe_core.din.cited import CITATION
from lethe_core.evidence.terms import anchor_terms, spaced, title_term
from lethe_core.evidence.titles import TitleIndex
from lethe_core.graph.arrays import FloatArray, IntArray
from lethe_core.graph.nodes import EvidenceKind, EvidenceNode, NodeId


class SessionLexicon:
    """Each node's text is read once, and again only for a title that came later and whose words it has."""

    def __init__(self) -> None:
        self._row: dict[NodeId, int] = {}
        self._mentions: list[AnchorNode] = []
        self._texts: list[str] = []  # spaced
        self._having: dict[str, array[int]] = defaultdict(lambda: array("q"))  # rows by word
        self._titles = TitleIndex()
        self._anchors = AnchorIndex()
        self._index = GrowingLexicalIndex()

    def anchor_nodes(self, evidence: Sequence[EvidenceNode]) -> list[AnchorNode]:
        """What each of the nodes mentions, titles of other sources included."""
        self.read(evidence)
        return [self._mentions[self._row[node.id]] for node in evidence]

    def anchors(self, evidence: Sequence[EvidenceNode]) -> Anchors:
        """What joins the nodes by what they mention; a node is its place among those given."""
        self.read(evidence)
        return self._anchors.among(self._rows(evidence))

    def terms_of(self, text: str) -> frozenset[str]:
        """The terms of a task, titles of sources among them."""
        return anchor_terms(text) | self._titles.in_text(spaced(text))

    def bm25(self, query: str, evidence: Sequence[EvidenceNode]) -> FloatArray:
        """BM25 of each node for a query: (n,) non-negative."""
        self.read(evidence)
        return self._index.scores(words(query), self._rows(evidence))

    def _rows(self, evidence: Sequence[EvidenceNode]) -> IntArray:
        return np.array([self._row[node.id] for node in evidence], dtype=np.int64)

    def read(self, evidence: Iterable[EvidenceNode]) -> None:
        """Take in all evidence of a session, superseded evidence included, before anything is asked.

        A text may mention the title of a source of which nothing is shown any more. Were only what is shown
        read, a session that was taken up again would not know that title, and its walk would end elsewhere.
        """
        new = [node for node in evidence if node.id not in self._row]
        for title in self._titles.add(title_term(node.title) for node in new):
            self._find_in_old(title)
        for node in new:
            # The short ids that a synthesis cites are drawn anew in every run: they name nothing.
            told = CITATION.sub("", node.content) if node.kind is EvidenceKind.SYNTHESIS else node.content
            text = spaced(told)
            mention = AnchorNode(
                source=node.address or node.id,
                title=title_term(node.title),
                terms=anchor_terms(told) | self._titles.in_text(text),
            )
            row = self._anchors.add(mention)
            self._index.add(words(node.embed_text), mention.source)
            self._row[node.id] = row
            self._mentions.append(mention)
            self._texts.append(text)
            for word in set(text.split()):
                self._having[word].append(row)

    def _find_in_old(self, title: str) -> None:
        """Note a title in the texts that were read before it was known."""
        none = array("q")
        rarest = min((self._having.get(word, none) for word in title.split(" ")), key=len)
        for row in rarest:
            mention = self._mentions[row]
            if f" {title} " in self._texts[row] and title not in mention.terms and title != mention.title:
                self._anchors.mention(row, title)
                self._mentions[row] = replace(mention, terms={*mention.terms, title})
