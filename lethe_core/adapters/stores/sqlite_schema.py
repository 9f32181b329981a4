"""The tables of the SQLite store and the mark by which its files are known (architecture.md, "The graph")."""

from typing import Final

APPLICATION_ID: Final = 0x4C657468  # "Leth", in the file's header
SCHEMA_VERSION: Final = 2

SERIES: Final = "series TEXT NOT NULL DEFAULT ''"  # of a session; as it stands in its state
SERIES_INDEX: Final = "CREATE INDEX session_series ON session (series) WHERE series <> ''"

# Ends by their sequences: the letter is the source's, and of the target all but PRODUCED's. The later end
# comes first in the key, so that new edges go to the end of the table: by UUIDs, each had a page of its own
# to be written, and an edge cost twice as much among 500,000 as among 50,000.
EDGE: Final = """
    CREATE TABLE edge (
        session INTEGER NOT NULL REFERENCES session (key) ON DELETE CASCADE,
        type TEXT NOT NULL
            CHECK (type IN ('SUBTASK_OF', 'DEPENDS_ON', 'PRODUCED', 'SUPERSEDES', 'SIMILAR_TO')),
        letter TEXT NOT NULL CHECK (letter IN ('t', 'e')),
        target INTEGER NOT NULL,
        source INTEGER NOT NULL,
        sequence INTEGER NOT NULL,
        cosine REAL,
        entail_fwd REAL,
        entail_bwd REAL,
        support REAL,
        contradiction REAL,
        equivalence REAL,
        independence REAL,
        confidence REAL,
        direction REAL,
        polarity REAL,
        PRIMARY KEY (session, type, letter, target, source),
        CHECK ((type = 'SIMILAR_TO') = (cosine IS NOT NULL)),
        CHECK (type = 'SIMILAR_TO' OR letter = iif(type = 'SUPERSEDES', 'e', 't'))
    ) STRICT, WITHOUT ROWID
"""

STATEMENTS: Final = (
    "CREATE TABLE meta (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT",
    f"""
    CREATE TABLE session (
        key INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        state TEXT NOT NULL,
        dimension INTEGER NOT NULL,
        created_at REAL NOT NULL,
        updated_at REAL NOT NULL,
        last_task INTEGER NOT NULL,
        last_evidence INTEGER NOT NULL,
        last_edge INTEGER NOT NULL,
        revision INTEGER NOT NULL DEFAULT 0,
        owner TEXT NOT NULL DEFAULT '',
        until REAL NOT NULL DEFAULT 0,
        epoch INTEGER NOT NULL DEFAULT 0,
        starts INTEGER NOT NULL DEFAULT 0,
        {SERIES}
    ) STRICT
    """,
    SERIES_INDEX,
    """
    CREATE TABLE task (
        id TEXT PRIMARY KEY,
        session INTEGER NOT NULL REFERENCES session (key) ON DELETE CASCADE,
        short_id TEXT NOT NULL,
        sequence INTEGER NOT NULL,
        created_at REAL NOT NULL,
        description TEXT NOT NULL,
        embed_text TEXT NOT NULL,
        embedding BLOB NOT NULL,
        status TEXT NOT NULL CHECK (status IN ('PENDING', 'ACTIVE', 'DONE', 'FAILED')),
        result_summary TEXT NOT NULL,
        result_embedding BLOB NOT NULL,
        prepared_prompt TEXT NOT NULL,
        antifocus TEXT NOT NULL,
        failure_reason TEXT NOT NULL,
        n_productive INTEGER NOT NULL,
        last_selected INTEGER NOT NULL,
        UNIQUE (session, sequence),
        UNIQUE (session, short_id)
    ) STRICT
    """,
    """
    CREATE TABLE evidence (
        id TEXT PRIMARY KEY,
        session INTEGER NOT NULL REFERENCES session (key) ON DELETE CASCADE,
        short_id TEXT NOT NULL,
        sequence INTEGER NOT NULL,
        created_at REAL NOT NULL,
        content TEXT NOT NULL,
        embed_text TEXT NOT NULL,
        embedding BLOB NOT NULL,
        strength REAL NOT NULL CHECK (strength BETWEEN 0 AND 1),
        base_strength REAL NOT NULL CHECK (base_strength BETWEEN 0 AND 1),
        kind TEXT NOT NULL CHECK (kind IN ('chunk', 'synthesis')),
        source_description TEXT NOT NULL,
        superseded INTEGER NOT NULL CHECK (superseded IN (0, 1)),
        address TEXT NOT NULL,
        title TEXT NOT NULL,
        date TEXT NOT NULL,
        date_source TEXT NOT NULL,
        series TEXT NOT NULL,
        edition TEXT NOT NULL,
        period TEXT NOT NULL,
        newest TEXT NOT NULL,
        page_fingerprint TEXT NOT NULL,
        content_hash TEXT NOT NULL,
        span_start INTEGER NOT NULL,
        span_end INTEGER NOT NULL,
        place TEXT NOT NULL,
        domain TEXT NOT NULL,
        origin_id TEXT NOT NULL,
        UNIQUE (session, sequence),
        UNIQUE (session, short_id)
    ) STRICT
    """,
    EDGE,
    # The rules hold these already; here they hold against a hand at the file, too.
    """
    CREATE TRIGGER terminal_task_is_immutable BEFORE UPDATE ON task
    WHEN old.status IN ('DONE', 'FAILED')
    BEGIN SELECT RAISE(ABORT, 'a terminal task is immutable'); END
    """,
    """
    CREATE TRIGGER evidence_is_immutable BEFORE UPDATE OF
        id, session, short_id, sequence, created_at, content, embed_text, embedding, base_strength, kind,
        source_description, address, title, date, date_source, series, edition, period, newest,
        page_fingerprint, content_hash, span_start, span_end, place, domain, origin_id
    ON evidence
    BEGIN SELECT RAISE(ABORT, 'of evidence only strength and superseded change'); END
    """,
)
