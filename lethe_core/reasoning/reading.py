"""What the evidence of a DIN says about a task: what to quote, whether it answers, where it leads on.

What is not about the task (`about`) is noise that a search brought.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from lethe_core.control.embedding import Embedder
from lethe_core.din.document import EvidenceBlock
from lethe_core.graph.arrays import FloatArray
from lethe_core.reasoning.about import AboutConfig, is_about, is_near, likeness
from lethe_core.reasoning.asked import fits
from lethe_core.reasoning.asof import without_bygone, without_earlier
from lethe_core.reasoning.candidates import Candidate, CandidateConfig, candidates
from lethe_core.reasoning.continued import with_continuations
from lethe_core.reasoning.contradictions import ContradictionConfig, newest_first, opponents
from lethe_core.reasoning.current import with_current
from lethe_core.reasoning.eligible import eligible
from lethe_core.reasoning.quotes import quotable
from lethe_core.reasoning.relevance import (
    Question,
    Relevance,
    RelevanceConfig,
    relevance,
    understand,
)
from lethe_core.reasoning.selection import SelectionConfig, select
from lethe_core.reasoning.series import SeriesConfig, with_issues
from lethe_core.reasoning.steps import with_steps


@dataclass(frozen=True, slots=True)
class ReadingConfig:
    """The settings of each step, and when evidence is about a task."""

    candidates: CandidateConfig = field(default_factory=CandidateConfig)
    relevance: RelevanceConfig = field(default_factory=RelevanceConfig)
    selection: SelectionConfig = field(default_factory=SelectionConfig)
    series: SeriesConfig = field(default_factory=SeriesConfig)
    contradictions: ContradictionConfig = field(default_factory=ContradictionConfig)
    near: float = 0.6  # of the likeness of the best quotation, for one that no other leads to
    about: AboutConfig = field(default_factory=AboutConfig)
    nearest: int = 3  # quotations, where those of the selection are about something else
    answered: float = 0.85  # of them in one piece that can hold the answer: no second hop is needed


@dataclass(frozen=True, slots=True)
class Reading:
    """The evidence as one task sees it."""

    pieces: Sequence[Candidate]
    quoted: Sequence[int]  # indexes into pieces, in the order in which they are quoted
    about: bool  # whether what is quoted answers anything
    answered: bool  # whether nothing is left to be looked for


NOTHING = Reading((), (), False, False)


def read(
    task: str, evidence: Sequence[EvidenceBlock], embedder: Embedder, config: ReadingConfig | None = None
) -> Reading:
    """Read the evidence for a task."""
    config = config or ReadingConfig()
    pieces = tuple(piece for piece in candidates(evidence, config.candidates) if quotable(piece))
    question = understand(task, evidence, embedder)
    if not pieces or not question.terms:
        return NOTHING
    found = relevance(question, evidence, pieces, embedder, config.relevance)
    chosen = select(question, evidence, pieces, found, config.selection)
    alike = likeness(question, evidence, pieces, found)
    if not is_about(question, evidence, pieces, chosen, alike, config.about):
        chosen = _nearest(question, evidence, pieces, found, alike, config) or chosen
    best = max(alike[i] for i in chosen)
    chosen = [i for i in chosen if found.led[i] or alike[i] >= config.near * best]
    chosen = without_earlier(question, pieces, chosen)
    chosen = with_issues(question, evidence, pieces, found, chosen, config.series)
    chosen = with_current(question, evidence, pieces, found, chosen)
    chosen = with_steps(question, evidence, pieces, chosen)
    chosen = with_continuations(question, pieces, chosen)
    quoted = _with_opponents(chosen, pieces, evidence, config)
    quoted = without_bygone(question, evidence, pieces, quoted)
    return Reading(
        pieces=pieces,
        quoted=quoted,
        about=is_about(question, evidence, pieces, chosen, alike, config.about),
        answered=_is_answered(question, pieces, found, chosen, config),
    )


def _nearest(
    question: Question,
    evidence: Sequence[EvidenceBlock],
    pieces: Sequence[Candidate],
    found: Relevance,
    alike: FloatArray,
    config: ReadingConfig,
) -> list[int]:
    """What would be quoted is about something else: what is near the question by likeness alone, best first.

    One word shared by chance ("apply", a brake or a limit) can outweigh all others among a few pieces.
    """
    stands = eligible(question, evidence, pieces, found, config.selection.eligible)
    near = [
        i
        for i in stands.pieces
        if is_near(question, pieces[i], alike[i], config.about)
        and any(fits(pieces[i].text, clause.wanted, pieces[i].header) for clause in question.clauses)
        and is_about(question, evidence, pieces, [i], alike, config.about)
    ]
    return sorted(near, key=lambda i: (-alike[i], i))[: config.nearest]


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
