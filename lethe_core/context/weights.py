"""Weights of the session graph and the seeds of its random walk (algorithms.md 5.1).

Turns edges, given as arrays, into the symmetric matrix that Personalized PageRank runs on, and a
task's neighbourhood into the distribution that the walk restarts from. Which nodes take part is the
caller's decision: superseded evidence is left out before the nodes are numbered.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array, diags_array

from lethe_core.control.vectors import clamp01
from lethe_core.errors import ConfigError
from lethe_core.graph.arrays import FloatArray, IntArray, Matrix

# scipy's classes take no type parameters at run time before 1.16.
if TYPE_CHECKING:
    WeightMatrix: TypeAlias = csr_array[Any, tuple[int, int]]
else:
    WeightMatrix = csr_array
"""Weights of an undirected graph: (n, n) symmetric, non-negative."""


_EDGES = 8192  # whose ends' vectors are taken out at a time: of a million edges they would be gigabytes


@dataclass(frozen=True, slots=True)
class WeightConfig:
    """What an edge of each type is worth."""

    subtask_of: float = 1.0
    produced: float = 0.9
    depends_on: float = 0.8
    supersedes: float = 0.0
    cosine_floor: float = 0.05  # a structural edge stays passable between ends that are not alike
    nli_gain: float = 0.25  # how much a confident NLI verdict adds to a similarity edge


@dataclass(frozen=True, slots=True)
class SeedConfig:
    """How the restart's mass lies around the selected task, before it is normalised."""

    selected: float = 1.0
    neighbour: float = 0.5  # parent, children, dependencies: each
    evidence: float = 0.5  # the task's own evidence: in all


@dataclass(frozen=True, slots=True)
class EdgeArrays:
    """m edges among nodes 0 … n−1, each undirected edge given once; the order of its ends has no meaning."""

    source: IntArray  # (m,)
    target: IntArray  # (m,)
    kind: NDArray[np.str_]  # (m,) "SUBTASK_OF", "PRODUCED", "DEPENDS_ON", "SUPERSEDES" or "SIMILAR_TO"
    cosine: FloatArray  # (m,) of the two ends; 0 where one has no embedding
    confidence: FloatArray | None = None  # (m,) in [0, 1]; NaN, or None for all, where NLI is off
    support: FloatArray | None = None  # (m,) likewise
    contradiction: FloatArray | None = None  # (m,) likewise


def end_cosines(vectors: Matrix, source: IntArray, target: IntArray) -> FloatArray:
    """Cosine of the two ends of each edge: (m,) in [-1, 1].

    vectors: (n, d) unit rows; a zero row gives 0.
    """
    products = np.zeros(source.size)
    for first in range(0, source.size, _EDGES):
        block = slice(first, first + _EDGES)
        # Made float64 first: einsum would do it piece by piece, and an edge's last bit hang on its place.
        left, right = vectors[source[block]].astype(np.float64), vectors[target[block]].astype(np.float64)
        np.einsum("ij,ij->i", left, right, out=products[block])
    return np.clip(products, -1.0, 1.0)


def edge_weights(edges: EdgeArrays, *, config: WeightConfig | None = None) -> FloatArray:
    """Weight of each edge: (m,) non-negative.

    Structural edges: the type's weight times max(.05, cosine of the ends). SIMILAR_TO:
    cos · (1 + .25 · confidence · max(support, contradiction)), the bracket 1 where NLI is off.
    Raises ConfigError on arrays of unequal length, an unknown kind or a cosine outside [-1, 1].
    """
    config = config or WeightConfig()
    count = len(edges.source)
    for name in ("target", "kind", "cosine", "confidence", "support", "contradiction"):
        values = getattr(edges, name)
        if values is not None and np.shape(values) != (count,):
            raise ConfigError(f"edges: {name} has shape {np.shape(values)}, source has {count} entries")
    cosine = np.asarray(edges.cosine, dtype=np.float64)
    # The slack is float32's: products of unit vectors come out a little over 1.
    outside = ~(np.abs(cosine) <= 1.0 + 1e-5)
    if outside.any():
        worst = int(np.flatnonzero(outside)[0])
        raise ConfigError(f"edge {worst}: cosine {cosine[worst]} is not in [-1, 1] (0: no embedding)")
    cosine = np.clip(cosine, -1.0, 1.0)

    similar = np.clip(cosine, 0.0, None) * (1.0 + config.nli_gain * _nli_verdict(edges, count))
    by_kind = {
        "SUBTASK_OF": config.subtask_of,
        "PRODUCED": config.produced,
        "DEPENDS_ON": config.depends_on,
        "SUPERSEDES": config.supersedes,
    }
    structural = np.clip(cosine, config.cosine_floor, None)
    kind = np.asarray(edges.kind, dtype=np.str_)
    known = kind == "SIMILAR_TO"
    weights = np.where(known, similar, 0.0)
    for name, value in by_kind.items():
        chosen = kind == name
        weights[chosen] = value * structural[chosen]
        known |= chosen
    if not known.all():
        unknown = str(kind[~known][0])
        raise ConfigError(f"unknown edge kind {unknown!r} (known: {', '.join([*by_kind, 'SIMILAR_TO'])})")
    return weights


