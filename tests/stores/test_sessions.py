"""Every store: sessions, their own state, and that none sees another."""

import dataclasses
import json

import numpy as np
import pytest

from lethe_core.adapters.stores import open_store
from lethe_core.errors import (
    DuplicateError,
    InvalidValueError,
    NodeNotFoundError,
    SessionBusyError,
    SessionNotFoundError,
)
from lethe_core.graph.nodes import Edge, EdgeType, SessionId, TaskNode, TaskStatus
from lethe_core.graph.outline import Outline, OutlinedClaim, OutlinedSource
from lethe_core.graph.patches import TaskPatch
from lethe_core.graph.serial import decode_state, encode_state
from lethe_core.graph.session_state import (
    KEEP,
    AnswerRecord,
    CallOutcome,
    CallResult,
    KnownSearch,
    Outcome,
    PhaseRecord,
    SearchRecord,
    SessionPatch,
    SessionStatus,
    SimilarMark,
    SkippedSource,
    TaskNote,
    ToolCall,
)


def test_a_new_session_has_its_root_and_nothing_else(world):
    snapshot = world.snapshot()
    assert list(snapshot.tasks) == [world.root]
    assert snapshot.root.sequence == 1
    assert snapshot.root.status is TaskStatus.PENDING
    assert snapshot.root.session_id == world.id
    assert not snapshot.evidence
    assert not snapshot.edges
    assert world.store.load_session(world.id) == world.state
    assert world.state.uuid


def test_a_session_s_name_is_taken_once(store, new_world):
    world = new_world(store)
    with pytest.raises(DuplicateError, match="s-world"):
        store.create_session(new_world.new_state("s-world"), world.new_task())
    assert [state.root for state in store.list_sessions()] == [world.root]


def test_a_root_s_id_is_taken_once_in_the_whole_database(store, new_world):
    world = new_world(store)
    for taken in (world.root, world.evidence()):
        with pytest.raises(DuplicateError):
            store.create_session(new_world.new_state("s-other"), world.new_task(node_id=taken))
    assert len(store.list_sessions()) == 1


@pytest.mark.parametrize("name", ["", "a\0b", "\ud800"])
def test_a_name_that_cannot_be_stored_is_refused(world, name):
    with pytest.raises(InvalidValueError, match="name"):
        world.store.create_session(world.new_state(name), world.new_task())


def test_sessions_are_listed_oldest_first(url, new_world):
    times = iter([30.0, 10.0, 20.0])
    store = open_store(url, clock=lambda: next(times))
    for name in ("s-c", "s-a", "s-b"):
        store.create_session(new_world.new_state(name), ROOT)
    assert [state.session_id for state in store.list_sessions()] == ["s-a", "s-b", "s-c"]
    store.close()


ROOT = TaskNode("q", "q", np.ones(6, dtype=np.float32))
FULL = SessionPatch(
    config={"a": {"b": [1, 2.5, None, True]}, "empty": {}},
    status=SessionStatus.PARTIAL,
    stop_reason="iteration_cap",
    message="über",
    iterations=4,
    seconds=12.25,
    tokens=1234,
    cost=0.125,
    n_unanswered=1,
    signals=({"convergence": 0.1 + 0.2, "gap": [0.5]}, {"convergence": float("inf")}),
    searches=(SearchRecord("t", "rope age", 3, CallOutcome.NOTHING, 0),),
    notes=(TaskNote("t", "blocked by t-a3f1", 2),),
    skipped=(SkippedSource("corpus/bad.pdf", "encrypted"),),
    models=("m1", "m2"),
    block_notices=("x", "y"),
    removed_citations=2,
    sections={"t-1": "prose"},
    n=3,
    previous="s-second",
    before=Outline(
        session="s-second",
        sources=(OutlinedSource("Fares", "papers/fares.md", "2024-03", "0f1e"),),
        claims=(OutlinedClaim("“It is 3 €.”", (0,), ("ab", "cd"), ("ef",), finding=True, id="c1"),),
        contradictions=((0, 0),),
        held=("ab", "cd"),
        pages=("papers/fares.md",),
    ),
    known_searches=(KnownSearch("which fare", "fare 2024", CallOutcome.NEW),),
    source_state="5ca1ab1e",
    n_findings=7,
    similar=SimilarMark(12, 0.1 + 0.2),
)
PHASE = PhaseRecord(
    iteration=5,
    task="t",
    pressure=1 / 3,
    thinking_tokens=6144,
    begun=True,
    din_version=1,
    packed=("a", "b"),
    system="be brief",
    prompt="=GOAL …",
    answers=(
        AnswerRecord(0, '{"operations": []}\0', "m1", 77),
        AnswerRecord(1, "", "m1", 0, failure="timeout"),
    ),
    outcome=Outcome.APPLIED,
    calls=(ToolCall("web_search", "rope age"),),
    results=(CallResult(0, CallOutcome.FAILED, False, 0, "no network"),),
)


