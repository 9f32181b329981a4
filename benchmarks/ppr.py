"""Time of Personalized PageRank beside other solvers' on the same graph: ``python benchmarks/ppr.py``.

100,000 nodes, about a million edges of random weight, damping .85, every solver asked for an L1 error of
1e-8 as far as it can be asked (networkx and scikit-network stop by rules of their own; the last column is
the error that they reached). Then what a session does: the matrix kept, 200 edges changed, the walk begun
where the last one ended; and several restarts at once. Goals: at most .45 of scikit-network's time, .03 of
networkx's, 250 MB; warm at most half of a cold solve. Processor time, one thread.
"""

import argparse
import os
from collections.abc import Callable

os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np
from beside import best_seconds, installed, peak_megabytes
from scipy.sparse import csr_array, diags_array

from lethe_core.context.kept_weights import KeptWeights
from lethe_core.context.ppr import PageRank, personalized_pagerank, personalized_pageranks, walk_graph
from lethe_core.context.weights import EdgeArrays, adjacency
from lethe_core.graph.arrays import FloatArray, IntArray


def random_edges(nodes: int, edges: int, rng: np.random.Generator) -> EdgeArrays:
    """Similarity edges whose ends are drawn unevenly, so that degrees differ as they do in a session."""
    source = (nodes * rng.random(edges) ** 1.5).astype(np.int64)
    target = rng.integers(0, nodes, edges)
    pairs = np.unique(np.minimum(source, target) * nodes + np.maximum(source, target))
    source, target = np.divmod(pairs, nodes)
    apart = source != target
    source, target = source[apart], target[apart]
    return EdgeArrays(
        source, target, np.full(len(source), "SIMILAR_TO"), rng.uniform(0.55, 0.95, len(source))
    )


def power_iteration(weights: csr_array, seeds: FloatArray, damping: float, tolerance: float) -> FloatArray:
    """The textbook method, stopped by the bound that its contraction gives."""
    degrees = weights.sum(axis=1)
    transition = csr_array((diags_array(1.0 / degrees) @ weights).T)
    scores = seeds
    while True:
        following = damping * (transition @ scores) + (1.0 - damping) * seeds
        change = np.abs(following - scores).sum()
        scores = following
        if change * damping / (1.0 - damping) <= tolerance:
            return scores


def scikit_network(weights: csr_array, seeds: FloatArray, damping: float, tolerance: float) -> FloatArray:
    from scipy.sparse import csr_matrix
    from sknetwork.ranking import PageRank

    solver = PageRank(damping_factor=damping, solver="piteration", n_iter=200, tol=tolerance)
    return solver.fit_predict(csr_matrix(weights), weights=seeds)


def networkx_power(
    weights: csr_array, seeds: FloatArray, damping: float, tolerance: float
) -> Callable[[], FloatArray]:
    import networkx

    graph = networkx.from_scipy_sparse_array(weights)
    n = weights.shape[0]
    personalization = {int(node): float(seeds[node]) for node in np.flatnonzero(seeds)}

    def run() -> FloatArray:
        # networkx stops at an L1 change of N · tol.
        ranks = networkx.pagerank(
            graph, alpha=damping, personalization=personalization, tol=tolerance / n, max_iter=1000
        )
        return np.array([ranks[node] for node in range(n)])

    return run


def igraph_prpack(weights: csr_array, seeds: FloatArray, damping: float) -> Callable[[], FloatArray]:
    import igraph

    upper = weights.tocoo()
    once = upper.row < upper.col
    graph = igraph.Graph(
        n=weights.shape[0], edges=np.stack([upper.row[once], upper.col[once]], axis=1).tolist()
    )
    weight = upper.data[once].tolist()
    return lambda: np.array(
        graph.personalized_pagerank(
            directed=False, damping=damping, reset=seeds.tolist(), weights=weight, implementation="prpack"
        )
    )


