"""A pipeline that knows nothing but the server's address: the command, its exit code, the report's files."""

import json
from pathlib import Path
from typing import Any

import pytest

from lethe_core.report.model import ReportJson

pytestmark = [pytest.mark.e2e, pytest.mark.prefect]

CONTRADICTED = "In which year was the Farrow Point lighthouse electrified?"


@pytest.fixture(scope="module")
def contradicting(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("contradicting")
    for name, year in (("history", 1931), ("lamp", 1926)):
        text = f"# {name}\n\nThe lamp of the Farrow Point lighthouse was electrified in the year {year}.\n"
        (folder / f"{name}.md").write_text(text, "utf-8")
    return folder


def report(folder: Path) -> ReportJson:
    return ReportJson.model_validate_json((folder / "report.json").read_bytes())


def artifact(deployed: Any, key: str) -> str:
    """As deployments/ci/github-actions.yml fetches it, jq done in Python."""
    done = deployed.prefect("artifact", "inspect", key, "--limit", "1", "--output", "json")
    assert done.code == 0, done.said
    return str(json.loads(done.text)[0]["data"])


def test_a_report_that_passes_exits_with_0_and_leaves_its_files(
    deployed: Any, corpus: Path, question: str, tmp_path: Path
) -> None:
    done = deployed.start(
        "lethe/ci", question=question, corpus=[str(corpus)], session="ci-good", out=str(tmp_path / "report")
    )
    assert done.code == 0, done.said
    assert "finished successfully in 'goal_complete'" in done.said
    written = report(tmp_path / "report")
    assert (written.status, written.gate) == ("complete", ())
    # The same through the server alone, for a pipeline elsewhere.
    assert ReportJson.model_validate_json(artifact(deployed, "json-ci-good")) == written
    markdown = artifact(deployed, "report-ci-good")
    assert markdown == (tmp_path / "report" / "report.md").read_text(encoding="utf-8")
    assert "1871" in markdown


def test_a_report_that_does_not_pass_exits_with_1_says_why_and_leaves_its_files(
    deployed: Any, contradicting: Path, tmp_path: Path
) -> None:
    done = deployed.start(
        "lethe/ci",
        question=CONTRADICTED,
        corpus=[str(contradicting)],
        session="ci-gate",
        out=str(tmp_path / "report"),
        fail_on=["contradiction", "stale"],
    )
    assert done.code == 1
    assert "finished in state 'gate: contradiction'" in done.said, done.said
    assert [failure.check for failure in report(tmp_path / "report").gate] == ["contradiction"]
    assert "1931" in (tmp_path / "report" / "report.md").read_text(encoding="utf-8")


def test_what_nothing_is_found_for_exits_with_1_by_its_own_name(
    deployed: Any, corpus: Path, tmp_path: Path
) -> None:
    done = deployed.start(
        "lethe/ci",
        question="Which enzyme limits the rate of cholesterol synthesis?",
        corpus=[str(corpus)],
        session="ci-none",
        out=str(tmp_path / "report"),
    )
    assert done.code == 1
    assert "finished in state 'nothing_found'" in done.said, done.said
    assert report(tmp_path / "report").status == "nothing_found"
