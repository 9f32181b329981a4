"""The stores that the contract is held against, and a session in one of them to work on.

A further store is one more fixture in STORES: a function that gives a folder the URL of an empty database.
A server has only one database, which is emptied each time.
"""

import contextlib
import itertools
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from lethe_core.adapters.stores import open_store, sqlite_url
from lethe_core.graph.arrays import Vector
from lethe_core.graph.nodes import Edge, EdgeType, EvidenceNode, NodeId, SessionId, Similarity, TaskNode
from lethe_core.graph.patches import TaskPatch
from lethe_core.graph.session_state import Lease, SessionState
from lethe_core.graph.snapshot import GraphSnapshot
from lethe_core.graph.store import GraphDelta, GraphStore, Transaction

DIMENSION = 6


STORES = ("sqlite", "neo4j")


@pytest.fixture
def sqlite() -> Callable[[Path], str]:
    return lambda folder: sqlite_url(folder / "graph.db")


@pytest.fixture
def neo4j(empty_neo4j: Callable[[], str]) -> Callable[[Path], str]:
    return lambda _: empty_neo4j()


class World:
    """A session with a root task and a lease on it."""

    def __init__(self, store: GraphStore, name: str = "s-world") -> None:
        self.store = store
        self.id = SessionId(name)
        self._numbers = itertools.count(1)
        self.state = store.create_session(self.new_state(name), self.new_task("the question"))
        self.root = self.state.root
        self.lease: Lease = store.acquire_lease(self.id, f"host/1/x/{name}")

    @staticmethod
    def new_state(name: str) -> SessionState:
        return SessionState(SessionId(name), "", NodeId(""), "the goal", "test-6", {"min_iterations": 3})

    def vector(self, seed: int | None = None) -> Vector:
        values = np.random.default_rng(next(self._numbers) if seed is None else seed).normal(size=DIMENSION)
        return (values / np.linalg.norm(values)).astype(np.float32)

    def new_task(self, description: str = "a task", node_id: str = "", **values: object) -> TaskNode:
        defaults: dict[str, object] = {"embed_text": description, "embedding": self.vector()}
        return TaskNode(description, id=NodeId(node_id), **(defaults | values))  # type: ignore[arg-type]

    def new_evidence(self, content: str = "a finding", node_id: str = "", **values: object) -> EvidenceNode:
        defaults: dict[str, object] = {
            "embed_text": content,
            "embedding": self.vector(),
            "strength": 0.6,
            "base_strength": 0.5,
        }
        return EvidenceNode(content, id=NodeId(node_id), **(defaults | values))  # type: ignore[arg-type]

    def write(self, change: Callable[[Transaction], object]) -> GraphDelta:
        """One transaction; returns what it changed."""
        with self.store.transaction(self.lease) as tx:
            change(tx)
        return tx.delta

    def task(self, description: str = "a task") -> NodeId:
        return self.write(lambda tx: tx.create_node(self.new_task(description))).created[0].id

    def evidence(self, content: str = "a finding") -> NodeId:
        return self.write(lambda tx: tx.create_node(self.new_evidence(content))).created[0].id

    def finish(self, task: NodeId, status: str) -> None:
        def change(tx: Transaction) -> None:
            tx.update_node(task, TaskPatch(status="ACTIVE"))  # type: ignore[arg-type]
            tx.update_node(task, TaskPatch(status=status, result_summary="the end"))  # type: ignore[arg-type]

        self.write(change)

    def similar(self, source: NodeId, target: NodeId, cosine: float = 0.7) -> Edge:
        return Edge(EdgeType.SIMILAR_TO, source, target, Similarity(cosine))

    def snapshot(self) -> GraphSnapshot:
        return self.store.load_snapshot(self.id)


@pytest.fixture(params=STORES)
def place(request: pytest.FixtureRequest) -> Callable[[Path], str]:
    """Gives the URL of an empty database for a folder."""
    chosen: Callable[[Path], str] = request.getfixturevalue(request.param)
    return chosen


@pytest.fixture
def url(place: Callable[[Path], str], tmp_path: Path) -> str:
    """The URL of an empty database."""
    return place(tmp_path)


@pytest.fixture
def store(url: str) -> Iterator[GraphStore]:
    opened = open_store(url)
    yield opened
    opened.close()


@pytest.fixture
def world(store: GraphStore) -> World:
    return World(store)


@pytest.fixture
def new_world() -> type[World]:
    return World


@pytest.fixture
def processes(load_module: Callable[[Path], ModuleType]) -> ModuleType:
    return load_module(Path(__file__).with_name("processes.py"))


@pytest.fixture
def contents() -> Callable[[GraphSnapshot], object]:
    """A session's whole graph as plain values that can be compared, order of creation included."""
    return _contents


def _contents(snapshot: GraphSnapshot) -> object:
    nodes = [*snapshot.tasks.values(), *snapshot.evidence.values()]
    return (
        [{name: _plain(getattr(node, name)) for name in node.__dataclass_fields__} for node in nodes],
        list(snapshot.edges.items()),
    )


def _plain(value: object) -> object:
    return (value.dtype.str, value.tobytes()) if isinstance(value, np.ndarray) else value


# -- disks and folders that refuse ----------------------------------------------------------------------


@pytest.fixture
def locked_folder() -> Iterator[Path]:
    """A folder for ``read_only``: outside of those that only root may enter."""
    folder = Path(tempfile.mkdtemp())
    yield folder
    folder.chmod(0o755)
    shutil.rmtree(folder)


@pytest.fixture
def read_only() -> Callable[[Path], AbstractContextManager[None]]:
    """Lets a folder be read and not written, by root as well: root steps down meanwhile."""
    return _read_only


@contextlib.contextmanager
def _read_only(folder: Path) -> Iterator[None]:
    folder.chmod(0o555)
    root = os.geteuid() == 0
    if root:
        os.seteuid(65534)
    try:
        yield
    finally:
        if root:
            os.seteuid(0)


@pytest.fixture
def small_disk() -> Callable[..., AbstractContextManager[bool]]:
    """Makes a folder a file system of some MB; gives False where that could not be mounted."""
    return _small_disk


@contextlib.contextmanager
def _small_disk(folder: Path, megabytes: int = 4) -> Iterator[bool]:
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "lethe-test", str(folder)]
    mounted = (
        sys.platform == "linux"
        and os.geteuid() == 0
        and subprocess.run(command, capture_output=True, check=False).returncode == 0
    )
    try:
        yield mounted
    finally:
        if mounted:
            subprocess.run(["umount", str(folder)], check=True)


# -- what was drawn -------------------------------------------------------------------------------------


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Show how many random sequences the stateful tests ran."""
    for report in terminalreporter.getreports("passed"):
        for name, value in report.user_properties:
            if name == "drawn":
                terminalreporter.write_line(f"{report.nodeid.rpartition('::')[2]}: {value}")
