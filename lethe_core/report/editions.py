"""What a claim owes the reader when its source has a newer edition (algorithms.md 8, "Editions").

A figure of an older edition is stated only as an older figure: a quotation that rests on older editions
alone moves to the report's part on older editions, prose keeps its place and is labelled. A quotation
that the newest edition has too, word for word, is cited from the newest. Issues of a periodical are not
replaced by later ones: they keep their place with their period, an earlier one said to be so.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from lethe_core.evidence.sentences import sentences
from lethe_core.graph.nodes import EvidenceKind, EvidenceNode
from lethe_core.graph.snapshot import GraphSnapshot
from lethe_core.report.disagreements import DEFAULT_DISAGREEMENT, DisagreementConfig, alikeness
from lethe_core.report.model import Edition
from lethe_core.report.quoting import normalise, quotes_row
from lethe_core.report.resolution import Resolved
from lethe_core.report.sources import is_earlier_issue


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a claim's sources stand among their editions."""

    edition: Edition
    label: str  # for the reader; empty when there is nothing to say
    moves: bool  # belongs in the part on older editions


def standing(resolved: Resolved, snapshot: GraphSnapshot) -> Standing:
    """Judge a claim by the editions of its chunks."""
    chunks = resolved.chunks
    older = [snapshot.is_older(chunk) for chunk in chunks]
    if chunks and all(older):
        return Standing("older", "older edition", resolved.draft.is_quotation)
    if any(older):
        return Standing("current", "partly from an older edition", False)
    earlier = [chunk for chunk in chunks if is_earlier_issue(snapshot, chunk)]
    if chunks and len(earlier) == len(chunks):
        periods = ", ".join(dict.fromkeys(chunk.period for chunk in earlier))
        return Standing("older", f"issue {periods}, not the latest", False)
    return Standing("current", "", False)


def newest_wording(resolved: Resolved, snapshot: GraphSnapshot) -> Resolved:
    """The claim cited from the newest edition, when that has its very words; else as it is."""
    if resolved.support.how != "quotation" or not any(snapshot.is_older(chunk) for chunk in resolved.chunks):
        return resolved
    chunks: list[EvidenceNode] = []
    for chunk in resolved.chunks:
        same = None
        if snapshot.is_older(chunk):
            same = next((c for c in newest_chunks(chunk, snapshot) if _says(resolved, c)), None)
        chunks.append(same or chunk)
    return replace(resolved, chunks=tuple({chunk.id: chunk for chunk in chunks}.values()))


def newest_chunks(chunk: EvidenceNode, snapshot: GraphSnapshot) -> list[EvidenceNode]:
    """The session's chunks of the newest edition of a chunk's source, in order of creation."""
    newest = snapshot.newest_of(chunk.series)
    return [
        node
        for node in snapshot.evidence.values()
        if node.kind is EvidenceKind.CHUNK and newest and node.address == newest
    ]


def said_instead(
    text: str, newest: Sequence[EvidenceNode], config: DisagreementConfig = DEFAULT_DISAGREEMENT
) -> tuple[str, EvidenceNode] | None:
    """The sentence of the newest edition that is about the same thing, and its chunk."""
    best: tuple[float, str, EvidenceNode] | None = None
    for chunk in newest:
        for sentence in sentences(chunk.content):
            alike = alikeness(text, sentence)
            if alike >= config.alike and (best is None or alike > best[0]):
                best = (alike, sentence, chunk)
    return None if best is None else best[1:]


def _says(resolved: Resolved, chunk: EvidenceNode) -> bool:
    draft = resolved.draft
    if draft.cells:
        return quotes_row(draft.header, draft.cells, chunk.content)
    # Whole sentences only: the newest edition may go on where the older one stops.
    theirs = {_bare(sentence) for sentence in sentences(chunk.content)}
    return all(_bare(sentence) in theirs for sentence in sentences(draft.text.strip("“”")))


def _bare(sentence: str) -> str:
    return normalise(sentence).rstrip(" .,;:")
