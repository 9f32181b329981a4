"""Figures that once were so, beside what is so (algorithms.md 9.3).

"How much has come in so far?" is answered by "… had been received by 29 September 2025", and "… by 31
December 2024" is then an earlier answer, although it stands in the newest issue of another series. "How many
may ride?" is not answered by what the first cars of 1893 carried, although nothing says that they are gone.
"""

import re
from collections.abc import Sequence
from datetime import date

from lethe_core.din.document import EvidenceBlock
from lethe_core.reasoning.asked import YEAR, fits
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
_PRESENT = re.compile(r"\b(?:is|are|may|can|must|do|does|has|have|should|will|needs?)\b", re.IGNORECASE)
_PAST = re.compile(r"\b(?:was|were|did|had|could|first|former|formerly|originally|\w{2,}ed)\b", re.IGNORECASE)
_LONG_AGO = 20  # years before the newest source shown: a report of some years ago may still hold


def without_bygone(
    question: Question, evidence: Sequence[EvidenceBlock], pieces: Sequence[Candidate], chosen: Sequence[int]
) -> list[int]:
    """Of chosen figures that answer a clause about the present, without those told of a time long ago.

    Told so by a past tense in a passage whose years all lie long before the newest source; as they are when
    the question names a year or asks about the past, or when nothing else would answer the clause.
    """
    newest = max((int(year) for block in evidence for year in YEAR.findall(block.date)), default=0)
    if question.years or _PAST.search(question.text) or not _PRESENT.search(question.text):
        return list(chosen)
    bygone = {
        i
        for i in chosen
        if pieces[i].kind == "sentence"
        and _PAST.search(pieces[i].text)
        and not _PRESENT.search(pieces[i].text)
        and (years := YEAR.findall(evidence[pieces[i].block].content))
        and max(map(int, years)) <= newest - _LONG_AGO
    }
    figures = [clause.wanted for clause in question.clauses if clause.wanted.kind in ("number", "count")]
    dropped = {
        i
        for want in figures
        for i in bygone
        if fits(pieces[i].text, want, pieces[i].header)
        and any(fits(pieces[j].text, want, pieces[j].header) for j in chosen if j not in bygone)
    }
    return [i for i in chosen if i not in dropped]


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
