"""Constraints and indexes of the Neo4j store, and the mark by which its databases are known.

Labels: TaskNode and EvidenceNode; Lethe on both, so that an id is unique among all nodes; Session on the
root task, which holds the session's own state in the properties that begin with ``session_``; Deleted in its
place while a session is being removed; Meta on the one node that knows the schema's version.
"""

from typing import Final

from neo4j import ManagedTransaction

from lethe_core.adapters.stores.neo4j_connection import Neo4jConnection

SCHEMA_VERSION: Final = 2

STATEMENTS: Final = (
    "CREATE CONSTRAINT lethe_id IF NOT EXISTS FOR (n:Lethe) REQUIRE n.id IS UNIQUE",
    "CREATE CONSTRAINT lethe_short_id IF NOT EXISTS FOR (n:Lethe) "
    "REQUIRE (n.session_id, n.short_id) IS UNIQUE",
    "CREATE CONSTRAINT lethe_session IF NOT EXISTS FOR (n:Session) REQUIRE n.session_id IS UNIQUE",
    "CREATE CONSTRAINT lethe_meta IF NOT EXISTS FOR (n:Meta) REQUIRE n.name IS UNIQUE",
    "CREATE INDEX lethe_task IF NOT EXISTS FOR (n:TaskNode) ON (n.session_id)",
    # For whoever asks the database which tasks are ready.
    "CREATE INDEX lethe_task_status IF NOT EXISTS FOR (n:TaskNode) ON (n.session_id, n.status)",
    "CREATE INDEX lethe_evidence IF NOT EXISTS FOR (n:EvidenceNode) ON (n.session_id)",
    "CREATE INDEX lethe_series IF NOT EXISTS FOR (n:Session) ON (n.session_series)",
)

_READ: Final = "MATCH (m:Meta {name: 'lethe'}) RETURN m.schema_version AS version"
# Once the constraints stand: two that come first at once make one node.
_MARK: Final = "MERGE (m:Meta {name: 'lethe'}) ON CREATE SET m.schema_version = $version"


def stored_version(connection: Neo4jConnection) -> int | None:
    """The version of the store in a database; None when it is new to Lethe."""

    def read(tx: ManagedTransaction) -> int | None:
        record = tx.run(_READ).single()
        return None if record is None else int(record["version"])

    return connection.read(read)


def make_schema(connection: Neo4jConnection) -> None:
    """Make what a store needs in a database that is new to it."""
    make_indexes(connection)
    connection.run(_MARK, version=SCHEMA_VERSION)


def make_indexes(connection: Neo4jConnection) -> None:
    """Make those constraints and indexes that are not there."""
    for statement in STATEMENTS:
        connection.run(statement)  # in a transaction of its own: none may hold anything else


def missing_schema(connection: Neo4jConnection) -> list[str]:
    """Which constraints and indexes are gone or not in use, a sentence each."""

    def states(tx: ManagedTransaction) -> dict[str, str]:
        return {
            found["name"]: found["state"]
            for found in tx.run("SHOW INDEXES YIELD name, state, owningConstraint")
        }

    found = connection.read(states)
    names = [statement.split()[2] for statement in STATEMENTS]
    return [
        f"{connection.url}: the index {name} is {found.get(name, 'missing').lower()}"
        for name in names
        if found.get(name) != "ONLINE"
    ]
