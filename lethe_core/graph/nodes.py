"""Nodes and edges of the session graph: two node types, five edge types.

TaskNode ──SUBTASK_OF──▶ TaskNode        child to parent
TaskNode ──DEPENDS_ON──▶ TaskNode        dependent to dependency
TaskNode ──PRODUCED────▶ EvidenceNode    who found it
EvidenceNode ─SUPERSEDES▶ EvidenceNode   a synthesis to what it stands for
TaskNode ──SIMILAR_TO─── TaskNode, EvidenceNode ──SIMILAR_TO─── EvidenceNode   stored once, from the
                                         node of the lower sequence to the other
"""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import NewType, TypeAlias

import numpy as np

from lethe_core.graph.arrays import Vector

NodeId = NewType("NodeId", str)
"""UUID4 in its canonical text form: the primary key."""

ShortId = NewType("ShortId", str)
"""``t-a3f1`` or ``e-7c0b``: what a model and a reader see; unique in a session, never reassigned."""

SessionId = NewType("SessionId", str)
"""The name of a session; never looks like a number (``s-…``)."""


class TaskStatus(StrEnum):
    PENDING = "PENDING"
    ACTIVE = "ACTIVE"
    DONE = "DONE"
    FAILED = "FAILED"

    @property
    def terminal(self) -> bool:
        return self in (TaskStatus.DONE, TaskStatus.FAILED)


class EvidenceKind(StrEnum):
    CHUNK = "chunk"
    SYNTHESIS = "synthesis"


class EdgeType(StrEnum):
    SUBTASK_OF = "SUBTASK_OF"
    DEPENDS_ON = "DEPENDS_ON"
    PRODUCED = "PRODUCED"
    SUPERSEDES = "SUPERSEDES"
    SIMILAR_TO = "SIMILAR_TO"


DAG_EDGES = (EdgeType.SUBTASK_OF, EdgeType.DEPENDS_ON)
"""The edges that must never close a cycle."""


def no_vector() -> Vector:
    return np.zeros(0, dtype=np.float32)


# Identity, not value: nodes hold arrays, and two nodes are the same when their ids are.
@dataclass(frozen=True, slots=True, eq=False)
class TaskNode:
    """A unit of work. The store gives it its ids, its session, its sequence and its time."""

    description: str
    embed_text: str
    embedding: Vector  # (d,) document mode
    status: TaskStatus = TaskStatus.PENDING
    result_summary: str = ""
    result_embedding: Vector = field(default_factory=no_vector)  # (d,) once DONE, (0,) before
    prepared_prompt: str = ""
    antifocus: str = ""
    failure_reason: str = ""
    n_productive: int = 0  # iterations in which an operation other than `continue` was applied to it
    last_selected: int = 0  # the iteration, from 1; 0: never
    id: NodeId = NodeId("")
    short_id: ShortId = ShortId("")
    session_id: SessionId = SessionId("")
    sequence: int = 0  # order of creation among the session's tasks, from 1 (the root)
    created_at: float = 0.0  # seconds since the epoch


@dataclass(frozen=True, slots=True, eq=False)
class EvidenceNode:
    """A finding. Of all this only ``strength`` and ``superseded`` ever change."""

    content: str  # never truncated
    embed_text: str
    embedding: Vector  # (d,) document mode
    strength: float  # [.30, .95]
    base_strength: float  # what strength is always recomputed from
    kind: EvidenceKind = EvidenceKind.CHUNK
    source_description: str = ""
    superseded: bool = False
    address: str = ""  # of the page: folder/relative/path, or a URL
    title: str = ""
    date: str = ""  # ISO 8601, possibly shortened; empty when unknown
    date_source: str = ""
    series: str = ""
    edition: str = ""
    period: str = ""
    newest: str = ""  # the address of its series' newest member when it was found; "older" derives from it
    page_fingerprint: str = ""
    content_hash: str = ""
    span: tuple[int, int] = (0, 0)  # half-open, in the page's text
    place: str = ""
    domain: str = ""
    origin_id: str = ""  # the node of a predecessor session that this one was copied from
    id: NodeId = NodeId("")
    short_id: ShortId = ShortId("")
    session_id: SessionId = SessionId("")
    sequence: int = 0  # order of creation among the session's evidence, from 1
    created_at: float = 0.0

    @property
    def stated_date(self) -> str:
        """The date that the source gives itself; a file's modification time is shown and never decides."""
        return "" if self.date_source == "modified" else self.date


Node: TypeAlias = TaskNode | EvidenceNode


@dataclass(frozen=True, slots=True)
class Similarity:
    """Properties of a SIMILAR_TO edge (algorithms.md 7); the nine scores are None while NLI is off."""

    cosine: float
    entail_fwd: float | None = None
    entail_bwd: float | None = None
    support: float | None = None
    contradiction: float | None = None
    equivalence: float | None = None
    independence: float | None = None
    confidence: float | None = None
    direction: float | None = None
    polarity: float | None = None


@dataclass(frozen=True, slots=True)
class Edge:
    type: EdgeType
    source: NodeId
    target: NodeId
    similarity: Similarity | None = None  # SIMILAR_TO only

    @property
    def key(self) -> tuple[EdgeType, NodeId, NodeId]:
        """What makes an edge the same edge."""
        return (self.type, self.source, self.target)