def adjacency(n: int, edges: EdgeArrays, *, config: WeightConfig | None = None) -> WeightMatrix:
    """The graph's weights: (n, n), exactly symmetric, non-negative, no row empty.

    Parallel edges add up. A node without an edge of positive weight gets a loop of weight 1, so that
    the walk keeps its mass where it is.
    Raises ConfigError as edge_weights does, on an end outside 0 … n−1, or on an edge from a node to itself.
    """
    weights = edge_weights(edges, config=config)
    source = np.asarray(edges.source, dtype=np.int64)
    target = np.asarray(edges.target, dtype=np.int64)
    lower, upper = np.minimum(source, target), np.maximum(source, target)
    outside = (lower < 0) | (upper >= n)
    if outside.any():
        first = int(np.flatnonzero(outside)[0])
        raise ConfigError(f"edge {first} joins {source[first]} and {target[first]}; there are {n} nodes")
    if np.any(lower == upper):
        raise ConfigError(f"edge from node {int(lower[lower == upper][0])} to itself")

    carries = weights > 0
    # One triangle is summed and mirrored: summed separately, three parallel edges may differ in the
    # last bit between (i, j) and (j, i), and the walk's solver needs symmetry.
    ends = (as_indices(lower[carries]), as_indices(upper[carries]))
    half = coo_array((weights[carries], ends), shape=(n, n)).tocsr()
    both = half + half.T
    return with_loops(csr_array(both))


def as_indices(nodes: IntArray) -> NDArray[np.int32]:
    """Numbers of nodes as a matrix should be made of them: of int64 it keeps int64, and a walk reads more."""
    return nodes.astype(np.int32)


def with_loops(weights: WeightMatrix) -> WeightMatrix:
    """The weights, (n, n), with a loop of weight 1 on every node that has no edge."""
    isolated = (np.diff(weights.indptr) == 0).astype(np.float64)
    return csr_array(weights + diags_array(isolated)) if isolated.any() else weights


def seed_vector(
    n: int,
    selected: int,
    parents: Sequence[int] = (),
    children: Sequence[int] = (),
    dependencies: Sequence[int] = (),
    evidence: Sequence[int] = (),
    *,
    config: SeedConfig | None = None,
) -> FloatArray:
    """Where the walk restarts: (n,) non-negative, sums to 1.

    The selected task 1, each parent, child and dependency .5, its own evidence .5 in all; a node in
    two roles takes the larger share. Raises ConfigError on a node outside 0 … n−1.
    """
    config = config or SeedConfig()
    own = sorted(set(evidence))
    near = [*parents, *children, *dependencies]
    for node in (selected, *near, *own):
        if not 0 <= node < n:
            raise ConfigError(f"seed node {node} is not among the {n} nodes")
    seeds = np.zeros(n)
    if own:
        seeds[own] = config.evidence / len(own)
    if near:
        seeds[near] = np.maximum(seeds[near], config.neighbour)
    seeds[selected] = max(seeds[selected], config.selected)
    seeds /= seeds.sum()
    return seeds


def _nli_verdict(edges: EdgeArrays, count: int) -> FloatArray:
    """confidence · max(support, contradiction), (m,) in [0, 1]; 0 where NLI is off."""
    if edges.confidence is None or edges.support is None or edges.contradiction is None:
        return np.zeros(count)
    return clamp01(edges.confidence) * np.maximum(clamp01(edges.support), clamp01(edges.contradiction))
