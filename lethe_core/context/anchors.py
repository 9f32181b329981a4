"""Lexical anchors: virtual term nodes in the random walk's matrix, and only there (algorithms.md 5.1b).

Shared rare names lead to what embeddings alone do not reach, the second hop of a question above all. The
terms come from the caller; here they are counted, weighted, and joined to the graph. No node and no edge
of the graph itself changes, and what the walk leaves on the term nodes is dropped.
"""

from array import array
from bisect import bisect_left
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_array, csr_array, diags_array, hstack, vstack

from lethe_core.context.ranking import best_first
from lethe_core.context.weights import WeightMatrix, as_indices
from lethe_core.control.vectors import clamp01
from lethe_core.errors import ConfigError
from lethe_core.graph.arrays import FloatArray, IntArray


@dataclass(frozen=True, slots=True)
class AnchorConfig:
    """Which terms count, and how the walk's restart is shared out."""

    min_sources: int = 2  # a term of one source leads nowhere
    max_sources: int = 20  # a term of more, and of more than max_share, leads everywhere
    max_share: float = 0.02
    own_title: float = 4.0  # times idf, between a node and the title of its own source
    best: int = 16  # evidence nodes that the restart favours
    cosine: float = 0.4
    bm25: float = 0.6
    sharpness: float = 4.0  # mass of the best ∝ relevance to this power
    structure_share: float = 0.4
    evidence_share: float = 0.4
    term_share: float = 0.2
    damping: float = 0.8


DEFAULT_ANCHORS = AnchorConfig()


@dataclass(frozen=True, slots=True)
class AnchorNode:
    """What one evidence node mentions, in the form in which terms are compared."""

    source: str  # sources, not chunks, are counted
    title: str  # of its own source; empty for none
    terms: Collection[str]  # may include the title


@dataclass(frozen=True, slots=True)
class Anchors:
    """The kept terms and the edges between n nodes and them."""

    terms: tuple[str, ...]  # in alphabetical order
    idf: FloatArray  # (t,) of each term
    node: IntArray  # (e,) ends of the edges
    term: IntArray  # (e,)
    weight: FloatArray  # (e,) positive

    def place(self, term: str) -> int | None:
        """Where a term stands in ``terms``; None for one that was not kept."""
        place = bisect_left(self.terms, term)
        return place if place < len(self.terms) and self.terms[place] == term else None


def find_anchors(nodes: Sequence[AnchorNode], *, config: AnchorConfig = DEFAULT_ANCHORS) -> Anchors:
    """Keep the terms that join a few sources: 2 ≤ df ≤ max(20, 2 %), weighted by ln((n + 1)/(df + .5)).

    n and df count sources. Terms come out in alphabetical order, whatever the order of the nodes.
    """
    index = AnchorIndex(config=config)
    for node in nodes:
        index.add(node)
    return index.among(np.arange(len(nodes)))


