"""A whole session read from Neo4j in bulk, as it stood at one moment.

Neo4j shows each query what was committed last. What was read is of one moment when the session's revision
did not change meanwhile; a session that changes all the time is locked for one load.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from neo4j import ManagedTransaction

from lethe_core.adapters.stores import neo4j_rows as rows
from lethe_core.adapters.stores.neo4j_connection import Neo4jConnection
from lethe_core.adapters.stores.neo4j_reader import new_token
from lethe_core.adapters.stores.neo4j_record import Record, locked_record, read_record
from lethe_core.graph.dump import SessionDump
from lethe_core.graph.nodes import Edge, Node, SessionId

QUIET_LOADS: Final = 3  # that another's commit may disturb before the session is locked


@dataclass(frozen=True, slots=True)
class Loaded:
    record: Record
    nodes: Sequence[Node]
    edges: Sequence[tuple[int, Edge]]

    def dump(self) -> SessionDump:
        record = self.record
        return SessionDump(
            record.state,
            record.text,
            record.dimension,
            record.counters,
            tuple(self.nodes),
            tuple(self.edges),
        )


def load_session(connection: Neo4jConnection, session_id: SessionId) -> Loaded:
    """Raises SessionNotFoundError."""

    def quietly(tx: ManagedTransaction) -> Loaded | None:
        before = read_record(tx, session_id, connection.url)
        try:
            loaded = _load(tx, before, session_id)
        except KeyError:
            loaded = None  # an edge of a node that came in between
        after = read_record(tx, session_id, connection.url)
        same = (after.state.uuid, after.revision) == (before.state.uuid, before.revision)
        return loaded if same else None

    def locked(tx: ManagedTransaction) -> Loaded:
        record = locked_record(tx, session_id, connection.url, new_token())
        return _load(tx, record, session_id)

    for _ in range(QUIET_LOADS):
        found = connection.read(quietly)
        if found is not None:
            return found
    return connection.write(locked)


def _load(tx: ManagedTransaction, record: Record, session_id: SessionId) -> Loaded:
    def run(query: str) -> list[Any]:
        return [found.values() for found in tx.run(query, session=record.state.session_id)]

    tasks = [rows.task_from(row, session_id) for (row,) in run(rows.SELECT_TASKS)]
    evidence = [rows.evidence_from(row, session_id) for (row,) in run(rows.SELECT_EVIDENCES)]
    tasks.sort(key=lambda node: node.sequence)
    evidence.sort(key=lambda node: node.sequence)
    of_tasks, of_evidence = run(rows.SELECT_TASK_EDGES), run(rows.SELECT_EVIDENCE_EDGES)
    return Loaded(record, [*tasks, *evidence], rows.edges_from(of_tasks, of_evidence, tasks, evidence))
