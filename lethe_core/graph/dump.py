"""A session as plain data: what a copy moves from one store to another, and what a check looks at."""

from dataclasses import dataclass

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


def check_ends(dump: SessionDump) -> None:
    """Raises StoreError when an edge leads to a node that is not there: no store takes such a session."""
    nodes = {node.id for node in dump.nodes}
    if not all(edge.source in nodes and edge.target in nodes for _, edge in dump.edges):
        raise StoreError(
            f"session {dump.state.session_id} has edges without their nodes: `lethe store check` says which"
        )
