"""The same statement in each of the periods that a question names (algorithms.md 9.3).

"How many in 2022, 2023 and 2024?" is answered by three issues of one series, each in other words. Where
the best piece of one issue is quoted, the piece most like it under the same heading of each other issue
that the question names is quoted beside it.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from lethe_core.din.document import EvidenceBlock
from lethe_core.reasoning.asked import fits
from lethe_core.reasoning.candidates import Candidate
from lethe_core.reasoning.relevance import Question, Relevance, series_title

_PAGE = re.compile(r"p\. \d+")


@dataclass(frozen=True, slots=True)
class SeriesConfig:
    alike: float = 0.2  # cosine of two issues' pieces under one heading, below which they say other things


def with_issues(
    question: Question,
    evidence: Sequence[EvidenceBlock],
    pieces: Sequence[Candidate],
    found: Relevance,
    chosen: Sequence[int],
    config: SeriesConfig | None = None,
) -> list[int]:
    """The chosen pieces, those first that say it of one of the periods named, with their siblings.

    As they are when the question names fewer than two years, or none of them is of a series.
    """
    config = config or SeriesConfig()
    if len(question.years) < 2:
        return list(chosen)
    anchors = [i for i in chosen if _year(evidence[pieces[i].block]) and _answers(question, pieces[i])]
    if not anchors:
        return list(chosen)
    anchor = max(anchors, key=lambda i: (found.by_clause[:, i].max(), -i))
    issues = {_year(evidence[pieces[anchor].block]): anchor}
    for year in sorted(question.years - set(issues)):
        sibling = _sibling(question, evidence, pieces, found, anchor, year)
        if sibling is not None and _alike(found, anchor, sibling) >= config.alike:
            issues[year] = sibling
    if len(issues) < 2:
        return list(chosen)
    ordered = [issues[year] for year in sorted(issues)]
    rest = [i for i in chosen if i not in ordered]
    if question.years <= set(issues):
        # What else these issues say counts something else, and other issues are of other periods.
        series = series_title(evidence[pieces[anchor].block].title)
        rest = [i for i in rest if series_title(evidence[pieces[i].block].title) != series]
    return [*ordered, *rest]


def _sibling(
    question: Question,
    evidence: Sequence[EvidenceBlock],
    pieces: Sequence[Candidate],
    found: Relevance,
    anchor: int,
    year: str,
) -> int | None:
    """The piece of another year's issue, under the same heading, that is most like the anchor."""
    block = evidence[pieces[anchor].block]
    beside = [
        i
        for i, piece in enumerate(pieces)
        if piece.kind == pieces[anchor].kind
        and _year(other := evidence[piece.block]) == year
        and series_title(other.title) == series_title(block.title)
        and heading(other) == heading(block)
        and _answers(question, piece)
    ]
    return max(beside, key=lambda i: (_alike(found, anchor, i), -i), default=None)


def _alike(found: Relevance, first: int, second: int) -> float:
    return float(found.vectors[first] @ found.vectors[second])


def _answers(question: Question, piece: Candidate) -> bool:
    return any(fits(piece.text, clause.wanted, piece.header) for clause in question.clauses)


def _year(block: EvidenceBlock) -> str:
    return block.period[:4]


def under_heading(
    evidence: Sequence[EvidenceBlock], pieces: Sequence[Candidate], source: str, like: EvidenceBlock
) -> list[int]:
    """The pieces of a source that stand under the headings of a block, of that source or another edition."""
    wanted = heading(like)
    blocks = {n for n, block in enumerate(evidence) if block.source == source and heading(block) == wanted}
    return [index for index, piece in enumerate(pieces) if piece.block in blocks]


def heading(block: EvidenceBlock) -> frozenset[str]:
    """The words of the headings above a block, without the title's and the page's."""
    steps = [step for step in block.place.split(" › ") if step != block.title and not _PAGE.fullmatch(step)]
    return series_title(" ".join(steps))
