"""Every store: a session moved to another store and back is the same; checks find what is broken."""

import contextlib
import dataclasses
import sqlite3

import numpy as np
import pytest

from lethe_core.adapters.answers import AnswerFolder
from lethe_core.adapters.stores import open_store, sqlite_url
from lethe_core.adapters.stores.copying import (
    Copied,
    Pruned,
    back_up,
    check_store,
    copy_sessions,
    delete_session,
    prune,
)
from lethe_core.errors import DuplicateError, SessionBusyError, StoreVersionError, UsageError
from lethe_core.graph.integrity import problems_of
from lethe_core.graph.nodes import Edge, EdgeType, NodeId, Similarity, TaskNode
from lethe_core.graph.patches import EvidencePatch
from lethe_core.graph.session_state import SessionPatch, SessionStatus


def fill(world):
    """Something of everything, with values that a careless copy would alter."""
    odd = np.array([-0.0, 1e-45, np.float32(1) / 3, -1, 3.4e38, 1.1754944e-38], dtype=np.float32)
    with world.store.transaction(world.lease) as tx:
        task = tx.create_node(world.new_task("`}) MATCH (n) DETACH DELETE n //"))
        nodes = [
            tx.create_node(world.new_evidence("über\n", embedding=odd, span=(3, 9))).id for _ in range(4)
        ]
        tx.create_edge(Edge(EdgeType.SUBTASK_OF, task.id, world.root))
        for node in nodes:
            tx.create_edge(Edge(EdgeType.PRODUCED, task.id, node))
        tx.upsert_similar([world.similar(nodes[0], nodes[1], 0.1 + 0.2)])
        tx.update_session(SessionPatch(iterations=4, signals=({"convergence": float("inf")},)))
    with world.store.transaction(world.lease) as tx:
        scores = Similarity(0.7, 1 / 3, *[0.25] * 8)
        tx.upsert_similar([Edge(EdgeType.SIMILAR_TO, nodes[1], nodes[3], scores)])
        tx.update_node(nodes[2], EvidencePatch(superseded=True, strength=0.95))
    world.finish(task.id, "DONE")


def plain(dump):
    nodes = [{f.name: getattr(node, f.name) for f in dataclasses.fields(node)} for node in dump.nodes]
    for values in nodes:
        for name, value in values.items():
            if isinstance(value, np.ndarray):
                values[name] = (value.dtype.str, value.tobytes())
    return (dump.state, dump.state_text, dump.dimension, dump.counters, nodes, dump.edges)


@pytest.mark.parametrize("other", ["sqlite", "neo4j"])
def test_a_session_copied_there_and_back_is_the_same_bit_for_bit(
    request, tmp_path, contents, new_world, other
):
    first = open_store(sqlite_url(tmp_path / "first.db"))
    world = new_world(first)
    fill(world)
    place = request.getfixturevalue(other)
    (tmp_path / "second").mkdir()
    second = open_store(place(tmp_path / "second"))
    third = open_store(sqlite_url(tmp_path / "third.db"))
    assert copy_sessions(first, second) == Copied(total=1, copied=1)
    assert copy_sessions(second, third) == Copied(total=1, copied=1)
    assert copy_sessions(first, second) == Copied(total=1, there=1)
    dumps = [plain(store.dump_session(world.id)) for store in (first, second, third)]
    assert dumps[0] == dumps[1] == dumps[2]
    snapshots = [contents(store.load_snapshot(world.id)) for store in (first, second, third)]
    assert snapshots[0] == snapshots[1] == snapshots[2]
    assert check_store(second) == []

    # Work goes on in the copy, with numbers that were never given.
    world.store = second
    world.lease = second.acquire_lease(world.id, "host/2/x/b")
    new = world.write(lambda tx: tx.create_node(world.new_evidence())).created[0]
    assert new.sequence == 5
    for store in (first, second, third):
        store.close()


