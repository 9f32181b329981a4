"""Every store: edges, what they may join, what is frozen, cycles."""

import itertools

import numpy as np
import pytest

from lethe_core.errors import CycleError, DuplicateError, ImmutableNodeError, InvalidValueError, StoreError
from lethe_core.graph.nodes import Edge, EdgeType, Similarity, TaskStatus
from lethe_core.graph.patches import TaskPatch

ENDS = {
    EdgeType.SUBTASK_OF: ("task", "task"),
    EdgeType.DEPENDS_ON: ("task", "task"),
    EdgeType.PRODUCED: ("task", "evidence"),
    EdgeType.SUPERSEDES: ("evidence", "evidence"),
}


def pair(world, source, target):
    return getattr(world, source)(), getattr(world, target)()


@pytest.mark.parametrize("edge_type", ENDS)
@pytest.mark.parametrize("kinds", list(itertools.product(("task", "evidence"), repeat=2)), ids="-".join)
def test_an_edge_joins_only_the_nodes_of_its_type(world, edge_type, kinds):
    edge = Edge(edge_type, *pair(world, *kinds))
    if kinds == ENDS[edge_type]:
        delta = world.write(lambda tx: tx.create_edge(edge))
        assert delta.edges == (edge,)
        assert list(world.snapshot().edges.values()) == [edge]
    else:
        with pytest.raises(InvalidValueError, match=str(edge_type)):
            world.write(lambda tx: tx.create_edge(edge))
        assert not world.snapshot().edges


@pytest.mark.parametrize("edge_type", ENDS)
@pytest.mark.parametrize("together", [True, False], ids=["same transaction", "later transaction"])
def test_an_edge_exists_once(world, edge_type, together):
    edge = Edge(edge_type, *pair(world, *ENDS[edge_type]))
    if not together:
        world.write(lambda tx: tx.create_edge(edge))
    with pytest.raises(DuplicateError):
        world.write(lambda tx: [tx.create_edge(edge) for _ in range(1 + together)])
    assert len(world.snapshot().edges) == (0 if together else 1)


def test_an_edge_between_nodes_of_one_transaction_is_written_with_them(world):
    with world.store.transaction(world.lease) as tx:
        task, found = tx.create_node(world.new_task()), tx.create_node(world.new_evidence())
        tx.create_edge(Edge(EdgeType.SUBTASK_OF, task.id, world.root))
        tx.create_edge(Edge(EdgeType.PRODUCED, task.id, found.id))
    snapshot = world.snapshot()
    assert snapshot.parent(task.id) == world.root
    assert [node.id for node in snapshot.produced(task.id)] == [found.id]


def test_only_similar_to_has_a_similarity(world):
    task, found = world.task(), world.evidence()
    with pytest.raises(InvalidValueError, match="similarity"):
        world.write(lambda tx: tx.create_edge(Edge(EdgeType.PRODUCED, task, found, Similarity(0.5))))
    other = world.evidence()
    with pytest.raises(InvalidValueError, match="upsert_similar"):
        world.write(lambda tx: tx.create_edge(world.similar(found, other)))
    for edge in (
        Edge(EdgeType.SIMILAR_TO, found, other),
        Edge(EdgeType.SUPERSEDES, found, other, Similarity(0.5)),
    ):
        with pytest.raises(InvalidValueError, match="similarity"):
            world.write(lambda tx, e=edge: tx.upsert_similar([e]))


# -- frozen on a terminal task ----------------------------------------------------------------------


@pytest.mark.parametrize("end", ["DONE", "FAILED"])
@pytest.mark.parametrize("together", [True, False], ids=["same transaction", "later transaction"])
@pytest.mark.parametrize(
    ("edge_type", "outgoing", "frozen"),
    [
        (EdgeType.SUBTASK_OF, True, True),
        (EdgeType.DEPENDS_ON, True, True),
        (EdgeType.PRODUCED, True, True),
        (EdgeType.SUBTASK_OF, False, True),
        (EdgeType.DEPENDS_ON, False, False),
    ],
)
def test_edges_of_a_terminal_task_are_frozen(world, contents, end, together, edge_type, outgoing, frozen):
    task = world.task()
    other = world.evidence() if edge_type is EdgeType.PRODUCED else world.task()
    edge = Edge(edge_type, task, other) if outgoing else Edge(edge_type, other, task)
    if not together:
        world.finish(task, end)
    before = contents(world.snapshot())

    def change(tx):
        if together:
            tx.update_node(task, TaskPatch(status=TaskStatus.ACTIVE))
            tx.update_node(task, TaskPatch(status=TaskStatus(end)))
        tx.create_edge(edge)

    if frozen:
        with pytest.raises(ImmutableNodeError, match=end):
            world.write(change)
        assert contents(world.snapshot()) == before
    else:
        world.write(change)
        assert edge.key in world.snapshot().edges


@pytest.mark.parametrize("end", ["DONE", "FAILED"])
def test_a_task_may_end_after_its_last_edges_in_one_transaction(world, end):
    task = world.task()
    with world.store.transaction(world.lease) as tx:
        tx.update_node(task, TaskPatch(status=TaskStatus.ACTIVE))
        found = tx.create_node(world.new_evidence())
        tx.create_edge(Edge(EdgeType.PRODUCED, task, found.id))
        tx.create_edge(Edge(EdgeType.SUBTASK_OF, task, world.root))
        tx.update_node(task, TaskPatch(status=TaskStatus(end)))
    snapshot = world.snapshot()
    assert snapshot.tasks[task].status == end
    assert snapshot.parent(task) == world.root
    assert len(snapshot.produced(task)) == 1


