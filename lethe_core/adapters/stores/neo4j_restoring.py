"""A session written into Neo4j as another store gave it, in transactions of bounded size.

Until all of it is there its root is Deleted, so that nobody sees half of it, and what a cut-off copy leaves
is removed like the rest of a deleted session.
"""

from typing import Final

from neo4j import ManagedTransaction

from lethe_core.adapters.stores import neo4j_rows as rows
from lethe_core.adapters.stores.neo4j_connection import Neo4jConnection
from lethe_core.adapters.stores.neo4j_deletion import finish_deletions, is_being_deleted
from lethe_core.adapters.stores.neo4j_reader import new_token
from lethe_core.adapters.stores.neo4j_record import new_record
from lethe_core.errors import DuplicateError, StoreError
from lethe_core.graph.dump import SessionDump, check_ends
from lethe_core.graph.nodes import EdgeType, EvidenceNode, TaskNode

_TAKEN: Final = "MATCH (s:Session {session_id: $session}) RETURN s.id"
_BEGIN: Final = "CREATE (n:Lethe:TaskNode:Deleted) SET n = $values"
_OWN: Final = (
    "MATCH (d:Deleted {session_id: $session}) WHERE d.session_token = $token "
    "SET d.session_lock = $token RETURN d.session_restored"
)
_DONE: Final = "MATCH (d:Deleted {session_id: $session}) SET d.session_restored = $number"
_SHOW: Final = (
    "MATCH (d:Deleted {session_id: $session}) WHERE d.session_token = $token "
    "REMOVE d:Deleted, d.session_restored SET d:Session RETURN count(d)"
)
_SHOWN: Final = "MATCH (s:Session {session_id: $session}) WHERE s.session_token = $token RETURN count(s)"


def restore_session(connection: Neo4jConnection, dump: SessionDump) -> None:
    """Raises DuplicateError when the session or one of its nodes exists."""
    session, token = dump.state.session_id, new_token()
    roots = [node for node in dump.nodes if node.id == dump.state.root and isinstance(node, TaskNode)]
    if not roots:
        raise StoreError(
            f"session {session} has no root task: `lethe store check` says what is wrong with it"
        )
    record = new_record(dump.state, dump.state_text, dump.dimension, dump.counters, token)
    values = {**rows.task_row(roots[0]), **record, "session_restored": 0}

    def begin(tx: ManagedTransaction) -> None:
        if _own(tx, session, token) is not None:
            return
        if tx.run(_TAKEN, session=session).peek() is not None:
            raise _exists(session, connection.url)
        if is_being_deleted(tx, session):
            raise StoreError(f"something else is writing session {session} into {connection.url}")
        tx.run(_BEGIN, values=values).consume()

    def write(tx: ManagedTransaction, number: int, query: str, batch: list[rows.Row]) -> None:
        done = _own(tx, session, token)
        if done is None:
            raise StoreError(f"the copy of session {session} was removed while it was being made")
        if done < number:
            (count,) = tx.run(query, rows=batch, session=session).single(strict=True).values()
            if count != len(batch):
                raise StoreError(f"nodes of session {session} were removed while its copy was being made")
            tx.run(_DONE, session=session, number=number).consume()

    def show(tx: ManagedTransaction) -> None:
        (shown,) = tx.run(_SHOW, session=session, token=token).single(strict=True).values()
        if not shown:
            (shown,) = tx.run(_SHOWN, session=session, token=token).single(strict=True).values()
        if not shown:
            raise StoreError(f"the copy of session {session} was removed while it was being made")

    check_ends(dump)
    finish_deletions(connection)
    try:
        connection.write(begin)
        number = 0
        for query, wanted in _pieces(dump):
            for batch in rows.batches(wanted):
                number += 1
                connection.write(lambda tx, n=number, q=query, b=batch: write(tx, n, q, b))  # type: ignore[misc]
        connection.write(show)
    except DuplicateError as error:
        raise _exists(session, connection.url) from error


def _pieces(dump: SessionDump) -> list[tuple[str, list[rows.Row]]]:
    tasks = [node for node in dump.nodes if isinstance(node, TaskNode) and node.id != dump.state.root]
    evidence = [node for node in dump.nodes if isinstance(node, EvidenceNode)]
    pieces = [
        (rows.CREATE_TASKS, [rows.task_row(node) for node in tasks]),
        (rows.CREATE_EVIDENCES, [rows.evidence_row(node) for node in evidence]),
    ]
    for edge_type in EdgeType:
        query = rows.CREATE_EDGES.get(edge_type, rows.UPSERT_SIMILAR)
        edges = [rows.edge_row(number, edge) for number, edge in dump.edges if edge.type is edge_type]
        pieces.append((query, edges))
    return pieces


def _own(tx: ManagedTransaction, session: str, token: str) -> int | None:
    """How many pieces of this copy are written; None when there is none of it. Nobody else writes to it."""
    found = tx.run(_OWN, session=session, token=token).single()
    return None if found is None else int(found[0])


def _exists(session: str, url: str) -> DuplicateError:
    return DuplicateError(f"session {session!r}, or one of its nodes, exists already in {url}")
