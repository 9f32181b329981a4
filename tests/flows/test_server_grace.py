"""What is put off before a server starts, and what is not (its own tables: tests/e2e/test_server_away.py)."""

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from flows.server_grace import give_grace

ROOT = Path(__file__).parents[2]
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


IN_DATABASE = """
import asyncio
from datetime import datetime, timedelta, timezone
from uuid import uuid4

from prefect.server.database import provide_database_interface
from prefect.server.events.schemas.automations import EventTrigger
from sqlalchemy import select

from flows.server_grace import give_grace_in_database


async def main() -> None:
    database = provide_database_interface()
    await database.create_db()
    now = datetime.now(timezone.utc)
    automation = uuid4()
    trigger = EventTrigger(posture="Proactive", within=timedelta(seconds=90))
    async with database.session_context(begin_transaction=True) as session:
        session.add(database.Automation(id=automation, name="dead runs", trigger=trigger, actions=[]))
        await session.flush()
        for minutes in (-5, 1, 10, -60 * 30):
            session.add(
                database.AutomationBucket(
                    automation_id=automation, trigger_id=uuid4(), bucketing_key=[str(minutes)],
                    last_event=None, start=now, end=now + timedelta(minutes=minutes),
                    count=0, last_operation="test",
                )
            )
    print(await give_grace_in_database(now=now))
    async with database.session_context() as session:
        ends = await session.execute(select(database.AutomationBucket.end))
    print(sorted(round((end - now).total_seconds()) for (end,) in ends))


asyncio.run(main())
"""


def test_in_the_database_of_prefect_s_settings_the_same_is_put_off(tmp_path: Path) -> None:
    """As compose does before it starts Prefect's services, there with PostgreSQL."""
    environment = {
        **os.environ,
        "PREFECT_HOME": str(tmp_path),
        "PREFECT_API_DATABASE_CONNECTION_URL": os.environ.get(
            "LETHE_TEST_PREFECT_DATABASE", f"sqlite+aiosqlite:///{tmp_path / 'prefect.db'}"
        ),
    }
    done = subprocess.run(
        [sys.executable, "-c", IN_DATABASE], env=environment, capture_output=True, text=True, cwd=ROOT
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-2:] == ["2", "[-108000, 90, 90, 600]"]
    again = subprocess.run(
        [sys.executable, "-m", "flows.server_grace"],
        env=environment,
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    assert again.returncode == 0, again.stderr
