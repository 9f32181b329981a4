"""How well a piece of evidence answers a task: words, meaning, kind of answer, bridges (algorithms.md 9.3).

A first pass compares each candidate with the task alone. A second adds bridges: the best candidates name
things that the task does not, and pieces about those things are where the second half of an answer lies.
"""

import math
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lethe_core.control.embedding import Embedder
from lethe_core.din.document import EvidenceBlock
from lethe_core.evidence.tables import row_text, split_cells
from lethe_core.graph.arrays import FloatArray, Matrix
from lethe_core.reasoning.asked import YEAR, Wanted, fits, wanted
from lethe_core.reasoning.candidates import Candidate
from lethe_core.reasoning.kin import Kin, kin_of
from lethe_core.reasoning.terms import (
    MONTHS,
    PREPOSITION,
    content,
    content_set,
    fold,
    name_key,
    name_stems,
    names,
    stem,
    words,
)

# "and who built it" asks another thing; ", who built it" goes on about the same.
_CLAUSE = re.compile(
    rf"(?:,?\s+and\s+(?=(?:(?:{PREPOSITION})\s+)?"
    r"(?:what|which|when|where|who|whom|whose|how)\b(?!['’]s))"
    r"|,\s+(?:and|or)\s+(?=(?:is|are|was|were|do|does|did|can|could|will|would|has|have|should|must)\b)"
    r"|[,;]\s+(?=(?:what|when|how|where (?:is|are|was|were)|(?:by|in|at|on) (?:what|which))\b))",
    re.IGNORECASE,
)
# "Under the rules now in force, at what speeds …": the opening says of what, and asks nothing by itself.
_OPENING = re.compile(
    r"(?:according to|among|as of|at|by|during|for|from|given|in|of|on|per|since|under|within)\b"
    r"(?!.*\b(?:what|which|when|where|who|whom|whose|why|how)\b)",
    re.IGNORECASE,
)
_MEASURE = re.compile(r"\bhow (\w+)", re.IGNORECASE)
_EACH = re.compile(r"\b(?:each|every|both|all)\b", re.IGNORECASE)
_LATEST = re.compile(r"\b(?:latest|newest|current(?:ly)?|now|at present|most recent|today)\b", re.IGNORECASE)


# "Where is the PALS office?" is answered by where PALS is.
_PLACES = frozenset(
    stem(word) for word in ("office", "desk", "building", "place", "location", "site", "premises")
)


@dataclass(frozen=True, slots=True)
class RelevanceConfig:
    """Weights of the parts of a score."""

    words: float = 0.55
    meaning: float = 0.30
    answer: float = 0.15
    bridge: float = 0.35
    from_title: float = 0.8  # of a word that stands in the title or the headings only
    from_block: float = 0.4  # of a word that stands elsewhere in the same block only
    older: float = 0.6  # factor on an older edition
    newest: float = 0.25  # for the newest issue of a periodical when the newest state is asked for
    other_year: float = 0.7  # factor on a piece that names other years than the question
    beside: float = 0.8  # of a bridge by a name that stands beside the best piece, in its block
    mentioned: float = 0.6  # of a bridge to a piece that only mentions the name; one of that title has 1
    seeds: int = 3  # candidates whose names are followed


@dataclass(frozen=True, slots=True)
class Clause:
    """One of the things that a question asks for."""

    text: str
    terms: frozenset[str]
    wanted: Wanted


@dataclass(frozen=True, slots=True)
class Question:
    """A task's description, taken apart."""

    text: str
    lead: str  # what it shares with its siblings; empty for none
    terms: tuple[str, ...]  # stems of its content words, each once, in order
    names: tuple[str, ...]
    clauses: tuple[Clause, ...]
    idf: Mapping[str, float]  # of every term, over the sources shown; less for a shared lead-in
    years: frozenset[str]  # that it names
    latest: bool  # whether it asks for the newest state
    each: bool  # whether it asks the same of several things
    known: frozenset[str]  # its terms that some source has, themselves or a word that means alike
    kin: Kin  # words that mean alike

    def match(self, term: str, stems: Collection[str]) -> float:
        """1 when a text with these stems has a term, less when it only has a word that means alike."""
        if term in stems:
            return 1.0
        return max(
            (weight for other, weight in self.kin.get(term, {}).items() if other in stems), default=0.0
        )

    def told(self, stems: Collection[str]) -> frozenset[str]:
        """The terms that a text with these stems has, themselves or a word that means alike."""
        return frozenset(term for term in self.terms if self.match(term, stems) > 0)

    def weight(self, terms: Collection[str]) -> float:
        """Rarity of some of its terms together, added up in their order: floats depend on it."""
        return sum(self.idf[term] for term in self.terms if term in terms)


