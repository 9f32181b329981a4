"""Nodes and edges as rows of the SQLite store, in both directions, with the statements that move them."""

from collections.abc import Iterable, Mapping
from operator import itemgetter
from typing import Any, Final, TypeAlias

from lethe_core.graph.nodes import (
    Edge,
    EdgeType,
    EvidenceKind,
    EvidenceNode,
    Node,
    NodeId,
    SessionId,
    Similarity,
    TaskNode,
    TaskStatus,
)
from lethe_core.graph.rules import TASK, NodeHead
from lethe_core.graph.serial import decode_vector, encode_vector
from lethe_core.graph.snapshot import EdgeKey

Row: TypeAlias = tuple[Any, ...]
Ends: TypeAlias = Mapping[NodeId, NodeHead]  # of edges: what they are written down by

SELECT_SESSIONS: Final = "SELECT id, state, updated_at FROM session ORDER BY created_at, key"
SELECT_SERIES: Final = "SELECT id, state, updated_at FROM session WHERE series = ? ORDER BY created_at, key"
SELECT_TASKS: Final = """
    SELECT id, short_id, sequence, created_at, description, embed_text, embedding, status, result_summary,
        result_embedding, prepared_prompt, antifocus, failure_reason, n_productive, last_selected
    FROM task WHERE session = ? ORDER BY sequence
"""
SELECT_TASK: Final = """
    SELECT id, short_id, sequence, created_at, description, embed_text, embedding, status, result_summary,
        result_embedding, prepared_prompt, antifocus, failure_reason, n_productive, last_selected
    FROM task WHERE session = ? AND id = ?
"""
INSERT_TASK: Final = "INSERT INTO task VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
UPDATE_TASK: Final = """
    UPDATE task SET status = ?, result_summary = ?, result_embedding = ?, prepared_prompt = ?, antifocus = ?,
        failure_reason = ?, n_productive = ?, last_selected = ?
    WHERE session = ? AND id = ?
"""
SELECT_EVIDENCES: Final = """
    SELECT id, short_id, sequence, created_at, content, embed_text, embedding, strength, base_strength, kind,
        source_description, superseded, address, title, date, date_source, series, edition, period, newest,
        page_fingerprint, content_hash, span_start, span_end, place, domain, origin_id
    FROM evidence WHERE session = ? ORDER BY sequence
"""
SELECT_EVIDENCE: Final = """
    SELECT id, short_id, sequence, created_at, content, embed_text, embedding, strength, base_strength, kind,
        source_description, superseded, address, title, date, date_source, series, edition, period, newest,
        page_fingerprint, content_hash, span_start, span_end, place, domain, origin_id
    FROM evidence WHERE session = ? AND id = ?
"""
INSERT_EVIDENCE: Final = """
    INSERT INTO evidence VALUES
        (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
UPDATE_EVIDENCE: Final = "UPDATE evidence SET strength = ?, superseded = ? WHERE session = ? AND id = ?"
# Sorted by its first column afterwards: SQLite takes twice as long for it.
SELECT_EDGES: Final = """
    SELECT sequence, type, letter, source, target, cosine, entail_fwd, entail_bwd, support, contradiction,
        equivalence, independence, confidence, direction, polarity
    FROM edge WHERE session = ?
"""
# An edge that exists keeps its number, hence its place in the order of creation.
UPSERT_EDGE: Final = """
    INSERT INTO edge VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (session, type, letter, target, source) DO UPDATE SET
        cosine = excluded.cosine, entail_fwd = excluded.entail_fwd, entail_bwd = excluded.entail_bwd,
        support = excluded.support, contradiction = excluded.contradiction,
        equivalence = excluded.equivalence, independence = excluded.independence,
        confidence = excluded.confidence, direction = excluded.direction, polarity = excluded.polarity
