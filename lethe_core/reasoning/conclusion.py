"""The end of a task that has subtasks: what its parts found, in their order (algorithms.md 9.4).

A part's synthesis is cited text already, so its lines are taken over as they are. Of each part the first
lines are taken, being the best; the places that one answer has are dealt out in turn.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from lethe_core.din.cited import cited_ids
from lethe_core.din.document import DinRead, EvidenceBlock, SubtaskLine
from lethe_core.graph.nodes import TaskStatus
from lethe_core.reasoning.terms import content_set


@dataclass(frozen=True, slots=True)
class CitedLine:
    """One claim of a synthesis, with the table header that it stands under."""

    header: str
    text: str


@dataclass(frozen=True, slots=True)
class Conclusion:
    """What the parts say together."""

    sources: tuple[str, ...]  # short ids of the syntheses
    content: str


def conclude(din: DinRead, most: int) -> Conclusion | None:
    """Put together at most ``most`` lines of the DONE subtasks' syntheses; None when there are none."""
    shares: list[tuple[str, list[CitedLine]]] = []
    taken: set[str] = set()
    for subtask in din.subtasks:
        if subtask.status is TaskStatus.DONE:
            block = _synthesis_of(
                subtask, [b for b in din.evidence if b.synthesis and b.short_id not in taken]
            )
            if block is not None:
                taken.add(block.short_id)
                shares.append((block.short_id, cited_lines(block.content)))
    shares = [(source, lines) for source, lines in shares if lines]
    if not shares:
        return None
    counts = _dealt([len(lines) for _, lines in shares], most)
    groups: dict[tuple[int, str], list[str]] = {}
    for number, ((_, lines), count) in enumerate(zip(shares, counts, strict=True)):
        for position, line in enumerate(lines[:count]):
            key = (number, line.header or str(position))
            groups.setdefault(key, line.header.splitlines()).append(line.text)
    content = "\n\n".join("\n".join(lines) for lines in groups.values())
    return Conclusion(tuple(source for (source, _), n in zip(shares, counts, strict=True) if n), content)


def cited_lines(content: str) -> list[CitedLine]:
    """The lines that cite something; a table's rows keep its header."""
    found: list[CitedLine] = []
    header: list[str] = []
    for line in content.splitlines():
        if not line.strip():
            header = []
        elif cited_ids(line):
            found.append(CitedLine("\n".join(header), line.strip()))
        elif line.lstrip().startswith("|"):
            header.append(line.strip())
    return found


def _synthesis_of(subtask: SubtaskLine, blocks: Sequence[EvidenceBlock]) -> EvidenceBlock | None:
    """The synthesis that a part ended with: its result is that text, shortened."""
    result = " ".join(subtask.result.rstrip("… .").split())
    for block in blocks:
        if result and " ".join(block.content.split()).startswith(result[:120]):
            return block
    wanted = content_set(f"{subtask.description} {subtask.result}")
    scored = [(len(wanted & content_set(b.content)) / (len(wanted) or 1), -i) for i, b in enumerate(blocks)]
    if not scored or max(scored)[0] < 0.3:
        return None
    return blocks[-max(scored)[1]]


def _dealt(sizes: Sequence[int], most: int) -> list[int]:
    """How many lines of each part: one each in turn until the places are dealt out."""
    counts = [0] * len(sizes)
    while sum(counts) < most and any(c < s for c, s in zip(counts, sizes, strict=True)):
        for index, size in enumerate(sizes):
            if counts[index] < size and sum(counts) < most:
                counts[index] += 1
    return counts