class AnchorIndex:
    """What nodes mention, as they come: any of them may be counted, and more be noted of one later."""

    def __init__(self, *, config: AnchorConfig = DEFAULT_ANCHORS) -> None:
        self._config = config
        self._sources: dict[str, int] = {}
        self._source = array("q")  # of each row
        self._numbers: dict[str, int] = {}  # of the terms
        self._names: list[str] = []
        # One entry a mention.
        self._row, self._term, self._own = array("q"), array("q"), array("b")

    def __len__(self) -> int:
        return len(self._source)

    def add(self, node: AnchorNode) -> int:
        """Take in a node; returns its row."""
        row = len(self._source)
        self._source.append(self._sources.setdefault(node.source, len(self._sources)))
        for term in _terms(node):
            self.mention(row, term, own=term == node.title)
        return row

    def mention(self, row: int, term: str, *, own: bool = False) -> None:
        """Note that a node mentions a term that was not noted of it yet; own: the title of its source."""
        number = self._numbers.setdefault(term, len(self._names))
        if number == len(self._names):
            self._names.append(term)
        self._row.append(row)
        self._term.append(number)
        self._own.append(own)

    def among(self, rows: IntArray) -> Anchors:
        """The anchors of some nodes as if there were no others.

        rows: (m,) different; a node of the result is its place among them.
        """
        source, at, term = _ints(self._source), _ints(self._row), _ints(self._term)
        place = np.full(len(source), -1)
        place[rows] = np.arange(rows.size)
        counted = place[at] >= 0
        at, term = at[counted], term[counted]
        # Sources, not nodes: each pair of a term and a source counts once.
        pairs = np.unique(term * max(1, len(self._sources)) + source[at])
        df = np.bincount(pairs // max(1, len(self._sources)), minlength=len(self._names))
        n_sources = np.unique(source[rows]).size
        most = max(self._config.max_sources, self._config.max_share * n_sources)
        kept = np.flatnonzero((df >= self._config.min_sources) & (df <= most)).tolist()
        kept.sort(key=self._names.__getitem__)
        idf = np.log((n_sources + 1.0) / (df[kept] + 0.5)) if kept else np.zeros(0)
        number = np.full(len(self._names), -1)
        number[kept] = np.arange(len(kept))
        own = np.array(self._own, dtype=np.bool_)[counted]
        # A term of nearly all of a few sources has an idf of 0 or below: it joins nothing.
        joins = np.flatnonzero(number[term] >= 0)
        joins = joins[idf[number[term[joins]]] > 0.0] if joins.size else joins
        own, at, term = own[joins], at[joins], number[term[joins]]
        return Anchors(
            terms=tuple(self._names[kept_term] for kept_term in kept),
            idf=np.maximum(idf, 0.0),
            node=place[at],
            term=term,
            weight=idf[term] * np.where(own, self._config.own_title, 1.0),
        )


def anchored(weights: WeightMatrix, anchors: Anchors) -> WeightMatrix:
    """The graph's matrix with the term nodes behind its own: (n + t, n + t) symmetric.

    A term without an edge gets a loop, so that the walk's matrix has no empty row.
    """
    n, t = weights.shape[0], len(anchors.terms)
    if t == 0:
        return weights
    ends = (as_indices(anchors.node), as_indices(anchors.term))
    joins = coo_array((anchors.weight, ends), shape=(n, t)).tocsr()
    lonely = (np.asarray(joins.sum(axis=0)).ravel() == 0.0).astype(np.float64)
    loops = diags_array(lonely)
    upper, lower = hstack([weights, joins]), hstack([joins.T, loops])
    return csr_array(vstack([upper, lower]))


def relevance(cosine: FloatArray, bm25: FloatArray, *, config: AnchorConfig = DEFAULT_ANCHORS) -> FloatArray:
    """h = .4·cos⁺/max + .6·BM25/max of n evidence nodes with the selected task: (n,) in [0, 1]."""
    return np.asarray(config.cosine * _shares(cosine) + config.bm25 * _shares(bm25))


def anchored_seeds(
    structure: FloatArray,
    relevant: FloatArray,
    task_terms: Collection[str],
    anchors: Anchors,
    *,
    config: AnchorConfig = DEFAULT_ANCHORS,
) -> FloatArray:
    """Where the walk restarts, term nodes included: (n + t,) non-negative, sums to 1.

    structure: (n,) the seeds of section 5.1; relevant: (n,) relevance, 0 for what is no evidence;
    task_terms: the selected task's own. Shares .4, .4, .2; an empty one goes to the others.
    Raises ConfigError when all three are empty.
    """
    n, t = structure.size, len(anchors.terms)
    best = np.zeros(n)
    order = best_first(relevant)[: config.best]
    best[order] = relevant[order] ** config.sharpness
    terms = np.zeros(t)
    for term in frozenset(task_terms):
        place = anchors.place(term)
        if place is not None:
            terms[place] = anchors.idf[place]
    parts = [
        (config.structure_share, np.concatenate([structure, np.zeros(t)])),
        (config.evidence_share, np.concatenate([best, np.zeros(t)])),
        (config.term_share, np.concatenate([np.zeros(n), terms])),
    ]
    present = [(share, mass / mass.sum()) for share, mass in parts if mass.sum() > 0.0]
    if not present:
        raise ConfigError("the walk has nowhere to start: no structure, no relevant evidence, no known term")
    total = sum(share for share, _ in present)
    return np.asarray(sum((share / total) * mass for share, mass in present))


def _terms(node: AnchorNode) -> frozenset[str]:
    return frozenset((*node.terms, node.title) if node.title else node.terms)


def _shares(values: FloatArray) -> FloatArray:
    positive = np.maximum(np.nan_to_num(values, nan=0.0), 0.0)
    largest = float(positive.max(initial=0.0))
    return clamp01(positive / largest) if largest > 0.0 else np.zeros_like(positive)


def _ints(values: "array[int]") -> IntArray:
    # A copy: an array that numpy looks into cannot grow.
    return np.array(values, dtype=np.int64)
