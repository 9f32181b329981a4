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
from lethe_core.reasoning.relevance import Question, Relevance
from lethe_core.reasoning.terms import MONTHS, STOP, content_set, fold, name_key, stem, words


@dataclass(frozen=True, slots=True)
class SelectionConfig:
    """Thresholds chosen on two-hop questions, by what they cost in quotations and bring in gold passages."""

    most: int = 8  # quotations
    led_floor: float = 0.5  # the same for a piece that the best ones lead to by its title
    parallel: float = 0.33  # Jaccard of neighbouring sentences that say the same of two things
    floor: float = 0.7  # of the best score; what lies below is dropped
    gain: float = 0.45  # of the first quotation's information; selection stops below it
    lexical: float = 0.3  # weight of the task's words against meaning in what tells pieces apart
    alike: float = 0.6  # Jaccard above which a later period or edition replaces an earlier one
    name: float = 0.15  # of the task's rarity that a name needs so that something is quoted about it
    name_floor: float = 0.5  # of the best score, for the piece about a name
    item: float = 0.75  # of the list's best item, for an item to count as one that matters
    rows: int = 6  # of one table that say as much of the task: quoted together, as one
    bridge_floor: float = 0.4  # of the best score, for the piece that the best ones lead to
    per_source: int = 3  # quotations of one source, table rows and lists aside


@dataclass(frozen=True, slots=True)
class Chosen:
    """The quotations, best first."""

    pieces: tuple[int, ...] = field(default=())


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
    open_ = _without_replaced(question, evidence, pieces, config)
    open_ = _without_dominated(question, evidence, pieces, found, open_)
    open_ = _lists_or_items(pieces, found, open_, config)
    tables = _tables(question, evidence, pieces, found, open_, config)
    open_ = [i for i in open_ if pieces[i].kind != "row" or i in tables]
    best = max(found.scores[i] for i in open_)
    required = _required(question, evidence, pieces, found, open_, best, config)
    ahead = list(open_)
    open_ = [
        i
        for i in open_
        if found.scores[i] >= _floor(found, i, evidence, pieces, config) * best or i in required
    ]
    open_ = _few_of_a_source(evidence, pieces, found, open_, required, config)
    vectors = _vectors(question, pieces, found, open_, config)
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
    chosen = [open_[i] for i in kept]
    beside = _beside(question, pieces, found, ahead, chosen, config)[: max(0, config.most - len(chosen))]
    order_ = [j for i in chosen for j in (i, *(b for b in beside if pieces[b].block == pieces[i].block))]
    return [row for i in dict.fromkeys(order_) for row in tables.get(i, [i])]


def _tables(
    question: Question,
    evidence: Sequence[EvidenceBlock],
    pieces: Sequence[Candidate],
    found: Relevance,
    open_: Sequence[int],
    config: SelectionConfig,
) -> dict[int, list[int]]:
    """The best row of each table, and with it those that have the same words of the task."""
    asked = set(question.terms)
    groups: dict[tuple[object, ...], list[int]] = {}
    for index in open_:
        if pieces[index].kind == "row":
            key = (evidence[pieces[index].block].source, pieces[index].header, pieces[index].own & asked)
            groups.setdefault(key, []).append(index)
    tables: dict[int, list[int]] = {}
    for rows in groups.values():
        best = sorted(rows, key=lambda i: (-found.scores[i], i))[: config.rows]
        tables[best[0]] = sorted(best)
    return tables


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


