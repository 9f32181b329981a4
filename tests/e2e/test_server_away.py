"""The server is away while a run dies: when it is there again the run is started again, at once."""

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
            assert state()["type"] == kind

        # As a worker and the run's process say so; nobody is there to take it up again.
        becomes("PENDING")
        becomes("RUNNING")
        stop_server(home)
        assert served(home) == made.api
        becomes("CRASHED")
        deployed_module.until(
            lambda: state()["name"] == "AwaitingRetry", seconds=120, instead=lambda: state()["name"]
        )
    finally:
        stop_server(home)
