"""When evidence is about a question, although its words may differ (algorithms.md 9.3).

Measured over questions that a folder answers and questions that it does not: the share of the question's
words that a quotation has, and the cosines of the quotation with what is asked and of its block with the
whole question, each fail alone (paraphrases have few of the words; noise of the same field is near), their
sum tells the two apart. A question of one or two words is
matched by chance, so one word more of ordinary weight is taken to be missing from every text.
A question that names things is about these: evidence without the rarest of them needs half of the words.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from lethe_core.din.document import EvidenceBlock
from lethe_core.reasoning.asked import YEAR
from lethe_core.reasoning.candidates import Candidate
from lethe_core.reasoning.relevance import Question, Relevance
from lethe_core.reasoning.terms import content_set, name_key, names


@dataclass(frozen=True, slots=True)
class AboutConfig:
    enough: float = 0.88  # share of words and both cosines together, of one quotation
    words: float = 0.5  # share that a text without the question's rarest name needs


def is_about(
    question: Question,
    evidence: Sequence[EvidenceBlock],
    pieces: Sequence[Candidate],
    chosen: Sequence[int],
    found: Relevance,
    config: AboutConfig | None = None,
) -> bool:
    """Whether any of the pieces that would be quoted has to do with the question."""
    config = config or AboutConfig()
    pages: dict[str, frozenset[str]] = {}
    for block in (block for block in evidence if not block.synthesis):
        pages[block.source] = pages.get(block.source, frozenset()) | _stems(block)
    marks = _marks(question)
    lead = [frozenset(name_key(name)) for name in names(question.lead)]
    shown = frozenset[str]().union(*pages.values())
    if (marks or lead) and not any(mark <= shown for mark in (*marks, *lead)):
        return False
    named = frozenset(term for mark in marks for term in mark)
    weights = weights_of(question, named)

    def has(index: int, stems: Collection[str]) -> Mapping[str, float]:
        page = pages[evidence[pieces[index].block].source]
        return {
            term: float(term in page) if term in named else question.match(term, stems)
            for term in question.terms
        }

    blocks = {i: has(i, _stems(evidence[pieces[i].block])) for i in chosen}
    if marks:
        rarest = max(marks, key=question.weight)
        if not any(rarest <= {t for t, m in told.items() if m} for told in blocks.values()) and not any(
            share(question, clause.terms | named, weights, told) >= config.words
            for clause in question.clauses
            for told in blocks.values()
        ):
            return False
    ordinary = sum(weights.values()) / len(weights)
    return any(
        share(question, clause.terms | named, weights, has(i, pieces[i].own | pieces[i].context), ordinary)
        + found.cosines[row, i]
        + found.block_cosines[pieces[i].block]
        >= config.enough
        for row, clause in enumerate(question.clauses)
        for i in chosen
    )


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
