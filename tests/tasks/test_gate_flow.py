"""A run fails, under a real Prefect server, on the checks that it is given, and writes its report."""

from pathlib import Path
from typing import Any

import pytest
from prefect.client.orchestration import get_client
from prefect.client.schemas.filters import ArtifactFilter
from prefect.client.schemas.objects import State

from flows.session import research
from lethe_core.report.gate import CHECKS
from lethe_core.report.model import ReportJson

pytestmark = [pytest.mark.prefect, pytest.mark.usefixtures("prefect_server", "home")]

QUESTION = "How long is the Tarn bridge, and when was it opened?"


def run(corpus: Path, session: str, question: str = QUESTION, **parameters: Any) -> State[Any]:
    state: State[Any] = research(
        question, corpus=[str(corpus)], session=session, return_state=True, **parameters
    )
    return state


def report(home: Path, session: str) -> ReportJson:
    return ReportJson.model_validate_json((home / "reports" / session / "report.json").read_bytes())


def artifact(key: str) -> Any:
    with get_client(sync_client=True) as client:
        (found,) = client.read_artifacts(artifact_filter=ArtifactFilter(key={"any_": [key]}))
    return found.data


def test_a_report_that_passes_every_check_completes(home: Path, corpus: Path) -> None:
    state = run(corpus, "s-clean", fail_on=list(CHECKS))
    assert (state.type, state.name) == ("COMPLETED", "goal_complete")
    assert report(home, "s-clean").gate == ()


def test_a_contradiction_fails_the_run_by_its_name_and_the_json_says_which(home: Path, corpus: Path) -> None:
    for name, year in (("history", 1931), ("lamp", 1926)):
        text = f"# {name}\n\nThe lamp of the Farrow Point lighthouse was electrified in the year {year}.\n"
        (corpus / f"{name}.md").write_text(text, "utf-8")
    asked = "In which year was the Farrow Point lighthouse electrified?"
    state = run(corpus, "s-gate", asked, fail_on=["contradiction", "stale"])
    assert (state.type, state.name) == ("FAILED", "gate: contradiction")
    assert "contradicted by another source (c" in str(state.message)
    assert "goal_complete" in str(state.message)
    written = report(home, "s-gate")
    assert written.status == "complete"  # of the session, which has its report; the run is what fails
    (failure,) = written.gate
    assert failure.check == "contradiction"
    assert set(failure.claims) == set(written.contradictions[0].claims)
    # The same object for who reads no worker's disk.
    assert ReportJson.model_validate_json(artifact("json-s-gate")) == written
    assert "1931" in artifact("report-s-gate")
    # Without the check, or with another, it is no failure.
    assert run(corpus, "s-free", asked).name == "goal_complete"
    assert run(corpus, "s-other", asked, fail_on=["unsupported"]).name == "goal_complete"


def test_what_failed_anyway_keeps_its_name(home: Path, corpus: Path) -> None:
    for page in corpus.iterdir():
        page.write_text("# Recipes\n\nSimmer the leeks for a while.\n", "utf-8")
    state = run(corpus, "s-none", fail_on=["no-evidence"])
    assert (state.type, state.name) == ("FAILED", "nothing_found")
    assert "nothing was found that answers the question" in str(state.message)
    assert [failure.check for failure in report(home, "s-none").gate] == ["no-evidence"]


def test_an_unknown_check_is_refused_before_anything_runs(home: Path, corpus: Path) -> None:
    state = run(corpus, "s-bad", fail_on=["typos"])
    assert state.is_failed()
    assert "fail_on.0: Input should be 'unsupported', 'contradiction'" in str(state.message)
    assert not (home / "graph.db").exists()