"""
DELETE_EDGE: Final = (
    "DELETE FROM edge WHERE session = ? AND type = ? AND letter = ? AND target = ? AND source = ?"
)

_STATUSES: Final = {status.value: status for status in TaskStatus}
_KINDS: Final = {kind.value: kind for kind in EvidenceKind}
_TYPES: Final = {edge_type.value: edge_type for edge_type in EdgeType}
_TO_EVIDENCE: Final = EdgeType.PRODUCED.value  # every other edge joins two nodes of one kind
_NO_SCORES: Final = (None,) * 10


def task_from(row: Row, session_id: SessionId) -> TaskNode:
    """A row of SELECT_TASKS as a node."""
    return TaskNode(
        id=row[0],
        short_id=row[1],
        session_id=session_id,
        sequence=row[2],
        created_at=row[3],
        description=row[4],
        embed_text=row[5],
        embedding=decode_vector(row[6]),
        status=_STATUSES[row[7]],
        result_summary=row[8],
        result_embedding=decode_vector(row[9]),
        prepared_prompt=row[10],
        antifocus=row[11],
        failure_reason=row[12],
        n_productive=row[13],
        last_selected=row[14],
    )


def evidence_from(row: Row, session_id: SessionId) -> EvidenceNode:
    """A row of SELECT_EVIDENCES as a node."""
    return EvidenceNode(
        id=row[0],
        short_id=row[1],
        session_id=session_id,
        sequence=row[2],
        created_at=row[3],
        content=row[4],
        embed_text=row[5],
        embedding=decode_vector(row[6]),
        strength=row[7],
        base_strength=row[8],
        kind=_KINDS[row[9]],
        source_description=row[10],
        superseded=bool(row[11]),
        address=row[12],
        title=row[13],
        date=row[14],
        date_source=row[15],
        series=row[16],
        edition=row[17],
        period=row[18],
        newest=row[19],
        page_fingerprint=row[20],
        content_hash=row[21],
        span=(row[22], row[23]),
        place=row[24],
        domain=row[25],
        origin_id=row[26],
    )


class Numbered(dict[int, NodeId]):
    """The ids of one kind of nodes by their sequences; a number without a node stands for itself."""

    def __init__(self, letter: str, nodes: Iterable[Node]) -> None:
        super().__init__((node.sequence, node.id) for node in nodes)
        self._letter = letter

    def __missing__(self, number: int) -> NodeId:
        # A hand at the file took the node: a check has to be able to say so.
        return NodeId(f"{self._letter}#{number}")


def edges_from(found: Iterable[Row], tasks: Numbered, evidence: Numbered) -> list[tuple[int, Edge]]:
    """Rows of SELECT_EDGES as edges, by their numbers."""
    edges = []
    for number, name, letter, source, target, *scores in sorted(found, key=itemgetter(0)):
        sources = tasks if letter == TASK else evidence
        targets = evidence if name == _TO_EVIDENCE else sources
        similarity = None if scores[0] is None else Similarity(*scores)
        edges.append((number, Edge(_TYPES[name], sources[source], targets[target], similarity)))
    return edges


def task_row(node: TaskNode, session: int) -> Row:
    """For INSERT_TASK."""
    return (
        node.id,
        session,
        node.short_id,
        node.sequence,
        node.created_at,
        node.description,
        node.embed_text,
        encode_vector(node.embedding),
        *_task_changes(node),
    )


def evidence_row(node: EvidenceNode, session: int) -> Row:
    """For INSERT_EVIDENCE."""
    return (
        node.id,
        session,
        node.short_id,
        node.sequence,
        node.created_at,
        node.content,
        node.embed_text,
        encode_vector(node.embedding),
        node.strength,
        node.base_strength,
        node.kind.value,
        node.source_description,
        int(node.superseded),
        node.address,
        node.title,
        node.date,
        node.date_source,
        node.series,
        node.edition,
        node.period,
        node.newest,
        node.page_fingerprint,
        node.content_hash,
        node.span[0],
        node.span[1],
        node.place,
        node.domain,
        node.origin_id,
    )


def update_row(node: Node, session: int) -> Row:
    """For UPDATE_TASK or UPDATE_EVIDENCE."""
    if isinstance(node, TaskNode):
        return (*_task_changes(node), session, node.id)
    return (node.strength, int(node.superseded), session, node.id)


def edge_row(number: int, edge: Edge, ends: Ends, session: int) -> Row:
    """For UPSERT_EDGE."""
    similarity = edge.similarity
    scores: Row = _NO_SCORES
    if similarity is not None:
        scores = (
            similarity.cosine,
            similarity.entail_fwd,
            similarity.entail_bwd,
            similarity.support,
            similarity.contradiction,
            similarity.equivalence,
            similarity.independence,
            similarity.confidence,
            similarity.direction,
            similarity.polarity,
        )
    return (*key_row(edge.key, ends, session), number, *scores)


def key_row(key: EdgeKey, ends: Ends, session: int) -> Row:
    """For DELETE_EDGE: the edge's key in the table."""
    source = ends[key[1]]
    return (session, key[0].value, source.letter, ends[key[2]].sequence, source.sequence)


def _task_changes(node: TaskNode) -> Row:
    return (
        node.status.value,
        node.result_summary,
        encode_vector(node.result_embedding),
        node.prepared_prompt,
        node.antifocus,
        node.failure_reason,
        node.n_productive,
        node.last_selected,
    )
