"""Sentences that go on where a quoted one stops (algorithms.md 9.3).

"The unit was closed. The doctors had left." answers why; the second sentence has no word of the question. "A
bus runs on weekdays. It does not run at weekends." answers whether it runs on Sundays.
"""

import re
from collections.abc import Sequence

from lethe_core.reasoning.asked import fits
from lethe_core.reasoning.candidates import Candidate
from lethe_core.reasoning.relevance import Question

_YES_OR_NO = re.compile(
    r"^\W*(?:is|are|was|were|do|does|did|can|could|will|would|shall|should|may|might|must|has|have|had)\b",
    re.I,
)
_GOES_ON = re.compile(r"^(?:it|they|he|she|this|these|those)\b", re.I)
_REACH = 2  # sentences behind the quoted one


def with_continuations(question: Question, pieces: Sequence[Candidate], chosen: Sequence[int]) -> list[int]:
    """The chosen pieces, each with what goes on from it in the same passage.

    Where a question asks why and no chosen sentence gives a reason: behind the best, the next that does, else
    the next. Where it asks whether: what goes on with a pronoun and has a word of the question that the
    quoted one lacks.
    """
    told = [i for i in chosen if pieces[i].kind == "sentence"]
    behind = {i: _behind(pieces, i) for i in told}
    added: dict[int, int] = {}
    for clause in question.clauses:
        reasons = [i for i in told if fits(pieces[i].text, clause.wanted)]
        if clause.wanted.kind == "why" and told and not reasons:
            following = behind[told[0]]
            giving = [i for i in following if fits(pieces[i].text, clause.wanted)] or following
            added |= dict.fromkeys(giving[:1], told[0])
        if _YES_OR_NO.search(clause.text):
            for i in told:
                has = question.told(pieces[i].own)
                added |= {
                    j: i
                    for j in behind[i][:1]
                    if _GOES_ON.match(pieces[j].text) and question.told(pieces[j].own) - has
                }
    ordered = [j for i in chosen for j in (i, *(k for k, of in added.items() if of == i))]
    return list(dict.fromkeys(ordered))


def _behind(pieces: Sequence[Candidate], index: int) -> list[int]:
    return [
        i
        for i in range(index + 1, min(index + 1 + _REACH, len(pieces)))
        if pieces[i].block == pieces[index].block and pieces[i].kind == "sentence"
    ]
