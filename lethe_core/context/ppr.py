"""Personalized PageRank on the session graph (algorithms.md 5.1).

The walk x = d·Pᵀx + (1 − d)·s on undirected weights A, with degrees D and P = D⁻¹A, is the symmetric
system (I − dS)z = (1 − d)·D^-½ s with S = D^-½ A D^-½ and x = D^½ z, solved by conjugate gradients. It is
written here on y = D⁻¹x, as (D − dA)y = (1 − d)s with D as the preconditioner: the same iterates, but A is
never copied, and the residual's L1 norm over 1 − d is itself a rigorous bound on the L1 error of x,
wherever the iteration began. Several restarts are solved side by side: the matrix is read once for all.

A cold iteration starts at x = s. Its residual then sums to zero over every component of the graph, and
stays so: the slowest direction of the system is never searched, and the mass of x is right at every step.
A warm one starts at the solution for a graph and a restart that were nearly these.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array, diags_array

from lethe_core.context.weights import WeightMatrix
from lethe_core.errors import ConfigError
from lethe_core.graph.arrays import FloatArray, IntArray

# Restarts solved side by side: with 100,000 nodes and a million edges each then takes .8 to 1 of a lone
# solve's time; 8 leave the cache and take 1.4.
_BLOCK = 4
_AIM = 0.8  # of the tolerance
_FEW = 1 / 16  # share of the nodes with any mass below which their rows alone are multiplied


@dataclass(frozen=True, slots=True)
class PageRank:
    """The stationary distribution of a random walk with restart."""

    scores: FloatArray  # (n,), non-negative, sums to 1
    iterations: int  # multiplications by the matrix inside the solver
    # The L1 distance to the exact solution is at most this: up to rounding, at most the tolerance; above
    # it only when the tolerance is finer than float64 resolves.
    error_bound: float


@dataclass(frozen=True, slots=True)
class WalkGraph:
    """Checked weights with their row sums, for several walks on one graph; made by `walk_graph`."""

    weights: WeightMatrix  # (n, n) symmetric, non-negative, no row empty
    degrees: FloatArray  # (n,) positive

    @property
    def size(self) -> int:
        """The number of nodes."""
        return int(self.degrees.size)


def walk_graph(weights: WeightMatrix) -> WalkGraph:
    """Check the weights of an undirected graph, and give a loop to every node without an edge.

    weights: (n, n) symmetric, finite, non-negative; kept, not copied, unless a node has no edge.
    Raises ConfigError when there are no nodes, when a weight is not as above, when row and column sums
    show that the weights are not symmetric, or when a row's sum lies outside [1e-120, 1e120].
    """
    n = weights.shape[0]
    if len(weights.shape) != 2 or weights.shape[1] != n:
        raise ConfigError(f"weights have shape {weights.shape}, must be square")
    if n == 0:
        raise ConfigError("the graph has no nodes to rank")
    return WalkGraph(*_with_degrees(weights))


def personalized_pagerank(
    weights: WeightMatrix | WalkGraph,
    seeds: FloatArray,
    *,
    damping: float = 0.5,
    tolerance: float = 1e-8,
    start: FloatArray | None = None,
) -> PageRank:
    """Rank the n nodes of an undirected graph by a random walk that restarts at the seeds.

    weights: (n, n) as for `walk_graph`, or what that made of them; a node without edges keeps its own mass.
    seeds: (n,) finite, non-negative, not all zero; normalised here.
    damping: in [0, 1), the share of steps that follow an edge; tolerance: > 0, L1.
    start: (n,) as seeds, where to begin; None: at the seeds. The scores of a graph or a restart that was
    nearly this one save iterations; the bound holds whatever it is.
    Raises ConfigError when a shape, a weight, a seed, the damping or the tolerance is not as above.
    """
    given = np.asarray(seeds, dtype=np.float64)
    begun = None if start is None else np.asarray(start, dtype=np.float64)
    return personalized_pageranks(
        weights,
        given[None, ...],
        damping=damping,
        tolerance=tolerance,
        starts=None if begun is None else begun[None, ...],
    )[0]


def personalized_pageranks(
    weights: WeightMatrix | WalkGraph,
    seeds: FloatArray,
    *,
    damping: float = 0.5,
    tolerance: float = 1e-8,
    starts: FloatArray | None = None,
) -> tuple[PageRank, ...]:
    """Rank the n nodes once for each of k restarts: what `personalized_pagerank` gives for each alone.

    seeds: (k, n), a restart each; starts: (k, n) or None. k may be 0. Each result's bound is its own.
    Raises ConfigError as `personalized_pagerank` does.
    """
    if not 0.0 <= damping < 1.0:
        raise ConfigError(f"damping is {damping}, must be in [0, 1)")
    if not 0.0 < tolerance < math.inf:
        raise ConfigError(f"tolerance is {tolerance}, must be positive")
    graph = weights if isinstance(weights, WalkGraph) else walk_graph(weights)
    restarts = _distributions(seeds, graph.size, "seed")
    begun = None if starts is None else _distributions(starts, graph.size, "start")
    if begun is not None and begun.shape != restarts.shape:
        raise ConfigError(f"starts have shape {begun.shape}, seeds {restarts.shape}: must be the same")
    found: list[PageRank] = []
    for first in range(0, len(restarts), _BLOCK):
        block = slice(first, first + _BLOCK)
        found += _side_by_side(
            graph,
            restarts[block],
            None if begun is None else begun[block],
            damping,
            tolerance,
        )
    return tuple(found)


def _side_by_side(
    graph: WalkGraph, restart: FloatArray, begun: FloatArray | None, damping: float, tolerance: float
) -> list[PageRank]:
    """Solve for each row of restart: (k, n)."""
    scores = restart.copy() if begun is None else begun.copy()
    error = _residual(graph, restart, scores, damping)
    bounds = _bounds(error, damping)
    iterations = np.zeros(len(scores), dtype=np.int64)
    open_rows = np.flatnonzero(bounds > tolerance)
    error = error[open_rows]
    while open_rows.size:
        # A little below the tolerance: cutting negative scores and renormalising may add to the error. What
        # is returned is what the bound must hold for, so where it does not, another round follows.
        candidate, steps = _conjugate_gradients(graph, scores[open_rows], error, damping, _AIM * tolerance)
        iterations[open_rows] += steps
        np.maximum(candidate, 0.0, out=candidate)
        candidate /= candidate.sum(axis=1, keepdims=True)
        error = _residual(graph, restart[open_rows], candidate, damping)
        reached, before = _bounds(error, damping), bounds[open_rows]
        better = reached < before
        scores[open_rows[better]] = candidate[better]
        bounds[open_rows[better]] = reached[better]
        # Where a round did not even halve the bound, rounding has the last word.
        again = (reached <= before / 2) & (reached > tolerance)
        open_rows, error = open_rows[again], error[again]
    return [
        PageRank(scores=row, iterations=int(steps), error_bound=float(bound))
        for row, steps, bound in zip(scores, iterations, bounds, strict=True)
    ]


def _distributions(values: FloatArray, n: int, name: str) -> FloatArray:
    """Rows that sum to 1: (k, n)."""
    values = np.asarray(values, dtype=np.float64)
    if values.ndim != 2 or values.shape[1] != n:
        raise ConfigError(f"{name}s have shape {values.shape[1:]}, the graph has {n} nodes")
    if not (np.isfinite(values).all() and values.min(initial=0.0) >= 0.0):
        row, worst = np.argwhere(~(np.isfinite(values) & (values >= 0.0)))[0]
        raise ConfigError(f"{name} of node {worst} is {values[row, worst]}, must be finite and not negative")
    largest = values.max(axis=1, keepdims=True)
    if (largest == 0.0).any():
        raise ConfigError(
            f"all {name}s are zero: the walk has nowhere to {name if name == 'start' else 'restart'}"
        )
    scaled = values / largest  # first by the largest: the sum of huge seeds would overflow
    return np.asarray(scaled / scaled.sum(axis=1, keepdims=True))


def _with_degrees(weights: WeightMatrix) -> tuple[WeightMatrix, FloatArray]:
    """The weights, with a loop on every node that has none, and their row sums, after checking both."""
    data = weights.data
    if len(data) and not (data.min() >= 0.0 and np.isfinite(data.max())):
        worst = data[~(np.isfinite(data) & (data >= 0.0))][0]
        raise ConfigError(f"a weight is {worst}, must be finite and not negative")
    n = weights.shape[0]
    degrees = np.asarray(weights @ np.ones(n), dtype=np.float64)
    columns = np.asarray(weights.T @ np.ones(n), dtype=np.float64)
    if not np.allclose(degrees, columns, rtol=1e-9, atol=0.0):
        worst = int(np.argmax(np.abs(degrees - columns)))
        raise ConfigError(
            f"weights are not symmetric: row {worst} adds up to {degrees[worst]}, "
            f"column {worst} to {columns[worst]}"
        )
    isolated = degrees == 0.0
    if isolated.any():
        weights = csr_array(weights + diags_array(isolated.astype(np.float64)))
        degrees = degrees + isolated
    # Beyond this range a square of a quotient leaves float64.
    if degrees.min() < 1e-120 or degrees.max() > 1e120:
        worst = int(np.argmax(np.abs(np.log(degrees))))
        raise ConfigError(
            f"the weights of node {worst} add up to {degrees[worst]}: rescale them into [1e-120, 1e120]"
        )
    return weights, degrees


def _residual(graph: WalkGraph, restart: FloatArray, scores: FloatArray, damping: float) -> FloatArray:
    """(1 − d)s + d·Pᵀx − x of each row: (k, n)."""
    moved = _product(graph.weights, scores / graph.degrees)
    return np.asarray((1.0 - damping) * restart + damping * moved - scores)


def _bounds(residual: FloatArray, damping: float) -> FloatArray:
    """L1 error of the scores whose residual this is, (k,): ‖(I − dPᵀ)⁻¹‖₁ is 1/(1 − d)."""
    return np.asarray(np.abs(residual).sum(axis=1) / (1.0 - damping))


def _conjugate_gradients(
    graph: WalkGraph, start: FloatArray, residual: FloatArray, damping: float, target: float
) -> tuple[FloatArray, IntArray]:
    """Solve (D − dA)y = (1 − d)s from Dy = start until each bound is at most target: Dy (k, n), steps (k,).

    A row that has arrived leaves; the others go on in a smaller block.
    """
    degrees = graph.degrees
    found = np.empty_like(start)
    taken = np.zeros(len(start), dtype=np.int64)
    row = np.arange(len(start))
    residual = residual.copy()
    solution = start / degrees
    preconditioned = residual / degrees
    direction = preconditioned.copy()
    energy = _inner(residual, preconditioned)
    condition = (1.0 + damping) / (1.0 - damping)
    # Exact arithmetic needs at most this many steps (Chebyshev's bound, and Cauchy-Schwarz from the
    # energy norm to L1); twice that leaves room for rounding and still ends.
    gap = 2.0 * np.sqrt(condition * float(degrees.sum()) * energy) / ((1.0 - damping) * target)
    limit = 2 * np.ceil(0.5 * math.sqrt(condition) * np.log(np.maximum(gap, 2.0))) + 2
    steps = 0
    while True:
        arrived = (steps >= limit) | (energy <= 0.0) | (_bounds(residual, damping) <= target)
        if arrived.any():
            found[row[arrived]] = solution[arrived] * degrees
            taken[row[arrived]] = steps
            if arrived.all():
                return found, taken
            stay = ~arrived
            row, limit, energy = row[stay], limit[stay], energy[stay]
            residual, solution = residual[stay], solution[stay]
            direction, preconditioned = direction[stay], preconditioned[stay]
        image = degrees * direction
        image -= damping * _product(graph.weights, direction)
        step = (energy / _inner(direction, image))[:, None]
        solution += step * direction
        residual -= step * image
        np.divide(residual, degrees, out=preconditioned)
        previous, energy = energy, _inner(residual, preconditioned)
        direction *= (energy / previous)[:, None]
        direction += preconditioned
        steps += 1


def _product(weights: WeightMatrix, rows: FloatArray) -> FloatArray:
    """The weights times each row: (k, n)."""
    reached = np.flatnonzero(rows.any(axis=0))
    if reached.size < _FEW * rows.shape[1]:  # the first steps from a few seeds
        near = weights[reached]  # of a symmetric matrix the rows of these nodes are their columns
        counts, found = np.diff(near.indptr), np.zeros_like(rows)
        for row, image in zip(rows[:, reached], found, strict=True):
            spread = np.repeat(row, counts) * near.data
            image += np.bincount(near.indices, weights=spread, minlength=image.size)
        return found
    return np.asarray(np.ascontiguousarray((weights @ np.ascontiguousarray(rows.T)).T))


def _inner(left: FloatArray, right: FloatArray) -> FloatArray:
    # Not BLAS: waking its threads for 100,000 products took 4.5 ms on two busy cores, this .1 ms.
    return np.asarray(np.einsum("ij,ij->i", left, right))
