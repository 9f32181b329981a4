"""The graph in memory: what the algorithms read off it."""

import numpy as np
import pytest

from lethe_core.graph.nodes import Edge, EdgeType, EvidenceKind, EvidenceNode, TaskNode, TaskStatus
from lethe_core.graph.snapshot import GraphSnapshot, stack
from lethe_core.graph.store import GraphDelta

VECTOR = np.array([0.6, 0.8], dtype=np.float32)


def task(name, sequence, status="PENDING"):
    return TaskNode(
        name, name, VECTOR, status=TaskStatus(status), id=name, short_id=f"t-{name}", sequence=sequence
    )


def evidence(name, sequence, **values):
    defaults = {"id": name, "short_id": f"e-{name}", "sequence": sequence}
    return EvidenceNode(name, name, VECTOR, 0.5, 0.5, **(defaults | values))


def edges(edge_type, *pairs):
    return [Edge(edge_type, *pair) for pair in pairs]


def snapshot(nodes, *groups):
    return GraphSnapshot.build(nodes, [edge for group in groups for edge in group])


def names(nodes):
    return [node.id for node in nodes]


@pytest.fixture
def tree():
    """root over a (DONE) and b, a over c, b over d; b depends on a, d on c; o has no parent."""
    return snapshot(
        [task("d", 5), task("root", 1), task("c", 4), task("b", 3), task("a", 2, "DONE"), task("o", 6)],
        edges(EdgeType.SUBTASK_OF, ("a", "root"), ("b", "root"), ("c", "a"), ("d", "b")),
        edges(EdgeType.DEPENDS_ON, ("b", "a"), ("d", "c")),
    )


def test_nodes_stand_in_order_of_creation_and_the_first_task_is_the_root(tree):
    assert list(tree.tasks) == ["root", "a", "b", "c", "d", "o"]
    assert tree.root.id == "root"
    assert names(tree.children("root")) == ["a", "b"]
    assert (tree.parent("c"), tree.parent("root")) == ("a", None)
    assert tree.by_short_id("t-c").id == "c"
    assert tree.by_short_id("t-x") is None


def test_depth_is_the_distance_from_the_root_and_an_orphan_lies_below_all(tree):
    assert tree.depths() == {"root": 0, "a": 1, "b": 1, "c": 2, "d": 2, "o": 3}


def test_ready_is_pending_with_dependencies_done_and_ancestors_alive(tree):
    # c hangs below the DONE a; d waits for c.
    assert names(tree.ready_set()) == ["root", "b", "o"]
    tree.apply(GraphDelta(updated=(task("b", 3, "ACTIVE"), task("c", 4, "DONE"))))
    assert names(tree.ready_set()) == ["root", "d", "o"]
    tree.apply(GraphDelta(updated=(task("root", 1, "FAILED"),)))
    assert names(tree.ready_set()) == ["o"]


def test_a_failed_dependency_is_not_done():
    waiting = snapshot(
        [task("root", 1), task("a", 2, "FAILED"), task("b", 3)], edges(EdgeType.DEPENDS_ON, ("b", "a"))
    )
    assert names(waiting.ready_set()) == ["root"]


@pytest.fixture
def found():
    """a produced x, y, z; b produced y; a's synthesis s stands for x and y."""
    return snapshot(
        [
            task("root", 1),
            task("a", 2),
            task("b", 3),
            evidence("x", 1, superseded=True),
            evidence("y", 2, superseded=True),
            evidence("z", 3),
            evidence("s", 4, kind=EvidenceKind.SYNTHESIS),
        ],
        edges(EdgeType.PRODUCED, ("a", "z"), ("a", "y"), ("a", "x"), ("b", "y"), ("a", "s")),
        edges(EdgeType.SUPERSEDES, ("s", "y"), ("s", "x")),
    )


def test_produced_evidence_stands_in_order_of_creation_superseded_included(found):
    assert names(found.produced("a")) == ["x", "y", "z", "s"]
    assert names(found.live_evidence()) == ["z", "s"]
    assert found.producers("y") == ["a", "b"]


def test_what_another_task_s_synthesis_stands_for_stays_visible_to_its_producer(found):
    y = found.evidence["y"]
    assert found.visible_to("b", y)
    assert not found.visible_to("a", y)
    assert not found.visible_to("root", y)
    assert found.visible_to("root", found.evidence["z"])


def test_a_synthesis_rests_on_the_chunks_at_the_end_of_its_chain(found):
    found.apply(
        GraphDelta(
            created=(evidence("t", 5, kind=EvidenceKind.SYNTHESIS),),
            edges=tuple(edges(EdgeType.SUPERSEDES, ("t", "s"), ("t", "z"), ("t", "x"))),
        )
    )
    assert names(found.chunks_under(found.evidence["t"])) == ["x", "y", "z"]
    assert names(found.chunks_under(found.evidence["z"])) == ["z"]


def test_older_is_what_is_not_the_newest_of_its_series_and_no_issue_of_a_periodical():
    graph = snapshot(
        [
            task("root", 1),
            evidence("old", 1, series="rules", address="rules-1", newest="rules-1"),
            evidence("new", 2, series="rules", address="rules-2", newest="rules-2"),
            evidence("issue", 3, series="reports", address="q1", newest="q2", period="2024-Q1"),
            evidence("alone", 4, address="note"),
        ]
    )
    assert [name for name, node in graph.evidence.items() if graph.is_older(node)] == ["old"]
    assert graph.newest_of("rules") == "rules-2"
    assert graph.newest_of("unknown") == ""


def test_deltas_take_edges_away_and_put_them_back_at_the_end(found):
    gone = Edge(EdgeType.PRODUCED, "a", "z")
    found.apply(GraphDelta(removed=(gone.key,)))
    assert found.targets(EdgeType.PRODUCED, "a") == ["y", "x", "s"]
    assert gone.key not in found.edges
    found.apply(GraphDelta(removed=(gone.key,)))  # once more: nothing happens
    found.apply(GraphDelta(edges=(gone,)))
    assert found.targets(EdgeType.PRODUCED, "a") == ["y", "x", "s", "z"]


def test_embeddings_are_stacked_a_row_each():
    assert stack([task("a", 1), evidence("x", 1)], 2).tolist() == [VECTOR.tolist()] * 2
    assert stack([], 7).shape == (0, 7)
    assert stack([], 7).dtype == np.float32
