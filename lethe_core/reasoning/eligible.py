"""Which pieces stand for themselves, and which another one replaces (algorithms.md 9.3).

Out go an older edition and an earlier period of what a newer piece says, repetitions, rows that have less
of the task than another row of their source, items and sentences that lack a name which a neighbour has.
Of a list either the whole stays or the items that matter; of a table the rows that say as much as the best.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lethe_core.din.document import EvidenceBlock
from lethe_core.reasoning.candidates import Candidate
from lethe_core.reasoning.relevance import Question, Relevance, series_title
from lethe_core.reasoning.terms import STOP, fold, name_key, name_stems, words


@dataclass(frozen=True, slots=True)
class EligibleConfig:
    """When pieces say the same, and when a list is quoted whole."""

    alike: float = 0.6  # Jaccard above which a later period or edition replaces an earlier one
    item: float = 0.75  # of the list's best item, for an item to count as one that matters
    rows: int = 6  # of one table that say as much of the task: quoted together, as one
    rows_each: int = 20  # the same where all of them, or each, is asked for


@dataclass(frozen=True, slots=True)
class Eligible:
    """The pieces that may be quoted; of the rows that go together only the best, which stands for them."""

    pieces: Sequence[int]  # indexes, in order
    tables: Mapping[int, Sequence[int]]  # of a row that stands for others: all of them, itself included


def eligible(
    question: Question,
    evidence: Sequence[EvidenceBlock],
    pieces: Sequence[Candidate],
    found: Relevance,
    config: EligibleConfig | None = None,
) -> Eligible:
    """Leave out what another piece replaces; something always stays."""
    config = config or EligibleConfig()
    kept = _without_replaced(question, evidence, pieces, config)
    kept = _without_dominated(question, evidence, pieces, found, kept)
    kept = _lists_or_items(pieces, found, kept, config)
    tables = _tables(question, evidence, pieces, found, kept, config)
    return Eligible([i for i in kept if pieces[i].kind != "row" or i in tables], tables)


def wording(piece: Candidate) -> frozenset[str]:
    """Stems of a piece without numbers, months and function words: what it says beside its figures."""
    return series_title(piece.text) - STOP


def jaccard(first: frozenset[str], second: frozenset[str]) -> float:
    """Shared words in all words, in [0, 1]."""
    union = first | second
    return len(first & second) / len(union) if union else 0.0


def _without_replaced(
    question: Question,
    evidence: Sequence[EvidenceBlock],
    pieces: Sequence[Candidate],
    config: EligibleConfig,
) -> list[int]:
    """Without older editions and earlier periods of what a newer piece says, and without repetitions."""
    said = [wording(piece) for piece in pieces]
    kept: list[int] = []
    seen: set[str] = set()
    for index, piece in enumerate(pieces):
        text = " ".join(piece.text.split())
        if text in seen and piece.kind != "row":
            continue
        seen.add(text)
        block = evidence[piece.block]
        replaceable = (block.older or block.period) and not asked_for(block, question)
        if not replaceable or not any(
            _newer(evidence[other.block], block)
            and (
                (question.latest and _same_series(evidence[other.block], block))
                # What waits in one town does not wait in another.
                or (jaccard(said[index], said[j]) >= config.alike and _of_the_same_names(piece, other))
            )
            for j, other in enumerate(pieces)
        ):
            kept.append(index)
    return kept


def _of_the_same_names(one: Candidate, other: Candidate) -> bool:
    ours, theirs = name_stems(one.text), name_stems(other.text)
    return ours <= theirs or theirs <= ours


def asked_for(block: EvidenceBlock, question: Question) -> bool:
    """Whether the question names this edition; of several periods that it names, whether this is one."""
    asked = {fold(word) for word in words(question.text) if any(c.isdigit() for c in word)}
    told = {fold(word) for word in words(f"{block.title} {block.period}")}
    return (block.older or len(question.years) > 1) and bool(asked & told)


def _newer(other: EvidenceBlock, block: EvidenceBlock) -> bool:
    if block.older and not other.older and other.source != block.source:
        return True
    return bool(block.period and other.period and other.period > block.period)


def _same_series(other: EvidenceBlock, block: EvidenceBlock) -> bool:
    """Issues of one periodical: alike in title but for numbers and months."""
    return bool(other.period and block.period) and series_title(other.title) == series_title(block.title)


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
    has = {index: question.told(pieces[index].own) for index in keys}

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
    pieces: Sequence[Candidate], found: Relevance, open_: Sequence[int], config: EligibleConfig
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


def _tables(
    question: Question,
    evidence: Sequence[EvidenceBlock],
    pieces: Sequence[Candidate],
    found: Relevance,
    open_: Sequence[int],
    config: EligibleConfig,
) -> dict[int, list[int]]:
    """The best row of each table, and with it those that have the same words of the task."""
    groups: dict[tuple[object, ...], list[int]] = {}
    for index in open_:
        if pieces[index].kind == "row":
            key = (
                evidence[pieces[index].block].source,
                pieces[index].header,
                question.told(pieces[index].own),
            )
            groups.setdefault(key, []).append(index)
    tables: dict[int, list[int]] = {}
    for rows in groups.values():
        most = config.rows_each if question.each else config.rows
        best = sorted(rows, key=lambda i: (-found.scores[i], i))[:most]
        tables[best[0]] = sorted(best)
    return tables
