"""When evidence is about a question, although its words may differ (algorithms.md 9.3).

Measured over questions that a folder answers and questions that it does not: the share of the question's
words that a quotation has, and the cosines of the quotation with what is asked and of its block with the
whole question, each fail alone (paraphrases have few of the words; noise of the same field is near), their
sum tells the two apart; a figure in the unit that is asked for adds to it. A question of one or two words is
matched by chance, so one word more of ordinary weight is taken to be missing from every text.
A question that names things is about these: evidence without the rarest of them (which may be misspelled)
needs a good part of the words. Where a person, a date or a figure is asked for and nothing shown has another
word of the question, or one that means alike, it is not told ("Who is the mayor of Elm?").
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lethe_core.din.document import EvidenceBlock
from lethe_core.graph.arrays import FloatArray
from lethe_core.reasoning.asked import YEAR, fits
from lethe_core.reasoning.candidates import Candidate
from lethe_core.reasoning.relevance import Question, Relevance
from lethe_core.reasoning.terms import content_set, name_key, names


@dataclass(frozen=True, slots=True)
class AboutConfig:
    enough: float = 0.88  # share of words and both cosines together, of one quotation
    figure: float = 0.15  # for a text that has a figure in the unit that the question asks for
    words: float = 0.4  # share that a text without the question's rarest name needs


def is_about(
    question: Question,
    evidence: Sequence[EvidenceBlock],
    pieces: Sequence[Candidate],
    chosen: Sequence[int],
    alike: FloatArray,
    config: AboutConfig | None = None,
) -> bool:
    """Whether any of the pieces that would be quoted has to do with the question.

    alike: (n,) of `likeness`.
    """
    config = config or AboutConfig()
    pages = _pages(evidence)
    marks = _marks(question)
    lead = [frozenset(name_key(name)) for name in names(question.lead)]
    shown = frozenset[str]().union(*pages.values())
    if (marks or lead) and not any(mark <= shown for mark in (*marks, *lead)):
        return False
    named = frozenset(term for mark in marks for term in mark)
    others = [term for term in question.terms if term not in named]
    told = any(term in question.known for term in others)
    # "Where is the Elm office?" asks for the place of the thing itself, whatever else it is called.
    if (
        marks
        and others
        and not told
        and all(clause.wanted.kind not in ("other", "where", "why") for clause in question.clauses)
    ):
        return False
    weights = weights_of(question, named)

    blocks = {
        b: _told(question, named, _stems(evidence[b]), pages[evidence[b].source])
        for b in {pieces[i].block for i in chosen}
    }
    if marks:
        rarest = max(marks, key=question.weight)
        if not any(rarest <= {t for t, m in told.items() if m} for told in blocks.values()) and not any(
            share(question, clause.terms | named, weights, told) >= config.words
            for clause in question.clauses
            for told in blocks.values()
        ):
            return False
    return any(is_near(question, pieces[i], alike[i], config) for i in chosen)


def is_near(question: Question, piece: Candidate, alike: float, config: AboutConfig) -> bool:
    """Whether a piece of this likeness, with the figure that it may have, is near enough."""
    return alike + config.figure * has_figure(question, piece.text, piece.header) >= config.enough


def has_figure(question: Question, text: str, header: str = "") -> bool:
    """Whether a text has a figure in a unit that the question asks for, or names one of several."""
    return any(
        (clause.wanted.units or clause.wanted.kind == "which") and fits(text, clause.wanted, header)
        for clause in question.clauses
    )


def likeness(
    question: Question,
    evidence: Sequence[EvidenceBlock],
    pieces: Sequence[Candidate],
    found: Relevance,
) -> FloatArray:
    """(n,) of each piece the share of words and the two cosines together, for the clause it fits best."""
    pages = _pages(evidence)
    named = frozenset(term for mark in _marks(question) for term in mark)
    weights = weights_of(question, named)
    ordinary = sum(weights.values()) / len(weights)
    alike = np.zeros(len(pieces))
    for index, piece in enumerate(pieces):
        told = _told(question, named, piece.own | piece.context, pages[evidence[piece.block].source])
        best = max(
            share(question, clause.terms | named, weights, told, ordinary) + found.cosines[row, index]
            for row, clause in enumerate(question.clauses)
        )
        alike[index] = best + found.block_cosines[piece.block]
    return alike


def _pages(evidence: Sequence[EvidenceBlock]) -> dict[str, frozenset[str]]:
    """The words of what is shown of each source; a synthesis has the question's own."""
    pages: dict[str, frozenset[str]] = {}
    for block in (block for block in evidence if not block.synthesis):
        pages[block.source] = pages.get(block.source, frozenset()) | _stems(block)
    return pages


def _told(
    question: Question, named: Collection[str], stems: Collection[str], page: Collection[str]
) -> dict[str, float]:
    """How far each term is told; a name counts when it stands anywhere on the page."""
    return {
        term: float(term in page) if term in named else question.match(term, stems) for term in question.terms
    }


def _stems(block: EvidenceBlock) -> frozenset[str]:
    return content_set(f"{block.title} {block.place} {block.content}")


def _marks(question: Question) -> list[frozenset[str]]:
    """The names and the figures, years aside, that say what the question is about."""
    asked = set(question.terms)
    marks = [frozenset(name_key(name)) & asked for name in question.names]
    marks += [frozenset({t}) for t in question.terms if any(c.isdigit() for c in t) and not YEAR.fullmatch(t)]
    return [mark for mark in marks if mark]


def weights_of(question: Question, named: Collection[str] = ()) -> dict[str, float]:
    """An ordinary word that no source has is as likely another wording as another subject: it weighs no
    more than the words that are there; a name that no source has weighs what it is worth."""
    usual = sorted(question.idf[term] for term in question.terms if term in question.known)
    cap = usual[len(usual) // 2] if usual else 0.0
    return {
        term: idf if term in question.known or term in named else min(cap, idf)
        for term, idf in question.idf.items()
    }


def share(
    question: Question,
    asked: Collection[str],
    weights: Mapping[str, float],
    told: Mapping[str, float],
    missing: float = 0.0,
) -> float:
    """The weighted share of the terms asked that are told; ``missing`` is weight that no text can have."""
    terms = [term for term in question.terms if term in asked]
    total = sum(weights[term] for term in terms) + missing
    return sum(weights[term] * told[term] for term in terms) / total if total > 0 else 0.0
