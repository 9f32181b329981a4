"""Evidence as arrays: always what the nodes say."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lethe_core.graph.nodes import EvidenceKind, EvidenceNode
from lethe_core.graph.snapshot import GraphSnapshot
from lethe_core.graph.store import GraphDelta

D = 3


def evidence(sequence: int) -> EvidenceNode:
    vector = np.random.default_rng(sequence).normal(size=D).astype(np.float32)
    name = f"n{sequence}"
    kind = EvidenceKind.SYNTHESIS if sequence % 5 == 0 else EvidenceKind.CHUNK
    return EvidenceNode(
        name, name, vector, 0.5, 0.5, kind,
        id=name, short_id=f"e-{name}", sequence=sequence, content_hash=f"h{sequence // 2}",
    )  # fmt: skip


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 90), st.lists(st.tuples(st.integers(0, 70), st.integers(0, 10**6)), max_size=6))
def test_the_arrays_say_what_the_nodes_say_whatever_was_added_and_changed(first, steps):
    snapshot = GraphSnapshot.build([evidence(n + 1) for n in range(first)], [])
    for more, seed in steps:
        rng = np.random.default_rng(seed)
        known = list(snapshot.evidence.values())
        changed = [
            replace(node, strength=float(rng.uniform(0.3, 0.95)), superseded=bool(rng.random() < 0.5))
            for node in known
            if rng.random() < 0.3
        ]
        created = [evidence(len(known) + n + 1) for n in range(more)]
        snapshot.apply(GraphDelta(created=tuple(created), updated=tuple(changed)))
        if rng.random() < 0.5:
            assert len(snapshot.table.vectors) == len(known) + more
    table, nodes = snapshot.table, list(snapshot.evidence.values())
    assert table.nodes == nodes
    assert [table.row(node.id) for node in nodes] == list(range(len(nodes)))
    assert table.strengths.tolist() == [node.strength for node in nodes]
    assert table.live.tolist() == [not node.superseded for node in nodes]
    chunks = [node for node in nodes if node.kind is EvidenceKind.CHUNK]
    assert table.chunks.tolist() == [node in chunks for node in nodes]
    assert table.chunk_by_hash == {node.content_hash: node.id for node in chunks}
    assert table.sequences.tolist() == [node.sequence for node in nodes]
    assert table.vectors.tolist() == [node.embedding.tolist() for node in nodes]


def test_without_evidence_every_array_is_empty_and_an_unknown_node_is_an_error():
    table = GraphSnapshot().table
    assert (len(table), table.strengths.size, table.live.size, table.vectors.shape) == (0, 0, 0, (0, 0))
    with pytest.raises(KeyError):
        table.row("n1")
