"""Which pieces are quoted: few, about the task, none twice (algorithms.md 9.3).

What another piece replaces goes first (an older edition, an earlier period, a row or an item that has
less of the task than its sibling); then what lies far below the best; then the log-determinant of 5.3
chooses, starting from the best piece for each thing asked, and stops when a piece adds little.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from lethe_core.context.packing import information, pack
from lethe_core.din.document import EvidenceBlock
from lethe_core.graph.arrays import FloatArray
from lethe_core.reasoning.asked import fits
from lethe_core.reasoning.candidates import Candidate
from lethe_core.reasoning.eligible import EligibleConfig, eligible, jaccard, wording
from lethe_core.reasoning.relevance import Clause, Question, Relevance
from lethe_core.reasoning.terms import PRONOUN, content_set, name_key, names


@dataclass(frozen=True, slots=True)
class SelectionConfig:
    """Thresholds chosen on two-hop questions, by what they cost in quotations and bring in gold passages."""

    eligible: EligibleConfig = field(default_factory=EligibleConfig)
    most: int = 8  # quotations
    floor: float = 0.7  # of the best score; what lies below is dropped
    led_floor: float = 0.5  # the same for a piece that the best ones lead to by its title
    parallel: float = 0.33  # Jaccard of neighbouring sentences that say the same of two things
    gain: float = 0.45  # of the first quotation's information; selection stops below it
    lexical: float = 0.3  # weight of the task's words against meaning in what tells pieces apart
    name: float = 0.15  # of the task's rarity that a name needs so that something is quoted about it
    name_floor: float = 0.5  # of the best score, for the piece about a name
    bridge: float = 0.35  # weight of a bridge when the best piece for a clause is looked for
    bridge_floor: float = 0.4  # of the best score, for the piece that the best ones lead to
    meant: int = 2  # pieces for a clause about what an earlier clause's piece names
    per_source: int = 3  # quotations of one source, table rows and lists aside
    per_source_each: int = 5  # the same where one thing is asked of each of several


def select(
    question: Question,
    evidence: Sequence[EvidenceBlock],
    pieces: Sequence[Candidate],
    found: Relevance,
    config: SelectionConfig | None = None,
) -> list[int]:
    """Indexes of the pieces to quote, in the order of choice; at most ``config.most``."""
    config = config or SelectionConfig()
    if not pieces:
        return []
    stands = eligible(question, evidence, pieces, found, config.eligible)
    open_, tables = list(stands.pieces), stands.tables
    best = max(found.scores[i] for i in open_)
    required = _required(question, evidence, pieces, found, open_, best, config)
    ahead = list(open_)
    open_ = [
        i
        for i in open_
        if found.scores[i] >= _floor(found, i, evidence, pieces, config) * best or i in required
    ]
    open_ = _few_of_a_source(question, evidence, pieces, found, open_, required, config)
    vectors = _vectors(question, found, open_, config)
    scores = found.scores[open_] ** 2
    seeds = [open_.index(i) for i in required]
    packing = pack(vectors, scores, [1] * len(open_), config.most, required=seeds)
    order = list(packing.selected)
    kept = order[: max(1, len(packing.required))]
    first = information(vectors[order[:1]], scores[order[:1]])
    for item in order[len(kept) :]:
        gain = information(vectors[[*kept, item]], scores[[*kept, item]]) - information(
            vectors[kept], scores[kept]
        )
        if gain >= config.gain * first:
            kept.append(item)
    chosen = _without_less(question, pieces, found, [open_[i] for i in kept])
    chosen = _without_idle(question, pieces, found, chosen, required)
    beside = _beside(question, pieces, ahead, chosen, config)[: max(0, config.most - len(chosen))]
    ordered = [j for i in chosen for j in (i, *(b for b in beside if pieces[b].block == pieces[i].block))]
    # What can answer stands first: of a task with parts, only the first lines come into the answer.
    ordered.sort(key=lambda i: not _can_answer(question, pieces[i]))
    return [row for i in dict.fromkeys(ordered) for row in tables.get(i, [i])]


def _without_idle(
    question: Question,
    pieces: Sequence[Candidate],
    found: Relevance,
    chosen: Sequence[int],
    required: Sequence[int],
) -> list[int]:
    """Where all that is asked for is of a kind that can be told by its form (a figure, a date, a name):
    without what has none of them, unless it is needed or the best pieces lead to it."""
    if any(clause.wanted.kind in ("other", "why") for clause in question.clauses):
        return list(chosen)
    if not any(_can_answer(question, pieces[i]) for i in chosen):
        return list(chosen)
    return [i for i in chosen if _can_answer(question, pieces[i]) or i in required or found.led[i]]


def _can_answer(question: Question, piece: Candidate) -> bool:
    # Of "which of the bells" one piece is the answer: that others name something makes none of them.
    return any(
        clause.wanted.kind not in ("other", "which", "why") and fits(piece.text, clause.wanted, piece.header)
        for clause in question.clauses
    )


def _floor(
    found: Relevance,
    index: int,
    evidence: Sequence[EvidenceBlock],
    pieces: Sequence[Candidate],
    config: SelectionConfig,
) -> float:
    return config.led_floor if _led_by_title(found, index, evidence, pieces) else config.floor


def _led_by_title(
    found: Relevance, index: int, evidence: Sequence[EvidenceBlock], pieces: Sequence[Candidate]
) -> bool:
    title = content_set(evidence[pieces[index].block].title)
    return any(set(key) <= title for key in found.led[index])


def _without_less(
    question: Question, pieces: Sequence[Candidate], found: Relevance, chosen: Sequence[int]
) -> list[int]:
    """For one figure of one thing without a name: without the figures of other things, which have less of
    what was asked, its lead-in included, than the best piece with such a figure."""
    if question.each or question.names or len(question.clauses) != 1 or not question.clauses[0].wanted.units:
        return list(chosen)
    fitting = [i for i in chosen if fits(pieces[i].text, question.clauses[0].wanted, pieces[i].header)]
    best = max(fitting, key=lambda i: (found.scores[i], -i), default=None)
    if best is None:
        return list(chosen)
    return [i for i in chosen if i not in fitting or not found.matched[i] < found.matched[best]]


def _beside(
    question: Question,
    pieces: Sequence[Candidate],
    open_: Sequence[int],
    kept: Sequence[int],
    config: SelectionConfig,
) -> list[int]:
    """Of a question about each of several things: the sentences beside those chosen that say the same of
    another thing."""
    if not question.each:
        return []
    fitting = {
        i
        for i in open_
        for clause in question.clauses
        if clause.wanted.kind != "other" and fits(pieces[i].text, clause.wanted, pieces[i].header)
    }
    return [
        i
        for i in open_
        if i in fitting
        and i not in kept
        and pieces[i].kind == "sentence"
        and any(
            pieces[i].block == pieces[k].block
            and k in fitting
            and abs(pieces[i].position - pieces[k].position) == 1
            and jaccard(wording(pieces[i]), wording(pieces[k])) >= config.parallel
            for k in kept
        )
    ]


def _bridged(
    evidence: Sequence[EvidenceBlock],
    pieces: Sequence[Candidate],
    found: Relevance,
    open_: Sequence[int],
    required: Sequence[int],
) -> int | None:
    """The best piece of another source that the best pieces lead to by its title."""
    told = {evidence[pieces[i].block].source for i in required}
    led = [
        i
        for i in open_
        if evidence[pieces[i].block].source not in told and _led_by_title(found, i, evidence, pieces)
    ]
    return max(led, key=lambda i: (found.scores[i], -i), default=None)


def _vectors(
    question: Question,
    found: Relevance,
    open_: Sequence[int],
    config: SelectionConfig,
) -> FloatArray:
    """Unit rows: meaning beside the task's words (and bridges) that a piece has."""
    bridges = sorted({key for i in open_ for key in found.led[i]})
    rows = np.zeros((len(open_), len(question.terms) + len(bridges)))
    for row, index in enumerate(open_):
        for column, term in enumerate(question.terms):
            rows[row, column] = question.idf[term] * (term in found.matched[index])
        for column, key in enumerate(bridges, start=len(question.terms)):
            rows[row, column] = key in found.led[index]
    lexical = _unit(rows) * np.sqrt(config.lexical)
    meaning = _unit(found.vectors[list(open_)].astype(np.float64)) * np.sqrt(1 - config.lexical)
    return _unit(np.hstack([lexical, meaning]))


