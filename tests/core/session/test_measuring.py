"""The signals that an iteration stores, against those of all evidence as it was before and after it."""

from typing import Any

import numpy as np
import pytest

from lethe_core.control.basis import evidence_basis, goal_coverage, novelty, overlap
from lethe_core.control.vectors import control_vectors
from lethe_core.evidence.strength import gated_alignments
from lethe_core.graph.nodes import TaskStatus
from lethe_core.session.finishing import check_stop
from lethe_core.session.stopping import last_signals

QUESTION = "1. How long is the Tarn bridge?\n2. When was the Old Mill built?\n3. What does the ferry carry?"


def live(session: Any) -> dict[str, tuple[np.ndarray, float]]:
    """Vector and strength of all evidence that nothing supersedes."""
    return {node.id: (node.embedding.copy(), node.strength) for node in session.snapshot.live_evidence()}


def basis(found: dict[str, tuple[np.ndarray, float]], profile: Any) -> Any:
    rows = np.array([vector for vector, _ in found.values()]).reshape(-1, profile.dimension)
    return evidence_basis(
        control_vectors(rows, profile), np.array([strength for _, strength in found.values()])
    )


def test_each_iteration_is_measured_from_the_graph_before_it_to_the_graph_after_it(world: Any) -> None:
    driver = world.open(QUESTION)
    session = driver.session
    profile = session.deps.embedder.profile
    added = changed = 0
    while not check_stop(session):
        before, known, previous = live(session), set(session.snapshot.evidence), last_signals(session.state)
        driver.iterate()
        after, signals = live(session), last_signals(session.state)
        old, new = basis(before, profile), basis(after, profile)
        fresh = [node for node in session.snapshot.evidence.values() if node.id not in known]
        rows = np.array([node.embedding for node in fresh]).reshape(-1, profile.dimension)
        weights = gated_alignments(rows, session.query_vector(session.state.goal), profile.ga_floor)
        assert signals.novelty == pytest.approx(
            novelty(old, control_vectors(rows, profile), weights), abs=1e-6
        )
        assert signals.overlap == pytest.approx(overlap(old, new), abs=1e-6)
        root, *parts = session.snapshot.tasks.values()
        targets = [task.embedding for task in parts if task.status is not TaskStatus.FAILED]
        assert signals.goal_coverage == pytest.approx(
            goal_coverage(
                new,
                control_vectors(root.embedding, profile),
                control_vectors(np.array(targets).reshape(-1, profile.dimension), profile),
            ),
            abs=1e-6,
        )
        if before.keys() == after.keys():
            assert signals.raw_convergence == previous.raw_convergence
        else:
            assert signals.raw_convergence == pytest.approx(signals.overlap * (1 - signals.novelty))
        added += bool(fresh)
        changed += not before.keys() <= after.keys()
    assert added > 3
    assert changed  # a synthesis took the place of what it rests on
