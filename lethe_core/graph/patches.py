"""Typed changes: what may ever change on a node. A field left at None stays as it is."""

from dataclasses import dataclass

from lethe_core.graph.arrays import Vector
from lethe_core.graph.nodes import TaskStatus


@dataclass(frozen=True, slots=True, eq=False)
class TaskPatch:
    """Changes of a task that is PENDING or ACTIVE."""

    status: TaskStatus | None = None
    result_summary: str | None = None
    result_embedding: Vector | None = None
    prepared_prompt: str | None = None
    antifocus: str | None = None
    failure_reason: str | None = None
    n_productive: int | None = None
    last_selected: int | None = None


@dataclass(frozen=True, slots=True)
class EvidencePatch:
    """Changes of evidence: its strength, and whether a synthesis stands for it."""

    strength: float | None = None
    superseded: bool | None = None
