"""Every store: evidence taken over by another session of the store, all but its ids as it was."""

import dataclasses

import pytest

from lethe_core.errors import CycleError
from lethe_core.graph.integrity import problems_of
from lethe_core.graph.nodes import Edge, EdgeType, EvidenceKind, TaskStatus
from lethe_core.graph.patches import EvidencePatch
from lethe_core.graph.session_state import SessionPatch
from lethe_core.session.carrying import plan_carry
from lethe_core.session.following import KNOWN_BEFORE, take_over


def fill(world):
    """Two chunks that a synthesis stands for, one of them alike to a third."""
    chunks = [world.evidence(f"finding {number}") for number in range(3)]
    cited = world.snapshot().evidence[chunks[0]].short_id
    text = f"Both say so [{cited}]."

    def change(tx):
        made = tx.create_node(world.new_evidence(text, kind=EvidenceKind.SYNTHESIS))
        for chunk in chunks[:2]:
            tx.create_edge(Edge(EdgeType.SUPERSEDES, made.id, chunk))
            tx.update_node(chunk, EvidencePatch(superseded=True))
        for chunk in chunks:
            tx.create_edge(Edge(EdgeType.PRODUCED, world.root, chunk))
        tx.upsert_similar([world.similar(chunks[1], chunks[2], 0.8125)])

    world.write(change)
    return world.snapshot()


def values(node):
    """Of a node all that stays the same when it is taken over."""
    own = ("id", "short_id", "session_id", "origin_id", "created_at", "sequence", "content")
    plain = {f.name: getattr(node, f.name) for f in dataclasses.fields(node) if f.name not in own}
    return plain | {"embedding": node.embedding.tobytes()}


def test_taken_over_evidence_is_the_same_but_for_its_ids(store, new_world):
    one, two = new_world(store, "s-one"), new_world(store, "s-two")
    before = fill(one)
    plan = plan_carry(before, [], embedder=None, goal_query=one.vector())
    task = two.new_task(KNOWN_BEFORE)
    two.write(lambda tx: take_over(tx, plan, task))
    # Read anew, in bulk: what is in the store, not in this process.
    now = store.load_snapshot(two.id)
    assert [values(node) for node in now.evidence.values()] == [values(n) for n in before.evidence.values()]
    assert [node.origin_id for node in now.evidence.values()] == list(before.evidence)
    assert {node.session_id for node in now.evidence.values()} == {"s-two"}
    origin = {node.id: node.origin_id for node in now.evidence.values()}
    among = (EdgeType.SUPERSEDES, EdgeType.SIMILAR_TO)
    taken = {
        (e.type, origin[e.source], origin[e.target]): e.similarity
        for e in now.edges.values()
        if e.type in among
    }
    assert taken == {key: e.similarity for key, e in before.edges.items() if e.type in among}
    synthesis = list(now.evidence.values())[-1]
    assert synthesis.content == f"Both say so [{next(iter(now.evidence.values())).short_id}]."
    known = now.known_before
    assert (known.description, known.status) == (KNOWN_BEFORE, TaskStatus.DONE)
    assert problems_of(store.dump_session(two.id)) == []
    # The one that it was taken from is as it was, and may go.
    assert [values(n) for n in one.snapshot().evidence.values()] == [
        values(n) for n in before.evidence.values()
    ]
    store.release_lease(one.lease)
    store.delete_session(one.id)
    assert len(store.load_snapshot(two.id).evidence) == len(before.evidence)


def test_what_fails_half_way_takes_nothing_over(store, new_world, contents):
    one, two = new_world(store, "s-one"), new_world(store, "s-two")
    plan = plan_carry(fill(one), [], embedder=None, goal_query=one.vector())
    before, state = contents(two.snapshot()), store.load_session(two.id)

    def change(tx):
        take_over(tx, plan, two.new_task(KNOWN_BEFORE))
        tx.update_session(SessionPatch(n=2, previous="s-one"))
        task = tx.create_node(two.new_task())
        tx.create_edge(Edge(EdgeType.SUBTASK_OF, task.id, task.id))

    with pytest.raises(CycleError):
        two.write(change)
    assert contents(two.snapshot()) == before
    assert store.load_session(two.id) == state
