"""The walk's weights as they followed the graph, against weights that are made of the whole graph."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lethe_core.context.weights import EdgeArrays, adjacency
from lethe_core.graph.nodes import Edge, EdgeType, EvidenceNode, Similarity, TaskNode, TaskStatus
from lethe_core.graph.snapshot import GraphSnapshot
from lethe_core.graph.store import GraphDelta
from lethe_core.session.kept_graph import KeptGraph

D = 5


def vector(rng) -> np.ndarray:
    found = np.abs(rng.normal(size=D))
    return (found / np.linalg.norm(found)).astype(np.float32)


def task(rng, sequence: int) -> TaskNode:
    name = f"t{sequence}"
    return TaskNode(name, name, vector(rng), id=name, short_id=f"t-{name}", sequence=sequence)


def evidence(rng, sequence: int) -> EvidenceNode:
    name = f"e{sequence}"
    return EvidenceNode(name, name, vector(rng), 0.5, 0.5, id=name, short_id=f"e-{name}", sequence=sequence)


def similarity(rng) -> Similarity:
    cosine = float(rng.uniform(0.5, 1.0))
    if rng.random() < 0.5:
        return Similarity(cosine)
    return Similarity(cosine, support=float(rng.random()), contradiction=0.2, confidence=float(rng.random()))


def step(rng, snapshot: GraphSnapshot) -> GraphDelta:
    tasks, known = list(snapshot.tasks.values()), list(snapshot.evidence.values())
    new_tasks = [task(rng, len(tasks) + n + 1) for n in range(rng.integers(0, 3))]
    found = [evidence(rng, len(known) + n + 1) for n in range(rng.integers(0, 5))]
    edges: list[Edge] = [Edge(EdgeType.SUBTASK_OF, node.id, tasks[0].id) for node in new_tasks]
    edges += [Edge(EdgeType.DEPENDS_ON, node.id, tasks[-1].id) for node in new_tasks if tasks[1:]]
    edges += [Edge(EdgeType.PRODUCED, tasks[rng.integers(len(tasks))].id, node.id) for node in found]
    for group in ([*tasks, *new_tasks], [*known, *found]):
        for _ in range(rng.integers(0, 6) if len(group) > 1 else 0):
            a, b = sorted(rng.choice(len(group), 2, replace=False))
            edges.append(Edge(EdgeType.SIMILAR_TO, group[a].id, group[b].id, similarity(rng)))
    if len(known) > 1:
        edges.append(Edge(EdgeType.SUPERSEDES, known[-1].id, known[0].id))
    similar = [key for key in snapshot.edges if key[0] is EdgeType.SIMILAR_TO]
    put = {edge.key for edge in edges}
    removed = [key for key in similar if rng.random() < 0.3 and key not in put]
    updated = [
        replace(node, status=TaskStatus.DONE, result_embedding=vector(rng))
        if rng.random() < 0.5
        else replace(node, n_productive=node.n_productive + 1)
        for node in tasks
        if rng.random() < 0.4 and not node.status.terminal
    ]
    return GraphDelta((*new_tasks, *found), tuple(updated), tuple(edges), tuple(removed))


def anew(snapshot: GraphSnapshot, nodes: list[str]):
    """By the definition of section 5.1, edge by edge."""
    at = {node: place for place, node in enumerate(nodes)}

    def stands_for(node: str) -> np.ndarray:
        found = snapshot.node(node)
        done = isinstance(found, TaskNode) and found.status is TaskStatus.DONE
        return found.result_embedding if done else found.embedding

    pairs: dict[tuple[int, int], float] = {}
    weight = {"SUBTASK_OF": 1.0, "PRODUCED": 0.9, "DEPENDS_ON": 0.8, "SUPERSEDES": 0.0}
    for edge in snapshot.edges.values():
        if edge.source not in at or edge.target not in at:
            continue
        ends = tuple(sorted((at[edge.source], at[edge.target])))
        if edge.similarity is not None:
            one = edge.similarity
            verdict = (one.confidence or 0.0) * max(one.support or 0.0, one.contradiction or 0.0)
            value = one.cosine * (1 + 0.25 * verdict)
        else:
            cosine = float(stands_for(edge.source).astype(float) @ stands_for(edge.target).astype(float))
            value = weight[edge.type.value] * max(0.05, cosine)
        pairs[ends] = pairs.get(ends, 0.0) + value
    dense = np.zeros((len(nodes), len(nodes)))
    for (a, b), value in pairs.items():
        dense[a, b] = dense[b, a] = value
    return dense + np.diag((dense.sum(axis=1) == 0).astype(float))


@settings(max_examples=80, deadline=None)
@given(st.integers(0, 10**6), st.integers(0, 6), st.floats(0, 1))
def test_after_any_commits_the_weights_are_bit_for_bit_those_of_a_graph_read_anew(seed, steps, asked):
    rng = np.random.default_rng(seed)
    snapshot = GraphSnapshot.build([task(rng, 1), task(rng, 2), evidence(rng, 1)], [])
    kept = KeptGraph()
    for _ in range(steps):
        snapshot.apply(step(rng, snapshot))
        if rng.random() < asked:
            kept.among(snapshot, list(snapshot.tasks))
    nodes = [*snapshot.tasks, *(node for node in snapshot.evidence if rng.random() < 0.8)]
    found, fresh = kept.among(snapshot, nodes), KeptGraph().among(snapshot, nodes)
    assert found.indptr.tolist() == fresh.indptr.tolist()
    assert found.indices.tolist() == fresh.indices.tolist()
    assert found.data.tobytes() == fresh.data.tobytes()
    assert found.toarray() == pytest.approx(anew(snapshot, nodes), abs=1e-9)


def test_another_snapshot_is_read_from_its_beginning():
    rng = np.random.default_rng(3)
    kept = KeptGraph()
    for _ in range(2):
        nodes = [task(rng, 1), evidence(rng, 1)]
        snapshot = GraphSnapshot.build(nodes, [Edge(EdgeType.PRODUCED, "t1", "e1")])
        weights = kept.among(snapshot, ["t1", "e1"])
        assert weights.toarray() == pytest.approx(anew(snapshot, ["t1", "e1"]))


def test_a_graph_without_edges_gives_every_node_a_loop():
    snapshot = GraphSnapshot.build([task(np.random.default_rng(4), 1)], [])
    assert KeptGraph().among(snapshot, ["t1"]).toarray().tolist() == [[1.0]]


def test_as_the_whole_adjacency_when_only_similar_edges_are_there():
    rng = np.random.default_rng(5)
    nodes = [task(rng, 1), *(evidence(rng, n) for n in (1, 2, 3))]
    edges = [Edge(EdgeType.SIMILAR_TO, "e1", "e2", Similarity(0.7))]
    snapshot = GraphSnapshot.build(nodes, edges)
    whole = adjacency(4, EdgeArrays(np.array([1]), np.array([2]), np.array(["SIMILAR_TO"]), np.array([0.7])))
    found = KeptGraph().among(snapshot, ["t1", "e1", "e2", "e3"])
    assert (found != whole).nnz == 0
