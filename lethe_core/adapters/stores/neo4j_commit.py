"""What a commit writes to Neo4j: a staged transaction, in batches, within one database transaction."""

from typing import Any, Final

from neo4j import ManagedTransaction

from lethe_core.adapters.stores import neo4j_rows as rows
from lethe_core.errors import StoreError
from lethe_core.graph.nodes import EdgeType, EvidenceNode, SessionId, TaskNode
from lethe_core.graph.staging import StagedWrite

_RECORD: Final = (
    "MATCH (s:Session {session_id: $session}) SET s.session_revision = $revision, s.session_token = $token, "
    "s.session_updated_at = $now, s.session_state = coalesce($state, s.session_state), "
    "s.session_last_task = $task, s.session_last_evidence = $evidence, s.session_last_edge = $edge, "
    "s.session_starts = CASE WHEN $progressed THEN 0 ELSE s.session_starts END"
)


def write_staged(
    tx: ManagedTransaction, session_id: SessionId, write: StagedWrite, *, revision: int, token: str
) -> None:
    """Write all of it; the session's record is locked and read already.

    Raises StoreError when something that was staged against is not there any more, by another hand.
    """

    def run(query: str, wanted: list[rows.Row]) -> None:
        for batch in rows.batches(wanted):
            (done,) = tx.run(query, rows=batch, session=session_id).single(strict=True).values()
            if done != len(batch):
                raise StoreError(
                    f"the graph of session {session_id} was changed by another program while Lethe worked "
                    "on it: nothing was written"
                )

    created, updated = write.created, write.updated
    run(rows.CREATE_TASKS, [rows.task_row(node) for node in created if isinstance(node, TaskNode)])
    run(
        rows.CREATE_EVIDENCES, [rows.evidence_row(node) for node in created if isinstance(node, EvidenceNode)]
    )
    run(rows.UPDATE_TASKS, [rows.task_changes(node) for node in updated if isinstance(node, TaskNode)])
    run(
        rows.UPDATE_EVIDENCES,
        [rows.evidence_changes(node) for node in updated if isinstance(node, EvidenceNode)],
    )
    run(rows.DELETE_SIMILAR, [rows.key_row(source, target) for _, source, target in write.removed])
    for edge_type in EdgeType:
        query = rows.CREATE_EDGES.get(edge_type, rows.UPSERT_SIMILAR)
        run(query, [rows.edge_row(number, edge) for number, edge in write.edges if edge.type is edge_type])
    values: dict[str, Any] = {
        "revision": revision,
        "token": token,
        "now": write.now,
        "state": write.state_text or None,
        "task": write.counters.task,
        "evidence": write.counters.evidence,
        "edge": write.counters.edge,
        "progressed": write.progressed,
    }
    tx.run(_RECORD, session=session_id, **values).consume()
