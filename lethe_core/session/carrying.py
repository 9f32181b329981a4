"""What a session takes over of its predecessor's evidence (architecture.md, "A series of sessions").

Pure but for the embedder, which sees only what is new. A passage is taken over as long as its source still
holds it: the same file, the same content elsewhere, or the part of a changed file that is as it was. What a
changed file says anew is ingested with it; what it says no more, and all that a vanished file said, is
withdrawn. A synthesis stands as long as everything under it does.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from lethe_core.control.embedding import Embedder
from lethe_core.evidence.dedup import content_hash, identity_text
from lethe_core.evidence.ingest import plan_ingest
from lethe_core.evidence.page import Chunk, FoundPage, Revisited, SearchOutcome
from lethe_core.graph.arrays import Vector
from lethe_core.graph.nodes import Edge, EdgeType, EvidenceKind, EvidenceNode, NodeId
from lethe_core.graph.snapshot import GraphSnapshot

AMONG_EVIDENCE = (EdgeType.SUPERSEDES, EdgeType.SIMILAR_TO)


@dataclass(frozen=True, slots=True)
class CarryPlan:
    """Nodes and edges under the predecessor's ids, in order of creation; the new chunks of changed pages."""

    nodes: tuple[EvidenceNode, ...] = ()
    edges: tuple[Edge, ...] = ()
    fresh: tuple[EvidenceNode, ...] = ()
    withdrawn: tuple[EvidenceNode, ...] = ()  # chunks


def plan_carry(
    snapshot: GraphSnapshot, revisited: Sequence[Revisited], *, embedder: Embedder, goal_query: Vector
) -> CarryPlan:
    """Decide what of a predecessor's graph still stands.

    revisited: what has become of its pages; a page that no provider speaks of is left as it is.
    """
    seen = {page.known: page for page in revisited}
    current = {page.known: _chunks(page.changed) for page in revisited if page.changed is not None}
    kept: dict[NodeId, EvidenceNode] = {}
    withdrawn: list[EvidenceNode] = []
    for node in snapshot.evidence.values():
        if node.kind is not EvidenceKind.CHUNK:
            continue
        now = _as_it_is_now(node, seen.get(node.address), current.get(node.address, {}))
        if now is None:
            withdrawn.append(node)
        else:
            kept[node.id] = now
    outdated = {
        node.id
        for node in snapshot.evidence.values()
        if (page := seen.get(node.address)) is not None and page.edition.older and not snapshot.is_older(node)
    }
    kept |= {node.id: node for node in _standing_syntheses(snapshot, kept.keys() - outdated)}
    edges = [
        edge
        for edge in snapshot.edges.values()
        if edge.type in AMONG_EVIDENCE and edge.source in kept and edge.target in kept
    ]
    superseded = {edge.target for edge in edges if edge.type is EdgeType.SUPERSEDES}
    nodes = [replace(kept[node], superseded=node in superseded) for node in snapshot.evidence if node in kept]
    return CarryPlan(
        tuple(nodes), tuple(edges), _fresh(revisited, nodes, embedder, goal_query), tuple(withdrawn)
    )


def _chunks(page: FoundPage) -> dict[str, tuple[FoundPage, Chunk]]:
    return {content_hash(identity_text(chunk.text, chunk.place)): (page, chunk) for chunk in page.chunks}


def _as_it_is_now(
    node: EvidenceNode, page: Revisited | None, chunks: Mapping[str, tuple[FoundPage, Chunk]]
) -> EvidenceNode | None:
    """A chunk with what its source says of itself by now; None when the source holds it no more."""
    if page is None:
        return node
    if not page.address:
        return None
    if page.changed is not None:
        if node.content_hash not in chunks:
            return None
        found, chunk = chunks[node.content_hash]
        node = replace(
            node,
            title=found.page.title,
            date=found.page.date,
            date_source=found.page.date_source,
            page_fingerprint=found.fingerprint,
            span=chunk.span,
            place=chunk.place,
        )
    edition = page.edition
    return replace(
        node,
        address=page.address,
        source_description=f"{node.title} ({page.address})",
        series=edition.series,
        edition=edition.edition,
        period=edition.period,
        newest=edition.newest,
        domain=edition.series or page.address,
    )


def _standing_syntheses(snapshot: GraphSnapshot, standing: set[NodeId]) -> list[EvidenceNode]:
    """Syntheses whose chunks all stand. Of several over the same chunks the newest, and what lies under it.

    Each run makes its own: without that, a long series would drag along those of all its runs.
    """
    found: list[EvidenceNode] = []
    over: set[frozenset[NodeId]] = set()
    needed: set[NodeId] = set()
    for node in reversed(list(snapshot.evidence.values())):
        if node.kind is EvidenceKind.CHUNK:
            continue
        under = frozenset(chunk.id for chunk in snapshot.chunks_under(node))
        if not under or not under <= standing or (under in over and node.id not in needed):
            continue
        over.add(under)
        needed.update(snapshot.targets(EdgeType.SUPERSEDES, node.id))
        found.append(node)
    return found


def _fresh(
    revisited: Sequence[Revisited], kept: Sequence[EvidenceNode], embedder: Embedder, goal_query: Vector
) -> tuple[EvidenceNode, ...]:
    """What the changed pages say that was not known."""
    pages = [
        replace(page.changed, chunks=tuple(page.changed.chunks[hit] for hit in page.changed.hits), hits=())
        for page in revisited
        if page.changed is not None
    ]
    if not pages:
        return ()
    plan = plan_ingest(
        SearchOutcome(new=tuple(pages), known=()),
        snapshot=GraphSnapshot.build(kept, []),
        task=NodeId(""),
        embedder=embedder,
        goal_query=goal_query,
        task_query=goal_query,
    )
    return plan.nodes