@dataclass(frozen=True, slots=True)
class Relevance:
    """Scores of all candidates, and the vectors that tell them apart."""

    scores: FloatArray  # (n,), [0, 1]: the best over the clauses, with bridges
    by_clause: FloatArray  # (clauses, n): without bridges
    matched: Sequence[frozenset[str]]  # the task's terms in text, title and headings
    bridged: FloatArray  # (n,) how far a piece continues what the best pieces say
    led: Sequence[frozenset[tuple[str, ...]]]  # the names by which the best pieces lead to each
    vectors: Matrix  # (n, d) unit
    cosines: FloatArray  # (clauses, n) of the clauses with the pieces, headed by their titles; [0, 1]
    block_cosines: FloatArray  # (blocks,) of the whole question, less its lead-in, with each block


def understand(text: str, evidence: Sequence[EvidenceBlock], embedder: Embedder) -> Question:
    """Take a question apart; rarity is counted over the sources shown."""
    lead, core = split_lead(text)
    terms = tuple(dict.fromkeys(content(f"{core} {lead}")))
    sources: dict[str, set[str]] = {}
    for block in evidence:
        told = sources.setdefault(block.source, set())
        told |= content_set(f"{block.title} {block.place} {block.content}")
    named = name_stems(core)
    shown = {f"{block.title} {block.place} {block.content}" for block in evidence}
    kin = kin_of([t for t in terms if t not in named], text, sorted(shown), embedder)
    frequency = Counter(
        term
        for told in sources.values()
        for term in terms
        if term in told or any(other in told for other in kin.get(term, ()))
    )
    # What "how" asks for (long, powerful) is told by a unit, seldom by the word; what only a lead-in has
    # and no source is the asker's way of putting it.
    measures = {stem(word) for word in _MEASURE.findall(core)}
    if wanted(core).kind == "where":
        measures |= {word for word in _PLACES if not frequency[word]}
    asked = content_set(core)
    terms = tuple(t for t in terms if t not in measures and (t in asked or frequency[t])) or terms
    n = len(sources)
    idf = {term: max(0.1, math.log((n + 1) / (frequency[term] + 0.5))) for term in terms}
    idf = {term: value * (1.0 if term in asked else 0.3) for term, value in idf.items()}
    pieces = _clauses(core)
    clauses = tuple(Clause(piece, content_set(piece), wanted(piece)) for piece in pieces)
    years = frozenset(YEAR.findall(core))
    return Question(
        text,
        lead,
        terms,
        tuple(names(core)),
        clauses,
        idf,
        years,
        bool(_LATEST.search(core)),
        bool(_EACH.search(core)),
        frozenset(t for t in terms if frequency[t]),
        kin,
    )


def _clauses(core: str) -> list[str]:
    pieces = [piece for piece in _CLAUSE.split(core) if piece.strip()] or [core]
    if len(pieces) > 1 and _OPENING.match(pieces[0].strip()):
        return [f"{pieces[0]}, {pieces[1]}", *pieces[2:]]
    return pieces


def split_lead(text: str) -> tuple[str, str]:
    """What a part shares with its siblings (`parts`), and what is its own."""
    lead, colon, core = text.partition(": ")
    if colon and "?" not in lead and content(lead) and len(content(core)) >= 2:
        return lead, core
    return "", text


def relevance(
    question: Question,
    evidence: Sequence[EvidenceBlock],
    pieces: Sequence[Candidate],
    embedder: Embedder,
    config: RelevanceConfig | None = None,
) -> Relevance:
    """Score every candidate against the question."""
    config = config or RelevanceConfig()
    blocks = [content_set(block.content) for block in evidence]
    vectors = embedder.embed_documents([f"{evidence[p.block].title}. {_in_words(p)}" for p in pieces])
    queries = embedder.embed_queries([question.text, *(clause.text for clause in question.clauses)])
    whole = embedder.embed_documents([f"{block.title}. {block.content}" for block in evidence])
    core = embedder.embed_queries([split_lead(question.text)[1]])[0]
    block_cosines = np.maximum(whole.astype(np.float64) @ core.astype(np.float64), 0.0)
    cosines = np.maximum(queries.astype(np.float64) @ vectors.T.astype(np.float64), 0.0)
    raw = cosines[1:]
    top = cosines.max(axis=1, keepdims=True)
    cosines = np.divide(cosines, top, out=np.zeros_like(cosines), where=top > 0)
    factors = [_factor(question, evidence[piece.block], piece, config) for piece in pieces]

    newest = _newest_issues(evidence) if question.latest else frozenset()

    by_clause = np.zeros((len(question.clauses), len(pieces)))
    for row, clause in enumerate(question.clauses):
        weights = {t: question.idf[t] * (1.0 if t in clause.terms else 0.5) for t in question.terms}
        total = sum(weights.values()) or 1.0
        for column, piece in enumerate(pieces):
            overlap = (
                sum(w * _match(question, t, piece, blocks[piece.block], config) for t, w in weights.items())
                / total
            )
            answer = clause.wanted.kind != "other" and fits(piece.text, clause.wanted, piece.header)
            meaning = 0.5 * (cosines[0, column] + cosines[row + 1, column])
            score = config.words * overlap + config.meaning * meaning + config.answer * answer
            score += config.newest * (piece.block in newest)
            by_clause[row, column] = min(1.0, score * factors[column])

    matched = [question.told(p.own | p.context) for p in pieces]
    base = by_clause.max(axis=0) if len(pieces) else np.zeros(0)
    bridged, led = _follow(question, evidence, pieces, base, config)
    scores = np.minimum(1.0, base + config.bridge * bridged * np.array(factors))
    return Relevance(scores, by_clause, matched, bridged, led, vectors, raw, block_cosines)


