"""Neo4j: a connection that breaks at a commit loses nothing and writes nothing twice."""

import pytest

from lethe_core.adapters.stores import open_store
from lethe_core.errors import SessionBusyError, SessionNotFoundError
from lethe_core.graph.nodes import Edge, EdgeType, SessionId
from lethe_core.graph.session_state import SessionPatch


@pytest.fixture
def place(neo4j):
    return neo4j


@pytest.fixture(params=["before_commit", "after_commit"])
def lose(request, neo4j_proxy):
    """Has the next commit lose its connection, before the server has it or after it was carried out."""

    def once():
        setattr(neo4j_proxy, request.param, 1)

    yield once
    assert neo4j_proxy.lost > 0


@pytest.fixture
def store(url, neo4j_proxy):
    assert url  # the database is empty
    opened = open_store(f"bolt://127.0.0.1:{neo4j_proxy.port}")
    yield opened
    opened.close()


def test_a_session_is_created_once(lose, store, new_world):
    lose()
    world = new_world(store)
    assert [state.uuid for state in store.list_sessions()] == [world.state.uuid]
    assert list(world.snapshot().tasks) == [world.root]


def test_a_lease_is_taken_once(lose, world):
    world.store.release_lease(world.lease)
    lose()
    lease = world.store.acquire_lease(world.id, "host/2/x/b")
    assert lease.epoch == world.lease.epoch + 1
    assert world.store.lease_holder(world.id) == lease
    # One start was counted: of three without progress, the first was the world's own.
    world.store.release_lease(lease)
    world.lease = world.store.acquire_lease(world.id, "host/2/x/c")
    world.evidence()


def test_a_lease_is_renewed_and_given_back(lose, world):
    lose()
    renewed = world.store.renew_lease(world.lease, seconds=500)
    assert renewed.until > world.lease.until + 400
    lose()
    world.store.release_lease(renewed)
    assert world.store.lease_holder(world.id) is None


def test_a_transaction_is_written_once(lose, world, contents):
    task, old = world.task(), world.evidence()
    snapshot = world.snapshot()
    for number in range(3):
        with world.store.transaction(world.lease) as tx:
            found = tx.create_node(world.new_evidence(f"found {number}"))
            tx.create_edge(Edge(EdgeType.PRODUCED, task, found.id))
            tx.upsert_similar([world.similar(old, found.id)])
            tx.update_session(SessionPatch(iterations=number + 1))
            lose()  # everything that is read while staging was read
        snapshot.apply(tx.delta)
        assert contents(world.snapshot()) == contents(snapshot)
    assert [node.content for node in snapshot.evidence.values()][1:] == [f"found {n}" for n in range(3)]
    assert [node.sequence for node in snapshot.evidence.values()] == [1, 2, 3, 4]
    assert world.store.load_session(world.id).iterations == 3


def test_a_session_is_deleted_once(lose, world):
    world.store.release_lease(world.lease)
    lose()
    world.store.delete_session(world.id)
    with pytest.raises(SessionNotFoundError):
        world.store.load_session(SessionId("s-world"))
    assert world.store.list_sessions() == []


def test_what_is_read_is_read_again(lose, world, contents):
    before = contents(world.snapshot())
    for read in (world.snapshot, lambda: world.store.load_session(world.id), world.store.list_sessions):
        lose()
        assert read()
    assert contents(world.snapshot()) == before


def test_a_refusal_stays_a_refusal(lose, world):
    lose()
    world.store.renew_lease(world.lease)
    with pytest.raises(SessionBusyError):
        world.store.acquire_lease(world.id, "host/3/x/c")
