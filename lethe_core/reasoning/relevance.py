"""How well a piece of evidence answers a task: words, meaning, kind of answer, bridges (algorithms.md 9.3).

A first pass compares each candidate with the task alone. A second adds bridges: the best candidates name
things that the task does not, and pieces about those things are where the second half of an answer lies.
"""

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lethe_core.control.embedding import Embedder
from lethe_core.din.document import EvidenceBlock
from lethe_core.graph.arrays import FloatArray, Matrix
from lethe_core.reasoning.asked import Wanted, fits, wanted
from lethe_core.reasoning.candidates import Candidate
from lethe_core.reasoning.terms import content, content_set, name_key, names

_CLAUSE = re.compile(
    r"(?:,\s+and\s+|,\s+|;\s+|\s+and\s+)(?=(?:(?:by|in|on|at|for|to|from|of|with|under)\s+)?"
    r"(?:what|which|when|where|who|whom|whose|how)\b)(?!which\b|who\b|whose\b|where\b(?! (?:is|are|was|were)))",
    re.IGNORECASE,
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
    terms: tuple[str, ...]  # stems of its content words, each once, in order
    names: tuple[str, ...]
    clauses: tuple[Clause, ...]
    idf: Mapping[str, float]  # of every term, over the blocks that the DIN shows


@dataclass(frozen=True, slots=True)
class Relevance:
    """Scores of all candidates, and the vectors that tell them apart."""

    scores: FloatArray  # (n,), [0, 1]: the best over the clauses, with bridges
    by_clause: FloatArray  # (clauses, n): without bridges
    shares: FloatArray  # (n,) idf-weighted share of the task's terms in text, title and headings
    matched: Sequence[frozenset[str]]  # the task's terms in text, title and headings
    bridged: FloatArray  # (n,) how far a piece continues what the best pieces say
    led: Sequence[frozenset[tuple[str, ...]]]  # the names by which the best pieces lead to each
    vectors: Matrix  # (n, d) unit


def understand(text: str, evidence: Sequence[EvidenceBlock]) -> Question:
    """Take a question apart; rarity is counted over the blocks shown."""
    terms = tuple(dict.fromkeys(content(text)))
    document_frequency = Counter[str]()
    for block in evidence:
        document_frequency.update(content_set(f"{block.title} {block.place} {block.content}"))
    n = len(evidence)
    idf = {term: max(0.1, math.log((n + 1) / (document_frequency[term] + 0.5))) for term in terms}
    pieces = [piece for piece in _CLAUSE.split(text) if content(piece)] or [text]
    clauses = tuple(Clause(piece, content_set(piece), wanted(piece)) for piece in pieces)
    return Question(text, terms, tuple(names(text)), clauses, idf)


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
    texts = [f"{evidence[piece.block].title}. {piece.text}" for piece in pieces]
    vectors = embedder.embed_documents(texts)
    queries = embedder.embed_queries([question.text, *(clause.text for clause in question.clauses)])
    cosines = np.maximum(queries.astype(np.float64) @ vectors.T.astype(np.float64), 0.0)
    top = cosines.max(axis=1, keepdims=True)
    cosines = np.divide(cosines, top, out=np.zeros_like(cosines), where=top > 0)

    by_clause = np.zeros((len(question.clauses), len(pieces)))
    for row, clause in enumerate(question.clauses):
        weights = {t: question.idf[t] * (1.0 if t in clause.terms else 0.5) for t in question.terms}
        total = sum(weights.values()) or 1.0
        for column, piece in enumerate(pieces):
            overlap = (
                sum(w * _match(t, piece, blocks[piece.block], config) for t, w in weights.items()) / total
            )
            answer = fits(piece.text, clause.wanted)
            meaning = 0.5 * (cosines[0, column] + cosines[row + 1, column])
            score = config.words * overlap + config.meaning * meaning + config.answer * answer
            by_clause[row, column] = score * (config.older if evidence[piece.block].older else 1.0)

    total = sum(question.idf.values()) or 1.0
    matched = [frozenset(t for t in question.terms if t in p.own or t in p.context) for p in pieces]
    shares = np.array([sum(question.idf[t] for t in found) / total for found in matched])
    base = by_clause.max(axis=0) if len(pieces) else np.zeros(0)
    bridged, led = _follow(question, evidence, pieces, base, config)
    scores = np.minimum(1.0, base + config.bridge * bridged)
    return Relevance(scores, by_clause, shares, matched, bridged, led, vectors)


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


def bridge_names(question: Question, evidence: Sequence[EvidenceBlock], piece: Candidate) -> list[str]:
    """Names in a piece, or of its source, that the question does not have, in order."""
    asked = set(question.terms)
    told = [*names(piece.text), _bare(evidence[piece.block].title)]
    return [name for name in told if (key := name_key(name)) and not set(key) <= asked]


def _match(term: str, piece: Candidate, block: frozenset[str], config: RelevanceConfig) -> float:
    if term in piece.own:
        return 1.0
    if term in piece.context:
        return config.from_title
    return config.from_block if term in block else 0.0


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
    for seed in seeds(evidence, pieces, base, config.seeds):
        origin = evidence[pieces[seed].block].source
        keys = {name_key(name) for name in names(pieces[seed].text)}
        keys = {key for key in keys if key and not set(key) <= asked}
        for index, piece in enumerate(pieces):
            if evidence[piece.block].source == origin:
                continue
            title = titles[piece.block]
            if title and not set(title) <= asked and _contains(contents[seed], title):
                link, by = 1.0, {title}
            else:
                by = {key for key in keys if key == title or _contains(contents[index], key)}
                link = config.mentioned if by else 0.0
            if link * base[seed] > bridged[index]:
                bridged[index] = link * base[seed]
            led[index] |= by
    return bridged, led


def _bare(title: str) -> str:
    return re.sub(r"\s*\(.*?\)", "", title)


def _contains(text: Sequence[str], phrase: Sequence[str]) -> bool:
    n = len(phrase)
    return any(tuple(text[i : i + n]) == tuple(phrase) for i in range(len(text) - n + 1))
