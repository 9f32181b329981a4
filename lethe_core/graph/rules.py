"""The rules of the graph: what it can hold and what never changes (architecture.md, "The graph").

Pure checks on values, shared by every store; a store adds nothing to them and leaves nothing out. Each
returns nothing, or the value in the form in which it is stored, and raises InvalidValueError or
ImmutableNodeError.
"""

import math
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Final

import numpy as np

from lethe_core.errors import ImmutableNodeError, InvalidValueError
from lethe_core.graph.arrays import Vector
from lethe_core.graph.nodes import (
    Edge,
    EdgeType,
    EvidenceKind,
    EvidenceNode,
    Node,
    NodeId,
    ShortId,
    Similarity,
    TaskNode,
    TaskStatus,
)
from lethe_core.graph.patches import EvidencePatch, TaskPatch

TASK: Final = "t"
EVIDENCE: Final = "e"

MOVES: Final[Mapping[TaskStatus, frozenset[TaskStatus]]] = {
    TaskStatus.PENDING: frozenset({TaskStatus.ACTIVE}),
    TaskStatus.ACTIVE: frozenset({TaskStatus.PENDING, TaskStatus.DONE, TaskStatus.FAILED}),
    TaskStatus.DONE: frozenset(),
    TaskStatus.FAILED: frozenset(),
}
"""Where a task's status may go; staying where it is is no move."""

ENDS: Final[Mapping[EdgeType, tuple[str, str]]] = {
    EdgeType.SUBTASK_OF: (TASK, TASK),
    EdgeType.DEPENDS_ON: (TASK, TASK),
    EdgeType.PRODUCED: (TASK, EVIDENCE),
    EdgeType.SUPERSEDES: (EVIDENCE, EVIDENCE),
}
"""The letters of source and target by edge type; SIMILAR_TO joins two nodes of one kind."""

_NAMES: Final[Mapping[str, str]] = {TASK: "a task", EVIDENCE: "evidence"}
_TASK_TEXTS: Final = tuple(f.name for f in fields(TaskNode) if f.type is str)
_EVIDENCE_TEXTS: Final = tuple(f.name for f in fields(EvidenceNode) if f.type is str)
_PATCH_TEXTS: Final = ("result_summary", "prepared_prompt", "antifocus", "failure_reason")
_SCORES: Final = tuple(f.name for f in fields(Similarity))
_LARGEST: Final = 2**63 - 1  # what both databases hold as an integer


@dataclass(frozen=True, slots=True)
class NodeHead:
    """What the rules for edges need to know of a node."""

    letter: str  # "t" | "e"
    short_id: ShortId
    sequence: int
    status: TaskStatus | None  # None for evidence

    @property
    def terminal(self) -> bool:
        return self.status is not None and self.status.terminal


def head_of(node: Node) -> NodeHead:
    if isinstance(node, TaskNode):
        return NodeHead(TASK, node.short_id, node.sequence, node.status)
    return NodeHead(EVIDENCE, node.short_id, node.sequence, None)


# -- values -----------------------------------------------------------------------------------------


def check_text(text: str, what: str) -> str:
    """Refuse what one of the databases would alter: NUL bytes and lone surrogates."""
    if not isinstance(text, str):
        raise InvalidValueError(f"{what} must be text, not {type(text).__name__}")
    if "\0" in text:
        raise InvalidValueError(f"{what} holds a NUL byte at position {text.index(chr(0))}: remove it first")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InvalidValueError(
            f"{what} holds a lone surrogate (U+{ord(text[error.start]):04X}) at position {error.start}: "
            "decode its bytes with errors='replace' first"
        ) from None
    return text