def _unit(rows: FloatArray) -> FloatArray:
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    divided: FloatArray = np.divide(rows, norms, out=np.zeros_like(rows), where=norms > 0)
    return divided


def _required(
    question: Question,
    evidence: Sequence[EvidenceBlock],
    pieces: Sequence[Candidate],
    found: Relevance,
    open_: Sequence[int],
    best: float,
    config: SelectionConfig,
) -> list[int]:
    """The best piece for each clause, and for each person or thing that the question names."""
    required: list[int] = []
    for row, clause in enumerate(question.clauses):
        scores = found.by_clause[row] + config.bridge * found.bridged
        fitting = [i for i in open_ if fits(pieces[i].text, clause.wanted, pieces[i].header)] or list(open_)
        meant = _of_what_is_meant(clause, pieces, fitting, required, question)
        if meant:
            required += sorted(meant, key=lambda i: (-scores[i], i))[: config.meant]
        else:
            required.append(max(fitting, key=lambda i: (scores[i], -i)))
    total = question.weight(question.terms) or 1.0
    for name in question.names:
        key = set(name_key(name))
        weight = question.weight(key)
        about = [i for i in open_ if key and key <= pieces[i].own | pieces[i].context]
        if about and weight >= config.name * total:
            title = [i for i in about if key == content_set(evidence[pieces[i].block].title)]
            top = max(title or about, key=lambda i: (found.scores[i], -i))
            if found.scores[top] >= config.name_floor * best:
                required.append(top)
    onward = _bridged(evidence, pieces, found, open_, required)
    if onward is not None and found.scores[onward] >= config.bridge_floor * best:
        required.append(onward)
    return list(dict.fromkeys(required))[: config.most]