def test_state_comes_back_as_it_was_written_in_value_and_type(url, store, new_world):
    world = new_world(store)
    with store.transaction(world.lease) as tx:
        written = tx.update_session(dataclasses.replace(FULL, phase=PHASE))
        assert tx.state == written
    reopened = open_store(url)
    loaded = reopened.load_session(world.id)
    reopened.close()
    assert loaded == written == store.load_session(world.id)
    assert repr(loaded) == repr(written)  # types, too
    for field in dataclasses.fields(FULL):
        value = getattr(FULL, field.name)
        if value is not KEEP:
            assert getattr(loaded, field.name) == value
    assert loaded.phase == PHASE


def test_a_state_from_before_there_was_a_mark_says_that_nothing_was_compared(world):
    world.write(lambda tx: tx.update_session(FULL))
    values = json.loads(encode_state(world.store.load_session(world.id)))
    del values["similar"]
    assert decode_state(json.dumps(values), world.id).similar is None


def test_a_patch_leaves_alone_what_it_does_not_name(world):
    world.write(lambda tx: tx.update_session(dataclasses.replace(FULL, phase=PHASE)))
    before = world.store.load_session(world.id)
    world.write(lambda tx: tx.update_session(SessionPatch(phase=None, iterations=5)))
    after = world.store.load_session(world.id)
    assert after == dataclasses.replace(before, phase=None, iterations=5, updated_at=after.updated_at)


def test_state_stays_writable_when_the_root_is_terminal(world):
    world.finish(world.root, "DONE")
    world.write(lambda tx: tx.update_session(SessionPatch(status=SessionStatus.COMPLETE)))
    assert world.store.load_session(world.id).status is SessionStatus.COMPLETE


@pytest.mark.parametrize(
    "patch",
    [
        SessionPatch(message="\ud800"),
        SessionPatch(config={1: "a"}),
        SessionPatch(config={"a": object()}),
        SessionPatch(signals=({"deep": [{None: 1}]},)),
        SessionPatch(iterations="many"),
        SessionPatch(models=7),
    ],
    ids=["surrogate", "number as key", "object", "deep key", "wrong type", "no sequence"],
)
def test_state_that_cannot_be_kept_is_refused(world, patch):
    with pytest.raises(InvalidValueError, match="s-world"):
        world.write(lambda tx: tx.update_session(patch))
    assert world.store.load_session(world.id) == world.state


def test_sessions_do_not_see_each_other(store, new_world, contents):
    one, two = new_world(store, "s-one"), new_world(store, "s-two")
    mine, yours = one.evidence("mine"), two.evidence("yours")
    task = two.task()
    before = contents(two.snapshot())
    one.write(lambda tx: tx.update_session(SessionPatch(iterations=9)))
    for edge in (Edge(EdgeType.PRODUCED, one.root, yours), Edge(EdgeType.SUPERSEDES, mine, yours)):
        with pytest.raises(NodeNotFoundError):
            one.write(lambda tx, e=edge: tx.create_edge(e))
    with pytest.raises(NodeNotFoundError):
        one.write(lambda tx: tx.upsert_similar([one.similar(mine, yours)]))
    with pytest.raises(NodeNotFoundError):
        one.write(lambda tx: tx.update_node(task, TaskPatch(n_productive=1)))
    assert contents(two.snapshot()) == before
    assert store.load_session(two.id).iterations == 0
    assert set(one.snapshot().evidence) == {mine}


def test_a_deleted_session_leaves_nothing_and_harms_no_other(store, new_world, contents):
    one, two = new_world(store, "s-one"), new_world(store, "s-two")
    for world in (one, two):
        first, second = world.evidence(), world.evidence()
        world.write(lambda tx, w=world, a=first, b=second: tx.upsert_similar([w.similar(a, b)]))
    before = contents(two.snapshot())
    store.release_lease(one.lease)
    store.delete_session(one.id)
    for gone in (store.load_session, store.load_snapshot, store.delete_session):
        with pytest.raises(SessionNotFoundError, match="s-one"):
            gone(one.id)
    assert [state.session_id for state in store.list_sessions()] == ["s-two"]
    assert contents(two.snapshot()) == before
    again = new_world(store, "s-one")
    assert again.state.uuid != one.state.uuid
    assert not again.snapshot().evidence
    assert not again.snapshot().edges


def test_a_session_at_work_is_not_deleted(world):
    with pytest.raises(SessionBusyError, match="process 1 on host"):
        world.store.delete_session(world.id)
    assert world.snapshot().tasks


@pytest.mark.parametrize("name", ["s-nobody", "", "' OR 1=1 --", "a\0b", "\udcff"])
def test_an_unknown_session_is_named(world, name):
    store = world.store
    for read in (store.load_session, store.load_snapshot, store.delete_session):
        with pytest.raises(SessionNotFoundError) as caught:
            read(SessionId(name))
        assert repr(name) in str(caught.value)
    with pytest.raises(SessionNotFoundError):
        store.acquire_lease(SessionId(name), "host/1/x/y")
