"""What a transaction reads of one session in a Neo4j store while it is being staged.

A query takes milliseconds, so what is asked for every node is kept: as long as the session's revision is the
one that was read, nobody else has written.
"""

import uuid
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from neo4j import ManagedTransaction

from lethe_core.adapters.stores import neo4j_rows as rows
from lethe_core.adapters.stores.neo4j_connection import Neo4jConnection
from lethe_core.graph.nodes import EdgeType, Node, NodeId, SessionId, ShortId, TaskStatus
from lethe_core.graph.rules import EVIDENCE, TASK, NodeHead, head_of
from lethe_core.graph.snapshot import EdgeKey

_HEADS: Final = (
    "MATCH (n:TaskNode {session_id: $session}) RETURN [n.id, n.short_id, n.sequence, n.status] AS row "
    "UNION ALL "
    "MATCH (n:EvidenceNode {session_id: $session}) RETURN [n.id, n.short_id, n.sequence, null] AS row"
)
_ID_TAKEN: Final = "MATCH (n:Lethe {id: $id}) RETURN n.id"
_EDGES: Final[Mapping[EdgeType, str]] = {
    edge_type: "UNWIND $rows AS row "
    f"MATCH (a:Lethe {{id: row.source}})-[:{edge_type.value}]->(b:Lethe {{id: row.target}}) "
    "WHERE a.session_id = $session RETURN row.source, row.target"
    for edge_type in EdgeType
}
_DAG_EDGES: Final = (
    "MATCH (a:TaskNode {session_id: $session})-[:SUBTASK_OF|DEPENDS_ON]->(b:TaskNode) RETURN a.id, b.id"
)


@dataclass(slots=True)
class Known:
    """What is known of a session as it stands at a revision."""

    uuid: str
    revision: int
    heads: dict[NodeId, NodeHead] | None = None  # None: not read yet
    short_ids: set[ShortId] = field(default_factory=set)
    nodes: dict[NodeId, Node] = field(default_factory=dict)  # those that were loaded or written here

    def learn(self, nodes: Iterable[Node], revision: int) -> None:
        """Follow a commit that led to a revision, or take in nodes that were read at it."""
        self.revision = revision
        for node in nodes:
            self.nodes[node.id] = node
            if self.heads is not None:
                self.heads[node.id] = head_of(node)
                self.short_ids.add(node.short_id)

    def learn_all(self, nodes: Iterable[Node], revision: int) -> None:
        """Take in all nodes of the session, as they were read at a revision."""
        self.heads, self.short_ids, self.nodes = {}, set(), {}
        self.learn(nodes, revision)


class Neo4jReader:
    """Implements ``SessionReader``."""

    def __init__(self, connection: Neo4jConnection, session_id: SessionId, known: Known) -> None:
        self._connection = connection
        self._session = session_id
        self._known = known

    def node(self, node_id: NodeId) -> Node | None:
        known = self._known.nodes.get(node_id)
        if known is not None:
            return known
        found = self._run(rows.SELECT_NODE, id=node_id)
        if not found:
            return None
        is_task, row = found[0]
        return rows.task_from(row, self._session) if is_task else rows.evidence_from(row, self._session)

    def heads(self, ids: Collection[NodeId]) -> Mapping[NodeId, NodeHead]:
        every = self._every_head()
        return {node_id: every[node_id] for node_id in ids if node_id in every}

    def id_taken(self, node_id: NodeId) -> bool:
        return bool(self._run(_ID_TAKEN, id=node_id))

    def short_id_taken(self, short_id: ShortId) -> bool:
        self._every_head()
        return short_id in self._known.short_ids

    def existing_edges(self, keys: Collection[EdgeKey]) -> set[EdgeKey]:
        found: set[EdgeKey] = set()
        for edge_type in EdgeType:
            wanted = [rows.key_row(source, target) for kind, source, target in keys if kind is edge_type]
            for batch in rows.batches(wanted):
                ends = self._run(_EDGES[edge_type], rows=batch)
                found.update((edge_type, source, target) for source, target in ends)
        return found

    def dag_edges(self) -> Iterable[tuple[NodeId, NodeId]]:
        return [(source, target) for source, target in self._run(_DAG_EDGES)]

    # -- private --------------------------------------------------------------------------------

    def _every_head(self) -> dict[NodeId, NodeHead]:
        known = self._known
        if known.heads is None:
            known.heads = {
                node_id: NodeHead(TASK, short_id, sequence, TaskStatus(status))
                if status is not None
                else NodeHead(EVIDENCE, short_id, sequence, None)
                for ((node_id, short_id, sequence, status),) in self._run(_HEADS)
            }
            known.short_ids = {head.short_id for head in known.heads.values()}
        return known.heads

    def _run(self, query: str, **values: Any) -> list[Any]:
        def work(tx: ManagedTransaction) -> list[Any]:
            return [record.values() for record in tx.run(query, session=self._session, **values)]

        return self._connection.read(work)


def new_token() -> str:
    """A name for one piece of work, by which it is recognised when it is done again."""
    return uuid.uuid4().hex