def _factor(question: Question, block: EvidenceBlock, piece: Candidate, config: RelevanceConfig) -> float:
    """What an older edition, or a year that is not the one asked about, takes away."""
    factor = config.older if block.older else 1.0
    if question.years:
        told = set(YEAR.findall(f"{piece.text}"))
        if told and not told & question.years:
            factor *= config.other_year
    return factor


def _newest_issues(evidence: Sequence[EvidenceBlock]) -> frozenset[int]:
    """The blocks of the newest issue shown of each periodical that several issues are shown of."""
    issues: dict[frozenset[str], set[str]] = {}
    for block in evidence:
        if block.period:
            issues.setdefault(series_title(block.title), set()).add(block.period)
    return frozenset(
        index
        for index, block in enumerate(evidence)
        if block.period and len(told := issues[series_title(block.title)]) > 1 and block.period == max(told)
    )


def series_title(title: str) -> frozenset[str]:
    """What the issues of a periodical have in common: the words of a title without figures and months."""
    return frozenset(
        stem(word) for word in words(title) if fold(word) not in MONTHS and not any(c.isdigit() for c in word)
    )


def _in_words(piece: Candidate) -> str:
    if piece.kind != "row" or not piece.header:
        return piece.text
    return row_text(split_cells(piece.header.splitlines()[0]), split_cells(piece.text))


def seeds(
    evidence: Sequence[EvidenceBlock], pieces: Sequence[Candidate], base: FloatArray, count: int
) -> list[int]:
    """The best pieces of so many different sources, best first."""
    found: list[int] = []
    told: set[str] = set()
    for index in np.argsort(-base, kind="stable"):
        source = evidence[pieces[index].block].source
        if source not in told:
            told.add(source)
            found.append(int(index))
        if len(found) == count:
            break
    return found


def _match(
    question: Question, term: str, piece: Candidate, block: frozenset[str], config: RelevanceConfig
) -> float:
    return max(
        question.match(term, piece.own),
        config.from_title * question.match(term, piece.context),
        config.from_block * question.match(term, block),
    )


def _follow(
    question: Question,
    evidence: Sequence[EvidenceBlock],
    pieces: Sequence[Candidate],
    base: FloatArray,
    config: RelevanceConfig,
) -> tuple[FloatArray, list[frozenset[tuple[str, ...]]]]:
    """For each piece how strongly the best pieces of other sources lead to it, and by which names."""
    bridged = np.zeros(len(pieces))
    led: list[frozenset[tuple[str, ...]]] = [frozenset()] * len(pieces)
    asked = set(question.terms)
    titles = [name_key(_bare(block.title)) for block in evidence]
    contents = [content(piece.text) for piece in pieces]
    joined = [f" {' '.join(told)} " for told in contents]
    pages = [f" {' '.join(content(block.content))} " for block in evidence]
    for seed in seeds(evidence, pieces, base, config.seeds):
        block = pieces[seed].block
        origin = evidence[block].source
        keys = {key for name in names(pieces[seed].text) if (key := name_key(name)) and not set(key) <= asked}
        beside = name_stems(evidence[block].content)
        for index, piece in enumerate(pieces):
            if evidence[piece.block].source == origin:
                continue
            title = titles[piece.block]
            phrase = f" {' '.join(title)} "
            by: set[tuple[str, ...]] = set()
            link = 0.0
            # A title of one word ("catalogue") is meant where it is written as a name, or in one.
            leads = title and not set(title) <= asked and (len(title) > 1 or title[0] in beside)
            if leads and phrase in joined[seed]:
                link, by = 1.0, {title}
            elif leads and phrase in pages[block]:
                link, by = config.beside, {title}
            else:
                by = {key for key in keys if f" {' '.join(key)} " in joined[index]}
                link = config.mentioned if by else 0.0
            bridged[index] = max(bridged[index], link * base[seed])
            led[index] |= by
    return bridged, led


def _bare(title: str) -> str:
    return re.sub(r"\s*\(.*?\)", "", title)
