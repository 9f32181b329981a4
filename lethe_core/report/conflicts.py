"""The report's parts on disagreeing sources and on older editions, built of claims."""

from collections.abc import Sequence
from dataclasses import dataclass

from lethe_core.evidence.sentences import sentences
from lethe_core.graph.nodes import EvidenceKind, EvidenceNode
from lethe_core.graph.snapshot import GraphSnapshot
from lethe_core.report.citations import Support
from lethe_core.report.claims import ITEM_MARK, Draft
from lethe_core.report.disagreements import Stated, disagreements
from lethe_core.report.document import Claim, Disagreement, OlderStatement
from lethe_core.report.editions import newest_chunks, said_instead
from lethe_core.report.findings import Asked
from lethe_core.report.making import ClaimMaker
from lethe_core.report.resolution import Resolved
from lethe_core.report.wording import numbers

DISAGREE = "Where sources disagree"
OLDER = "Older editions"

EXACT = Support(1.0, True, "quotation")


@dataclass(frozen=True, slots=True, eq=False)
class Made:
    """A claim that the report has made, and what it was made of."""

    claim: Claim
    resolved: Resolved
    asked: Asked


def gather_disagreements(
    made: Sequence[Made], snapshot: GraphSnapshot, maker: ClaimMaker
) -> tuple[Disagreement, ...]:
    """Compare what the report states with itself and with the other sentences of its sources."""
    stated: dict[int, Made] = {}
    ours: list[Stated] = []
    for item in made:
        current = [chunk for chunk in item.resolved.chunks if not snapshot.is_older(chunk)]
        if item.claim.supported and current:
            statement = Stated(item.claim.text.strip("“”"), current[0])
            stated[id(statement)] = item
            ours.append(statement)
    said = {" ".join(statement.text.split()) for statement in ours}
    theirs = [
        Stated(sentence, chunk)
        for chunk in snapshot.evidence.values()
        if chunk.kind is EvidenceKind.CHUNK and maker.book.cited(chunk) and not snapshot.is_older(chunk)
        for sentence in sentences(chunk.content)
        if numbers(sentence) and "|" not in sentence and " ".join(sentence.split()) not in said
    ]
    found: list[Disagreement] = []
    for group in disagreements(ours, theirs, snapshot, maker.book.same):
        asked = next((stated[id(s)].asked for s in group if id(s) in stated), None)
        if asked is None:
            continue
        claims = [
            stated[id(s)].claim if id(s) in stated else _quote(s.text, s.chunk, DISAGREE, asked, maker)
            for s in group
        ]
        found.append(Disagreement(tuple(claims)))
    return tuple(found)


def gather_older(
    moved: Sequence[tuple[Resolved, Asked]], snapshot: GraphSnapshot, maker: ClaimMaker
) -> tuple[OlderStatement, ...]:
    """State what rests on older editions as that, beside what the newest edition says instead."""
    made: list[tuple[Claim, EvidenceNode, tuple[Claim, ...]]] = []
    seen: set[str] = set()
    for resolved, asked in moved:
        if resolved.draft.text in seen:
            continue
        seen.add(resolved.draft.text)
        chunk = resolved.chunks[0]
        claim = maker.make(resolved, OLDER, asked)
        newer = said_instead(claim.text, newest_chunks(chunk, snapshot))
        instead = (_quote(*newer, OLDER, asked, maker),) if newer else ()
        made.append((claim, chunk, instead))
    # Numbered last: whether the newest edition is cited is known only when all claims are made.
    return tuple(
        OlderStatement(
            claim, _number_of_newest(chunk, snapshot, maker), snapshot.newest_of(chunk.series), instead
        )
        for claim, chunk, instead in made
    )


def _number_of_newest(chunk: EvidenceNode, snapshot: GraphSnapshot, maker: ClaimMaker) -> int | None:
    """The newest edition's number, when some claim cites it."""
    cited = [newer for newer in newest_chunks(chunk, snapshot) if maker.book.cited(newer)]
    return maker.book.number_of(cited[0]) if cited else None


def _quote(text: str, chunk: EvidenceNode, section: str, asked: Asked, maker: ClaimMaker) -> Claim:
    text = ITEM_MARK.sub("", " ".join(text.split())).strip("“”")
    return maker.make(Resolved(Draft(f"“{text}”", (chunk.short_id,)), (chunk,), EXACT, 0), section, asked)
