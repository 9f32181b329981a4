"""A transaction in memory: checked by the rules, staged as data, written by the store in one piece.

Both stores share it, so that no behaviour differs between them, and a store may repeat its write after a
broken connection, since what it writes is data. Only the lease's owner writes to a session, so what is
read here while staging still holds when it is written; the store makes sure of it by matching the lease's
epoch and the session's revision first.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Protocol, overload

import numpy as np

from lethe_core.errors import CycleError, DuplicateError, InvalidValueError, NodeNotFoundError, StoreError
from lethe_core.graph import rules
from lethe_core.graph.cycles import detect_cycles
from lethe_core.graph.dump import Counters
from lethe_core.graph.ids import new_node_id, short_id_for
from lethe_core.graph.nodes import (
    DAG_EDGES,
    Edge,
    EdgeType,
    EvidenceNode,
    Node,
    NodeId,
    ShortId,
    TaskNode,
)
from lethe_core.graph.patches import EvidencePatch, TaskPatch
from lethe_core.graph.rules import NodeHead
from lethe_core.graph.serial import stored_form
from lethe_core.graph.session_state import KEEP, SessionPatch, SessionState
from lethe_core.graph.snapshot import EdgeKey
from lethe_core.graph.store import GraphDelta


class SessionReader(Protocol):
    """What a store lets a transaction read of one session."""

    def node(self, node_id: NodeId) -> Node | None:
        """A node of this session; None when it has none of this id."""
        ...

    def heads(self, ids: Collection[NodeId]) -> Mapping[NodeId, NodeHead]:
        """What the edge rules need of those of the nodes that this session has."""
        ...

    def id_taken(self, node_id: NodeId) -> bool:
        """Whether a node of any session has this id."""
        ...

    def short_id_taken(self, short_id: ShortId) -> bool:
        """Whether a node of this session has this short id."""
        ...

    def existing_edges(self, keys: Collection[EdgeKey]) -> set[EdgeKey]:
        """Those of the edges that are stored."""
        ...

    def dag_edges(self) -> Iterable[tuple[NodeId, NodeId]]:
        """Source and target of every stored SUBTASK_OF and DEPENDS_ON edge."""
        ...


@dataclass(frozen=True, slots=True)
class OpenSession:
    """Where a transaction starts from."""

    state: SessionState
    counters: Counters
    dimension: int  # of every embedding: the root's


@dataclass(slots=True)
class StagedWrite:
    """What the store has to write, all of it or nothing."""

    counters: Counters
    now: float  # seconds since the epoch: created_at and updated_at
    created: list[Node] = field(default_factory=list)
    updated: list[Node] = field(default_factory=list)  # whole, as they stand afterwards
    removed: list[EdgeKey] = field(default_factory=list)  # deleted before ``edges`` are written
    edges: list[tuple[int, Edge]] = field(default_factory=list)  # an edge that exists keeps its number
    ends: Mapping[NodeId, NodeHead] = field(default_factory=dict)  # of ``removed`` and ``edges``
    state: SessionState | None = None  # None: unchanged but for updated_at
    state_text: str = ""
    progressed: bool = False  # a phase was committed: the count of starts begins again


def prepare_session(state: SessionState, root: TaskNode, now: float) -> tuple[SessionState, str, TaskNode]:
    """A new session's state, its text and its root task as they are stored.

    Raises InvalidValueError.
    """
    if not state.session_id:
        raise InvalidValueError("a session needs a name")
    rules.check_text(state.session_id, "the session's name")
    shape = np.shape(root.embedding)
    if len(shape) != 1 or shape[0] == 0:
        raise InvalidValueError(f"the root's embedding must have the shape (d,), d > 0, not {shape}")
    values = rules.check_new_task(root, shape[0])
    root_id = rules.check_id(root.id) if root.id else new_node_id()
    root = replace(
        root,
        id=root_id,
        short_id=short_id_for(root_id, rules.TASK, lambda _: False),
        session_id=state.session_id,
        sequence=1,
        created_at=now,
        **values,
    )
    state, text = stored_form(
        replace(state, root=root_id, uuid=state.uuid or str(new_node_id()), created_at=now, updated_at=now)
    )
    return state, text, root


class StagedTransaction:
    """Implements ``Transaction``; a store makes one, lets the caller fill it and writes ``finish()``."""

    def __init__(self, reader: SessionReader, session: OpenSession, now: float) -> None:
        self._reader = reader
        self._dimension = session.dimension
        self._state = replace(session.state, updated_at=now)
        self._counters = replace(session.counters)
        self._write = StagedWrite(self._counters, now)
        self._nodes: dict[NodeId, Node] = {}  # created or changed here, as they stand
        self._created: set[NodeId] = set()
        self._short: set[ShortId] = set()
        self._heads: dict[NodeId, NodeHead] = {}
        self._edges: dict[EdgeKey, tuple[int, Edge]] = {}
        self._removed: dict[EdgeKey, None] = {}
        self._open = True
        self._delta: GraphDelta | None = None

    @property
    def state(self) -> SessionState:
        return self._state

    @property
    def delta(self) -> GraphDelta:
        if self._delta is None:
            raise StoreError("a transaction's delta is known only after it was committed")
        return self._delta

    # -- nodes ----------------------------------------------------------------------------------

    @overload
    def create_node(self, node: TaskNode) -> TaskNode: ...
    @overload
    def create_node(self, node: EvidenceNode) -> EvidenceNode: ...
    def create_node(self, node: Node) -> Node:
        self._check_open()
        if isinstance(node, TaskNode):
            letter, number = rules.TASK, self._counters.task + 1
            values = rules.check_new_task(node, self._dimension)
        elif isinstance(node, EvidenceNode):
            letter, number = rules.EVIDENCE, self._counters.evidence + 1
            values = rules.check_new_evidence(node, self._dimension)
        else:
            raise InvalidValueError(f"{type(node).__name__} is no node")
        node_id = rules.check_id(node.id) if node.id else new_node_id()
        if node_id in self._nodes or (node.id and self._reader.id_taken(node_id)):
            raise DuplicateError(f"a node with the id {node_id} exists already")
        stored = replace(
            node,
            id=node_id,
            short_id=short_id_for(node_id, letter, self._short_id_taken),
            session_id=self._state.session_id,
            sequence=number,
            created_at=self._write.now,
            **values,
        )
        if letter == rules.TASK:
            self._counters.task = number
        else:
            self._counters.evidence = number
        self._short.add(stored.short_id)
        self._created.add(stored.id)
        self._keep(stored)
        return stored

    @overload
    def update_node(self, node_id: NodeId, patch: TaskPatch) -> TaskNode: ...
    @overload
    def update_node(self, node_id: NodeId, patch: EvidencePatch) -> EvidenceNode: ...
    def update_node(self, node_id: NodeId, patch: TaskPatch | EvidencePatch) -> Node:
        self._check_open()
        node = self._nodes.get(node_id) or self._reader.node(node_id)
        if node is None:
            raise self._not_found(node_id)
        changed: Node
        if isinstance(node, TaskNode) and isinstance(patch, TaskPatch):
            changed = rules.patched_task(node, patch, self._dimension)
        elif isinstance(node, EvidenceNode) and isinstance(patch, EvidencePatch):
            changed = rules.patched_evidence(node, patch)
        else:
            raise InvalidValueError(f"a {type(patch).__name__} cannot change {node.short_id}")
        self._keep(changed)
        return changed

    # -- edges ----------------------------------------------------------------------------------

    def create_edge(self, edge: Edge) -> None:
        self._check_open()
        ends = self._read_heads([edge])
        rules.check_edge(edge, ends[edge.source], ends[edge.target])
        new_end = edge.source in self._created or edge.target in self._created
        if edge.key in self._edges or (not new_end and self._reader.existing_edges([edge.key])):
            raise DuplicateError(
                f"{ends[edge.source].short_id} has a {edge.type} edge to {ends[edge.target].short_id} already"
            )
        self._put_edge(edge)

    def upsert_similar(self, edges: Sequence[Edge]) -> None:
        self._check_open()
        ends = self._read_heads(edges)
        for edge in [rules.check_similar(edge, ends[edge.source], ends[edge.target]) for edge in edges]:
            self._put_edge(edge)

    def delete_similar(self, edges: Sequence[Edge]) -> None:
        self._check_open()
        for edge in edges:
            if edge.type is not EdgeType.SIMILAR_TO:
                raise InvalidValueError(f"only SIMILAR_TO edges are ever deleted, not {edge.type}")
        keys = dict.fromkeys(edge.key for edge in edges)
        stored = self._reader.existing_edges(keys)
        self._read_heads([edge for edge in edges if edge.key in stored])
        for key in keys:
            self._edges.pop(key, None)
            if key in stored:
                self._removed[key] = None

    # -- the session's state --------------------------------------------------------------------

    def update_session(self, patch: SessionPatch) -> SessionState:
        self._check_open()
        given: dict[str, Any] = {f.name: getattr(patch, f.name) for f in fields(patch)}
        changes = {name: value for name, value in given.items() if value is not KEEP}
        self._state, self._write.state_text = stored_form(replace(self._state, **changes))
        self._write.state = self._state
        # Prose bought for the report is a phase of its own.
        if "phase" in changes or "sections" in changes:
            self._write.progressed = True
        return self._state

    # -- for the store --------------------------------------------------------------------------

    def finish(self) -> StagedWrite:
        """Close the transaction to further changes and return what has to be written.

        Raises CycleError.
        """
        self._check_open()
        self._open = False
        self._check_cycles()
        write = self._write
        write.created = [node for key, node in self._nodes.items() if key in self._created]
        write.updated = [node for key, node in self._nodes.items() if key not in self._created]
        write.removed = list(self._removed)
        write.edges = list(self._edges.values())
        write.ends = self._heads
        return write

    def committed(self) -> None:
        """Called by the store once ``finish()`` has been written."""
        self._delta = GraphDelta(
            created=tuple(self._write.created),
            updated=tuple(self._write.updated),
            edges=tuple(edge for _, edge in self._write.edges),
            removed=tuple(self._write.removed),
        )

    def abandon(self) -> None:
        """Called by the store when the block was left by an error."""
        self._open = False

    # -- private --------------------------------------------------------------------------------

    def _check_open(self) -> None:
        if not self._open:
            raise StoreError("this transaction is over: open another one")

    def _not_found(self, node_id: NodeId) -> NodeNotFoundError:
        return NodeNotFoundError(f"session {self._state.session_id} has no node {node_id!r}")

    def _short_id_taken(self, short_id: ShortId) -> bool:
        return short_id in self._short or self._reader.short_id_taken(short_id)

    def _keep(self, node: Node) -> None:
        self._nodes[node.id] = node
        self._heads[node.id] = rules.head_of(node)

    def _read_heads(self, edges: Sequence[Edge]) -> Mapping[NodeId, NodeHead]:
        ends = {end for edge in edges for end in (edge.source, edge.target)}
        unknown = ends - self._heads.keys()
        if unknown:
            self._heads.update(self._reader.heads(unknown))
            for node_id in unknown - self._heads.keys():
                raise self._not_found(node_id)
        return self._heads

    def _put_edge(self, edge: Edge) -> None:
        staged = self._edges.get(edge.key)
        if staged is None:
            self._counters.edge += 1
            number = self._counters.edge
        else:
            number = staged[0]
        self._edges[edge.key] = (number, edge)

    def _check_cycles(self) -> None:
        staged = [(edge.source, edge.target) for _, edge in self._edges.values() if edge.type in DAG_EDGES]
        if not staged:
            return
        cycle = detect_cycles([*self._reader.dag_edges(), *staged])
        if cycle:
            names = {**self._reader.heads(set(cycle)), **self._heads}
            path = " → ".join(names[node_id].short_id for node_id in cycle)
            raise CycleError(f"SUBTASK_OF and DEPENDS_ON would close a cycle: {path}; nothing was written")
