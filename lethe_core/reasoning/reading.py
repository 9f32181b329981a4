"""What the evidence of a DIN says about a task: what to quote, whether it answers, where it leads on.

Evidence is about a task when it has what the task is about (architecture.md, "finding"): the rarest of
its names and numbers, or half of its content words by rarity. Otherwise it is noise that a search brought.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from lethe_core.control.embedding import Embedder
from lethe_core.din.document import EvidenceBlock
from lethe_core.reasoning.asked import YEAR, fits
from lethe_core.reasoning.candidates import Candidate, CandidateConfig, candidates
from lethe_core.reasoning.contradictions import ContradictionConfig, newest_first, opponents
from lethe_core.reasoning.quotes import quotable
from lethe_core.reasoning.relevance import (
    Question,
    Relevance,
    RelevanceConfig,
    bridge_names,
    relevance,
    seeds,
    understand,
)
from lethe_core.reasoning.selection import SelectionConfig, select
from lethe_core.reasoning.terms import content_set, name_key


@dataclass(frozen=True, slots=True)
class ReadingConfig:
    """The settings of each step, and when evidence is about a task."""

    candidates: CandidateConfig = field(default_factory=CandidateConfig)
    relevance: RelevanceConfig = field(default_factory=RelevanceConfig)
    selection: SelectionConfig = field(default_factory=SelectionConfig)
    contradictions: ContradictionConfig = field(default_factory=ContradictionConfig)
    words: float = 0.5  # idf-weighted share of the task's content words in one piece with its headings
    answered: float = 0.85  # of them in one piece that can hold the answer: no second hop is needed


@dataclass(frozen=True, slots=True)
class Reading:
    """The evidence as one task sees it."""

    pieces: Sequence[Candidate]
    quoted: Sequence[int]  # indexes into pieces, in the order in which they are quoted
    about: bool  # whether what is quoted answers anything
    answered: bool  # whether nothing is left to be looked for
    bridges: Sequence[str]  # names that lead on, best first


NOTHING = Reading((), (), False, False, ())


def read(
    task: str, evidence: Sequence[EvidenceBlock], embedder: Embedder, config: ReadingConfig | None = None
) -> Reading:
    """Read the evidence for a task."""
    config = config or ReadingConfig()
    pieces = tuple(piece for piece in candidates(evidence, config.candidates) if quotable(piece))
    question = understand(task, evidence)
    if not pieces or not question.terms:
        return NOTHING
    found = relevance(question, evidence, pieces, embedder, config.relevance)
    chosen = select(question, evidence, pieces, found, config.selection)
    quoted = _with_opponents(chosen, pieces, evidence, config)
    base = found.by_clause.max(axis=0)
    told = [
        name
        for seed in seeds(evidence, pieces, base, config.relevance.seeds)
        for name in bridge_names(question, evidence, pieces[seed])
    ]
    bridges = list({name_key(name): name for name in reversed(told)}.values())[::-1]
    return Reading(
        pieces=pieces,
        quoted=quoted,
        about=_is_about(question, evidence, pieces, chosen, config),
        answered=_is_answered(question, pieces, found, chosen, config),
        bridges=bridges,
    )


def _with_opponents(
    chosen: Sequence[int],
    pieces: Sequence[Candidate],
    evidence: Sequence[EvidenceBlock],
    config: ReadingConfig,
) -> list[int]:
    """Contradicting figures side by side, newest first; never more than may be quoted."""
    quoted: list[int] = []
    room = config.selection.most - len(chosen)
    for index in chosen:
        if index in quoted:
            continue
        against = [
            i for i in opponents(pieces[index], pieces, evidence, config.contradictions) if i not in quoted
        ]
        extra = [i for i in against if i not in chosen][: max(0, room)]
        room -= len(extra)
        side = [index, *(i for i in against if i in chosen), *extra]
        quoted.extend(sorted(side, key=lambda i: newest_first(evidence[pieces[i].block])))
    return quoted


def _is_about(
    question: Question,
    evidence: Sequence[EvidenceBlock],
    pieces: Sequence[Candidate],
    chosen: Sequence[int],
    config: ReadingConfig,
) -> bool:
    """Measured on whole blocks, which are what a report's claims cite."""
    asked = set(question.terms)
    told = [
        asked & content_set(f"{evidence[b].title} {evidence[b].place} {evidence[b].content}")
        for b in sorted({pieces[i].block for i in chosen})
    ]
    marks = [frozenset(name_key(name)) & asked for name in question.names]
    marks += [frozenset({t}) for t in question.terms if any(c.isdigit() for c in t) and not YEAR.fullmatch(t)]
    marks = [mark for mark in marks if mark]
    if marks:
        rarest = max(marks, key=lambda mark: question.weight(mark))
        if any(rarest <= terms for terms in told):
            return True
        if not any(mark <= terms for mark in marks for terms in told):
            return False
    # An ordinary word that no source has is as likely another wording as another subject: it weighs no
    # more than the words that are there; a name that no source has weighs what it is worth.
    named = frozenset(term for mark in marks for term in mark)
    usual = sorted(question.idf[t] for t in question.terms if t in question.known)
    cap = usual[len(usual) // 2] if usual else 0.0
    for clause in question.clauses:
        weights = {
            t: question.idf[t] if t in question.known or t in named else min(cap, question.idf[t])
            for t in question.terms
            if t in clause.terms or t in named
        }
        total = sum(weights.values())
        if any(
            total > 0 and sum(w for t, w in weights.items() if t in terms) >= config.words * total
            for terms in told
        ):
            return True
    return False


def _is_answered(
    question: Question,
    pieces: Sequence[Candidate],
    found: Relevance,
    chosen: Sequence[int],
    config: ReadingConfig,
) -> bool:
    return all(
        clause.wanted.kind != "other"
        and any(
            fits(pieces[i].text, clause.wanted, pieces[i].header)
            and question.weight(found.matched[i] & clause.terms)
            >= config.answered * question.weight(clause.terms)
            for i in chosen
        )
        for clause in question.clauses
    )
