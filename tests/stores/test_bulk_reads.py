"""Every store: the graph is read once, in bulk; an iteration reads no more of a large one than of a small."""

import itertools

import pytest

from lethe_core.adapters.stores import open_store
from lethe_core.adapters.stores.sqlite import SqliteStore
from lethe_core.graph.nodes import Edge, EdgeType, TaskStatus
from lethe_core.graph.patches import EvidencePatch, TaskPatch
from lethe_core.graph.session_state import SessionPatch

SMALL, LARGE = 40, 600
NEW = 8  # nodes of an iteration


@pytest.fixture
def counted(request, place, tmp_path):
    """A store, and what was read from it so far: rows of SQLite, bytes of a server."""
    url = place(tmp_path)
    if url.startswith("sqlite"):
        store = open_store(url)
        assert isinstance(store, SqliteStore)
        rows = []

        def seen(_cursor, row):
            rows.append(1)
            return row

        with store._connection.reading_once() as database:
            database.row_factory = seen
        yield store, lambda: len(rows)
    else:
        proxy = request.getfixturevalue("neo4j_proxy")
        store = open_store(f"bolt://127.0.0.1:{proxy.port}")
        yield store, lambda: proxy.read
    store.close()


def grown(world, size):
    """A session of some tasks and ``size`` findings, each alike to the one before."""

    def change(tx):
        found = [tx.create_node(world.new_evidence("word " * 40)).id for _ in range(size)]
        for node in found:
            tx.create_edge(Edge(EdgeType.PRODUCED, world.root, node))
        tx.upsert_similar([world.similar(*pair) for pair in itertools.pairwise(found)])
        for _ in range(3):
            task = tx.create_node(world.new_task())
            tx.create_edge(Edge(EdgeType.SUBTASK_OF, task.id, world.root))

    world.write(change)


def iterate(world, snapshot):
    """What the phases of an iteration write, the graph in memory following each."""
    task = next(node for node in snapshot.ready_set() if node.id != world.root)
    old = list(snapshot.evidence)[:NEW]

    def select(tx):
        tx.update_node(task.id, TaskPatch(status=TaskStatus.ACTIVE, last_selected=1))
        tx.update_session(SessionPatch(iterations=1))

    def sync(tx):
        tx.upsert_similar([world.similar(old[0], other, 0.8) for other in old[1:]])
        tx.delete_similar([world.similar(old[1], old[2])])
        for node in old:
            tx.update_node(node, EvidencePatch(strength=0.7))

    def apply(tx):
        created = tx.create_node(world.new_task("a subtask"))
        tx.create_edge(Edge(EdgeType.SUBTASK_OF, created.id, task.id))
        tx.update_node(task.id, TaskPatch(n_productive=1))

    def ingest(tx):
        for _ in range(NEW):
            node = tx.create_node(world.new_evidence("word " * 40))
            tx.create_edge(Edge(EdgeType.PRODUCED, task.id, node.id))
        tx.create_edge(Edge(EdgeType.PRODUCED, task.id, old[0]))

    def end(tx):
        tx.update_node(task.id, TaskPatch(status=TaskStatus.PENDING))
        tx.update_session(SessionPatch(phase=None, signals=({"coverage": 0.5},)))

    for phase in (select, sync, apply, ingest, end):
        snapshot.apply(world.write(phase))


def test_an_iteration_reads_as_much_of_a_large_graph_as_of_a_small_one(counted, new_world, contents):
    store, read = counted
    taken, loaded = {}, {}
    for size in (SMALL, LARGE):
        world = new_world(store, f"s-{size}")
        grown(world, size)
        before = read()
        snapshot = store.load_snapshot(world.id)
        loaded[size] = read() - before
        before = read()
        iterate(world, snapshot)
        taken[size] = read() - before
        assert contents(store.load_snapshot(world.id)) == contents(snapshot)
    assert loaded[LARGE] > 8 * loaded[SMALL]  # the count counts
    assert taken[LARGE] < 1.1 * taken[SMALL], (taken, loaded)
    assert taken[LARGE] < 0.25 * loaded[LARGE], (taken, loaded)
