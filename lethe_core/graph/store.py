"""The graph store: the sole write path (principle P6). Two implementations, one contract (tests/stores)."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol, overload

from lethe_core.graph.dump import SessionDump
from lethe_core.graph.nodes import Edge, EdgeType, EvidenceNode, Node, NodeId, SessionId, TaskNode
from lethe_core.graph.patches import EvidencePatch, TaskPatch
from lethe_core.graph.session_state import Lease, SessionPatch, SessionState
from lethe_core.graph.snapshot import GraphSnapshot


@dataclass(frozen=True, slots=True)
class GraphDelta:
    """What one committed transaction changed; nodes stand as they are afterwards."""

    created: tuple[Node, ...] = ()
    updated: tuple[Node, ...] = ()
    edges: tuple[Edge, ...] = ()  # created, or a SIMILAR_TO edge with its new properties
    removed: tuple[tuple[EdgeType, NodeId, NodeId], ...] = ()


class Transaction(Protocol):
    """What happens inside ``with store.transaction(lease)`` is committed at once or not at all."""

    @property
    def state(self) -> SessionState:
        """The session's state as this transaction has left it so far."""
        ...

    @property
    def delta(self) -> GraphDelta:
        """What was committed; only after the block has been left without an error."""
        ...

    @overload
    def create_node(self, node: TaskNode) -> TaskNode: ...
    @overload
    def create_node(self, node: EvidenceNode) -> EvidenceNode: ...
    def create_node(self, node: Node) -> Node:
        """Create a node; returns it with its id, short id, session, sequence and time.

        Raises InvalidValueError (NaN, NUL bytes, lone surrogates, vector of another length).
        """
        ...

    @overload
    def update_node(self, node_id: NodeId, patch: TaskPatch) -> TaskNode: ...
    @overload
    def update_node(self, node_id: NodeId, patch: EvidencePatch) -> EvidenceNode: ...
    def update_node(self, node_id: NodeId, patch: TaskPatch | EvidencePatch) -> Node:
        """Change a node; returns it as it is then.

        Raises NodeNotFoundError, InvalidValueError, ImmutableNodeError (a terminal task, a forbidden move of
        its status).
        """
        ...

    def create_edge(self, edge: Edge) -> None:
        """Create an edge of any type but SIMILAR_TO.

        Raises NodeNotFoundError, DuplicateError, ImmutableNodeError (frozen on a terminal task),
        InvalidValueError (wrong node types for the edge's type). A cycle raises CycleError on commit.
        """
        ...

    def upsert_similar(self, edges: Sequence[Edge]) -> None:
        """Create SIMILAR_TO edges or replace their properties. Called by ``commit_similar_sync`` only."""
        ...

    def delete_similar(self, edges: Sequence[Edge]) -> None:
        """Delete SIMILAR_TO edges. Called by ``commit_similar_sync`` only."""
        ...

    def update_session(self, patch: SessionPatch) -> SessionState:
        """Change the session's own state; writable also when the root is terminal."""
        ...


class GraphStore(Protocol):
    """A database of sessions, none of which sees another's nodes."""

    @property
    def url(self) -> str:
        """Where it is, without credentials."""
        ...

    def create_session(self, state: SessionState, root: TaskNode) -> SessionState:
        """Create a session and its root task; returns the state with ``root`` and times filled in.

        Raises DuplicateError when the id exists.
        """
        ...

    def load_session(self, session_id: SessionId) -> SessionState:
        """Read a session's state without taking its lease. Raises SessionNotFoundError."""
        ...

    def list_sessions(self, series: str = "") -> list[SessionState]:
        """All sessions, or those of one series, oldest first."""
        ...

    def load_snapshot(self, session_id: SessionId) -> GraphSnapshot:
        """Read a session's whole graph in bulk. Raises SessionNotFoundError."""
        ...

    def transaction(self, lease: Lease) -> AbstractContextManager[Transaction]:
        """Open the session for writing under a lease; commits on leaving, rolls back on an error.

        Raises SessionLostError when the lease's epoch is not the session's any more.
        """
        ...

    def acquire_lease(
        self, session_id: SessionId, owner: str, *, seconds: float = 60.0, force: bool = False
    ) -> Lease:
        """Take the session's lease by the database's clock and raise its epoch.

        A lease that has run out, or whose owner is a dead process of this host, is taken over.
        force: clear the count of starts without progress.
        Of the sessions of one series one is held at a time.
        Raises SessionBusyError (names owner and expiry), SeriesBusyError, SessionNotFoundError,
        NoProgressError.
        """
        ...

    def renew_lease(self, lease: Lease, *, seconds: float = 60.0) -> Lease:
        """Extend a lease that is still held. Raises SessionLostError."""
        ...

    def release_lease(self, lease: Lease) -> None:
        """Give a lease back; nothing happens when it is not held any more."""
        ...

    def lease_holder(self, session_id: SessionId) -> Lease | None:
        """The lease that somebody holds now, to be looked at only; None when it could be taken.

        Raises SessionNotFoundError.
        """
        ...

    def delete_session(self, session_id: SessionId) -> None:
        """Remove a session with its graph. Raises SessionNotFoundError, SessionBusyError."""
        ...

    def dump_session(self, session_id: SessionId) -> SessionDump:
        """A session as plain data, as it stands at one moment. Raises SessionNotFoundError."""
        ...

    def restore_session(self, dump: SessionDump) -> None:
        """Write a session that ``dump_session`` of any store gave, bit for bit; nobody holds its lease.

        Raises DuplicateError when the session or one of its nodes exists.
        """
        ...

    def check(self) -> list[str]:
        """What the database itself says is wrong with it, a sentence each; empty for a sound one."""
        ...

    def close(self) -> None: ...
