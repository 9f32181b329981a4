"""The deployment `research` through a real process worker."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PREFECT = Path(sys.executable).with_name("prefect")

pytestmark = [pytest.mark.e2e, pytest.mark.prefect]


def test_deployed_research_runs_on_a_worker_to_a_state_that_is_named_by_its_end(
    lethe, api_url, corpus, question, tmp_path
):
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("LETHE_", "PREFECT_"))}
    environment = {
        **kept,
        "PREFECT_API_URL": api_url,
        "PREFECT_HOME": str(tmp_path / "prefect"),
        "LETHE_HOME": str(tmp_path / "home"),
    }

    def prefect(*arguments: str) -> str:
        done = subprocess.run(
            [PREFECT, *arguments], capture_output=True, text=True, env=environment, cwd=ROOT, timeout=240
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    prefect("work-pool", "create", "lethe", "--type", "process", "--overwrite")
    prefect("--no-prompt", "deploy", "--all")
    log = tmp_path / "worker.log"
    with log.open("wb") as output:
        worker = subprocess.Popen(
            [PREFECT, "worker", "start", "--pool", "lethe", "--type", "process"],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env=environment,
            # Not the repository: what runs on a worker is what is installed there.
            cwd=tmp_path,
        )
    try:
        said = prefect(
            "deployment",
            "run",
            "lethe/research",
            "--param",
            f"question={question}",
            "--param",
            f'corpus=["{corpus}"]',
            "--param",
            f"out={tmp_path / 'report'}",
            "--param",
            "session=s-worker",
            "--watch",
        )
    finally:
        worker.terminate()
        worker.wait(timeout=60)
    assert "finished successfully in 'goal_complete'" in " ".join(said.split()), log.read_text()
    assert "1871" in (tmp_path / "report" / "report.md").read_text(encoding="utf-8")
    assert (tmp_path / "home" / "results").exists() or (tmp_path / "prefect" / "storage").exists()
    assert lethe("report", "s-worker", "--home", tmp_path / "home").code == 0