@pytest.mark.parametrize("other", ["sqlite", "neo4j"])
def test_a_copy_goes_on_where_it_was_interrupted(request, tmp_path, new_world, other):
    first = open_store(sqlite_url(tmp_path / "first.db"))
    for name in ("s-one", "s-two", "s-three"):
        fill(new_world(first, name))
    place = request.getfixturevalue(other)
    (tmp_path / "second").mkdir()
    second = open_store(place(tmp_path / "second"))

    def interrupt(done):
        if done.copied == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        copy_sessions(first, second, interrupt)
    told = []
    assert copy_sessions(first, second, told.append) == Copied(total=3, there=2, copied=1)
    assert told == [Copied(3, 1), Copied(3, 2), Copied(3, 2, 1)]
    assert check_store(second) == []
    for store in (first, second):
        store.close()


@pytest.mark.parametrize("change", ["a vector's bit", "a message"])
def test_a_session_that_differs_in_anything_refuses_the_copy(tmp_path, new_world, change):
    first, second = (open_store(sqlite_url(tmp_path / f"{name}.db")) for name in ("first", "second"))
    world = new_world(first)
    fill(world)
    dump = first.dump_session(world.id)
    if change == "a message":
        copy_sessions(first, second)
        world.write(lambda tx: tx.update_session(SessionPatch(message="later")))
    else:
        nodes = list(dump.nodes)
        index = next(i for i, node in enumerate(nodes) if node.embedding[0] == 0)
        vector = nodes[index].embedding.copy()
        vector[0] = -vector[0]  # equal as a number
        nodes[index] = dataclasses.replace(nodes[index], embedding=vector)
        second.restore_session(dataclasses.replace(dump, nodes=tuple(nodes)))
    new_world(first, "s-other")
    with pytest.raises(DuplicateError, match=r"not as they are in .*s-world.*nothing was copied"):
        copy_sessions(first, second)
    assert [state.session_id for state in second.list_sessions()] == [world.id]
    for store in (first, second):
        store.close()


def test_nothing_is_copied_over_a_session_that_is_there(tmp_path, world, new_world, contents):
    fill(world)
    other = open_store(sqlite_url(tmp_path / "other.db"))
    there = new_world(other)
    new_world(world.store, "s-second")
    before = contents(other.load_snapshot(there.id))
    with pytest.raises(DuplicateError, match=r"s-world.*nothing was copied"):
        copy_sessions(world.store, other)
    assert contents(other.load_snapshot(there.id)) == before
    with pytest.raises(DuplicateError, match="s-world"):
        world.store.restore_session(world.store.dump_session(world.id))
    assert len(world.store.list_sessions()) == 2
    other.close()


def test_a_node_that_another_session_has_refuses_the_whole_copy(world, contents):
    fill(world)
    before = contents(world.snapshot())
    dump = world.store.dump_session(world.id)
    state = dataclasses.replace(dump.state, session_id="s-twin")
    with pytest.raises(DuplicateError, match="s-twin"):
        world.store.restore_session(dataclasses.replace(dump, state=state))
    assert [state.session_id for state in world.store.list_sessions()] == [world.id]
    assert contents(world.snapshot()) == before


def test_a_backup_is_a_store_and_disturbs_nobody(tmp_path, world):
    fill(world)
    file = tmp_path / "deep" / "backup.db"
    back_up(world.store, file)
    assert [path.name for path in file.parent.iterdir()] == ["backup.db"]
    world.evidence()
    copy = open_store(sqlite_url(file))
    assert len(copy.load_snapshot(world.id).evidence) == 4
    assert check_store(copy) == []
    copy.close()
    with pytest.raises(UsageError, match=r"exists already.*backup\.db"):
        back_up(world.store, file)


def test_a_backup_that_cannot_be_written_is_named(tmp_path, world):
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match="cannot be written"):
        back_up(world.store, tmp_path / "file" / "backup.db")


# -- deletion ---------------------------------------------------------------------------------------


def test_deleted_with_the_answers_that_it_bought_and_no_others(tmp_path, store, new_world):
    one, two = new_world(store, "s-one"), new_world(store, "s-two")
    results = tmp_path / "results"
    results.mkdir()
    for world in (one, two):
        (results / f"llm-{world.state.uuid}-1-0").touch()
    with pytest.raises(SessionBusyError):
        delete_session(store, one.state, AnswerFolder(results))
    assert len(list(results.iterdir())) == 2
    store.release_lease(one.lease)
    delete_session(store, one.state, AnswerFolder(results))
    assert [path.name for path in results.iterdir()] == [f"llm-{two.state.uuid}-1-0"]


