"""How a session is taken out of Neo4j: first out of sight, then in batches.

The root loses its label Session and is Deleted; nobody finds the session any more. What is left of it goes
in transactions of bounded size, each of which holds the root, so that a session made anew under the same
name loses nothing. A process that dies meanwhile leaves a Deleted root, which the next one finishes.
"""

from functools import partial
from typing import Final

from neo4j import ManagedTransaction

from lethe_core.adapters.stores.leases import busy
from lethe_core.adapters.stores.neo4j_connection import Neo4jConnection
from lethe_core.adapters.stores.neo4j_record import locked_record
from lethe_core.adapters.stores.neo4j_rows import MOST_ROWS
from lethe_core.errors import SessionNotFoundError
from lethe_core.graph.nodes import SessionId

_MARK: Final = (
    "MATCH (s:Session {session_id: $session}) REMOVE s:Session SET s:Deleted, s.session_token = $token"
)
_MARKED: Final = "MATCH (d:Deleted {session_id: $session}) WHERE d.session_token = $token RETURN d.id"
_LEFT: Final = "MATCH (d:Deleted) RETURN DISTINCT d.session_id"
_LOCK: Final = "MATCH (d:Deleted {session_id: $session}) SET d.session_lock = '' RETURN count(d)"
_BATCHES: Final = (
    "MATCH (n:EvidenceNode {session_id: $session}) WITH n LIMIT $most DETACH DELETE n RETURN count(n)",
    "MATCH (n:TaskNode {session_id: $session}) WHERE NOT n:Deleted "
    "WITH n LIMIT $most DETACH DELETE n RETURN count(n)",
    "MATCH (d:Deleted {session_id: $session}) WITH d LIMIT $most DETACH DELETE d RETURN count(d)",
)


def delete_session(connection: Neo4jConnection, session_id: SessionId, token: str) -> None:
    """Raises SessionNotFoundError, SessionBusyError."""

    def mark(tx: ManagedTransaction) -> None:
        try:
            record = locked_record(tx, session_id, connection.url, token)
        except SessionNotFoundError:
            if tx.run(_MARKED, session=session_id.encode(errors="replace").decode(), token=token).single():
                return
            raise
        if record.held:
            raise busy(session_id, record.owner, record.until)
        tx.run(_MARK, session=session_id, token=token).consume()

    connection.write(mark)
    finish_deletions(connection)


def finish_deletions(connection: Neo4jConnection) -> None:
    """Remove what is left of deleted sessions."""

    def left(tx: ManagedTransaction) -> list[str]:
        return [found[0] for found in tx.run(_LEFT)]

    for name in connection.read(left):
        for query in _BATCHES:
            while connection.write(partial(_batch, query=query, session=name)):
                pass


def is_being_deleted(tx: ManagedTransaction, session_id: SessionId) -> bool:
    """Whether something is left of a deleted session of this name."""
    return (
        tx.run("MATCH (d:Deleted {session_id: $session}) RETURN d.id", session=session_id).peek() is not None
    )


def _batch(tx: ManagedTransaction, query: str, session: str) -> int:
    (roots,) = tx.run(_LOCK, session=session).single(strict=True).values()
    if not roots:
        return 0  # another process has finished it
    (done,) = tx.run(query, session=session, most=MOST_ROWS).single(strict=True).values()
    return int(done)
