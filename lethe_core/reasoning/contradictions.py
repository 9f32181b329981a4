"""Figures that contradict each other (algorithms.md 9.3).

Two pieces contradict when they give different numbers of the same unit and otherwise say the same: their
content words without numbers are alike (Jaccard). Issues for different periods do not contradict, and
neither do two pieces of one source.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from lethe_core.din.document import EvidenceBlock
from lethe_core.reasoning.asked import Quantity, quantities
from lethe_core.reasoning.candidates import Candidate
from lethe_core.reasoning.terms import content_set


@dataclass(frozen=True, slots=True)
class ContradictionConfig:
    alike: float = 0.6  # Jaccard of content words without numbers


def contradict(first: str, second: str, config: ContradictionConfig | None = None) -> bool:
    """Whether two texts state different numbers of one unit about the same thing."""
    config = config or ContradictionConfig()
    ours, theirs = quantities(first), quantities(second)
    if not _differ(ours, theirs):
        return False
    mine, other = _without_numbers(first), _without_numbers(second)
    union = mine | other
    return bool(union) and len(mine & other) / len(union) >= config.alike


def opponents(
    piece: Candidate,
    pieces: Sequence[Candidate],
    evidence: Sequence[EvidenceBlock],
    config: ContradictionConfig | None = None,
) -> list[int]:
    """Indexes of the pieces of other sources that contradict one, newest first, then in order."""
    block = evidence[piece.block]
    found = [
        index
        for index, other in enumerate(pieces)
        if (theirs := evidence[other.block]).source != block.source
        and (not block.period or not theirs.period or block.period == theirs.period)
        and other.header == piece.header
        and other.kind == piece.kind
        and contradict(piece.text, other.text, config)
    ]
    return sorted(found, key=lambda index: newest_first(evidence[pieces[index].block]))


def newest_first(block: EvidenceBlock) -> tuple[bool, tuple[int, ...]]:
    """Sort key: current editions before older ones, later dates before earlier ones, undated last."""
    digits = [
        int(number) for number in (block.date or block.period).replace("Q", "").split("-") if number.isdigit()
    ]
    return (block.older, tuple(-number for number in digits) or (0,))


def _differ(ours: Sequence[Quantity], theirs: Sequence[Quantity]) -> bool:
    for unit in {quantity.unit for quantity in ours} & {quantity.unit for quantity in theirs}:
        mine = {quantity.value for quantity in ours if quantity.unit == unit}
        other = {quantity.value for quantity in theirs if quantity.unit == unit}
        if mine != other and not (mine <= other or other <= mine):
            return True
    return False


def _without_numbers(text: str) -> frozenset[str]:
    return frozenset(word for word in content_set(text) if not any(character.isdigit() for character in word))
