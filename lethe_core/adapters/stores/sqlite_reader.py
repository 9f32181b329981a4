"""What a transaction reads of one session in a SQLite store while it is being staged."""

import json
from collections.abc import Collection, Iterable, Mapping

from lethe_core.adapters.stores import sqlite_rows as rows
from lethe_core.adapters.stores.sqlite_connection import SqliteConnection
from lethe_core.graph.nodes import Node, NodeId, SessionId, ShortId, TaskStatus
from lethe_core.graph.rules import EVIDENCE, TASK, NodeHead
from lethe_core.graph.snapshot import EdgeKey


class SqliteReader:
    """Implements ``SessionReader``."""

    def __init__(self, connection: SqliteConnection, session: int, session_id: SessionId) -> None:
        self._connection = connection
        self._session = session
        self._session_id = session_id

    def node(self, node_id: NodeId) -> Node | None:
        with self._connection.reading() as database:
            row = database.execute(rows.SELECT_TASK, (self._session, node_id)).fetchone()
            if row is not None:
                return rows.task_from(row, self._session_id)
            row = database.execute(rows.SELECT_EVIDENCE, (self._session, node_id)).fetchone()
            return None if row is None else rows.evidence_from(row, self._session_id)

    def heads(self, ids: Collection[NodeId]) -> Mapping[NodeId, NodeHead]:
        # The join's order is given and the session's index is barred (+): else it is scanned for every node.
        wanted = (json.dumps(list(ids)), self._session)
        with self._connection.reading() as database:
            tasks = database.execute(
                "SELECT task.id, short_id, sequence, status FROM json_each(?) AS wanted CROSS JOIN task "
                "ON task.id = wanted.value AND +task.session = ?",
                wanted,
            ).fetchall()
            evidence = database.execute(
                "SELECT evidence.id, short_id, sequence FROM json_each(?) AS wanted CROSS JOIN evidence "
                "ON evidence.id = wanted.value AND +evidence.session = ?",
                wanted,
            ).fetchall()
        found = {row[0]: NodeHead(TASK, row[1], row[2], TaskStatus(row[3])) for row in tasks}
        found.update((row[0], NodeHead(EVIDENCE, row[1], row[2], None)) for row in evidence)
        return found

    def id_taken(self, node_id: NodeId) -> bool:
        return self._exists(
            "SELECT EXISTS (SELECT 1 FROM task WHERE id = :id) "
            "OR EXISTS (SELECT 1 FROM evidence WHERE id = :id)",
            {"id": node_id},
        )

    def short_id_taken(self, short_id: ShortId) -> bool:
        return self._exists(
            "SELECT EXISTS (SELECT 1 FROM task WHERE session = :session AND short_id = :short) "
            "OR EXISTS (SELECT 1 FROM evidence WHERE session = :session AND short_id = :short)",
            {"session": self._session, "short": short_id},
        )

    def existing_edges(self, keys: Collection[EdgeKey]) -> set[EdgeKey]:
        ends = self.heads({end for _, *both in keys for end in both})
        asked = [key for key in keys if key[1] in ends and key[2] in ends]
        wanted = json.dumps([rows.key_row(key, ends, self._session)[1:] for key in asked])
        with self._connection.reading_once() as database:
            found = database.execute(
                "SELECT wanted.key FROM json_each(?) AS wanted CROSS JOIN edge "
                "ON edge.session = ? AND edge.type = json_extract(wanted.value, '$[0]') "
                "AND edge.letter = json_extract(wanted.value, '$[1]') "
                "AND edge.target = json_extract(wanted.value, '$[2]') "
                "AND edge.source = json_extract(wanted.value, '$[3]')",
                (wanted, self._session),
            ).fetchall()
        return {asked[number] for (number,) in found}

    def dag_edges(self) -> Iterable[tuple[NodeId, NodeId]]:
        with self._connection.reading_once() as database:
            return database.execute(
                "SELECT source.id, target.id FROM edge "
                "JOIN task AS source ON source.session = edge.session AND source.sequence = edge.source "
                "JOIN task AS target ON target.session = edge.session AND target.sequence = edge.target "
                "WHERE edge.session = ? AND edge.type IN ('SUBTASK_OF', 'DEPENDS_ON')",
                (self._session,),
            ).fetchall()

    def _exists(self, question: str, values: Mapping[str, int | str]) -> bool:
        with self._connection.reading_once() as database:
            (answer,) = database.execute(question, values).fetchone()
        return bool(answer)
