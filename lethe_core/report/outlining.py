"""The outline of a report: what of it, and of its session's evidence, the next report is compared with."""

from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache
from hashlib import blake2b
from typing import Final

from lethe_core.evidence.blocks import blocks
from lethe_core.evidence.dedup import content_hash, identity_text
from lethe_core.evidence.sentences import sentences
from lethe_core.evidence.tables import row_text
from lethe_core.graph.nodes import EvidenceKind, EvidenceNode
from lethe_core.graph.outline import Outline, OutlinedClaim, OutlinedSource
from lethe_core.graph.session_state import SessionState
from lethe_core.graph.snapshot import GraphSnapshot
from lethe_core.report.document import Claim, Report
from lethe_core.report.quoting import normalise

MARK: Final = 16  # hex digits: among a million passages two are alike by chance once in 37 million sessions


def outline_of(report: Report, snapshot: GraphSnapshot) -> Outline:
    """What a report states as current, and everything that its session holds."""
    fingerprints = {
        node.address: node.page_fingerprint[:MARK] for node in snapshot.evidence.values() if node.address
    }
    disputed = {claim.id for item in report.disagreements for claim in item.claims}
    claims = [
        claim
        for claim in report.claims
        if claim.supported and claim.edition == "current" and (claim.finding or claim.id in disputed)
    ]
    at = {claim.id: index for index, claim in enumerate(claims)}
    chunks = [node for node in snapshot.evidence.values() if node.kind is EvidenceKind.CHUNK]
    older = {node.address for node in chunks if snapshot.is_older(node)}
    return holding(
        Outline(
            session=report.closing.session,
            sources=tuple(
                OutlinedSource(
                    source.title, source.address, source.date, fingerprints.get(source.address, "")
                )
                for source in report.sources
            ),
            claims=tuple(_claim(claim) for claim in claims),
            contradictions=tuple(
                group
                for item in report.disagreements
                if len(group := tuple(at[claim.id] for claim in item.claims if claim.id in at)) > 1
            ),
            older=tuple(sorted(older)),
        ),
        chunks,
    )


def outline_before(state: SessionState, snapshot: GraphSnapshot) -> Outline | None:
    """What a session's predecessor said and held; None for a session that follows none.

    What still stands of that lies in the session's own graph.
    """
    if state.before is None:
        return None
    taken_over = [node for node in snapshot.evidence.values() if node.origin_id]
    return holding(state.before, [node for node in taken_over if node.kind is EvidenceKind.CHUNK])


def holding(outline: Outline, chunks: Iterable[EvidenceNode]) -> Outline:
    """An outline that holds some chunks besides; of pages that it knows to be older only the pages."""
    held, pages = dict.fromkeys(outline.held), dict.fromkeys(outline.pages)
    for node in chunks:
        pages |= dict.fromkeys(name for name in (node.address, node.page_fingerprint[:MARK]) if name)
        if node.address not in outline.older:
            held |= dict.fromkeys(_marks_of(node.content, node.place))
    return replace(outline, held=tuple(held), pages=tuple(pages))


# What was taken over is looked at on both sides of a comparison: 5,000 chunks take a second each time.
@lru_cache(maxsize=16384)
def _marks_of(text: str, place: str) -> tuple[str, ...]:
    """Marks of a chunk, of its sentences and of its table rows."""
    marks = [_passage_mark(text, place)]
    for block in blocks(text):
        if block.table is not None:
            marks += [_mark(row_text(block.table.header, row.cells)) for row in block.table.rows]
        else:
            marks += map(_mark, sentences(text[block.start : block.end]))
    return tuple(marks)


def _claim(claim: Claim) -> OutlinedClaim:
    said: tuple[str, ...] = ()
    if claim.quotation:
        # A row is one piece, whatever sentences stand in its cells.
        is_row = not claim.text.startswith("“")
        said = (claim.text,) if is_row else sentences(claim.text.strip("“”"))
    return OutlinedClaim(
        text=claim.text,
        sources=tuple(number - 1 for number in claim.citations),
        passages=tuple(dict.fromkeys(_passage_mark(p.text, p.place) for p in claim.passages)),
        wording=tuple(dict.fromkeys(map(_mark, said))),
        finding=claim.finding,
        id=claim.id,
    )


def _passage_mark(text: str, place: str) -> str:
    return content_hash(identity_text(text, place))[:MARK]


def _mark(sentence: str) -> str:
    words = normalise(sentence).rstrip(" .,;:")
    return blake2b(words.encode("utf-8", "replace"), digest_size=MARK // 2).hexdigest()
