"""Every store: nodes, their identities and what never changes on them."""

import dataclasses
import re
import uuid

import numpy as np
import pytest

from lethe_core.adapters.stores import open_store
from lethe_core.errors import DuplicateError, ImmutableNodeError, InvalidValueError, NodeNotFoundError
from lethe_core.graph.nodes import Edge, EdgeType, EvidenceKind, NodeId, TaskStatus
from lethe_core.graph.patches import EvidencePatch, TaskPatch


def test_created_node_comes_back_as_the_store_keeps_it(world):
    with world.store.transaction(world.lease) as tx:
        task = tx.create_node(world.new_task("dig", prepared_prompt="look deeper", antifocus="tides"))
        found = tx.create_node(
            world.new_evidence(
                "Wells are dug.",
                kind=EvidenceKind.SYNTHESIS,
                address="corpus/wells.md",
                title="Wells",
                date="2024-03",
                span=(3, 17),
                origin_id="x",
                newest="corpus/wells-2.md",
                superseded=True,
            )
        )
    loaded = world.snapshot()
    for node in (task, found):
        again = loaded.node(node.id)
        for field in dataclasses.fields(node):
            value, expected = getattr(again, field.name), getattr(node, field.name)
            if isinstance(expected, np.ndarray):
                assert value.dtype == np.float32
                np.testing.assert_array_equal(value, expected)
            else:
                assert value == expected
                assert type(value) is type(expected)
    assert task.session_id == found.session_id == world.id


def test_store_gives_uuids_short_ids_and_sequences(world):
    delta = world.write(
        lambda tx: [
            *(tx.create_node(world.new_task()) for _ in range(3)),
            *(tx.create_node(world.new_evidence()) for _ in range(3)),
        ]
    )
    tasks, evidence = delta.created[:3], delta.created[3:]
    assert [node.sequence for node in tasks] == [2, 3, 4]  # the root is 1
    assert [node.sequence for node in evidence] == [1, 2, 3]
    for node in delta.created:
        assert uuid.UUID(node.id).version == 4
        assert re.fullmatch(r"[te]-[0-9a-f]{4,}", node.short_id)
        assert node.id.replace("-", "").startswith(node.short_id[2:])
        assert node.short_id[0] == ("t" if node in tasks else "e")


def test_times_come_from_the_injected_clock(url, new_world):
    times = iter(range(100, 200))
    store = open_store(url, clock=lambda: float(next(times)))
    world = new_world(store)
    assert world.state.created_at == world.state.updated_at == 100.0
    with store.transaction(world.lease) as tx:
        first, second = tx.create_node(world.new_task()), tx.create_node(world.new_evidence())
    assert first.created_at == second.created_at == 101.0
    assert store.load_session(world.id).updated_at == 101.0
    store.close()


def test_short_id_grows_on_a_collision_and_is_never_reassigned(world):
    def node_id(digits: str) -> str:
        return str(uuid.UUID(digits + "0" * (32 - len(digits))))

    ids = [node_id(digits) for digits in ("a3f1", "a3f11", "a3f111", "a3f2")]
    delta = world.write(lambda tx: [tx.create_node(world.new_evidence(node_id=i)) for i in ids[:2]])
    delta2 = world.write(lambda tx: [tx.create_node(world.new_evidence(node_id=i)) for i in ids[2:]])
    short = [node.short_id for node in (*delta.created, *delta2.created)]
    assert short == ["e-a3f1", "e-a3f11", "e-a3f111", "e-a3f2"]
    snapshot = world.snapshot()
    assert [snapshot.by_short_id(name).id for name in short] == ids


def test_tasks_and_evidence_have_short_ids_of_their_own(world):
    digits = (
        uuid.UUID("beef0000-0000-4000-8000-000000000001"),
        uuid.UUID("beef0000-0000-4000-8000-000000000002"),
    )
    delta = world.write(
        lambda tx: (
            tx.create_node(world.new_task(node_id=str(digits[0]))),
            tx.create_node(world.new_evidence(node_id=str(digits[1]))),
        )
    )
    assert [node.short_id for node in delta.created] == ["t-beef", "e-beef"]


