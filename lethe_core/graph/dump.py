"""A session as plain data: what a copy moves from one store to another, and what a check looks at."""

from dataclasses import dataclass, fields

import numpy as np

from lethe_core.errors import StoreError
from lethe_core.graph.nodes import Edge, Node
from lethe_core.graph.session_state import SessionState


@dataclass(slots=True)
class Counters:
    """The last numbers given out in a session; none is ever given twice."""

    task: int = 0
    evidence: int = 0
    edge: int = 0


@dataclass(frozen=True, slots=True)
class SessionDump:
    """All that a store keeps of one session but its lease, as it stood at one moment."""

    state: SessionState
    state_text: str  # as it lies in the store: a copy of it is exact
    dimension: int  # of every embedding
    counters: Counters
    nodes: tuple[Node, ...]
    edges: tuple[tuple[int, Edge], ...]  # with their numbers, in their order


def same_dump(one: SessionDump, other: SessionDump) -> bool:
    """Whether two dumps are of the same session in the same state, to the last bit of its vectors."""
    return (
        _plain(one) == _plain(other)
        and len(one.nodes) == len(other.nodes)
        and all(
            _values(first) == _values(second) for first, second in zip(one.nodes, other.nodes, strict=True)
        )
    )


def _plain(dump: SessionDump) -> tuple[object, ...]:
    return (dump.state_text, dump.state, dump.dimension, dump.counters, dump.edges)


def _values(node: Node) -> list[object]:
    """Nodes compare by identity, vectors not at all: -0.0 is not 0.0 here, and NaN is itself."""
    values = (getattr(node, field.name) for field in fields(node))
    return [(v.dtype.str, v.shape, v.tobytes()) if isinstance(v, np.ndarray) else v for v in values]


def check_ends(dump: SessionDump) -> None:
    """Raises StoreError when an edge leads to a node that is not there: no store takes such a session."""
    nodes = {node.id for node in dump.nodes}
    if not all(edge.source in nodes and edge.target in nodes for _, edge in dump.edges):
        raise StoreError(
            f"session {dump.state.session_id} has edges without their nodes: `lethe store check` says which"
        )
