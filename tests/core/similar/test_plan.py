"""Plans that take up where the last one ended, against plans that compare everything."""

from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from lethe_core.graph.nodes import Edge, EdgeType, EvidenceNode, TaskNode, TaskStatus
from lethe_core.graph.snapshot import GraphSnapshot
from lethe_core.graph.store import GraphDelta
from lethe_core.similar.plan import Compared, SimilarPlan, prepare_similar_sync

D, THRESHOLD = 6, 0.6


def vector(rng) -> np.ndarray:
    topics = np.eye(D)[:3]
    found = topics[rng.integers(3)] + 0.4 * rng.normal(size=D)
    return (found / np.linalg.norm(found)).astype(np.float32)


def task(rng, sequence: int) -> TaskNode:
    name = f"t{sequence}"
    return TaskNode(name, name, vector(rng), id=name, short_id=f"t-{name}", sequence=sequence)


def evidence(rng, sequence: int, **values) -> EvidenceNode:
    name = f"e{sequence}"
    given_values = {"id": name, "short_id": f"e-{name}", "sequence": sequence} | values
    return EvidenceNode(name, name, vector(rng), 0.5, 0.5, **given_values)


def produced(a: str, b: str) -> Edge:
    return Edge(EdgeType.PRODUCED, a, b)


def step(rng, snapshot: GraphSnapshot) -> GraphDelta:
    """What an iteration may do: find, find again, supersede, add tasks and complete them."""
    tasks, known = list(snapshot.tasks.values()), list(snapshot.evidence.values())
    edges: list[Edge] = []
    created = [evidence(rng, len(known) + n + 1) for n in range(rng.integers(0, 9))]
    edges += [produced(tasks[rng.integers(len(tasks))].id, node.id) for node in created]
    for _ in range(rng.integers(0, 4)):
        again = produced(tasks[rng.integers(len(tasks))].id, known[rng.integers(len(known))].id)
        if again.key not in snapshot.edges:
            edges.append(again)
    updated = [replace(node, superseded=True) for node in known if not node.superseded and rng.random() < 0.1]
    new_tasks = [task(rng, len(tasks) + 1)] if rng.random() < 0.5 else []
    edges += [Edge(EdgeType.SUBTASK_OF, node.id, tasks[0].id) for node in new_tasks]
    done = [
        replace(node, status=TaskStatus.DONE, result_embedding=vector(rng))
        for node in tasks
        if not node.status.terminal and rng.random() < 0.2
    ]
    return GraphDelta((*created, *new_tasks), (*updated, *done), tuple(dict.fromkeys(edges)))


def commit(snapshot: GraphSnapshot, plan: SimilarPlan) -> None:
    snapshot.apply(GraphDelta(edges=plan.upserts, removed=tuple(edge.key for edge in plan.deletions)))


def read_again(snapshot: GraphSnapshot) -> GraphSnapshot:
    nodes = [*snapshot.tasks.values(), *snapshot.evidence.values()]
    return GraphSnapshot.build(nodes, snapshot.edges.values())


def similar(snapshot: GraphSnapshot) -> dict[tuple, float]:
    return {
        key: edge.similarity.cosine
        for key, edge in snapshot.edges.items()
        if key[0] is EdgeType.SIMILAR_TO and edge.similarity
    }


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 7), st.floats(0, 1), st.floats(0, 1))
def test_a_graph_that_was_compared_as_it_grew_has_the_edges_of_one_compared_as_a_whole(
    seed, steps, skip, reopen
):
    rng = np.random.default_rng(seed)
    nodes = [task(rng, 1), task(rng, 2), evidence(rng, 1), evidence(rng, 2)]
    edges = [produced("t1", "e1"), produced("t2", "e2")]
    grown, whole = GraphSnapshot.build(nodes, edges), GraphSnapshot.build(nodes, edges)
    compared = Compared()
    for number in range(steps):
        delta = step(rng, grown)
        grown.apply(delta)
        whole.apply(delta)
        if rng.random() < reopen:  # another process goes on, and knows what the store does
            grown, compared = read_again(grown), Compared(compared.sequence)
        if number < steps - 1 and rng.random() < skip:
            continue  # an iteration whose sync was never committed
        plan = prepare_similar_sync(grown, THRESHOLD, compared=compared)
        commit(grown, plan)
        compared = plan.compared
        commit(whole, prepare_similar_sync(whole, THRESHOLD))
    assert similar(grown) == similar(whole)
    again = prepare_similar_sync(grown, THRESHOLD, compared=compared)
    assert (again.upserts, again.deletions) == ((), ())


def test_what_another_task_finds_too_is_joined_with_its_evidence_no_longer():
    rng = np.random.default_rng(1)
    same = evidence(rng, 1)
    twin = replace(same, id="e2", short_id="e-e2", sequence=2)
    snapshot = GraphSnapshot.build(
        [task(rng, 1), task(rng, 2), same, twin], [produced("t1", "e1"), produced("t2", "e2")]
    )
    plan = prepare_similar_sync(snapshot, THRESHOLD)
    joined = (EdgeType.SIMILAR_TO, "e1", "e2")
    assert [edge.key for edge in plan.upserts if edge.source == "e1"] == [joined]
    commit(snapshot, plan)
    snapshot.apply(GraphDelta(edges=(produced("t1", "e2"),)))
    after = prepare_similar_sync(snapshot, THRESHOLD, compared=plan.compared)
    assert [edge.key for edge in after.deletions] == [joined]
    reopened = prepare_similar_sync(
        read_again(snapshot), THRESHOLD, compared=Compared(plan.compared.sequence)
    )
    assert [edge.key for edge in reopened.deletions] == [joined]


def test_a_root_alone_needs_no_edge():
    plan = prepare_similar_sync(GraphSnapshot.build([task(np.random.default_rng(2), 1)], []), THRESHOLD)
    assert (plan.upserts, plan.deletions) == ((), ())