def _beside(
    question: Question,
    pieces: Sequence[Candidate],
    found: Relevance,
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
            and _jaccard(_wording(pieces[i]), _wording(pieces[k])) >= config.parallel
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
    pieces: Sequence[Candidate],
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
        scores = found.by_clause[row] + 0.35 * found.bridged
        fitting = [i for i in open_ if fits(pieces[i].text, clause.wanted, pieces[i].header)] or list(open_)
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


def _without_replaced(
    question: Question,
    evidence: Sequence[EvidenceBlock],
    pieces: Sequence[Candidate],
    config: SelectionConfig,
) -> list[int]:
    """Without older editions and earlier periods of what a newer piece says, and without repetitions."""
    said = [_wording(piece) for piece in pieces]
    kept: list[int] = []
    asked = {fold(word) for word in words(question.text) if any(c.isdigit() for c in word)}
    seen: set[str] = set()
    for index, piece in enumerate(pieces):
        text = " ".join(piece.text.split())
        if text in seen and piece.kind != "row":
            continue
        seen.add(text)
        block = evidence[piece.block]
        if (block.older or block.period) and not _asked_for(block, asked):
            if any(
                _newer(evidence[other.block], block)
                and (
                    question.latest
                    and _same_series(evidence[other.block], block)
                    or _jaccard(said[index], said[j]) >= config.alike
                )
                for j, other in enumerate(pieces)
            ):
                continue
        kept.append(index)
    return kept


def _asked_for(block: EvidenceBlock, asked: set[str]) -> bool:
    told = {fold(word) for word in words(f"{block.title} {block.period}")}
    return block.older and bool(asked & told)


def _same_series(other: EvidenceBlock, block: EvidenceBlock) -> bool:
    """Issues of one periodical: alike in title but for numbers and months."""
    return bool(other.period and block.period) and _timeless(other.title) == _timeless(block.title)


def _timeless(text: str) -> frozenset[str]:
    return frozenset(
        stem(word) for word in words(text) if fold(word) not in MONTHS and not any(c.isdigit() for c in word)
    )


def _newer(other: EvidenceBlock, block: EvidenceBlock) -> bool:
    if block.older and not other.older and other.source != block.source:
        return True
    return bool(block.period and other.period and other.period > block.period)


def _wording(piece: Candidate) -> frozenset[str]:
    return _timeless(piece.text) - STOP


def _jaccard(first: frozenset[str], second: frozenset[str]) -> float:
    union = first | second
    return len(first & second) / len(union) if union else 0.0


def _without_dominated(
    question: Question,
    evidence: Sequence[EvidenceBlock],
    pieces: Sequence[Candidate],
    found: Relevance,
    open_: Sequence[int],
) -> list[int]:
    """Without rows that have less of the task than another row of their source, and without items and
    sentences that lack a name which a neighbour in the same place has."""
    named = frozenset(term for name in question.names for term in name_key(name))
    groups: dict[tuple[str, ...], list[int]] = {}
    keys: dict[int, tuple[str, ...]] = {}
    for index in open_:
        block = evidence[pieces[index].block]
        if pieces[index].kind != "list":
            keys[index] = (block.source,) if pieces[index].kind == "row" else (block.source, block.place, "")
            groups.setdefault(keys[index], []).append(index)
    asked = set(question.terms)
    has = {index: pieces[index].own & asked for index in keys}

    def dominated(index: int, other: int) -> bool:
        mine, theirs = has[index], has[other]
        if pieces[index].kind == "row":
            return mine < theirs
        if mine < theirs:
            return bool((theirs - mine) & named)
        return mine == theirs and found.led[index] < found.led[other]

    return [
        index
        for index in open_
        if index not in keys or not any(dominated(index, other) for other in groups[keys[index]])
    ]


def _lists_or_items(
    pieces: Sequence[Candidate], found: Relevance, open_: Sequence[int], config: SelectionConfig
) -> list[int]:
    """Of a list either the whole or the items that matter: the whole when at least half of them do."""
    items: dict[int, list[int]] = {}
    for index in open_:
        if pieces[index].kind == "item":
            items.setdefault(pieces[index].block, []).append(index)
    whole = {pieces[i].block for i in open_ if pieces[i].kind == "list"}
    total = {block: sum(p.kind == "item" and p.block == block for p in pieces) for block in whole}
    kept: list[int] = []
    for index in open_:
        piece = pieces[index]
        if piece.block in whole and piece.kind in ("list", "item"):
            group = items.get(piece.block, [])
            top = max((found.scores[i] for i in group), default=0.0)
            matter = sum(found.scores[i] >= config.item * top for i in group)
            quote_whole = not group or matter >= max(2, total[piece.block] / 2)
            if quote_whole != (piece.kind == "list"):
                continue
        kept.append(index)
    return kept


def _few_of_a_source(
    evidence: Sequence[EvidenceBlock],
    pieces: Sequence[Candidate],
    found: Relevance,
    open_: Sequence[int],
    required: Sequence[int],
    config: SelectionConfig,
) -> list[int]:
    counts: dict[str, int] = {}
    kept = set(required)
    for index in sorted(open_, key=lambda i: (-found.scores[i], i)):
        source = evidence[pieces[index].block].source
        if pieces[index].kind != "sentence" or counts.get(source, 0) < config.per_source:
            kept.add(index)
            counts[source] = counts.get(source, 0) + 1
    return [i for i in open_ if i in kept]
