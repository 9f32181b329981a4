"""Neo4j: what lies in the database, in bounded batches, and what a hand at it cannot do unseen."""

import threading

import numpy as np
import pytest

from lethe_core.adapters.stores import neo4j_deletion, neo4j_rows, open_store
from lethe_core.errors import SessionNotFoundError, StoreError, StoreVersionError
from lethe_core.graph.nodes import Edge, EdgeType
from lethe_core.graph.patches import EvidencePatch, TaskPatch
from lethe_core.graph.session_state import SessionPatch


@pytest.fixture
def place(neo4j):
    return neo4j


def test_two_kinds_of_nodes_and_the_session_on_the_root_task(world, neo4j_query):
    found = world.evidence()
    world.write(lambda tx: tx.create_edge(Edge(EdgeType.PRODUCED, world.root, found)))
    labels = neo4j_query("MATCH (n:Lethe) RETURN n.id, labels(n) ORDER BY n.id")
    assert {node_id: set(names) for node_id, names in labels} == {
        world.root: {"Lethe", "TaskNode", "Session"},
        found: {"Lethe", "EvidenceNode"},
    }
    assert neo4j_query("MATCH (a)-[r]->(b) RETURN a.id, type(r), b.id") == [[world.root, "PRODUCED", found]]
    assert neo4j_query("MATCH (n:Lethe) RETURN DISTINCT n.session_id") == [[world.id]]


def test_embeddings_lie_as_float32_bytes(world, neo4j_query):
    vector = np.arange(6, dtype=np.float32)
    world.write(lambda tx: tx.create_node(world.new_evidence(embedding=vector)))
    ((stored,),) = neo4j_query("MATCH (n:EvidenceNode) RETURN n.embedding")
    assert bytes(stored) == vector.astype("<f4").tobytes()


def test_ids_are_held_unique_by_the_database(world, neo4j_query):
    from neo4j.exceptions import ConstraintError

    found = world.evidence()
    for properties in ({"id": found}, {"session_id": world.id, "short_id": world.snapshot().root.short_id}):
        with pytest.raises(ConstraintError):
            neo4j_query("CREATE (n:Lethe) SET n = $properties", properties=properties)


def test_a_large_write_goes_in_batches(world, contents, monkeypatch):
    monkeypatch.setattr(neo4j_rows, "MOST_ROWS", 3)
    monkeypatch.setattr(neo4j_rows, "MOST_BYTES", 400)
    with world.store.transaction(world.lease) as tx:
        nodes = [tx.create_node(world.new_evidence("x" * 100)).id for _ in range(10)]
        tasks = [tx.create_node(world.new_task()).id for _ in range(7)]
        for task, node in zip(tasks, nodes, strict=False):
            tx.create_edge(Edge(EdgeType.PRODUCED, task, node))
        tx.upsert_similar([world.similar(nodes[0], node) for node in nodes[1:]])
    snapshot = world.snapshot()
    assert (len(snapshot.evidence), len(snapshot.tasks), len(snapshot.edges)) == (10, 8, 16)
    snapshot.apply(
        world.write(
            lambda tx: (
                [tx.update_node(node, EvidencePatch(superseded=True)) for node in nodes],
                [tx.update_node(task, TaskPatch(n_productive=2)) for task in tasks],
                tx.delete_similar([world.similar(nodes[0], node) for node in nodes[5:]]),
            )
        )
    )
    assert contents(world.snapshot()) == contents(snapshot)


def test_no_batch_is_larger_than_its_bounds_and_none_is_lost(monkeypatch):
    monkeypatch.setattr(neo4j_rows, "MOST_ROWS", 4)
    monkeypatch.setattr(neo4j_rows, "MOST_BYTES", 100)
    rows = [{"text": "x" * (number * 7 % 60), "number": number} for number in range(50)]
    rows.insert(20, {"text": "x" * 500, "number": 99})
    made = list(neo4j_rows.batches(rows))
    assert [row for batch in made for row in batch] == rows
    for batch in made:
        assert len(batch) <= 4
        assert len(batch) == 1 or sum(len(row["text"]) for row in batch) <= 100
    assert list(neo4j_rows.batches([])) == []


def test_a_large_session_is_deleted_in_batches_and_harms_no_other(store, new_world, contents, monkeypatch):
    monkeypatch.setattr(neo4j_deletion, "MOST_ROWS", 4)
    one, two = new_world(store, "s-one"), new_world(store, "s-two")
    for world in (one, two):
        world.write(
            lambda tx, w=world: (
                [tx.create_node(w.new_evidence()) for _ in range(11)]
                + [tx.create_node(w.new_task()) for _ in range(5)]
            )
        )
    before = contents(two.snapshot())
    store.release_lease(one.lease)
    store.delete_session(one.id)
    assert contents(two.snapshot()) == before
    assert [state.session_id for state in store.list_sessions()] == ["s-two"]