def test_prune_takes_what_is_old_and_leaves_what_is_at_work(tmp_path, url, new_world):
    times = iter([100.0, 200.0, 300.0, 400.0])
    store = open_store(url, clock=lambda: next(times))
    worlds = {name: new_world(store, name) for name in ("s-old", "s-held", "s-later", "s-new")}
    for name in ("s-old", "s-later", "s-new"):
        store.release_lease(worlds[name].lease)
    assert prune(store, AnswerFolder(tmp_path), before=50) == Pruned(())
    assert prune(store, AnswerFolder(tmp_path), before=301) == Pruned(("s-old", "s-later"), ("s-held",))
    assert [state.session_id for state in store.list_sessions()] == ["s-held", "s-new"]
    store.close()


# -- checks -----------------------------------------------------------------------------------------


def test_a_sound_store_has_nothing_to_report(world):
    fill(world)
    assert check_store(world.store) == []


def broken(dump, name):
    task, first, second = dump.nodes[1], dump.nodes[2], dump.nodes[3]
    short = np.ones(3, dtype=np.float32)
    missing = NodeId("00000000-0000-4000-8000-000000000000")

    def with_node(index, **values):
        nodes = list(dump.nodes)
        nodes[index] = dataclasses.replace(nodes[index], **values)
        return dataclasses.replace(dump, nodes=tuple(nodes))

    def with_edge(*edges):
        return dataclasses.replace(dump, edges=(*dump.edges, *((99, edge) for edge in edges)))

    return {
        "no root": lambda: dataclasses.replace(dump, nodes=dump.nodes[1:]),
        "short id twice": lambda: with_node(2, short_id=second.short_id),
        "foreign short id": lambda: with_node(2, short_id="e-0000"),
        "sequence twice": lambda: with_node(2, sequence=second.sequence),
        "short vector": lambda: with_node(2, embedding=short),
        "NaN": lambda: with_node(2, embedding=np.full(6, np.nan, dtype=np.float32)),
        "short result": lambda: with_node(1, result_embedding=short),
        "dangling": lambda: with_edge(Edge(EdgeType.PRODUCED, task.id, missing)),
        "wrong ends": lambda: with_edge(Edge(EdgeType.PRODUCED, first.id, task.id)),
        "backwards": lambda: with_edge(Edge(EdgeType.SIMILAR_TO, second.id, first.id, Similarity(0.7))),
        "no cosine": lambda: with_edge(Edge(EdgeType.SIMILAR_TO, first.id, second.id)),
        "two parents": lambda: with_edge(Edge(EdgeType.SUBTASK_OF, task.id, first.id)),
        "root with parent": lambda: with_edge(Edge(EdgeType.SUBTASK_OF, dump.state.root, task.id)),
        "cycle": lambda: with_edge(Edge(EdgeType.DEPENDS_ON, dump.state.root, task.id)),
        "edge twice": lambda: with_edge(dump.edges[-1][1]),
        "counter": lambda: dataclasses.replace(dump, counters=dataclasses.replace(dump.counters, evidence=1)),
    }[name]()


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("no root", "root task"),
        ("short id twice", "given 2 times"),
        ("foreign short id", "e-0000 does not belong"),
        ("sequence twice", "sequence"),
        ("short vector", "3 numbers instead of 6"),
        ("NaN", "NaN"),
        ("short result", "result embedding of 3"),
        ("dangling", "dangles"),
        ("wrong ends", "joins what it must not"),
        ("backwards", "joins what it must not"),
        ("no cosine", "no cosine"),
        ("two parents", "2 parents"),
        ("root with parent", "root task has a parent"),
        ("cycle", "cycle"),
        ("edge twice", "exists 2 times"),
        ("counter", "evidence numbers stands at 1, below the 4"),
    ],
)
def test_each_kind_of_damage_is_found(tmp_path, new_world, name, said):
    store = open_store(sqlite_url(tmp_path / "graph.db"))
    world = new_world(store)
    fill(world)
    dump = store.dump_session(world.id)
    store.close()
    assert problems_of(dump) == []
    problems = problems_of(broken(dump, name))
    assert any(said in problem and "s-world" in problem for problem in problems), problems


