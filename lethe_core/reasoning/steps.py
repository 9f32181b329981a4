"""A numbered procedure is quoted whole and in its order (algorithms.md 9.3).

Who asks how something is done is served by all of its steps: the best two of them, by words, are no way to
do it.
"""

import re
from collections.abc import Sequence

from lethe_core.din.document import EvidenceBlock
from lethe_core.reasoning.candidates import Candidate
from lethe_core.reasoning.relevance import Question
from lethe_core.reasoning.series import under_heading

_ASKS_HOW = re.compile(
    r"\bhow (?:do|does|can|could|should|would|to|is|are)\b|\bsteps?\b|\bprocedure\b"
    r"|\bwhat (?:do|does|should|must|can|has|have|am|is|are) (?:\w+ ){1,3}?(?:do|done)\b",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"(?:^|\n)[ \t]*\(?(\d{1,2})[.)][ \t]+$")
_FEWEST = 3  # numbered pieces that make a procedure


def with_steps(
    question: Question,
    evidence: Sequence[EvidenceBlock],
    pieces: Sequence[Candidate],
    chosen: Sequence[int],
) -> list[int]:
    """The chosen pieces, behind all steps of the procedure that the best of them belongs to.

    As they are where the question does not ask how something is done, or under that heading of that source
    stand fewer than three numbered pieces, or more than one list of them.
    """
    if not chosen or not _ASKS_HOW.search(question.text):
        return list(chosen)
    best = evidence[pieces[chosen[0]].block]
    beside = under_heading(evidence, pieces, best.source, best)
    numbered = [
        (number, index) for index in beside if (number := _number(evidence, pieces[index])) is not None
    ]
    steps = dict(numbered)
    if len(steps) < _FEWEST or len(steps) < len(numbered):
        return list(chosen)
    told = {index for index in beside if pieces[index].kind in ("list", "item")} | set(steps.values())
    return [*(steps[number] for number in sorted(steps)), *(i for i in chosen if i not in told)]


def _number(evidence: Sequence[EvidenceBlock], piece: Candidate) -> int | None:
    """The number that a piece stands behind; of the sentences behind it the first has it."""
    if piece.kind not in ("item", "sentence"):
        return None
    content = evidence[piece.block].content
    match = _NUMBER.search(content[: content.find(piece.text)])
    return int(match[1]) if match else None
