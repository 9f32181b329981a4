"""Time what the graph stores do: open, write all, load all, commit an iteration; SQLite, then Neo4j.

Figures to hold: architecture.md, "The graph".

Run: python -m benchmarks.stores [--evidence 10000] [--similar 50000] [--dimension 384] [--folder DIR]
         [--neo4j URL] [--growth [1000,10000,30000,100000]]
``--neo4j`` names a server whose database may be written to (``python tests/neo4j/server.py`` starts one); the
session that is made there is deleted again. Beside each figure of SQLite stands its ratio to copying the same
number of bytes to the same disk and syncing them, beside each of Neo4j its ratio to SQLite.

``--growth`` shows instead how the costs grow with the session (``benchmarks.stores_growth``).
"""

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lethe_core.adapters.stores import open_store, sqlite_url
from lethe_core.adapters.stores.owner import make_owner
from lethe_core.errors import LetheError
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


@dataclass(frozen=True)
class Figures:
    """Medians, in seconds."""

    open: float
    write: float
    load: float
    commit: float


def measured(url: str, vectors: Vectors, pairs: Pairs) -> Figures:
    store = open_store(url)
    try:
        root = TaskNode("What was renewed?", "what was renewed", vectors[0])
        state = store.create_session(SessionState(SESSION, "", NodeId(""), "goal", "benchmark", {}), root)
        lease = store.acquire_lease(SESSION, make_owner(), seconds=3600)
        written = timed(lambda: write_all(store, lease, state.root, vectors, pairs))
        commits = [timed(lambda: commit_iteration(store, lease, state.root, vectors)) for _ in range(20)]
        store.release_lease(lease)
        opened = [timed(lambda: open_store(url).close()) for _ in range(5)]
        loads = [timed(lambda: store.load_snapshot(SESSION)) for _ in range(3)]
    finally:
        store.close()
    return Figures(*(statistics.median(times) for times in (opened, [written], loads, commits)))


def unit_vectors(n_nodes: int, dimension: int) -> Vectors:
    vectors = np.random.default_rng(1).normal(size=(n_nodes, dimension)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors


def numbers(text: str) -> list[int]:
    return [int(word) for word in text.split(",")]


def main() -> None:
    try:
        run()
    except LetheError as error:
        print(f"benchmarks.stores: {error}", file=sys.stderr)
        sys.exit(2)


def run() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--evidence", type=int, default=10_000)
    parser.add_argument("--similar", type=int, default=50_000)
    parser.add_argument("--dimension", type=int, default=384)
    parser.add_argument("--neo4j", default="", help="a Neo4j server to measure, too")
    parser.add_argument(
        "--folder", type=Path, default=None, help="where the SQLite store is put (default: a temporary one)"
    )
    parser.add_argument(
        "--growth",
        nargs="?",
        type=numbers,
        const=[1_000, 10_000, 30_000, 100_000],
        metavar="SIZES",
        help="numbers of nodes (default: 1000,10000,30000,100000)",
    )
    options = parser.parse_args()
    if options.neo4j:
        open_store(options.neo4j).close()  # refused before the minutes that the other store takes
    if options.growth:
        from benchmarks.stores_growth import show_growth

        show_growth(options.growth, dimension=options.dimension, folder=options.folder, neo4j=options.neo4j)
        return
    vectors = unit_vectors(options.evidence, options.dimension)
    pairs = random_pairs(options.evidence, options.similar)
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        path = Path(name) / "graph.db"
        sqlite = measured(sqlite_url(path), vectors, pairs)
        size = path.stat().st_size
        whole = disk_seconds(Path(name), size)
        small = disk_seconds(Path(name), 50 * size // options.evidence)
    print(f"{options.evidence} evidence × {options.dimension}, {options.similar} SIMILAR_TO")
    print(f"sqlite, {size / 1e6:.0f} MB; × writing its bytes to the disk")
    show(sqlite, Figures(whole, whole, whole, small))
    if options.neo4j:
        neo4j = measured(options.neo4j, vectors, pairs)
        store = open_store(options.neo4j)
        removed = timed(lambda: store.delete_session(SESSION))
        store.close()
        print("neo4j; × SQLite")
        show(neo4j, sqlite)
        print(f"  {'delete':20} {removed * 1e3:9.1f} ms")


def show(figures: Figures, reference: Figures) -> None:
    for what, name in (
        ("open", "open"),
        ("write all", "write"),
        ("full load", "load"),
        ("commit of 50 nodes", "commit"),
    ):
        seconds = getattr(figures, name)
        print(f"  {what:20} {seconds * 1e3:9.1f} ms   {seconds / getattr(reference, name):8.1f} ×")


if __name__ == "__main__":
    main()
