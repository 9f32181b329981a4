"""What is put off before a server starts, and what is not (its own tables: tests/e2e/test_server_away.py)."""

import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from flows.server_grace import give_grace

NOW = datetime(2026, 5, 4, 12, 0, 0, tzinfo=UTC)


def test_what_is_due_or_soon_due_gets_time_for_a_sign_and_what_is_stale_or_later_stays(
    tmp_path: Path,
) -> None:
    database = tmp_path / "prefect.db"
    ends = {
        "2026-05-04 11:58:00.000000": "2026-05-04 12:01:30.000000",
        "2026-05-04 12:00:40.500000": "2026-05-04 12:01:30.000000",
        "2026-05-04 12:05:00.000000": "2026-05-04 12:05:00.000000",
        "2026-05-03 11:59:00.000000": "2026-05-03 11:59:00.000000",
    }
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute('CREATE TABLE automation_bucket ("end" DATETIME NOT NULL)')
        connection.executemany("INSERT INTO automation_bucket VALUES (?)", [(end,) for end in ends])
    assert give_grace(database, now=NOW) == 2
    with closing(sqlite3.connect(database)) as connection:
        assert [row[0] for row in connection.execute("SELECT * FROM automation_bucket")] == list(
            ends.values()
        )


def test_a_database_that_is_still_to_be_made_or_is_none_is_left_to_the_server(tmp_path: Path) -> None:
    assert give_grace(tmp_path / "absent.db") == 0
    assert not (tmp_path / "absent.db").exists()
    for name, content in (("empty.db", b""), ("none.db", b"no database" * 100)):
        (tmp_path / name).write_bytes(content)
        assert give_grace(tmp_path / name) == 0