def test_a_hand_at_the_file_is_found(tmp_path, new_world):
    path = tmp_path / "graph.db"
    store = open_store(sqlite_url(path))
    world = new_world(store)
    fill(world)
    store.close()
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute("PRAGMA foreign_keys = OFF")
        database.execute("DELETE FROM evidence WHERE sequence = 1")
        database.execute("DROP TRIGGER evidence_is_immutable")
        database.execute("UPDATE evidence SET embedding = x'010203' WHERE sequence = 2")
    store = open_store(sqlite_url(path))
    (problem,) = check_store(store)
    assert "cannot be read whole" in problem
    store.close()
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute("UPDATE evidence SET embedding = x'01020304' WHERE sequence = 2")
        database.execute("UPDATE task SET session = 77 WHERE sequence = 1")
    store = open_store(sqlite_url(path))
    problems = check_store(store)
    store.close()
    for said in ("belongs to no session", "root task", "dangles", "1 numbers instead of 6"):
        assert any(said in problem for problem in problems), (said, problems)


def test_a_state_that_was_changed_by_hand_is_named(tmp_path, new_world):
    path = tmp_path / "graph.db"
    store = open_store(sqlite_url(path))
    new_world(store)
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute("UPDATE session SET state = '{}'")
    for read in (lambda: check_store(store), store.list_sessions, lambda: store.load_session("s-world")):
        with pytest.raises(StoreVersionError, match="state of session s-world cannot be read"):
            read()
    store.close()


def test_a_hand_at_the_database_is_found(neo4j, tmp_path, new_world, neo4j_query):
    store = open_store(neo4j(tmp_path))
    world = new_world(store)
    fill(world)
    neo4j_query("MATCH (n:EvidenceNode {sequence: 1}) DETACH DELETE n")
    neo4j_query("MATCH (n:EvidenceNode {sequence: 2}) SET n.embedding = $short", short=b"\1\2\3\4")
    neo4j_query("MATCH (t:TaskNode {sequence: 2}), (s:Session) CREATE (s)-[:DEPENDS_ON {sequence: 9}]->(t)")
    neo4j_query("DROP INDEX lethe_evidence")
    try:
        problems = check_store(store)
    finally:
        neo4j_query("CREATE INDEX lethe_evidence IF NOT EXISTS FOR (n:EvidenceNode) ON (n.session_id)")
    store.close()
    for said in ("lethe_evidence is missing", "1 numbers instead of 6", "cycle"):
        assert any(said in problem for problem in problems), (said, problems)


def test_prune_leaves_of_a_series_the_run_that_the_next_one_starts_from(tmp_path, url, new_world):
    times = iter(float(second) for second in range(1, 1000))
    store = open_store(url, clock=lambda: next(times))
    runs = [
        ("s-a", "rail", 1, SessionStatus.COMPLETE),
        ("s-b", "rail", 2, SessionStatus.COMPLETE),
        ("s-c", "rail", 3, SessionStatus.NOTHING_FOUND),
        ("s-d", "road", 1, SessionStatus.FAILED),
        ("s-e", "", 1, SessionStatus.COMPLETE),
    ]
    for name, series, n, status in runs:
        state = dataclasses.replace(new_world.new_state(name), series=series, n=n, status=status)
        store.create_session(state, TaskNode("q", "q", np.ones(6, dtype=np.float32)))
    pruned = prune(store, AnswerFolder(tmp_path), before=1e9)
    assert pruned == Pruned(deleted=("s-a", "s-c", "s-d", "s-e"), followed=("s-b",))
    assert [state.session_id for state in store.list_sessions()] == ["s-b"]
    assert prune(store, AnswerFolder(tmp_path), before=1e9) == Pruned((), followed=("s-b",))
    store.close()
