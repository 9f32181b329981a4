"""What a Prefect server of Lethe's gives the runs that live when it is started again: time for a sign.

The automation that finds dead runs keeps in the database when each must have given its next sign. After an
absence of minutes that is past for all of them: a run that waits for its model all the while, and has no need
of a server, would be called crashed before it can be heard. Before a start each gets as much time as ever.

As a command, which compose runs before Prefect's services, it does so in the database that Prefect is set to:

    python -m flows.server_grace
"""

import asyncio
import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from flows.prefect_environment import HEARTBEAT_SECONDS

GRACE: Final = timedelta(seconds=3 * HEARTBEAT_SECONDS)
# As PREFECT_SERVER_EVENTS_EXPIRED_BUCKET_BUFFER: what is older than that the server throws away.
KEPT: Final = timedelta(days=1)
_WRITTEN: Final = "%Y-%m-%d %H:%M:%S.%f"  # Prefect's times in SQLite, in UTC

_LATER: Final = 'UPDATE automation_bucket SET "end" = :soon WHERE "end" < :soon AND "end" > :kept'


def give_grace(database: Path, *, now: datetime | None = None) -> int:
    """Put off what a server waits for and that is due by now or soon; returns how many.

    database: Prefect's, which no server has open; one that is still to be made has nothing due.
    """
    now = now or datetime.now(UTC)
    times = {"soon": f"{now + GRACE:{_WRITTEN}}", "kept": f"{now - KEPT:{_WRITTEN}}"}
    if not database.exists():
        return 0
    try:
        with closing(sqlite3.connect(database)) as connection, connection:
            return connection.execute(_LATER, times).rowcount
    except sqlite3.DatabaseError:
        return 0  # its tables are not made yet, or it is broken, which the server says better


async def give_grace_in_database(*, now: datetime | None = None) -> int:
    """The same in the database of Prefect's settings, whatever it is; its tables are there."""
    # Prefect's server reads its settings when it is imported.
    from prefect.server.database import provide_database_interface
    from sqlalchemy import update

    now = now or datetime.now(UTC)
    database = provide_database_interface()
    bucket = database.AutomationBucket
    soon = now + GRACE
    async with database.session_context(begin_transaction=True) as session:
        put_off = await session.execute(
            update(bucket).where(bucket.end < soon, bucket.end > now - KEPT).values(end=soon)
        )
    return int(put_off.rowcount)


if __name__ == "__main__":
    asyncio.run(give_grace_in_database())
