"""SIMILAR_TO in a session: what was compared and committed is not compared again by another process."""

from typing import Any

import numpy as np
import pytest

from lethe_core.graph.nodes import Edge, EdgeType, EvidenceNode, NodeId, TaskNode
from lethe_core.graph.session_state import SessionPatch, SimilarMark
from lethe_core.graph.store import GraphDelta
from lethe_core.session.syncing import sync_similar


def vector(session: Any, *shares: float) -> np.ndarray:
    found = np.zeros(session.deps.embedder.profile.dimension, dtype=np.float32)
    found[: len(shares)] = shares
    return found / np.linalg.norm(found)


def tasks(session: Any) -> list[NodeId]:
    """Two subtasks, alike to nothing."""
    with session.write() as tx:
        made = [
            tx.create_node(TaskNode(name, name, vector(session, *[0.0] * place, 1.0))).id
            for place, name in enumerate(("fares", "piers"), 6)
        ]
        for task in made:
            tx.create_edge(Edge(EdgeType.SUBTASK_OF, task, session.snapshot.root.id))
    return made


def found(session: Any, task: NodeId, *names: str) -> None:
    """A task finds passages, all alike."""
    with session.write() as tx:
        for name in names:
            own = vector(session, 1.0, 0.01 * len(session.snapshot.evidence), 0.01 * len(name))
            node = tx.create_node(EvidenceNode(name, name, own, 0.6, 0.6, content_hash=name))
            tx.create_edge(Edge(EdgeType.PRODUCED, task, node.id))


def joined(session: Any) -> dict[tuple[str, str], float]:
    evidence = session.snapshot.evidence
    return {
        (evidence[edge.source].content, evidence[edge.target].content): edge.similarity.cosine
        for edge in session.snapshot.edges.values()
        if edge.type is EdgeType.SIMILAR_TO and edge.source in evidence
    }


def grow(world: Any, name: str, *, again: bool) -> Any:
    """A session that finds, finds again and syncs; ``again``: by another process each time."""
    session = world.open(name=name).session

    def reopened() -> Any:
        if not again:
            return session
        session.close()
        return world.open(name=name).session

    first, second = tasks(session)
    found(session, first, "a", "bb")
    found(session, second, "ccc")
    sync_similar(session, final=True)
    session = reopened()
    found(session, second, "dddd")
    session = reopened()  # before what is new was compared
    sync_similar(session, final=True)
    session = reopened()
    with session.write() as tx:
        known = next(node for node in session.snapshot.evidence.values() if node.content == "ccc")
        tx.create_edge(Edge(EdgeType.PRODUCED, first, known.id))
    session = reopened()
    sync_similar(session, final=True)
    return session


def test_a_session_that_is_opened_again_and_again_has_the_edges_of_one_that_never_was(world: Any) -> None:
    undisturbed, resumed = grow(world, "s-whole", again=False), grow(world, "s-again", again=True)
    assert joined(resumed) == joined(undisturbed)
    assert joined(resumed).keys() == {("a", "dddd"), ("bb", "dddd")}
    assert resumed.state.similar == undisturbed.state.similar
    assert resumed.state.similar == SimilarMark(4, resumed.deps.embedder.profile.similar_threshold)


@pytest.mark.parametrize("mark", ["as it was left", "none", "another threshold"])
def test_what_was_compared_with_this_threshold_is_compared_no_more(world: Any, mark: str) -> None:
    session = world.open().session
    first, second = tasks(session)
    found(session, first, "a")
    found(session, second, "bb")
    sync_similar(session, final=True)
    known = session.state.similar
    if mark != "as it was left":
        with session.write() as tx:
            tx.update_session(
                SessionPatch(similar=None if mark == "none" else SimilarMark(known.sequence, 0.123))
            )
    session.close()
    session = world.open().session
    (key,) = [edge.key for edge in session.snapshot.edges.values() if edge.type is EdgeType.SIMILAR_TO]
    # Were the pair compared, its edge would be missed.
    session.snapshot.apply(GraphDelta(removed=(key,)))
    assert sync_similar(session, final=True) == (0 if mark == "as it was left" else 1)
    assert session.state.similar == known
