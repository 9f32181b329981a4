"""Time of Personalized PageRank beside other solvers' on the same graph: ``python benchmarks/ppr.py``.

100,000 nodes, about a million edges of random weight, damping .85, every solver asked for an L1 error of
1e-8 as far as it can be asked (networkx and scikit-network stop by rules of their own; the last column is
the error that they reached). scikit-network and networkx are measured when they are installed.
"""

import argparse
import importlib.util
import time
from collections.abc import Callable

import numpy as np
from scipy.sparse import csr_array, diags_array

from lethe_core.context.ppr import personalized_pagerank
from lethe_core.context.weights import EdgeArrays, adjacency
from lethe_core.graph.arrays import FloatArray


def random_graph(nodes: int, edges: int, rng: np.random.Generator) -> csr_array:
    """Similarity edges whose ends are drawn unevenly, so that degrees differ as they do in a session."""
    source = (nodes * rng.random(edges) ** 1.5).astype(np.int64)
    target = rng.integers(0, nodes, edges)
    apart = source != target
    source, target = source[apart], target[apart]
    return adjacency(
        nodes,
        EdgeArrays(source, target, np.full(len(source), "SIMILAR_TO"), rng.uniform(0.55, 0.95, len(source))),
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


def best_time(run: Callable[[], FloatArray], repeats: int) -> tuple[float, FloatArray]:
    best, result = float("inf"), np.zeros(0)
    for _ in range(repeats):
        started = time.perf_counter()
        result = run()
        best = min(best, time.perf_counter() - started)
    return best, result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=100_000)
    parser.add_argument("--edges", type=int, default=1_000_000)
    parser.add_argument("--damping", type=float, default=0.85)
    parser.add_argument("--tolerance", type=float, default=1e-8)
    parser.add_argument("--repeats", type=int, default=5)
    arguments = parser.parse_args()
    damping, tolerance = arguments.damping, arguments.tolerance

    rng = np.random.default_rng(7)
    weights = random_graph(arguments.nodes, arguments.edges, rng)
    seeds = np.zeros(arguments.nodes)
    seeds[rng.choice(arguments.nodes, 20, replace=False)] = 1 / 20
    exact = personalized_pagerank(weights, seeds, damping=damping, tolerance=1e-13).scores

    runs: dict[str, Callable[[], FloatArray]] = {
        "lethe": lambda: personalized_pagerank(weights, seeds, damping=damping, tolerance=tolerance).scores,
        "scipy power iteration": lambda: power_iteration(weights, seeds, damping, tolerance),
    }
    if importlib.util.find_spec("sknetwork"):
        runs["scikit-network"] = lambda: scikit_network(weights, seeds, damping, tolerance)
    if importlib.util.find_spec("networkx"):
        runs["networkx (graph built before)"] = networkx_power(weights, seeds, damping, tolerance)

    print(f"{arguments.nodes} nodes, {weights.nnz // 2} edges, damping {damping}, L1 error {tolerance:g}")
    own = 0.0
    for name, run in runs.items():
        seconds, scores = best_time(run, 1 if name.startswith("networkx") else arguments.repeats)
        own = own or seconds
        error = np.abs(scores - exact).sum()
        print(f"{name:32}{seconds * 1000:10.1f} ms   {seconds / own:6.2f} x   error {error:.1e}")


if __name__ == "__main__":
    main()
