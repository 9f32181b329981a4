"""From the short ids of a claim to the original chunks it rests on, and how well they support it.

Ids are resolved through SUPERSEDES to original chunks, never to a synthesis (algorithms.md 10). A claim
that cites a synthesis keeps, of the chunks under it, those that bear it out alone, when there are any: a
reader wants the source of the sentence, not of the whole summary.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from lethe_core.control.embedding import Embedder
from lethe_core.graph.nodes import EvidenceKind, EvidenceNode
from lethe_core.graph.snapshot import GraphSnapshot
from lethe_core.report.citations import (
    DEFAULT_SUPPORT,
    UNCITED,
    Entailment,
    Statement,
    Support,
    SupportConfig,
    measure,
)
from lethe_core.report.claims import Draft, without_strays
from lethe_core.report.quoting import quotes_row
from lethe_core.report.wording import Rarity

CLOSE = 0.05  # of the best chunk's support: another chunk this close is kept too
MOST = 3  # chunks of one synthesis that a claim keeps


@dataclass(frozen=True, slots=True)
class Resolved:
    """A claim with its original chunks and their support."""

    draft: Draft
    chunks: tuple[EvidenceNode, ...]
    support: Support
    removed: int  # ids that name no evidence of the session

    @property
    def cited_text(self) -> str:
        """What its chunks say, with the titles and headings that they stand under."""
        return "\n".join(f"{chunk.title}\n{chunk.place}\n{chunk.content}" for chunk in self.chunks)


def in_order(rows: Sequence[Draft], resolved: Mapping[Draft, Resolved]) -> list[Draft]:
    """Rows as they stand in their table, where all are of one; as they are where they are of several."""
    chunks = {row: resolved[row].chunks[0] for row in rows if resolved[row].chunks}
    if any(row not in chunks for row in rows) or len({chunk.address for chunk in chunks.values()}) != 1:
        return list(rows)
    return sorted(rows, key=lambda row: chunks[row].span)


def resolve(
    drafts: Sequence[Draft],
    snapshot: GraphSnapshot,
    *,
    embedder: Embedder,
    rarity: Rarity,
    entail: Entailment | None = None,
    config: SupportConfig = DEFAULT_SUPPORT,
) -> list[Resolved]:
    """Resolve and measure claims, in the order given."""
    lookups = [_look_up(draft, snapshot) for draft in drafts]
    drafts = [
        _settled(draft, [*direct, *under]) for draft, (direct, under, _) in zip(drafts, lookups, strict=True)
    ]
    pairs: list[tuple[Statement, Sequence[str]]] = []
    for draft, (direct, under, _) in zip(drafts, lookups, strict=True):
        statement = Statement(draft.text, draft.cells, draft.header)
        pairs.append((statement, [chunk.content for chunk in (*direct, *under)]))
        pairs.extend((statement, [chunk.content]) for chunk in under)
    supports = iter(measure(pairs, embedder=embedder, rarity=rarity, entail=entail, config=config))
    found: list[Resolved] = []
    for draft, (direct, under, removed) in zip(drafts, lookups, strict=True):
        whole = next(supports)
        alone = [next(supports) for _ in under]
        chunks = (*direct, *_bearing(under, alone))
        if draft.inherited and not whole.supported:
            # A borrowed bracket that does not bear the sentence out was never meant for it.
            found.append(Resolved(replace(draft, ids=()), (), UNCITED, 0))
        else:
            found.append(Resolved(draft, _distinct(chunks), whole, 0 if draft.inherited else removed))
    return found


def _settled(draft: Draft, chunks: Sequence[EvidenceNode]) -> Draft:
    """A row as it stands in a cited table, or without what looks like citations and is none."""
    plain = tuple(without_strays(cell) for cell in draft.cells)
    if plain == draft.cells or any(quotes_row(draft.header, draft.cells, chunk.content) for chunk in chunks):
        return draft
    return replace(draft, text="; ".join(cell for cell in plain if cell), cells=plain)


def _look_up(
    draft: Draft, snapshot: GraphSnapshot
) -> tuple[tuple[EvidenceNode, ...], tuple[EvidenceNode, ...], int]:
    """Chunks cited directly, chunks under a cited synthesis, and the number of unknown ids."""
    direct: list[EvidenceNode] = []
    under: list[EvidenceNode] = []
    removed = 0
    for short_id in draft.ids:
        node = snapshot.by_short_id(short_id)
        if not isinstance(node, EvidenceNode):
            removed += 1
        elif node.kind is EvidenceKind.CHUNK:
            direct.append(node)
        else:
            under.extend(snapshot.chunks_under(node))
    known = {chunk.id for chunk in direct}
    return _distinct(direct), tuple(c for c in _distinct(under) if c.id not in known), removed


def _bearing(chunks: Sequence[EvidenceNode], alone: Sequence[Support]) -> list[EvidenceNode]:
    best = max((support.score for support in alone if support.supported), default=None)
    if best is None:
        return list(chunks)
    ranked = sorted(range(len(chunks)), key=lambda i: (-alone[i].score, chunks[i].sequence))
    return [chunks[i] for i in ranked if alone[i].score >= best - CLOSE][:MOST]


def _distinct(chunks: Sequence[EvidenceNode]) -> tuple[EvidenceNode, ...]:
    return tuple({chunk.id: chunk for chunk in chunks}.values())
