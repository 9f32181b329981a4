"""Lexical anchors: virtual term nodes in the random walk's matrix, and only there (algorithms.md 5.1b).

Shared rare names lead to what embeddings alone do not reach, the second hop of a question above all. The
terms come from the caller; here they are counted, weighted, and joined to the graph. No node and no edge
of the graph itself changes, and what the walk leaves on the term nodes is dropped.
"""

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_array, csr_array, hstack, vstack

from lethe_core.context.weights import WeightMatrix
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

    terms: tuple[str, ...]
    idf: FloatArray  # (t,) of each term
    node: IntArray  # (e,) ends of the edges
    term: IntArray  # (e,)
    weight: FloatArray  # (e,) positive


def find_anchors(nodes: Sequence[AnchorNode], *, config: AnchorConfig = DEFAULT_ANCHORS) -> Anchors:
    """Keep the terms that join a few sources: 2 ≤ df ≤ max(20, 2 %), weighted by ln((n + 1)/(df + .5)).

    n and df count sources. Terms come out in alphabetical order, whatever the order of the nodes.
    """
    sources: dict[str, set[str]] = defaultdict(set)
    for node in nodes:
        for term in _terms(node):
            sources[term].add(node.source)
    n_sources = len({node.source for node in nodes})
    most = max(config.max_sources, config.max_share * n_sources)
    kept = sorted(term for term, where in sources.items() if config.min_sources <= len(where) <= most)
    at = {term: index for index, term in enumerate(kept)}
    df = np.array([len(sources[term]) for term in kept], dtype=np.float64)
    idf = np.log((n_sources + 1.0) / (df + 0.5)) if kept else np.zeros(0)
    edges = [
        (index, at[term], idf[at[term]] * (config.own_title if term == node.title else 1.0))
        for index, node in enumerate(nodes)
        for term in sorted(_terms(node))
        if term in at
    ]
    # A term of nearly all of a few sources has an idf of 0 or below: it joins nothing.
    edges = [edge for edge in edges if edge[2] > 0.0]
    return Anchors(
        terms=tuple(kept),
        idf=np.maximum(idf, 0.0),
        node=np.array([edge[0] for edge in edges], dtype=np.int64),
        term=np.array([edge[1] for edge in edges], dtype=np.int64),
        weight=np.array([edge[2] for edge in edges], dtype=np.float64),
    )


def anchored(weights: WeightMatrix, anchors: Anchors) -> WeightMatrix:
    """The graph's matrix with the term nodes behind its own: (n + t, n + t) symmetric.

    A term without an edge gets a loop, so that the walk's matrix has no empty row.
    """
    n, t = weights.shape[0], len(anchors.terms)
    if t == 0:
        return weights
    joins = coo_array((anchors.weight, (anchors.node, anchors.term)), shape=(n, t)).tocsr()
    lonely = (np.asarray(joins.sum(axis=0)).ravel() == 0.0).astype(np.float64)
    loops = coo_array((lonely, (np.arange(t), np.arange(t))), shape=(t, t))
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
    order = np.lexsort((np.arange(n), -relevant))[: config.best]
    best[order] = relevant[order] ** config.sharpness
    own = frozenset(task_terms)
    terms = np.array(
        [idf if term in own else 0.0 for term, idf in zip(anchors.terms, anchors.idf, strict=True)]
    )
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
