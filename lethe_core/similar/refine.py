"""Evidence strength after corroboration and contradiction (algorithms.md 7).

Always computed from the stored base strength, never from the current one: doing it twice changes
nothing. Several witnesses of one source domain count as its best one.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from lethe_core.control.vectors import clamp01
from lethe_core.graph.arrays import AnyFloats, BoolArray, FloatArray, IntArray


@dataclass(frozen=True, slots=True)
class RefineConfig:
    """Range of a strength and how far witnesses move it."""

    floor: float = 0.30
    ceiling: float = 0.95
    witness: float = 0.5  # share of the way that a perfect witness goes
    copy_start: float = 0.90  # cosine above which a text starts to be a copy of the other
    copy_width: float = 0.05  # cosine beyond that at which it is one, and no witness
    older_factor: float = 0.5


DEFAULT_REFINE = RefineConfig()


@dataclass(frozen=True, slots=True)
class RelatedEvidence:
    """The p SIMILAR_TO edges between evidence nodes that carry NLI scores; an edge a–b counts once."""

    i: IntArray  # (p,) index of end a
    j: IntArray  # (p,) index of end b
    cosine: AnyFloats  # (p,)
    entail_fwd: FloatArray  # (p,) a entails b
    entail_bwd: FloatArray  # (p,) b entails a
    contradiction: FloatArray  # (p,)
    confidence: FloatArray  # (p,)


def refined_strengths(
    base: FloatArray,
    domains: Sequence[Collection[str]],
    older: BoolArray,
    related: RelatedEvidence | None,
    *,
    config: RefineConfig = DEFAULT_REFINE,
) -> FloatArray:
    """Strengths of n evidence nodes: (n,) in [floor, ceiling].

    base: (n,) in [floor, ceiling]; domains: for each node the sources it speaks for, one for a chunk,
    for a synthesis those of all its sources; older: (n,) True where a newer edition exists;
    related: None when NLI is off.
    A node corroborates or contradicts in the name of each of its domains. It is no independent witness
    for a node with which it shares a domain, nor for one that it copies, but may contradict either.
    """
    start = np.clip(base, config.floor, config.ceiling)
    refined = start
    if related is not None and related.i.size:
        support, contradiction = _pull(start, domains, related, config)
        refined = (
            start
            + (config.ceiling - start) * support * (1.0 - contradiction)
            - (start - config.floor) * contradiction * (1.0 - support)
        )
    refined = np.where(older, config.older_factor * refined, refined)
    return np.clip(refined, config.floor, config.ceiling)


def _pull(
    base: FloatArray, domains: Sequence[Collection[str]], related: RelatedEvidence, config: RefineConfig
) -> tuple[FloatArray, FloatArray]:
    """Each node's corroboration A and contradiction B, (n,) in [0, 1)."""
    own = [frozenset(names) for names in domains]
    copies = clamp01((np.asarray(related.cosine, dtype=np.float64) - config.copy_start) / config.copy_width)
    apart = [own[a].isdisjoint(own[b]) for a, b in zip(related.i.tolist(), related.j.tolist(), strict=True)]
    independent = np.array(apart, dtype=np.float64) * (1.0 - copies)

    # Each edge is heard from both ends.
    hearer = np.concatenate([related.i, related.j])
    witness = np.concatenate([related.j, related.i])
    entailed = np.concatenate([related.entail_bwd, related.entail_fwd])
    voice = np.tile(related.confidence, 2) * base[witness]
    for_it = np.tile(independent, 2) * voice * entailed
    against = np.tile(related.contradiction, 2) * voice

    names = {name: at for at, name in enumerate(sorted(frozenset().union(*own)))}
    lists = [[names[name] for name in node] for node in own]
    n_domains = np.array([len(lists[at]) for at in witness.tolist()], dtype=np.int64)
    edge = np.repeat(np.arange(witness.size), n_domains)
    domain = np.array([name for at in witness.tolist() for name in lists[at]], dtype=np.int64)
    groups, group = np.unique(hearer[edge] * max(1, len(names)) + domain, return_inverse=True)
    heard_by = groups // max(1, len(names))
    return (
        _combined(for_it[edge], group, heard_by, base.size, config.witness),
        _combined(against[edge], group, heard_by, base.size, config.witness),
    )


def _combined(values: FloatArray, group: IntArray, heard_by: IntArray, n: int, weight: float) -> FloatArray:
    """1 − Π over a node's domains of (1 − weight · the domain's largest value)."""
    largest = np.zeros(heard_by.size)
    np.maximum.at(largest, group, values)
    doubt = np.ones(n)
    np.multiply.at(doubt, heard_by, 1.0 - weight * largest)
    return 1.0 - doubt
