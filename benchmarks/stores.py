"""Time what a graph store does: open, write all, load all, commit an iteration.

Figures to hold: architecture.md, "The graph".

Run: python -m benchmarks.stores [--evidence 10000] [--similar 50000] [--dimension 384] [--folder DIR]
Beside each figure stands its ratio to copying the same number of bytes to the same disk and syncing them.
"""

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from lethe_core.adapters.stores import open_store, sqlite_url
from lethe_core.adapters.stores.owner import make_owner
from lethe_core.graph.nodes import Edge, EdgeType, EvidenceNode, NodeId, SessionId, Similarity, TaskNode
from lethe_core.graph.session_state import Lease, SessionPatch, SessionState
from lethe_core.graph.store import GraphStore

SESSION = SessionId("s-benchmark")
TEXT = "The rope of the upper car was renewed after 1,204 runs, as the inspection of spring had asked. " * 4
Pairs = list[tuple[int, int]]
Vectors = np.ndarray[tuple[int, int], np.dtype[np.float32]]


def timed(action: Callable[[], object]) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def evidence(vector: np.ndarray[tuple[int], np.dtype[np.float32]], number: int) -> EvidenceNode:
    return EvidenceNode(
        content=TEXT,
        embed_text=TEXT[:120],
        embedding=vector,
        strength=0.6,
        base_strength=0.5,
        address=f"corpus/page-{number // 10}.md",
        title=f"Page {number // 10}",
        content_hash=f"{number:064x}",
        span=(0, len(TEXT)),
    )


def random_pairs(n_nodes: int, n_pairs: int) -> Pairs:
    rng = np.random.default_rng(2)
    pairs: set[tuple[int, int]] = set()
    while len(pairs) < n_pairs:
        ends = np.sort(rng.integers(0, n_nodes, (n_pairs, 2)), axis=1)
        pairs.update((low, high) for low, high in ends.tolist() if low < high)
    return list(pairs)[:n_pairs]


def write_all(store: GraphStore, lease: Lease, root: NodeId, vectors: Vectors, pairs: Pairs) -> None:
    nodes: list[NodeId] = []
    for first in range(0, len(vectors), 2_000):
        with store.transaction(lease) as tx:
            for number in range(first, min(first + 2_000, len(vectors))):
                node = tx.create_node(evidence(vectors[number], number))
                nodes.append(node.id)
                tx.create_edge(Edge(EdgeType.PRODUCED, root, node.id))
    scores = Similarity(0.7, *[0.25] * 9)
    with store.transaction(lease) as tx:
        tx.upsert_similar([Edge(EdgeType.SIMILAR_TO, nodes[low], nodes[high], scores) for low, high in pairs])


def commit_iteration(store: GraphStore, lease: Lease, root: NodeId, vectors: Vectors) -> None:
    with store.transaction(lease) as tx:
        for number in range(50):
            node = tx.create_node(evidence(vectors[number], number))
            tx.create_edge(Edge(EdgeType.PRODUCED, root, node.id))
        tx.update_session(SessionPatch(phase=None))


def disk_seconds(folder: Path, n_bytes: int) -> float:
    data = os.urandom(n_bytes)

    def copy() -> None:
        with (folder / "reference").open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())

    return statistics.median(timed(copy) for _ in range(3))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--evidence", type=int, default=10_000)
    parser.add_argument("--similar", type=int, default=50_000)
    parser.add_argument("--dimension", type=int, default=384)
    parser.add_argument(
        "--folder", type=Path, default=None, help="where the store is put (default: a temporary one)"
    )
    options = parser.parse_args()
    rng = np.random.default_rng(1)
    vectors = rng.normal(size=(options.evidence, options.dimension)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        folder = Path(name)
        path = folder / "graph.db"
        store = open_store(sqlite_url(path))
        root = TaskNode("What was renewed?", "what was renewed", vectors[0])
        state = store.create_session(SessionState(SESSION, "", NodeId(""), "goal", "benchmark", {}), root)
        lease = store.acquire_lease(SESSION, make_owner(), seconds=3600)
        pairs = random_pairs(options.evidence, options.similar)
        written = timed(lambda: write_all(store, lease, state.root, vectors, pairs))
        commits = [timed(lambda: commit_iteration(store, lease, state.root, vectors)) for _ in range(20)]
        store.close()
        size = path.stat().st_size
        opened = statistics.median(timed(lambda: open_store(sqlite_url(path)).close()) for _ in range(5))
        store = open_store(sqlite_url(path))
        loads = [timed(lambda: store.load_snapshot(SESSION)) for _ in range(5)]
        store.close()
        reference = disk_seconds(folder, size)
        small = disk_seconds(folder, 50 * size // options.evidence)
    print(
        f"sqlite: {options.evidence} evidence × {options.dimension}, {options.similar} SIMILAR_TO, "
        f"{size / 1e6:.0f} MB"
    )
    for what, seconds, against in (
        ("open", opened, reference),
        ("write all", written, reference),
        ("full load", statistics.median(loads), reference),
        ("commit of 50 nodes", statistics.median(commits), small),
    ):
        print(
            f"  {what:20} {seconds * 1e3:9.1f} ms   {seconds / against:6.1f} × writing its bytes to the disk"
        )


if __name__ == "__main__":
    main()
