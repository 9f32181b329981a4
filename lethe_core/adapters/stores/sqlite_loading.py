"""A whole session read from a SQLite store in bulk."""

import sqlite3

from lethe_core.adapters.stores import sqlite_rows as rows
from lethe_core.graph.nodes import Edge, Node, SessionId
from lethe_core.graph.rules import EVIDENCE, TASK


def load_graph(
    database: sqlite3.Connection, session: int, session_id: SessionId
) -> tuple[list[Node], list[tuple[int, Edge]]]:
    """All nodes, tasks first, and all edges with their numbers, each in order of creation."""
    key = (session,)
    tasks = [rows.task_from(row, session_id) for row in database.execute(rows.SELECT_TASKS, key)]
    evidence = [rows.evidence_from(row, session_id) for row in database.execute(rows.SELECT_EVIDENCES, key)]
    found = database.execute(rows.SELECT_EDGES, key)
    edges = rows.edges_from(found, rows.Numbered(TASK, tasks), rows.Numbered(EVIDENCE, evidence))
    return [*tasks, *evidence], edges