def test_similar_edges_of_terminal_tasks_may_come_change_and_go(world):
    first, second = world.task(), world.task()
    world.finish(first, "DONE")
    world.finish(second, "FAILED")
    for cosine in (0.7, 0.8):
        world.write(lambda tx, c=cosine: tx.upsert_similar([world.similar(first, second, c)]))
        (edge,) = world.snapshot().edges.values()
        assert edge.similarity == Similarity(cosine)
    world.write(lambda tx: tx.delete_similar([edge]))
    assert not world.snapshot().edges


# -- SIMILAR_TO -------------------------------------------------------------------------------------


def test_scores_are_kept_exactly_and_absent_ones_stay_absent(world):
    first, second, third = world.evidence(), world.evidence(), world.evidence()
    scores = Similarity(0.1 + 0.2, 1 / 3, 0.0, 1.0, 1e-300, 2 / 7, 0.5, 0.25, -1.0, 1.0)
    edges = [
        Edge(EdgeType.SIMILAR_TO, first, second, scores),
        world.similar(first, third, float(np.float32(0.6))),
    ]
    world.write(lambda tx: tx.upsert_similar(edges))
    assert list(world.snapshot().edges.values()) == edges


def test_numpy_scores_are_stored_as_the_numbers_that_they_are(world):
    first, second = world.evidence(), world.evidence()
    score = np.float32(0.7)
    edge = Edge(EdgeType.SIMILAR_TO, first, second, Similarity(score, entail_fwd=np.float64(0.1)))
    delta = world.write(lambda tx: tx.upsert_similar([edge]))
    (stored,) = world.snapshot().edges.values()
    assert delta.edges == (stored,)
    assert stored.similarity == Similarity(float(score), entail_fwd=0.1)
    assert type(delta.edges[0].similarity.cosine) is float


def test_similar_joins_one_kind_from_the_earlier_node_to_the_later(world):
    task, first, second = world.task(), world.evidence(), world.evidence()
    for source, target in ((task, first), (second, first), (first, first)):
        with pytest.raises(InvalidValueError):
            world.write(lambda tx, s=source, t=target: tx.upsert_similar([world.similar(s, t)]))
    assert not world.snapshot().edges


def test_only_similar_edges_are_ever_deleted(world):
    task, found = world.task(), world.evidence()
    edge = Edge(EdgeType.PRODUCED, task, found)
    world.write(lambda tx: tx.create_edge(edge))
    with pytest.raises(InvalidValueError, match="PRODUCED"):
        world.write(lambda tx: tx.delete_similar([edge]))
    assert edge.key in world.snapshot().edges


def test_a_transaction_sees_its_own_upserts_and_deletions(world):
    nodes = [world.evidence() for _ in range(3)]
    old, new, gone = (world.similar(nodes[a], nodes[b]) for a, b in ((0, 1), (0, 2), (1, 2)))
    world.write(lambda tx: tx.upsert_similar([old]))

    def change(tx):
        tx.delete_similar([old, gone])
        tx.upsert_similar([new, gone])
        tx.delete_similar([gone])
        tx.upsert_similar([world.similar(nodes[0], nodes[1], 0.9)])

    delta = world.write(change)
    assert delta.removed == (old.key,)
    assert {edge.key: edge.similarity.cosine for edge in delta.edges} == {new.key: 0.7, old.key: 0.9}
    assert set(world.snapshot().edges.values()) == set(delta.edges)


# -- cycles -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("length", [1, 2, 3, 7])
@pytest.mark.parametrize("stored", [True, False], ids=["closing a stored path", "all in one transaction"])
def test_a_cycle_rolls_the_whole_transaction_back(world, contents, length, stored):
    tasks = [world.task() for _ in range(length)]
    types = itertools.cycle((EdgeType.SUBTASK_OF, EdgeType.DEPENDS_ON))
    ring = [Edge(t, a, b) for t, a, b in zip(types, tasks, [*tasks[1:], tasks[0]], strict=False)]
    if stored:
        world.write(lambda tx: [tx.create_edge(edge) for edge in ring[:-1]])
        ring = ring[-1:]
    before, state = contents(world.snapshot()), world.store.load_session(world.id)

    def change(tx):
        tx.create_node(world.new_evidence())
        tx.update_node(world.root, TaskPatch(prepared_prompt="changed"))
        for edge in ring:
            tx.create_edge(edge)

    with pytest.raises(CycleError, match="→"):
        world.write(change)
    assert contents(world.snapshot()) == before
    assert world.store.load_session(world.id) == state
    # Nothing of it stands in the way of what comes next.
    assert world.write(lambda tx: tx.create_node(world.new_evidence())).created[0].sequence == 1


def test_a_diamond_is_no_cycle(world):
    top, left, right, bottom = (world.task() for _ in range(4))
    edges = [(left, top), (right, top), (bottom, left), (bottom, right)]
    world.write(lambda tx: [tx.create_edge(Edge(EdgeType.DEPENDS_ON, *ends)) for ends in edges])
    assert len(world.snapshot().edges) == 4


def test_what_was_refused_and_caught_leaves_the_rest_of_the_transaction_whole(world):
    with world.store.transaction(world.lease) as tx:
        task = tx.create_node(world.new_task())
        edge = Edge(EdgeType.SUBTASK_OF, task.id, world.root)
        tx.create_edge(edge)
        for wrong in (lambda: tx.create_edge(edge), lambda: tx.create_node(world.new_task("a\0b"))):
            with pytest.raises(StoreError):
                wrong()
    snapshot = world.snapshot()
    assert list(snapshot.tasks) == [world.root, task.id]
    assert list(snapshot.edges.values()) == [edge]
