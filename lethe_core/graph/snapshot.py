"""The session's graph in memory: loaded once in bulk, then kept current by each commit's changes.

What the algorithms need as arrays is kept beside it (``table``), or follows its ``changes``.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from lethe_core.graph.arrays import Matrix
from lethe_core.graph.nodes import (
    Edge,
    EdgeType,
    EvidenceKind,
    EvidenceNode,
    Node,
    NodeId,
    ShortId,
    TaskNode,
    TaskStatus,
)
from lethe_core.graph.table import EvidenceTable

if TYPE_CHECKING:
    from lethe_core.graph.store import GraphDelta

EdgeKey = tuple[EdgeType, NodeId, NodeId]


def stack(nodes: Iterable[TaskNode | EvidenceNode], dimension: int) -> Matrix:
    """Embeddings of nodes, a row each: (n, dimension) float32; (0, dimension) for none."""
    rows = [node.embedding for node in nodes]
    return np.stack(rows).astype(np.float32) if rows else np.zeros((0, dimension), dtype=np.float32)


@dataclass(slots=True)
class GraphSnapshot:
    """Nodes by id in order of creation, edges by key, and both directions of every edge type."""

    tasks: dict[NodeId, TaskNode] = field(default_factory=dict)
    evidence: dict[NodeId, EvidenceNode] = field(default_factory=dict)
    edges: dict[EdgeKey, Edge] = field(default_factory=dict)
    scored: dict[EdgeKey, Edge] = field(default_factory=dict)  # the SIMILAR_TO edges that carry NLI scores
    table: EvidenceTable = field(default_factory=EvidenceTable)
    changes: list["GraphDelta"] = field(default_factory=list)  # applied so far: for what follows the graph
    _out: dict[tuple[EdgeType, NodeId], list[NodeId]] = field(default_factory=lambda: defaultdict(list))
    _in: dict[tuple[EdgeType, NodeId], list[NodeId]] = field(default_factory=lambda: defaultdict(list))
    _by_short: dict[ShortId, NodeId] = field(default_factory=dict)
    _newest: dict[str, str] = field(default_factory=dict)  # series → address of its newest member

    @classmethod
    def build(cls, nodes: Iterable[Node], edges: Iterable[Edge]) -> "GraphSnapshot":
        """Make a snapshot; the order of nodes and edges given does not matter."""
        snapshot = cls()
        for node in sorted(nodes, key=lambda node: node.sequence):
            snapshot._put(node)
        for edge in edges:
            snapshot._link(edge)
        return snapshot

    def apply(self, delta: "GraphDelta") -> None:
        """Follow one committed transaction."""
        for node in (*delta.created, *delta.updated):
            self._put(node)
        for key in delta.removed:
            self._unlink(key)
        for edge in delta.edges:
            self._link(edge)
        self.changes.append(delta)

    # -- nodes ----------------------------------------------------------------------------------

    @property
    def root(self) -> TaskNode:
        """The question itself: the first task that was made."""
        return next(iter(self.tasks.values()))

    @property
    def known_before(self) -> TaskNode | None:
        """The task beneath which a predecessor's evidence lies: beside the root, a part of nothing."""
        root = self.root.id
        return next(
            (task for task in self.tasks.values() if task.id != root and not self.parent(task.id)), None
        )

    def node(self, node_id: NodeId) -> Node:
        """Raises KeyError for an id that the session does not have."""
        return self.tasks[node_id] if node_id in self.tasks else self.evidence[node_id]

    def by_short_id(self, short_id: str) -> Node | None:
        """The node that a text calls so; None for an id that the session does not have."""
        node_id = self._by_short.get(ShortId(short_id))
        return None if node_id is None else self.node(node_id)

    def live_evidence(self) -> list[EvidenceNode]:
        """Evidence that nothing supersedes, in order of creation."""
        return [node for node in self.evidence.values() if not node.superseded]

    def is_older(self, node: EvidenceNode) -> bool:
        """Whether a newer edition of the node's source exists; issues of a periodical are never older."""
        newest = self._newest.get(node.series, "") if node.series and not node.period else ""
        return bool(newest) and newest != node.address

    def newest_of(self, series: str) -> str:
        """The address of a series' newest member; empty for an unknown series."""
        return self._newest.get(series, "")

    # -- edges ----------------------------------------------------------------------------------

    def targets(self, edge_type: EdgeType, source: NodeId) -> list[NodeId]:
        """Where a node's edges of a type lead to; not to be changed."""
        return self._out.get((edge_type, source), [])

    def sources(self, edge_type: EdgeType, target: NodeId) -> list[NodeId]:
        """Where the edges of a type that lead to a node come from; not to be changed."""
        return self._in.get((edge_type, target), [])

    def parent(self, task: NodeId) -> NodeId | None:
        """What a task is a part of; None for the root and for an orphan."""
        parents = self.targets(EdgeType.SUBTASK_OF, task)
        return parents[0] if parents else None

    def children(self, task: NodeId) -> list[TaskNode]:
        """Subtasks in order of creation."""
        found = [self.tasks[child] for child in self.sources(EdgeType.SUBTASK_OF, task)]
        return sorted(found, key=lambda node: node.sequence)

    def dependencies(self, task: NodeId) -> list[TaskNode]:
        """The tasks whose results a task needs, in order of creation."""
        found = [self.tasks[other] for other in self.targets(EdgeType.DEPENDS_ON, task)]
        return sorted(found, key=lambda node: node.sequence)

    def produced(self, task: NodeId) -> list[EvidenceNode]:
        """Evidence of a task, superseded included, in order of creation."""
        found = [self.evidence[node] for node in self.targets(EdgeType.PRODUCED, task)]
        return sorted(found, key=lambda node: node.sequence)

    def producers(self, evidence: NodeId) -> list[NodeId]:
        """The tasks that found or wrote a piece of evidence."""
        return self.sources(EdgeType.PRODUCED, evidence)

    def visible_to(self, task: NodeId, node: EvidenceNode) -> bool:
        """Whether a task may be shown a node.

        A node superseded by another task's synthesis stays visible to a task that produced it
        (algorithms.md 6). What was known before counts as every task's: none need search for it again.
        """
        if not node.superseded:
            return True
        if not node.origin_id and task not in self.producers(node.id):
            return False
        return not any(
            task in self.producers(synthesis) for synthesis in self.sources(EdgeType.SUPERSEDES, node.id)
        )

    def chunks_under(self, node: EvidenceNode) -> list[EvidenceNode]:
        """The original chunks that a node rests on: itself, or what its SUPERSEDES chain ends in."""
        found: dict[NodeId, EvidenceNode] = {}
        pending = [node.id]
        seen: set[NodeId] = set()
        while pending:
            current = self.evidence[pending.pop()]
            if current.id in seen:
                continue
            seen.add(current.id)
            if current.kind is EvidenceKind.CHUNK:
                found[current.id] = current
            else:
                pending.extend(self.targets(EdgeType.SUPERSEDES, current.id))
        return sorted(found.values(), key=lambda chunk: chunk.sequence)

    def depths(self) -> dict[NodeId, int]:
        """Distance of each task from the root over SUBTASK_OF; an orphan counts as deepest + 1."""
        depths = {self.root.id: 0}
        level = [self.root.id]
        while level:
            below = [child for task in level for child in self.sources(EdgeType.SUBTASK_OF, task)]
            level = [child for child in below if child not in depths]
            depths.update(dict.fromkeys(level, max(depths.values()) + 1))
        deepest = max(depths.values())
        return {task: depths.get(task, deepest + 1) for task in self.tasks}

    def live_descendant_of_terminal(self, task: NodeId) -> bool:
        """Whether an ancestor of the task is DONE or FAILED: then it cannot be selected any more."""
        above = self.parent(task)
        while above is not None:
            if self.tasks[above].status.terminal:
                return True
            above = self.parent(above)
        return False

    def ready_set(self) -> list[TaskNode]:
        """PENDING tasks whose dependencies are all DONE and whose ancestors are all alive."""
        return [
            task
            for task in self.tasks.values()
            if task.status is TaskStatus.PENDING
            and all(other.status is TaskStatus.DONE for other in self.dependencies(task.id))
            and not self.live_descendant_of_terminal(task.id)
        ]

    # -- keeping current ------------------------------------------------------------------------

    def _put(self, node: Node) -> None:
        self._by_short[node.short_id] = node.id
        if isinstance(node, TaskNode):
            self.tasks[node.id] = node
            return
        self.evidence[node.id] = node
        self.table.put(node)
        if node.series and node.newest:
            self._newest[node.series] = node.newest

    def _link(self, edge: Edge) -> None:
        if edge.key not in self.edges:
            self._out[edge.type, edge.source].append(edge.target)
            self._in[edge.type, edge.target].append(edge.source)
        self.edges[edge.key] = edge
        if edge.similarity is not None and edge.similarity.support is not None:
            self.scored[edge.key] = edge
        else:
            self.scored.pop(edge.key, None)

    def _unlink(self, key: EdgeKey) -> None:
        self.scored.pop(key, None)
        if self.edges.pop(key, None) is not None:
            edge_type, source, target = key
            self._out[edge_type, source].remove(target)
            self._in[edge_type, target].remove(source)
