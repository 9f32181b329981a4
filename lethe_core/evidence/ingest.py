"""From what a search brought to what the graph is to hold: deduplicated, embedded, scored (algorithms.md 8).

Pure but for the embedder: it makes a plan, the session writes it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import overload

import numpy as np

from lethe_core.control.embedding import Embedder
from lethe_core.control.signals import call_yields
from lethe_core.evidence.dedup import content_hash, identity_text, semantic_duplicates
from lethe_core.evidence.page import Chunk, FoundPage, SearchOutcome
from lethe_core.evidence.strength import base_strengths
from lethe_core.graph.arrays import Vector
from lethe_core.graph.nodes import EdgeType, EvidenceKind, EvidenceNode, NodeId
from lethe_core.graph.snapshot import GraphSnapshot


@dataclass(frozen=True, slots=True)
class IngestPlan:
    """Nodes to create, existing nodes to be linked to the task as well, and whether the call yielded."""

    nodes: tuple[EvidenceNode, ...]
    links: tuple[NodeId, ...]
    yielded: bool

    @property
    def n_new(self) -> int:
        """How much the task did not have before."""
        return len(self.nodes) + len(self.links)


def plan_ingest(
    outcome: SearchOutcome,
    *,
    snapshot: GraphSnapshot,
    task: NodeId,
    embedder: Embedder,
    goal_query: Vector,
    task_query: Vector,
) -> IngestPlan:
    """Decide what of a search's outcome is new to the graph, and what is new to the task.

    A text that the graph holds already is no new node: the task is linked to the node that there is.
    goal_query, task_query: (d,) query mode.
    """
    table = snapshot.table
    linked = frozenset(snapshot.targets(EdgeType.PRODUCED, task))
    links: dict[NodeId, None] = {}
    fresh: dict[str, tuple[FoundPage, Chunk]] = {}
    for page, chunk in _offered(outcome):
        digest = content_hash(identity_text(chunk.text, chunk.place))
        if digest in table.chunk_by_hash:
            links[table.chunk_by_hash[digest]] = None
        else:
            fresh.setdefault(digest, (page, chunk))
    candidates = list(fresh.items())
    vectors = embedder.embed_documents([chunk.embed_text for _, (_, chunk) in candidates])
    repeats = semantic_duplicates(
        vectors,
        [identity_text(chunk.text, chunk.place) for _, (_, chunk) in candidates],
        table.vectors.reshape(-1, embedder.profile.dimension),
        _Texts(table.nodes),
        embedder.profile.duplicate_threshold,
        old_counts=table.chunks,
    )
    links |= {table.nodes[repeat].id: None for repeat in repeats if 0 <= repeat < len(table)}
    kept = [index for index, repeat in enumerate(repeats) if repeat < 0]
    strengths = base_strengths(vectors[kept], goal_query, embedder.profile.ga_floor)
    nodes = tuple(
        _node(digest, page, chunk, vectors[index], float(strength))
        for index, strength in zip(kept, strengths, strict=True)
        for digest, (page, chunk) in [candidates[index]]
    )
    new_links = tuple(node for node in links if node not in linked)
    new_vectors = [node.embedding for node in nodes]
    new_vectors += [snapshot.evidence[node].embedding for node in new_links]
    items = np.stack(new_vectors) if new_vectors else np.zeros((0, embedder.profile.dimension))
    return IngestPlan(nodes, new_links, call_yields(items, goal_query, task_query, embedder.profile.ga_floor))


class _Texts(Sequence[str]):
    """What of each node is compared, made when it is asked for: of a large graph few ever are."""

    def __init__(self, nodes: Sequence[EvidenceNode]) -> None:
        self._nodes = nodes

    def __len__(self) -> int:
        return len(self._nodes)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[str]: ...
    def __getitem__(self, index: int | slice) -> str | Sequence[str]:
        if isinstance(index, slice):
            return _Texts(self._nodes[index])
        return identity_text(self._nodes[index].content, self._nodes[index].place)


def _offered(outcome: SearchOutcome) -> Iterator[tuple[FoundPage, Chunk]]:
    """Chunks in the order of ingestion: new pages whole, of known ones what matched.

    Older editions and earlier issues come last: of a text that an older and the present one share, it is the
    present one's node that is made.
    """

    def later(page: FoundPage) -> int:
        """How many issues of the same periodical are newer."""
        edition = page.edition
        return sum(
            bool(edition.series and edition.period)
            and other.edition.series == edition.series
            and other.edition.period > edition.period
            for other in outcome.new
        )

    for page in sorted(outcome.new, key=lambda page: (page.edition.older, later(page))):
        for chunk in page.chunks:
            yield page, chunk
    for page in outcome.known:
        for hit in page.hits:
            yield page, page.chunks[hit]


def _node(digest: str, found: FoundPage, chunk: Chunk, vector: Vector, strength: float) -> EvidenceNode:
    page, edition = found.page, found.edition
    return EvidenceNode(
        content=chunk.text,
        embed_text=chunk.embed_text,
        embedding=vector,
        strength=strength,
        base_strength=strength,
        kind=EvidenceKind.CHUNK,
        source_description=f"{page.title} ({page.address})",
        address=page.address,
        title=page.title,
        date=page.date,
        date_source=page.date_source,
        series=edition.series,
        edition=edition.edition,
        period=edition.period,
        newest=edition.newest,
        page_fingerprint=found.fingerprint,
        content_hash=digest,
        span=chunk.span,
        place=chunk.place,
        # Editions of one document are one voice.
        domain=edition.series or page.domain or page.address,
    )
