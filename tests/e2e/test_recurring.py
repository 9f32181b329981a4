"""The deployment for schedules: three runs of one series over a folder that changes between them."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

pytestmark = [pytest.mark.e2e, pytest.mark.prefect]

QUESTION = "How many passengers does the Farrow Point ferry carry, and who built the lighthouse?"
FERRY = "# Ferry\n\nDate: {year}-05-01\n\nThe Farrow Point ferry carries {passengers} passengers.\n"
LIGHTHOUSE = "# Lighthouse\n\nThe lighthouse at Farrow Point was built by Maud Ellery.\n"


def test_each_run_of_a_schedule_says_what_changed_since_the_last(
    deployed: Any, deployed_module: ModuleType, tmp_path: Path
) -> None:
    folder = tmp_path / "harbour"
    folder.mkdir()
    (folder / "ferry.md").write_text(FERRY.format(year=2023, passengers=84), "utf-8")
    (folder / "lighthouse.md").write_text(LIGHTHOUSE, "utf-8")
    given = {"question": QUESTION, "corpus": [str(folder)], "series": "harbour-weekly"}

    def report() -> str:
        found = deployed.ask(
            "POST", "/artifacts/filter", artifacts={"key": {"any_": ["report-harbour-weekly"]}},
            sort="CREATED_DESC", limit=1,
        )  # fmt: skip
        return str(found[0]["data"])

    # The first by the clock: a schedule with a question of its own.
    deployment = deployed.ask("GET", "/deployments/name/lethe/recurring")["id"]
    now = datetime.now(UTC)
    due = (now - timedelta(seconds=30)).isoformat()
    weekly = {"schedule": {"interval": 604_800, "anchor_date": due}, "active": True, "parameters": given}
    deployed.ask_list(f"/deployments/{deployment}/schedules", [weekly])
    (schedule,) = [
        one
        for one in deployed.ask("GET", f"/deployments/{deployment}/schedules")
        if one["parameters"] == given
    ]

    def ended() -> Any:
        runs = deployed.ask(
            "POST", "/flow_runs/filter", deployments={"id": {"any_": [deployment]}},
            flow_runs={"state": {"type": {"any_": ["COMPLETED", "FAILED", "CRASHED"]}}},
        )  # fmt: skip
        return [run for run in runs if run["parameters"].get("series") == "harbour-weekly"]

    try:
        # The server's own scheduler looks once a minute; asked for, it does so now.
        deployed.ask(
            "POST",
            f"/deployments/{deployment}/schedule",
            start_time=(now - timedelta(minutes=1)).isoformat(),
            end_time=now.isoformat(),
        )
        (first,) = deployed_module.until(ended, seconds=180, every=1)
    finally:
        deployed.ask("DELETE", f"/deployments/{deployment}/schedules/{schedule['id']}")
    assert first["auto_scheduled"]
    assert first["state"]["name"] == "goal_complete", first["state"]
    assert "What changed" not in report()
    assert "84 passengers" in report()

    (folder / "ferry.md").write_text(FERRY.format(year=2024, passengers=96), "utf-8")
    done = deployed.start("lethe/recurring", **given)
    assert done.code == 0, done.said
    changed = report().split("## What changed\n\n")[1].split("\n\n## ")[0]
    assert "### Changed figures" in changed
    assert "carries 96 passengers" in changed
    assert "Before: “The Farrow Point ferry carries 84 passengers.”" in changed

    done = deployed.start("lethe/recurring", **given)
    assert done.code == 0, done.said
    assert "## What changed\n\nNothing new since session " in report()
