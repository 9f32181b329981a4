"""The server is away in mid-run: one that has died is started again at once, one that lives is left alone."""

import sqlite3
import time
from contextlib import closing
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from flows.local_server import starting_server, stop_server

pytestmark = [pytest.mark.e2e, pytest.mark.prefect]


def served(home: Path) -> str:
    with starting_server(home, lambda _: None) as server:
        server.wait(lambda _: None)
        return server.state.api_url


def due(database: Path) -> list[str]:
    """When the server expects the next sign of each run."""
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
        return [
            row[0]
            for row in connection.execute('SELECT "end" FROM automation_bucket WHERE last_event NOTNULL')
        ]


def test_a_run_that_crashes_after_a_restart_of_the_server_is_started_again(
    deployed_module: ModuleType, question: str, corpus: Path, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    try:
        made = deployed_module.Deployed(served(home), home, tmp_path)
        assert made.script("bootstrap.py").code == 0
        deployed = made.run(
            deployed_module.BIN / "prefect", "--no-prompt", "deploy", "--all", cwd=deployed_module.ROOT
        )
        assert deployed.code == 0, deployed.said
        run = made.create_run("lethe/research", question=question, corpus=[str(corpus)])

        def state() -> dict[str, Any]:
            found: dict[str, Any] = made.runs([run])[run]["state"]
            return found

        def becomes(kind: str) -> None:
            made.ask("POST", f"/flow_runs/{run}/set_state", state={"type": kind})

        # As a worker and the run's process say so; nobody is there to take it up again.
        becomes("PENDING")
        becomes("RUNNING")
        assert state()["type"] == "RUNNING"
        database = home / "prefect" / "prefect.db"
        deployed_module.until(lambda: due(database), seconds=60)
        stop_server(home)
        # As after an absence of an hour: it must give the run time for a sign before it calls it dead.
        with closing(sqlite3.connect(database)) as connection, connection:
            connection.execute("""UPDATE automation_bucket SET "end" = datetime("end", '-1 hour')""")
        assert served(home) == made.api
        time.sleep(15)  # it looks every five seconds
        assert state()["type"] == "RUNNING"
        becomes("CRASHED")
        deployed_module.until(
            lambda: state()["name"] == "AwaitingRetry", seconds=120, instead=lambda: state()["name"]
        )
    finally:
        stop_server(home)
