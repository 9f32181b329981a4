"""How writing, loading and committing grow with a session, from 1,000 to 100,000 nodes.

Part of ``python -m benchmarks.stores --growth``. Five SIMILAR_TO edges a node come up as the session grows,
each between a new node and any that is there. Each size is written in one process and loaded in another.
Beside each figure stands what a node costs in processor time against the row above: 1 where the cost grows as
the session does. Processor time is this side's, without a server's; judge a server by its seconds.
"""

import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Final

from benchmarks.stores import SESSION, Pairs, commit_iteration, evidence, random_pairs, unit_vectors
from lethe_core.adapters.stores import open_store, sqlite_url
from lethe_core.adapters.stores.owner import make_owner
from lethe_core.graph.nodes import Edge, EdgeType, NodeId, Similarity, TaskNode
from lethe_core.graph.session_state import SessionState

EDGES_A_NODE: Final = 5
BATCH: Final = 2_000  # nodes written at a time


def show_growth(sizes: list[int], *, dimension: int, folder: Path | None, neo4j: str) -> None:
    """Print a table a store; a row a size, as soon as it is measured."""
    with tempfile.TemporaryDirectory(dir=folder) as name:
        show("sqlite", [(sqlite_url(Path(name) / f"{size}.db"), size) for size in sizes], dimension)
    if neo4j:
        show("neo4j", [(neo4j, size) for size in sizes], dimension)


@dataclass(frozen=True)
class Grown:
    """One size: seconds by the clock and of the processor, megabytes."""

    nodes: int
    write: tuple[float, float]
    write_peak: float
    load: tuple[float, float]
    load_peak: float
    commit: tuple[float, float]


def both_clocks(action: Callable[[], object]) -> tuple[float, float]:
    wall, processor = time.perf_counter(), time.process_time()
    action()
    return time.perf_counter() - wall, time.process_time() - processor


def peak_megabytes() -> float:
    status = Path("/proc/self/status")
    if status.exists():  # what getrusage says begins with the peak of the process that started this one
        (line,) = [line for line in status.read_text().splitlines() if line.startswith("VmHWM")]
        return int(line.split()[1]) / 1e3
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1e6 if sys.platform == "darwin" else 1e3)


def grow(url: str, n_nodes: int, dimension: int) -> tuple[tuple[float, float], tuple[float, float], float]:
    """Write a session batch by batch; the clocks of that, of a further commit, and the peak of memory."""
    vectors = unit_vectors(n_nodes, dimension)
    coming: dict[int, Pairs] = {}
    for low, high in random_pairs(n_nodes, EDGES_A_NODE * n_nodes):
        coming.setdefault(high // BATCH, []).append((low, high))
    scores = Similarity(0.7, *[0.25] * 9)
    store = open_store(url)
    try:
        root = TaskNode("What was renewed?", "what was renewed", vectors[0])
        state = store.create_session(SessionState(SESSION, "", NodeId(""), "goal", "benchmark", {}), root)
        lease = store.acquire_lease(SESSION, make_owner(), seconds=36_000)
        nodes: list[NodeId] = []

        def write() -> None:
            for first in range(0, n_nodes, BATCH):
                with store.transaction(lease) as tx:
                    for number in range(first, min(first + BATCH, n_nodes)):
                        node = tx.create_node(evidence(vectors[number], number))
                        nodes.append(node.id)
                        tx.create_edge(Edge(EdgeType.PRODUCED, state.root, node.id))
                    pairs = coming.get(first // BATCH, [])
                    tx.upsert_similar(
                        [Edge(EdgeType.SIMILAR_TO, nodes[low], nodes[high], scores) for low, high in pairs]
                    )

        written = both_clocks(write)
        commits = [
            both_clocks(lambda: commit_iteration(store, lease, state.root, vectors)) for _ in range(10)
        ]
        store.release_lease(lease)
    finally:
        store.close()
    wall, processor = (statistics.median(clock) for clock in zip(*commits, strict=True))
    return written, (wall, processor), peak_megabytes()


def load(url: str) -> tuple[tuple[float, float], float]:
    """The clocks of loading the session, and what it added to the peak of memory."""
    store = open_store(url)
    try:
        before = peak_megabytes()
        return both_clocks(lambda: store.load_snapshot(SESSION)), peak_megabytes() - before
    finally:
        store.close()


def grown(url: str, n_nodes: int, dimension: int) -> Grown:
    def apart(action: Callable[..., Any], *arguments: object) -> Any:
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
            return pool.submit(action, *arguments).result()

    written, commit, write_peak = apart(grow, url, n_nodes, dimension)
    loaded, load_peak = apart(load, url)
    store = open_store(url)
    store.delete_session(SESSION)
    store.close()
    return Grown(n_nodes, written, write_peak, loaded, load_peak, commit)


def show(name: str, places: list[tuple[str, int]], dimension: int) -> None:
    print(f"{name}; seconds (of the processor), × a node against the row above")
    print(
        f"  {'nodes':>7}  {'write':>26}  {'load':>26}  {'commit of 50':>19}  {'peak MB: write':>14}  load",
        flush=True,
    )
    above: Grown | None = None
    for url, size in places:
        row = grown(url, size, dimension)
        wall, processor = row.commit
        print(
            f"  {size:7}  {cost('write', row, above):>26}  {cost('load', row, above):>26}  "
            f"{wall * 1e3:7.1f} ({processor * 1e3:5.1f}) ms  {row.write_peak:14.0f}  {row.load_peak:4.0f}",
            flush=True,
        )
        above = row


def cost(name: str, row: Grown, above: Grown | None) -> str:
    wall, processor = getattr(row, name)
    text = f"{wall:8.2f} ({processor:6.2f})"
    if above is None:
        return f"{text}        "
    return f"{text} {processor / row.nodes * above.nodes / getattr(above, name)[1]:5.2f} ×"
