"""Nodes and edges as Neo4j keeps them, in both directions, with the queries that move them.

Every value is a parameter; of a query's text only the names of our own types change.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from typing import Any, Final, TypeAlias

from lethe_core.graph.nodes import (
    Edge,
    EdgeType,
    EvidenceKind,
    EvidenceNode,
    NodeId,
    SessionId,
    Similarity,
    TaskNode,
    TaskStatus,
)
from lethe_core.graph.serial import decode_vector, encode_vector

Row: TypeAlias = dict[str, Any]

MOST_ROWS: Final = 2_000  # of a batch
MOST_BYTES: Final = 8_000_000  # of its texts and vectors: a server with a small heap must hold it, too

_TASK: Final = tuple(f.name for f in fields(TaskNode) if f.name != "session_id")
_EVIDENCE: Final = (
    *(f.name for f in fields(EvidenceNode) if f.name not in ("session_id", "span")),
    *("span_start", "span_end"),
)
_SCORES: Final = tuple(f.name for f in fields(Similarity))


def _listed(variable: str, names: Sequence[str]) -> str:
    return "[" + ", ".join(f"{variable}.{name}" for name in names) + "]"


# One list a row: a record of 27 columns takes the driver half as long again.
SELECT_TASKS: Final = f"MATCH (n:TaskNode {{session_id: $session}}) RETURN {_listed('n', _TASK)}"
SELECT_EVIDENCES: Final = f"MATCH (n:EvidenceNode {{session_id: $session}}) RETURN {_listed('n', _EVIDENCE)}"
SELECT_NODE: Final = (
    "MATCH (n:Lethe {id: $id}) WHERE n.session_id = $session "
    f"RETURN n:TaskNode, CASE WHEN n:TaskNode THEN {_listed('n', _TASK)} ELSE {_listed('n', _EVIDENCE)} END"
)
# Ends by their sequences: two UUIDs an edge would take longer than everything else.
SELECT_TASK_EDGES: Final = (
    "MATCH (a:TaskNode {session_id: $session})-[r]->(b:Lethe) "
    f"RETURN [r.sequence, type(r), a.sequence, b.sequence], {_listed('r', _SCORES)}"
)
SELECT_EVIDENCE_EDGES: Final = (
    "MATCH (a:EvidenceNode {session_id: $session})-[r]->(b:EvidenceNode) "
    f"RETURN [r.sequence, type(r), a.sequence, b.sequence], {_listed('r', _SCORES)}"
)

CREATE_TASKS: Final = "UNWIND $rows AS row CREATE (n:Lethe:TaskNode) SET n = row RETURN count(n)"
CREATE_EVIDENCES: Final = "UNWIND $rows AS row CREATE (n:Lethe:EvidenceNode) SET n = row RETURN count(n)"
# What must not change is matched once more, so that it also holds against a hand at the database.
UPDATE_TASKS: Final = (
    "UNWIND $rows AS row MATCH (n:Lethe {id: row.id}) "
    "WHERE n.session_id = $session AND n.status IN ['PENDING', 'ACTIVE'] SET n += row RETURN count(n)"
)
UPDATE_EVIDENCES: Final = (
    "UNWIND $rows AS row MATCH (n:Lethe {id: row.id}) WHERE n.session_id = $session AND n:EvidenceNode "
    "SET n += row RETURN count(n)"
)
CREATE_EDGES: Final[Mapping[EdgeType, str]] = {
    edge_type: "UNWIND $rows AS row MATCH (a:Lethe {id: row.source}) MATCH (b:Lethe {id: row.target}) "
    f"CREATE (a)-[r:{edge_type.value}]->(b) SET r.sequence = row.number RETURN count(r)"
    for edge_type in EdgeType
    if edge_type is not EdgeType.SIMILAR_TO
}
# An edge that exists keeps its number, hence its place in the order of creation.
UPSERT_SIMILAR: Final = (
    "UNWIND $rows AS row MATCH (a:Lethe {id: row.source}) MATCH (b:Lethe {id: row.target}) "
    "MERGE (a)-[r:SIMILAR_TO]->(b) ON CREATE SET r.sequence = row.number SET r += row.scores RETURN count(r)"
)
DELETE_SIMILAR: Final = (
    "UNWIND $rows AS row MATCH (a:Lethe {id: row.source})-[r:SIMILAR_TO]->(b:Lethe {id: row.target}) "
    "DELETE r RETURN count(r)"
)

_STATUSES: Final = {status.value: status for status in TaskStatus}
_KINDS: Final = {kind.value: kind for kind in EvidenceKind}
_TYPES: Final = {edge_type.value: edge_type for edge_type in EdgeType}
_TO_EVIDENCE: Final = EdgeType.PRODUCED.value  # every other edge joins two nodes of one kind


def batches(rows: Sequence[Row]) -> Iterator[list[Row]]:
    """The rows in their order, at most MOST_ROWS and some MOST_BYTES at a time."""
    batch: list[Row] = []
    size = 0
    for row in rows:
        length = sum(len(value) for value in row.values() if isinstance(value, str | bytes))
        if batch and (len(batch) == MOST_ROWS or size + length > MOST_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(row)
        size += length
    if batch:
        yield batch


def task_from(row: list[Any], session_id: SessionId) -> TaskNode:
    """A row of SELECT_TASKS as a node."""
    values = dict(zip(_TASK, row, strict=True))
    values["embedding"] = decode_vector(values["embedding"])
    values["result_embedding"] = decode_vector(values["result_embedding"])
    values["status"] = _STATUSES[values["status"]]
    return TaskNode(session_id=session_id, **values)


def evidence_from(row: list[Any], session_id: SessionId) -> EvidenceNode:
    """A row of SELECT_EVIDENCES as a node."""
    values = dict(zip(_EVIDENCE, row, strict=True))
    values["embedding"] = decode_vector(values["embedding"])
    values["kind"] = _KINDS[values["kind"]]
    values["span"] = (values.pop("span_start"), values.pop("span_end"))
    return EvidenceNode(session_id=session_id, **values)


def edges_from(
    of_tasks: list[tuple[list[Any], list[Any]]],
    of_evidence: list[tuple[list[Any], list[Any]]],
    tasks: Sequence[TaskNode],
    evidence: Sequence[EvidenceNode],
) -> list[tuple[int, Edge]]:
    """Rows of SELECT_TASK_EDGES and SELECT_EVIDENCE_EDGES as edges, by their numbers."""
    task_ids = {node.sequence: node.id for node in tasks}
    evidence_ids = {node.sequence: node.id for node in evidence}
    edges = []
    for rows, sources in ((of_tasks, task_ids), (of_evidence, evidence_ids)):
        for (number, name, source, target), scores in rows:
            targets = evidence_ids if name == _TO_EVIDENCE else sources
            similarity = None if scores[0] is None else Similarity(*scores)
            edges.append((number, Edge(_TYPES[name], sources[source], targets[target], similarity)))
    edges.sort(key=lambda numbered: numbered[0])
    return edges


def task_row(node: TaskNode) -> Row:
    """All properties of a task."""
    return {
        "session_id": node.session_id,
        "short_id": node.short_id,
        "sequence": node.sequence,
        "created_at": node.created_at,
        "description": node.description,
        "embed_text": node.embed_text,
        "embedding": encode_vector(node.embedding),
        **task_changes(node),
    }


def task_changes(node: TaskNode) -> Row:
    """The properties of a task that may change, and its id."""
    return {
        "id": node.id,
        "status": node.status.value,
        "result_summary": node.result_summary,
        "result_embedding": encode_vector(node.result_embedding),
        "prepared_prompt": node.prepared_prompt,
        "antifocus": node.antifocus,
        "failure_reason": node.failure_reason,
        "n_productive": node.n_productive,
        "last_selected": node.last_selected,
    }


def evidence_row(node: EvidenceNode) -> Row:
    """All properties of evidence."""
    values: Row = {name: getattr(node, name) for name in _EVIDENCE if name not in ("span_start", "span_end")}
    values["session_id"] = node.session_id
    values["embedding"] = encode_vector(node.embedding)
    values["kind"] = node.kind.value
    values["span_start"], values["span_end"] = node.span
    return values


def evidence_changes(node: EvidenceNode) -> Row:
    """The properties of evidence that may change, and its id."""
    return {"id": node.id, "strength": node.strength, "superseded": node.superseded}


def edge_row(number: int, edge: Edge) -> Row:
    row: Row = {"source": edge.source, "target": edge.target, "number": number}
    if edge.similarity is not None:
        # None takes a property away.
        row["scores"] = {name: getattr(edge.similarity, name) for name in _SCORES}
    return row


def key_row(source: NodeId, target: NodeId) -> Row:
    return {"source": source, "target": target}