def test_short_ids_are_counted_for_each_session_alone(world, new_world):
    other = new_world(world.store, "s-other")
    for number, place in enumerate((world, other)):
        node_id = f"cafe0000-0000-4000-8000-00000000000{number}"
        delta = place.write(lambda tx, p=place, i=node_id: tx.create_node(p.new_evidence(node_id=i)))
        assert delta.created[0].short_id == "e-cafe"


@pytest.mark.parametrize(
    ("session", "staged"),
    [("same", True), ("same", False), ("other", False)],
    ids=["same transaction", "later transaction", "other session"],
)
def test_an_id_exists_once_in_the_whole_database(world, new_world, staged, session):
    node_id = str(uuid.uuid4())
    target = world if session == "same" else new_world(world.store, "s-other")

    def create(place, *, twice=False):
        with place.store.transaction(place.lease) as tx:
            for _ in range(1 + twice):
                tx.create_node(place.new_evidence(node_id=node_id))

    if not staged:
        create(world)
    with pytest.raises(DuplicateError, match=node_id):
        create(target, twice=staged)
    assert len(world.snapshot().evidence) == (0 if staged else 1)


@pytest.mark.parametrize(
    "node_id", ["1", "t-a3f1", "A" * 32, "6BA7B810-9DAD-41D1-80B4-00C04FD430C8", "x" * 36]
)
def test_an_id_that_is_no_canonical_uuid_is_refused(world, node_id):
    with pytest.raises(InvalidValueError, match="UUID"):
        world.write(lambda tx: tx.create_node(world.new_task(node_id=node_id)))


def test_vectors_handed_out_are_read_only_and_no_views_of_the_caller_s(world):
    vector = world.vector()
    before = vector.copy()
    with world.store.transaction(world.lease) as tx:
        node = tx.create_node(world.new_evidence(embedding=vector))
        vector[:] = 0
    with pytest.raises(ValueError, match="read-only"):
        node.embedding[0] = 1
    loaded = world.snapshot().evidence[node.id].embedding
    np.testing.assert_array_equal(loaded, before)
    with pytest.raises(ValueError, match="read-only"):
        loaded[0] = 1


# -- changes ----------------------------------------------------------------------------------------

CHANGES = {
    "status": TaskStatus.ACTIVE,
    "result_summary": "found it",
    "result_embedding": np.ones(6, dtype=np.float32),
    "prepared_prompt": "look deeper",
    "antifocus": "tides",
    "failure_reason": "no sources",
    "n_productive": 2,
    "last_selected": 7,
}


@pytest.mark.parametrize("field", CHANGES)
def test_a_live_task_changes_in_what_the_patch_names_alone(world, field):
    task = world.task()
    before = world.snapshot().tasks[task]
    delta = world.write(lambda tx: tx.update_node(task, TaskPatch(**{field: CHANGES[field]})))
    after = world.snapshot().tasks[task]
    assert [node.id for node in delta.updated] == [task]
    for name in before.__dataclass_fields__:
        expected = CHANGES[field] if name == field else getattr(before, name)
        np.testing.assert_array_equal(getattr(after, name), expected)
        np.testing.assert_array_equal(getattr(delta.updated[0], name), expected)


PATHS = [
    ([], "ACTIVE", True),
    ([], "DONE", False),
    ([], "FAILED", False),
    (["ACTIVE"], "PENDING", True),
    (["ACTIVE"], "DONE", True),
    (["ACTIVE"], "FAILED", True),
    (["ACTIVE", "PENDING"], "DONE", False),
    (["ACTIVE", "DONE"], "PENDING", False),
    (["ACTIVE", "DONE"], "ACTIVE", False),
    (["ACTIVE", "DONE"], "FAILED", False),
    (["ACTIVE", "FAILED"], "PENDING", False),
    (["ACTIVE", "FAILED"], "DONE", False),
]