@pytest.mark.parametrize("again", ["deletion of another", "creation of the same name"])
def test_a_deletion_that_was_cut_off_is_finished_by_the_next(
    store, new_world, neo4j_query, monkeypatch, again
):
    one, two = new_world(store, "s-one"), new_world(store, "s-two")
    for world in (one, two):
        world.write(lambda tx, w=world: [tx.create_node(w.new_evidence()) for _ in range(5)])
        store.release_lease(world.lease)

    def die(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(neo4j_deletion, "finish_deletions", die)
        with pytest.raises(KeyboardInterrupt):
            store.delete_session(one.id)
    with pytest.raises(SessionNotFoundError):
        store.load_snapshot(one.id)
    assert [state.session_id for state in store.list_sessions()] == ["s-two"]
    if again == "creation of the same name":
        made = new_world(store, "s-one")
        made.evidence("new")
        assert [node.content for node in made.snapshot().evidence.values()] == ["new"]
    else:
        store.delete_session(two.id)
    left = neo4j_query("MATCH (n:Lethe) WHERE n:Deleted OR n.content = 'a finding' RETURN n.session_id")
    assert [name for (name,) in left] == (["s-two"] * 5 if again == "creation of the same name" else [])


def test_nodes_taken_away_by_another_hand_stop_the_commit(world, neo4j_query):
    found, other = world.evidence(), world.evidence()
    with world.store.transaction(world.lease) as tx:
        assert tx.update_node(found, EvidencePatch(strength=0.9))
    neo4j_query("MATCH (n:Lethe {id: $id}) DETACH DELETE n", id=found)
    for change in (
        lambda tx: tx.update_node(found, EvidencePatch(strength=0.5)),
        lambda tx: tx.create_edge(Edge(EdgeType.SUPERSEDES, other, found)),
    ):
        with pytest.raises(StoreError, match=r"s-world.*another program"):
            world.write(lambda tx, c=change: (c(tx), tx.update_session(SessionPatch(message="gone on"))))
    assert world.store.load_session(world.id).message == ""


def test_a_task_ended_by_another_hand_is_not_overwritten(world, neo4j_query):
    task = world.task()
    neo4j_query("MATCH (n:Lethe {id: $id}) SET n.status = 'DONE'", id=task)
    with pytest.raises(StoreError, match="another program"):
        world.write(lambda tx: tx.update_node(task, TaskPatch(n_productive=1)))


def test_a_snapshot_is_of_one_moment_while_another_writes(url, world):
    other, stop = open_store(url), threading.Event()
    problems = []

    def look():
        while not stop.is_set():
            snapshot = other.load_snapshot(world.id)
            if len(snapshot.evidence) != len(snapshot.edges) or len(snapshot.evidence) % 4:
                problems.append((len(snapshot.evidence), len(snapshot.edges)))

    looking = threading.Thread(target=look)
    looking.start()
    for _ in range(25):
        with world.store.transaction(world.lease) as tx:
            for _ in range(4):
                node = tx.create_node(world.new_evidence())
                tx.create_edge(Edge(EdgeType.PRODUCED, world.root, node.id))
    stop.set()
    looking.join()
    other.close()
    assert problems == []
    assert len(world.snapshot().edges) == 100


# -- the schema -------------------------------------------------------------------------------------


@pytest.fixture
def new_database(url, neo4j_query):
    """The URL of a database that no Lethe has ever seen."""
    for (name,) in neo4j_query("SHOW CONSTRAINTS YIELD name WHERE name STARTS WITH 'lethe_' RETURN name"):
        neo4j_query(f"DROP CONSTRAINT {name}")
    for (name,) in neo4j_query("SHOW INDEXES YIELD name WHERE name STARTS WITH 'lethe_' RETURN name"):
        neo4j_query(f"DROP INDEX {name}")
    neo4j_query("MATCH (m:Meta) DETACH DELETE m")
    return url


def test_several_may_make_the_schema_at_once(new_database, neo4j_query):
    errors = []

    def create():
        try:
            open_store(new_database).close()
        except Exception as error:  # noqa: BLE001
            errors.append(error)

    threads = [threading.Thread(target=create) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert neo4j_query("MATCH (m:Meta) RETURN m.name, m.schema_version") == [["lethe", 2]]
    made = neo4j_query(
        "SHOW CONSTRAINTS YIELD name WHERE name STARTS WITH 'lethe_' RETURN name ORDER BY name"
    )
    assert [name for (name,) in made] == ["lethe_id", "lethe_meta", "lethe_session", "lethe_short_id"]
    states = neo4j_query("SHOW INDEXES YIELD name, state WHERE name STARTS WITH 'lethe_' RETURN state")
    assert len(states) == 8


def test_a_newer_store_is_refused_and_left_alone(url, store, neo4j_query):
    assert store
    neo4j_query("MATCH (m:Meta) SET m.schema_version = 3")
    try:
        with pytest.raises(StoreVersionError, match=r"version 3.*newer"):
            open_store(url)
        assert neo4j_query("MATCH (m:Meta) RETURN m.schema_version") == [[3]]
    finally:
        neo4j_query("MATCH (m:Meta) SET m.schema_version = 2")


def test_other_data_in_the_database_is_left_alone(store, new_world, neo4j_query):
    neo4j_query("CREATE (:Person {name: 'Ada', id: 'x'})-[:KNOWS]->(:Session {name: 'theirs'})")
    world = new_world(store)
    world.evidence()
    assert [state.session_id for state in store.list_sessions()] == [world.id]
    store.release_lease(world.lease)
    store.delete_session(world.id)
    rows = neo4j_query("MATCH (p:Person)-[:KNOWS]->(s) RETURN p.name, s.name")
    assert rows == [["Ada", "theirs"]]
