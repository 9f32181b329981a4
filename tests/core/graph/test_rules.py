"""The rules of the graph, as tables."""

import itertools

import numpy as np
import pytest

from lethe_core.errors import ImmutableNodeError, InvalidValueError, StoreError
from lethe_core.graph import rules
from lethe_core.graph.nodes import Edge, EdgeType, EvidenceNode, Similarity, TaskNode, TaskStatus
from lethe_core.graph.patches import TaskPatch
from lethe_core.graph.rules import NodeHead

ALLOWED_MOVES = {("PENDING", "ACTIVE"), ("ACTIVE", "PENDING"), ("ACTIVE", "DONE"), ("ACTIVE", "FAILED")}
VECTOR = np.array([0.6, 0.8], dtype=np.float32)
KINDS = ["evidence", *TaskStatus]


def head(kind, sequence):
    if kind == "evidence":
        return NodeHead("e", f"e-000{sequence}", sequence, None)
    return NodeHead("t", f"t-000{sequence}", sequence, TaskStatus(kind))


@pytest.mark.parametrize(("old", "new"), list(itertools.product(TaskStatus, repeat=2)))
def test_a_status_moves_only_as_the_lifecycle_says(old, new):
    task = TaskNode("d", "d", VECTOR, status=old)
    patch = TaskPatch(status=new)
    if (old, new) in ALLOWED_MOVES or (old is new and not old.terminal):
        assert rules.patched_task(task, patch, 2).status is new
    else:
        with pytest.raises(ImmutableNodeError):
            rules.patched_task(task, patch, 2)


@pytest.mark.parametrize("edge_type", [t for t in EdgeType if t is not EdgeType.SIMILAR_TO])
@pytest.mark.parametrize(("source", "target"), list(itertools.product(KINDS, repeat=2)))
def test_every_edge_between_every_two_nodes(edge_type, source, target):
    ends = ("evidence" if source == "evidence" else "task", "evidence" if target == "evidence" else "task")
    fits = {
        "SUBTASK_OF": ("task", "task"),
        "DEPENDS_ON": ("task", "task"),
        "PRODUCED": ("task", "evidence"),
        "SUPERSEDES": ("evidence", "evidence"),
    }[edge_type]
    frozen = source in ("DONE", "FAILED") or (target in ("DONE", "FAILED") and edge_type == "SUBTASK_OF")
    expected = InvalidValueError if ends != fits else ImmutableNodeError if frozen else None
    try:
        rules.check_edge(Edge(edge_type, "a", "b"), head(source, 1), head(target, 2))
    except StoreError as error:
        raised = type(error)
    else:
        raised = None
    assert raised is expected


@pytest.mark.parametrize(("source", "target"), list(itertools.product(KINDS, repeat=2)))
def test_similar_joins_one_kind_whatever_its_status(source, target):
    edge = Edge(EdgeType.SIMILAR_TO, "a", "b", Similarity(0.5))
    if (source == "evidence") == (target == "evidence"):
        assert rules.check_similar(edge, head(source, 1), head(target, 2)) is edge
        for sequences in ((2, 1), (1, 1)):
            with pytest.raises(InvalidValueError, match="earlier"):
                rules.check_similar(edge, head(source, sequences[0]), head(target, sequences[1]))
    else:
        with pytest.raises(InvalidValueError, match="one kind"):
            rules.check_similar(edge, head(source, 1), head(target, 2))


def test_a_message_says_what_where_and_what_to_do():
    for text, words in (
        ("ab\0", "content of new evidence.*position 2.*remove"),
        ("\ud801", "U\\+D801.*replace"),
    ):
        with pytest.raises(InvalidValueError, match=words):
            rules.check_new_evidence(EvidenceNode(text, "e", VECTOR, 0.5, 0.5), 2)
    with pytest.raises(InvalidValueError, match=r"embedding.*\(3,\).*\(2,\)"):
        rules.check_new_evidence(EvidenceNode("c", "e", VECTOR, 0.5, 0.5), 3)