@pytest.mark.parametrize(("before", "move", "allowed"), PATHS)
@pytest.mark.parametrize("together", [True, False], ids=["one transaction", "a transaction each"])
def test_a_status_moves_only_along_its_lifecycle(world, before, move, allowed, together):
    task = world.task()
    patches = [TaskPatch(status=TaskStatus(name)) for name in (*before, move)]

    def run():
        if together:
            world.write(lambda tx: [tx.update_node(task, patch) for patch in patches])
        else:
            for patch in patches:
                world.write(lambda tx, p=patch: tx.update_node(task, p))

    if allowed:
        run()
        assert world.snapshot().tasks[task].status == move
    else:
        with pytest.raises(ImmutableNodeError):
            run()
        expected = "PENDING" if together or not before else before[-1]
        assert world.snapshot().tasks[task].status == expected


@pytest.mark.parametrize("status", [TaskStatus.ACTIVE, TaskStatus.DONE, TaskStatus.FAILED])
def test_a_task_begins_pending(world, status):
    with pytest.raises(InvalidValueError, match="PENDING"):
        world.write(lambda tx: tx.create_node(world.new_task(status=status)))


@pytest.mark.parametrize("end", ["DONE", "FAILED"])
@pytest.mark.parametrize("field", [*CHANGES, None])
@pytest.mark.parametrize("together", [True, False], ids=["same transaction", "later transaction"])
def test_terminal_task_cannot_be_changed_by_any_patch(world, contents, end, field, together):
    task = world.task()
    patch = TaskPatch(**({} if field is None else {field: CHANGES[field]}))
    if together:
        ends = [TaskPatch(status=TaskStatus.ACTIVE), TaskPatch(status=TaskStatus(end))]
        before = contents(world.snapshot())
        with pytest.raises(ImmutableNodeError, match=end):
            world.write(lambda tx: [tx.update_node(task, each) for each in (*ends, patch)])
    else:
        world.finish(task, end)
        before = contents(world.snapshot())
        with pytest.raises(ImmutableNodeError, match=end):
            world.write(lambda tx: tx.update_node(task, patch))
    assert contents(world.snapshot()) == before


def test_evidence_changes_in_strength_and_superseded_alone(world):
    found = world.evidence()
    before = world.snapshot().evidence[found]
    world.write(lambda tx: tx.update_node(found, EvidencePatch(strength=0.91, superseded=True)))
    after = world.snapshot().evidence[found]
    assert (after.strength, after.superseded) == (0.91, True)
    for name in before.__dataclass_fields__:
        if name not in ("strength", "superseded"):
            np.testing.assert_array_equal(getattr(after, name), getattr(before, name))
    world.write(lambda tx: tx.update_node(found, EvidencePatch(superseded=False)))
    assert not world.snapshot().evidence[found].superseded


def test_a_patch_is_for_its_own_kind_of_node(world):
    task, found = world.task(), world.evidence()
    wrong = [(task, EvidencePatch(strength=0.5)), (found, TaskPatch()), (found, {"content": "forged"})]
    for node_id, patch in wrong:
        with pytest.raises(InvalidValueError):
            world.write(lambda tx, n=node_id, p=patch: tx.update_node(n, p))


def test_an_unknown_node_is_named(world, new_world):
    stranger = new_world(world.store, "s-other").task()
    for node_id in (NodeId(str(uuid.uuid4())), NodeId("' OR 1=1 --"), NodeId("a\0"), stranger):
        with pytest.raises(NodeNotFoundError, match="s-world"):
            world.write(lambda tx, n=node_id: tx.update_node(n, TaskPatch(n_productive=1)))
        with pytest.raises(NodeNotFoundError, match="s-world"):
            world.write(lambda tx, n=node_id: tx.create_edge(Edge(EdgeType.DEPENDS_ON, world.root, n)))
    with pytest.raises(InvalidValueError, match="surrogate"):
        world.write(lambda tx: tx.update_node(NodeId("\udcff"), TaskPatch()))
