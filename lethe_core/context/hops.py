"""The second hop: where the best of a first walk lead to (algorithms.md 5.1b).

Half of the evidence of a two-hop question is about something that the question does not name and that the
other half names. So the walk is made again for each of the best few sources, as if the question named their
rarest names as well; what any of these walks reaches is added to the first at less than full weight, so that
it counts where something is missing and does not push out what was found.
"""

from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from lethe_core.context.anchors import Anchors
from lethe_core.context.lexical import words
from lethe_core.context.ranking import best_first
from lethe_core.context.scoring import pagerank_term
from lethe_core.graph.arrays import FloatArray


@dataclass(frozen=True, slots=True)
class HopConfig:
    """From how many sources, by how many names of each, and how much it counts."""

    sources: int = 3
    names: int = 8
    # Beside the first walk's 1. All from .3 to 1 do about the same, on HotpotQA as it is, without titles, and
    # among 6,000 passages more, with two embeddings.
    weight: float = 0.7


DEFAULT_HOPS = HopConfig()


def leading(scores: FloatArray, sources: Sequence[Hashable], count: int) -> list[int]:
    """The best item of each of the best sources, best first, ties by index; only items that score at all.

    scores: (n,), one a node; sources: (n) what each is a part of.
    """
    found: dict[Hashable, int] = {}
    for index in best_first(scores):
        if len(found) == count or scores[index] <= 0.0:
            break
        found.setdefault(sources[index], int(index))
    return list(found.values())


def hop_terms(
    mentioned: Collection[str], asked: str, anchors: Anchors, *, config: HopConfig = DEFAULT_HOPS
) -> list[str]:
    """The rarest terms that a node mentions, that lead to other sources and that the task does not say.

    mentioned: the node's terms; asked: the task's text. Rarest first, ties in alphabetical order.
    """
    told = frozenset(words(asked))
    # Of the many terms of a large graph a node mentions a few.
    kept = {term: place for term in mentioned if (place := anchors.place(term)) is not None}
    idf = {term: float(anchors.idf[place]) for term, place in kept.items()}
    new = [term for term in idf if idf[term] > 0.0 and not told.issuperset(words(term))]
    return sorted(new, key=lambda term: (-idf[term], term))[: config.names]


def with_hops(
    first: FloatArray, hops: Sequence[FloatArray], *, config: HopConfig = DEFAULT_HOPS
) -> FloatArray:
    """The first walk's mass with that of the walks from its best: (n,) non-negative, its largest the first's.

    √(π/π_max) of the first walk and the hops' largest, at the configured weight, are added; the square of the
    sum stands for a mass again, so that section 5.2's term of it is that sum. Without hops, the first.
    """
    if not hops or not len(first):
        return first
    reach = pagerank_term(first) + config.weight * np.max([pagerank_term(hop) for hop in hops], axis=0)
    largest = float(reach.max())
    return np.asarray(float(first.max()) * (reach / largest) ** 2) if largest > 0.0 else first
