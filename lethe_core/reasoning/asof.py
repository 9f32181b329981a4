"""Figures that say how far something has come by a day: the latest day is what counts (algorithms.md 9.3).

"How much has come in so far?" is answered by "… had been received by 29 September 2025", and "… by 31
December 2024" is then an earlier answer, although it stands in the newest issue of another series.
"""

import re
from collections.abc import Sequence
from datetime import date

from lethe_core.reasoning.asked import fits
from lethe_core.reasoning.candidates import Candidate
from lethe_core.reasoning.relevance import Question
from lethe_core.reasoning.terms import MONTHS, fold

_SO_FAR = re.compile(r"\b(?:so far|to date|by now|still|already|until now|up to now|as yet)\b", re.IGNORECASE)
_MONTHS = (
    "january february march april may june july august september october november december".split()  # noqa: SIM905
)
_BY_DAY = re.compile(
    rf"\b(?:by|until|as of|as at|up to) (?:the )?(\d{{1,2}}) ({'|'.join(sorted(MONTHS))}) (\d{{4}})\b",
    re.IGNORECASE,
)


def without_earlier(question: Question, pieces: Sequence[Candidate], chosen: Sequence[int]) -> list[int]:
    """Of chosen sentences that answer one clause as by a day, those of the latest day; the rest as it is.

    As they are when the question does not ask how far something has come.
    """
    if not (question.latest or _SO_FAR.search(question.text)):
        return list(chosen)
    days = {i: day for i in chosen if (day := by_day(pieces[i].text)) is not None}
    earlier = {
        i
        for clause in question.clauses
        if clause.wanted.kind in ("number", "count")
        for i in days
        for j in days
        if days[i] < days[j]
        and fits(pieces[i].text, clause.wanted, pieces[i].header)
        and fits(pieces[j].text, clause.wanted, pieces[j].header)
    }
    return [i for i in chosen if i not in earlier]


def by_day(text: str) -> date | None:
    """The latest day by which a text says something was so; None when it names none."""
    found: list[date] = []
    for match in _BY_DAY.finditer(text):
        try:
            found.append(
                date(int(match.group(3)), _MONTHS.index(fold(match.group(2))) + 1, int(match.group(1)))
            )
        except ValueError:  # 31 June
            continue
    return max(found, default=None)