def check_vector(vector: Vector, dimension: int, what: str) -> Vector:
    """A read-only copy of a finite (dimension,) float32 vector; zeros stand for "no embedding"."""
    if not isinstance(vector, np.ndarray) or vector.dtype != np.float32:
        given = vector.dtype if isinstance(vector, np.ndarray) else type(vector).__name__
        raise InvalidValueError(f"{what} must be a float32 array, not {given}")
    if vector.shape != (dimension,):
        raise InvalidValueError(f"{what} must have the shape ({dimension},), not {vector.shape}")
    if not np.isfinite(vector).all():
        raise InvalidValueError(f"{what} holds NaN or infinity")
    copy = vector.copy()
    copy.flags.writeable = False
    return copy


def check_number(value: float, low: float, high: float, what: str) -> float:
    number = _real(value, what)
    if not low <= number <= high:
        raise InvalidValueError(f"{what} must lie in [{low:g}, {high:g}], not {number!r}")
    return number


def check_count(value: int, what: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or not 0 <= value <= _LARGEST:
        raise InvalidValueError(f"{what} must be a whole number from 0 to {_LARGEST}, not {value!r}")
    return int(value)


def check_id(node_id: str) -> NodeId:
    """Refuse an id that is no UUID in canonical text form: short ids are cut from it."""
    try:
        canonical = str(uuid.UUID(node_id))
    except (ValueError, AttributeError, TypeError):
        canonical = ""
    if not canonical or canonical != node_id:
        raise InvalidValueError(f"node id {node_id!r} is no UUID in lower-case canonical form")
    return NodeId(node_id)


# -- nodes ------------------------------------------------------------------------------------------


def check_new_task(task: TaskNode, dimension: int) -> dict[str, Any]:
    """Those of the task's values that are stored in another form. A task begins PENDING."""
    _check_texts(task, _TASK_TEXTS, "task")
    if task.status is not TaskStatus.PENDING:
        raise InvalidValueError(f"a task begins PENDING, not {task.status}: change it by update_node")
    return {
        "embedding": check_vector(task.embedding, dimension, "the task's embedding"),
        "result_embedding": _optional_vector(task.result_embedding, dimension),
        "n_productive": check_count(task.n_productive, "n_productive"),
        "last_selected": check_count(task.last_selected, "last_selected"),
    }


def check_new_evidence(evidence: EvidenceNode, dimension: int) -> dict[str, Any]:
    """Those of the evidence's values that are stored in another form."""
    _check_texts(evidence, _EVIDENCE_TEXTS, "evidence")
    start, end = evidence.span
    if check_count(start, "the span's start") > check_count(end, "the span's end"):
        raise InvalidValueError(f"the span {evidence.span} ends before it starts")
    return {
        "embedding": check_vector(evidence.embedding, dimension, "the evidence's embedding"),
        "strength": check_number(evidence.strength, 0.0, 1.0, "strength"),
        "base_strength": check_number(evidence.base_strength, 0.0, 1.0, "base_strength"),
        "kind": EvidenceKind(evidence.kind),
        "superseded": bool(evidence.superseded),
        "span": (int(start), int(end)),
    }


def patched_task(task: TaskNode, patch: TaskPatch, dimension: int) -> TaskNode:
    """The task as the patch leaves it.

    Raises ImmutableNodeError when it is DONE or FAILED, also for an empty patch, and for a move of its
    status that is not in MOVES.
    """
    if task.status.terminal:
        raise ImmutableNodeError(
            f"task {task.short_id} is {task.status} and never changes: create a new subtask instead"
        )
    changes = _given(patch)
    for name in _PATCH_TEXTS:
        if name in changes:
            check_text(changes[name], f"{name} of task {task.short_id}")
    for name in ("n_productive", "last_selected"):
        if name in changes:
            changes[name] = check_count(changes[name], f"{name} of task {task.short_id}")
    if "result_embedding" in changes:
        changes["result_embedding"] = _optional_vector(changes["result_embedding"], dimension)
    if "status" in changes:
        changes["status"] = status = TaskStatus(changes["status"])
        if status is not task.status and status not in MOVES[task.status]:
            allowed = " or ".join(sorted(MOVES[task.status]))
            raise ImmutableNodeError(
                f"task {task.short_id} is {task.status} and cannot become {status}: only {allowed}"
            )
    return replace(task, **changes)


def patched_evidence(evidence: EvidenceNode, patch: EvidencePatch) -> EvidenceNode:
    """The evidence as the patch leaves it: strength and superseded, nothing else."""
    changes = _given(patch)
    if "strength" in changes:
        what = f"strength of {evidence.short_id}"
        changes["strength"] = check_number(changes["strength"], 0.0, 1.0, what)
    if "superseded" in changes:
        changes["superseded"] = bool(changes["superseded"])
    return replace(evidence, **changes)


# -- edges ------------------------------------------------------------------------------------------


def check_edge(edge: Edge, source: NodeHead, target: NodeHead) -> None:
    """Refuse an edge of any type but SIMILAR_TO that joins the wrong nodes or a terminal task.

    A loop is left to the cycle check, except on SUPERSEDES, which that does not cover.
    """
    if edge.type is EdgeType.SIMILAR_TO:
        raise InvalidValueError("SIMILAR_TO edges are written by upsert_similar only")
    if edge.similarity is not None:
        raise InvalidValueError(f"a {edge.type} edge has no similarity")
    letters = ENDS[edge.type]
    if (source.letter, target.letter) != letters:
        raise InvalidValueError(
            f"{edge.type} leads from {_NAMES[letters[0]]} to {_NAMES[letters[1]]}, "
            f"not from {source.short_id} to {target.short_id}"
        )
    if edge.type is EdgeType.SUPERSEDES and edge.source == edge.target:
        raise InvalidValueError(f"{source.short_id} cannot supersede itself")
    if source.terminal:
        raise ImmutableNodeError(
            f"task {source.short_id} is {source.status}: no {edge.type} edge can leave it any more"
        )
    if target.terminal and edge.type is EdgeType.SUBTASK_OF:
        raise ImmutableNodeError(f"task {target.short_id} is {target.status}: it gets no subtasks any more")


def check_similar(edge: Edge, source: NodeHead, target: NodeHead) -> Edge:
    """The SIMILAR_TO edge with its scores in stored form; terminal tasks may have it too."""
    if edge.type is not EdgeType.SIMILAR_TO or edge.similarity is None:
        raise InvalidValueError(f"a SIMILAR_TO edge with its similarity is expected, not {edge.type}")
    if source.letter != target.letter:
        raise InvalidValueError(
            f"SIMILAR_TO joins two nodes of one kind, not {source.short_id} and {target.short_id}"
        )
    if source.sequence >= target.sequence:
        raise InvalidValueError(
            f"SIMILAR_TO is stored from the earlier node to the later: {target.short_id} to "
            f"{source.short_id}, not the other way"
        )
    scores = {}
    for name in _SCORES:
        value = getattr(edge.similarity, name)
        if type(value) is not float and (value is not None or name == "cosine"):
            scores[name] = _real(value, name)
        elif value is not None and not math.isfinite(value):
            raise InvalidValueError(f"{name} of {source.short_id} and {target.short_id} is {value}")
    return replace(edge, similarity=replace(edge.similarity, **scores)) if scores else edge


# -- private ----------------------------------------------------------------------------------------


def _real(value: float, what: str) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise InvalidValueError(f"{what} must be a number, not {value!r}") from None
    if not math.isfinite(number):
        raise InvalidValueError(f"{what} must be finite, not {number}")
    return number


def _optional_vector(vector: Vector, dimension: int) -> Vector:
    size = 0 if isinstance(vector, np.ndarray) and vector.shape == (0,) else dimension
    return check_vector(vector, size, "the task's result embedding")


def _check_texts(node: Node, names: tuple[str, ...], kind: str) -> None:
    for name in names:
        check_text(getattr(node, name), f"{name} of new {kind}")


def _given(patch: TaskPatch | EvidencePatch) -> dict[str, Any]:
    values = {f.name: getattr(patch, f.name) for f in fields(patch)}
    return {name: value for name, value in values.items() if value is not None}