def _of_what_is_meant(
    clause: Clause,
    pieces: Sequence[Candidate],
    fitting: Sequence[int],
    earlier: Sequence[int],
    question: Question,
) -> list[int]:
    """For "how powerful is it": the pieces with such a figure that name what an earlier clause's piece
    names and the question does not. A thing may be called "No. 17", whose name is read as 17."""
    if not earlier or not clause.wanted.units or not PRONOUN.search(clause.text):
        return []
    asked = set(question.terms)
    keys = [
        key
        for i in earlier
        for name in names(pieces[i].text)
        if (key := frozenset(name_key(name)))
        and not key & asked
        and (name.isdigit() or not any(t.isdigit() for t in key))
    ]
    return [i for i in fitting if any(key <= pieces[i].own for key in keys)]


def _few_of_a_source(
    question: Question,
    evidence: Sequence[EvidenceBlock],
    pieces: Sequence[Candidate],
    found: Relevance,
    open_: Sequence[int],
    required: Sequence[int],
    config: SelectionConfig,
) -> list[int]:
    most = config.per_source_each if question.each else config.per_source
    counts: dict[str, int] = {}
    kept = set(required)
    for index in sorted(open_, key=lambda i: (-found.scores[i], i)):
        source = evidence[pieces[index].block].source
        if pieces[index].kind != "sentence" or counts.get(source, 0) < most:
            kept.add(index)
            counts[source] = counts.get(source, 0) + 1
    return [i for i in open_ if i in kept]
