"""`make up`: server, pool, deployments and a worker; then a run, and `make down`."""

import re
from pathlib import Path
from types import ModuleType
from typing import Any

import httpx
import pytest

pytestmark = [pytest.mark.e2e, pytest.mark.prefect]


def test_deployed_research_runs_on_the_worker_to_a_state_that_is_named_by_its_end(
    deployed: Any, corpus: Path, question: str, tmp_path: Path, lethe: Any
) -> None:
    done = deployed.start(
        "lethe/research",
        question=question,
        corpus=[str(corpus)],
        out=str(tmp_path / "report"),
        session="s-worker",
    )
    assert done.code == 0, done.said
    assert "finished successfully in 'goal_complete'" in done.said
    assert "1871" in (tmp_path / "report" / "report.md").read_text(encoding="utf-8")
    assert any((deployed.home / "results").iterdir())
    assert lethe("report", "s-worker", "--home", deployed.home).code == 0


def test_up_again_changes_nothing_and_starts_no_second_worker(deployed: Any) -> None:
    def workers() -> set[str]:
        return {worker["name"] for worker in deployed.ask("POST", "/work_pools/lethe/workers/filter")}

    before = workers()  # the server still lists those that other tests have ended
    again = deployed.script("local.py", "up")
    assert again.code == 0, again.said
    assert "nothing to do: everything is there" in again.said
    assert "the worker runs already" in again.said
    assert "local" in before
    assert workers() == before


def test_maintenance_keeps_house_on_the_worker(deployed: Any, tmp_path: Path) -> None:
    done = deployed.start("lethe-maintenance/maintenance", backup_to=str(tmp_path / "copies"))
    assert done.code == 0, done.said
    (backup,) = (tmp_path / "copies").iterdir()
    assert re.fullmatch(r"lethe-\d{8}-\d{6}\.db", backup.name)


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"max_iterations": 1000}, "1000 is greater than the maximum of 100"),
        ({"fail_on": ["typos"]}, "typos"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_a_wrong_parameter_is_refused_before_there_is_a_run(
    deployed: Any, question: str, parameters: dict[str, Any], said: str
) -> None:
    count = deployed.ask("POST", "/flow_runs/count")
    refused = deployed.start("lethe/ci", question=question, **parameters)
    assert refused.code == 1
    assert said in refused.said
    assert deployed.ask("POST", "/flow_runs/count") == count


def test_a_corpus_that_the_worker_does_not_see_fails_the_run_and_says_where(
    deployed: Any, question: str
) -> None:
    done = deployed.start("lethe/research", question=question, corpus=["/nowhere/papers"])
    assert done.code == 1
    failed = deployed.ask("POST", "/flow_runs/filter", sort="END_TIME_DESC", limit=1)[0]
    assert failed["state"]["type"] == "FAILED"
    assert "/nowhere/papers" in failed["state"]["message"]


def test_a_question_of_two_megabytes_is_refused_before_there_is_a_run(deployed: Any) -> None:
    count = deployed.ask("POST", "/flow_runs/count")
    found = deployed.ask("GET", "/deployments/name/lethe/research")
    refused = httpx.post(
        f"{deployed.api}/deployments/{found['id']}/create_flow_run",
        json={"parameters": {"question": "How long is the Tarn bridge? " * 70_000}},
        timeout=60,
    )
    assert refused.status_code == httpx.codes.UNPROCESSABLE_ENTITY
    assert "Flow run parameters must be less than" in refused.json()["exception_detail"][0]["msg"]
    assert deployed.ask("POST", "/flow_runs/count") == count


def test_a_schedule_with_no_question_fails_its_run_and_says_what_it_lacks(deployed: Any) -> None:
    done = deployed.start("lethe/recurring", series="tarn")
    assert done.code == 1
    failed = deployed.ask("POST", "/flow_runs/filter", sort="END_TIME_DESC", limit=1)[0]
    assert failed["state"]["type"] == "FAILED"
    assert "there is no question: give one to the schedule" in failed["state"]["message"]


def test_a_wrong_cron_line_is_refused_where_it_is_given(deployed: Any) -> None:
    refused = deployed.prefect(
        "deployment", "schedule", "create", "lethe/recurring", "--cron", "every day at six"
    )
    assert refused.code == 1
    assert 'Invalid cron string: "every day at six"' in refused.said
    found = deployed.ask("GET", "/deployments/name/lethe/recurring")
    assert [schedule["slug"] for schedule in found["schedules"]] == ["every-morning"]


@pytest.mark.parametrize(
    ("there", "instead", "said"),
    [
        ("0 6 * * *", "0 25 * * *", 'Invalid cron string: "0 25 * * *"'),
        (
            "  name: lethe\n    work_queue",
            "  name: nopool\n    work_queue",
            "pool 'nopool' which does not exist",
        ),
    ],
    ids=["cron", "pool"],
)
def test_a_prefect_yaml_that_is_wrong_is_refused_by_name(
    deployed: Any, deployed_module: ModuleType, tmp_path: Path, there: str, instead: str, said: str
) -> None:
    text = (deployed_module.ROOT / "prefect.yaml").read_text(encoding="utf-8")
    assert there in text
    (tmp_path / "prefect.yaml").write_text(text.replace(there, instead), encoding="utf-8")
    refused = deployed.run(deployed_module.BIN / "prefect", "--no-prompt", "deploy", "--all", cwd=tmp_path)
    assert refused.code == 1
    assert said in refused.said
