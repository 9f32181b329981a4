"""Every store: a transaction is all or nothing, fenced by its lease, and says what it changed."""

import threading

import pytest

from lethe_core.adapters.stores import open_store
from lethe_core.errors import SessionLostError, StoreError
from lethe_core.graph.nodes import Edge, EdgeType, TaskStatus
from lethe_core.graph.patches import EvidencePatch, TaskPatch
from lethe_core.graph.session_state import SessionPatch


class Interrupted(BaseException):
    """Stands for Ctrl-C."""


@pytest.mark.parametrize("error", [ValueError, Interrupted])
def test_an_error_in_the_block_leaves_no_trace(world, contents, error):
    found, old = world.evidence(), world.evidence()
    world.write(lambda tx: tx.upsert_similar([world.similar(found, old)]))
    before, state = contents(world.snapshot()), world.store.load_session(world.id)

    def change(tx):
        new = tx.create_node(world.new_evidence())
        tx.update_node(found, EvidencePatch(strength=0.9))
        tx.create_edge(Edge(EdgeType.PRODUCED, world.root, new.id))
        tx.delete_similar([world.similar(found, old)])
        tx.update_session(SessionPatch(iterations=3))
        raise error

    with pytest.raises(error):
        world.write(change)
    assert contents(world.snapshot()) == before
    assert world.store.load_session(world.id) == state


def test_nothing_is_seen_from_outside_before_the_block_is_left(url, world, contents):
    other = open_store(url)
    before = contents(other.load_snapshot(world.id))
    with world.store.transaction(world.lease) as tx:
        tx.create_node(world.new_evidence())
        tx.update_session(SessionPatch(iterations=1))
        assert contents(other.load_snapshot(world.id)) == before
        assert other.load_session(world.id).iterations == 0
    assert len(other.load_snapshot(world.id).evidence) == 1
    assert other.load_session(world.id).iterations == 1
    other.close()


def test_a_transaction_sees_what_it_has_done_so_far(world):
    with world.store.transaction(world.lease) as tx:
        assert tx.state.iterations == 0
        tx.update_session(SessionPatch(iterations=1))
        tx.update_session(SessionPatch(tokens=7))
        assert (tx.state.iterations, tx.state.tokens) == (1, 7)
        task = tx.create_node(world.new_task())
        tx.update_node(task.id, TaskPatch(status=TaskStatus.ACTIVE))
        after = tx.update_node(task.id, TaskPatch(n_productive=1))
        assert (after.status, after.n_productive) == (TaskStatus.ACTIVE, 1)
    assert [node.status for node in tx.delta.created if node.id == task.id] == [TaskStatus.ACTIVE]
    assert not tx.delta.updated


def test_a_snapshot_that_follows_the_deltas_equals_a_fresh_one_in_order_too(world, contents):
    snapshot = world.snapshot()

    def follow(change):
        snapshot.apply(world.write(change))
        assert contents(world.snapshot()) == contents(snapshot)

    follow(lambda tx: [tx.create_node(world.new_evidence()) for _ in range(4)])
    first, second, third, fourth = list(snapshot.evidence)
    follow(
        lambda tx: (
            tx.upsert_similar([world.similar(third, fourth), world.similar(first, fourth)]),
            tx.create_edge(Edge(EdgeType.PRODUCED, world.root, third)),
            tx.create_edge(Edge(EdgeType.PRODUCED, world.root, first)),
            tx.upsert_similar([world.similar(first, second)]),
        )
    )
    follow(lambda tx: tx.upsert_similar([world.similar(second, fourth), world.similar(third, fourth, 0.9)]))
    follow(
        lambda tx: (
            tx.delete_similar([world.similar(first, fourth)]),
            tx.upsert_similar([world.similar(first, fourth, 0.6), world.similar(first, second, 0.8)]),
        )
    )
    follow(lambda tx: tx.delete_similar([world.similar(first, second)]))
    follow(lambda tx: [tx.create_edge(Edge(EdgeType.SUPERSEDES, first, each)) for each in (second, third)])
    follow(lambda tx: tx.update_node(second, EvidencePatch(superseded=True)))
    assert snapshot.produced(world.root) == [snapshot.evidence[first], snapshot.evidence[third]]


def test_a_transaction_is_over_when_its_block_is_left(world):
    with world.store.transaction(world.lease) as tx, pytest.raises(StoreError, match="committed"):
        _ = tx.delta
    with pytest.raises(StoreError, match="over"):
        tx.create_node(world.new_evidence())
    with pytest.raises(RuntimeError), world.store.transaction(world.lease) as failed:
        raise RuntimeError
    with pytest.raises(StoreError, match="over"):
        failed.update_session(SessionPatch(iterations=1))
    with pytest.raises(StoreError, match="committed"):
        _ = failed.delta


def test_transactions_do_not_nest(world):
    with (
        world.store.transaction(world.lease),
        pytest.raises(StoreError, match="open"),
        world.store.transaction(world.lease),
    ):
        pass
    world.evidence()  # and the refusal leaves the store usable


def test_threads_take_turns(world):
    def add():
        for _ in range(5):
            world.evidence()

    threads = [threading.Thread(target=add) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(node.sequence for node in world.snapshot().evidence.values()) == list(range(1, 21))


def test_two_stores_under_one_lease_cannot_overwrite_each_other(url, world):
    other = open_store(url)

    def overtaken():
        with other.transaction(world.lease) as tx:
            tx.create_node(world.new_evidence("late"))
            world.evidence("first")

    with pytest.raises(SessionLostError):
        overtaken()
    assert [node.content for node in world.snapshot().evidence.values()] == ["first"]
    with other.transaction(world.lease) as tx:
        tx.create_node(world.new_evidence("again"))
    assert len(world.snapshot().evidence) == 2
    other.close()


def test_a_store_reopened_goes_on_where_it_was(url, new_world, contents):
    store = open_store(url)
    world = new_world(store)
    found = world.evidence()
    before = contents(world.snapshot())
    store.close()
    world.store = open_store(url)
    assert contents(world.snapshot()) == before
    later = world.evidence()
    assert {node.id: node.sequence for node in world.snapshot().evidence.values()} == {found: 1, later: 2}
    assert world.store.url == url
    world.store.close()