def changed(
    kept: KeptWeights, weights: csr_array, count: int, rng: np.random.Generator
) -> Callable[[], None]:
    """Half of the changes on edges that there are, half new ones."""
    n = weights.shape[0]
    row = rng.integers(0, n, count // 2)
    column = weights.indices[weights.indptr[row]]
    lower: IntArray = np.concatenate([row, rng.integers(0, n // 2, count - count // 2)])
    upper: IntArray = np.concatenate([column, rng.integers(n // 2, n, count - count // 2)])
    _, first = np.unique(np.minimum(lower, upper) * n + np.maximum(lower, upper), return_index=True)
    first = first[lower[first] != upper[first]]
    value = rng.uniform(0.55, 0.95, first.size)
    return lambda: kept.put(lower[first], upper[first], value)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--nodes", type=int, default=100_000)
    parser.add_argument("--edges", type=int, default=1_000_000)
    parser.add_argument("--changes", type=int, default=200)
    parser.add_argument("--damping", type=float, default=0.85)
    parser.add_argument("--tolerance", type=float, default=1e-8)
    parser.add_argument("--repeats", type=int, default=5)
    arguments = parser.parse_args()
    damping, tolerance, repeats = arguments.damping, arguments.tolerance, arguments.repeats

    rng = np.random.default_rng(7)
    edges = random_edges(arguments.nodes, arguments.edges, rng)
    built, weights = best_seconds(lambda: adjacency(arguments.nodes, edges), 2)
    seeds = np.zeros(arguments.nodes)
    seeds[rng.choice(arguments.nodes, 20, replace=False)] = 1 / 20
    exact = personalized_pagerank(weights, seeds, damping=damping, tolerance=1e-13).scores

    def lethe(start: FloatArray | None = None) -> PageRank:
        return personalized_pagerank(weights, seeds, damping=damping, tolerance=tolerance, start=start)

    runs: dict[str, Callable[[], FloatArray]] = {
        "lethe": lambda: lethe().scores,
        "scipy power iteration": lambda: power_iteration(weights, seeds, damping, tolerance),
    }
    if installed("sknetwork", "scikit-network"):
        runs["scikit-network"] = lambda: scikit_network(weights, seeds, damping, tolerance)
    if installed("igraph", "igraph"):
        runs["igraph prpack (built before)"] = igraph_prpack(weights, seeds, damping)
    if installed("networkx", "networkx"):
        runs["networkx (built before)"] = networkx_power(weights, seeds, damping, tolerance)

    print(f"{arguments.nodes} nodes, {weights.nnz // 2} edges, damping {damping}, L1 error {tolerance:g}")
    own = 0.0
    for name, run in runs.items():
        seconds, scores = best_seconds(run, 1 if name.startswith("networkx") else repeats)
        own = own or seconds
        error = np.abs(scores - exact).sum()
        line = (
            f"{name:30}{seconds * 1000:9.0f} ms   lethe takes {own / seconds:6.3f} of it   error {error:.1e}"
        )
        print(line, flush=True)
    print(f"{'lethe, memory':30}{peak_megabytes(lethe):9.0f} MB, and {_size(weights):.0f} MB of the matrix")

    kept = KeptWeights()
    kept.grow(arguments.nodes)
    kept.put(edges.source, edges.target, edges.cosine)
    last = lethe()
    delta = changed(kept, weights, arguments.changes, rng)
    everyone = np.arange(arguments.nodes)
    put, _ = best_seconds(delta, 1)
    taken, weights = best_seconds(lambda: kept.among(everyone), 2)
    cold, fresh = best_seconds(lethe, repeats)
    warm, again = best_seconds(lambda: lethe(last.scores), repeats)
    graph = walk_graph(weights)
    exact = personalized_pagerank(graph, seeds, damping=damping, tolerance=1e-13).scores
    print(f"after {arguments.changes} changed edges:")
    print(
        f"{'  cold solve':30}{cold * 1000:9.0f} ms   {fresh.iterations} steps, with the matrix made anew "
        f"{1000 * (built + cold):.0f} ms"
    )
    print(
        f"{'  warm solve':30}{warm * 1000:9.0f} ms   {again.iterations} steps, {warm / cold:.2f} of the cold "
        f"one, error {np.abs(again.scores - exact).sum():.1e}"
    )
    every = put + taken + warm
    print(
        f"{'  change, take out, warm solve':30}{every * 1000:9.0f} ms   "
        f"{every / (built + cold):.2f} of made anew and cold"
    )

    many = np.zeros((8, arguments.nodes))
    for row in many:
        row[rng.choice(arguments.nodes, 20, replace=False)] = 1 / 20
    alone, _ = best_seconds(lambda: personalized_pagerank(graph, many[0], damping=damping), repeats)
    together, _ = best_seconds(lambda: personalized_pageranks(graph, many, damping=damping), 2)
    print(f"{'  8 restarts, each':30}{together / 8 * 1000:9.0f} ms   {together / 8 / alone:.2f} of one alone")


def _size(weights: csr_array) -> float:
    return (weights.data.nbytes + weights.indices.nbytes + weights.indptr.nbytes) / 1e6


if __name__ == "__main__":
    main()
