"""Numbers the sources in order of appearance, one number a source (algorithms.md 10).

Chunks belong to one source when their addresses lead to the same page (mirrors, a page fetched again)
or their pages have the same content. The same address with another date or edition is another source:
a page that changed.
"""

from collections.abc import Sequence
from typing import TypeAlias

from lethe_core.evidence.dedup import url_fingerprint
from lethe_core.graph.nodes import EvidenceNode, NodeId
from lethe_core.graph.snapshot import GraphSnapshot
from lethe_core.reasoning.terms import content_set
from lethe_core.report.document import Source

Key: TypeAlias = tuple[str, str, str]


class SourceBook:
    """Gives sources their numbers; the order of the calls is the order of appearance."""

    def __init__(self, snapshot: GraphSnapshot) -> None:
        self._snapshot = snapshot
        self._canonical: dict[NodeId, Key] = {}
        self._members: dict[Key, list[EvidenceNode]] = {}
        by_content: dict[str, Key] = {}
        for node in snapshot.evidence.values():
            key = (url_fingerprint(node.address or node.source_description), node.date, node.edition)
            if node.page_fingerprint:
                key = by_content.setdefault(node.page_fingerprint, key)
            self._canonical[node.id] = key
            self._members.setdefault(key, []).append(node)
        self._words: dict[Key, frozenset[str]] = {}
        self._numbers: dict[Key, int] = {}
        self._first: list[EvidenceNode] = []
        self._places: list[list[str]] = []

    def same(self, a: EvidenceNode, b: EvidenceNode) -> bool:
        """Whether two chunks belong to one source."""
        return self._canonical[a.id] == self._canonical[b.id]

    def number(self, chunk: EvidenceNode) -> int:
        """The number of the chunk's source, a new one when it was not cited before; notes its place."""
        key = self._canonical[chunk.id]
        if key not in self._numbers:
            self._numbers[key] = len(self._numbers) + 1
            self._first.append(chunk)
            self._places.append([])
        n = self._numbers[key]
        # The first heading mostly repeats the title, which stands beside it.
        place = "" if chunk.place == chunk.title else chunk.place.removeprefix(f"{chunk.title} › ")
        if place and place not in self._places[n - 1]:
            self._places[n - 1].append(place)
        return n

    def number_of(self, chunk: EvidenceNode) -> int:
        """The number that the chunk's source has. Raises KeyError when it is not cited."""
        return self._numbers[self._canonical[chunk.id]]

    def page_words(self, chunks: Sequence[EvidenceNode]) -> frozenset[str]:
        """Stems of the content words of the pages that some chunks stand on, as far as they were read."""
        found: frozenset[str] = frozenset()
        for key in dict.fromkeys(self._canonical[chunk.id] for chunk in chunks):
            if key not in self._words:
                texts = (f"{node.title}\n{node.content}" for node in self._members[key])
                self._words[key] = frozenset[str]().union(*(content_set(text) for text in texts))
            found |= self._words[key]
        return found

    def cited(self, chunk: EvidenceNode) -> bool:
        """Whether the chunk's source has a number."""
        return self._canonical[chunk.id] in self._numbers

    def sources(self) -> tuple[Source, ...]:
        """All numbered sources, in order."""
        return tuple(
            Source(
                n=n,
                title=chunk.title,
                address=chunk.address or chunk.source_description,
                date=chunk.stated_date,
                modified=chunk.date if not chunk.stated_date else "",
                edition=edition_label(self._snapshot, chunk),
                older=self._snapshot.is_older(chunk),
                places=tuple(places),
            )
            for n, (chunk, places) in enumerate(zip(self._first, self._places, strict=True), start=1)
        )


def edition_label(snapshot: GraphSnapshot, chunk: EvidenceNode) -> str:
    """What a source list says about a source's edition; empty when it stands alone."""
    edition = f"edition {chunk.edition}" if chunk.edition.isdigit() else chunk.edition
    known = chunk.period or edition
    parts = ["" if chunk.stated_date.startswith(known) else known]  # the date stands beside it
    if snapshot.is_older(chunk):
        parts.append("older edition")
    elif is_earlier_issue(snapshot, chunk):
        parts.append("earlier issue")
    return ", ".join(part for part in parts if part)


def is_earlier_issue(snapshot: GraphSnapshot, chunk: EvidenceNode) -> bool:
    """Whether a later issue of the chunk's periodical exists."""
    newest = snapshot.newest_of(chunk.series) if chunk.series and chunk.period else ""
    return bool(newest) and newest != chunk.address


def newest_dates(chunks: Sequence[EvidenceNode]) -> str:
    """The dates of several chunks, newest first, each once."""
    return ", ".join(sorted({chunk.stated_date for chunk in chunks if chunk.stated_date}, reverse=True))
