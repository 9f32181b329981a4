"""prefect.yaml, docker-compose.yml and the Dockerfile agree with the code and with each other."""

import ast
import importlib
import re
from pathlib import Path

import pytest
import yaml
from prefect.client.schemas.schedules import CronSchedule
from prefect.utilities.callables import parameter_schema

from flows.prefect_environment import SERVER_SETTINGS
from lethe_core import __version__
from lethe_core.report.gate import CHECKS

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def deployments():
    return yaml.safe_load((ROOT / "prefect.yaml").read_text(encoding="utf-8"))["deployments"]


@pytest.fixture(scope="module")
def services():
    return yaml.safe_load((ROOT / "docker-compose.yml").read_text(encoding="utf-8"))["services"]


def test_every_entry_point_is_a_flow_of_its_module(deployments):
    for deployment in deployments:
        module, _, name = deployment["entrypoint"].rpartition(".")
        tree = ast.parse((ROOT / f"{module.replace('.', '/')}.py").read_text(encoding="utf-8"))
        assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
        assert deployment["pull"] == []


def by_name(deployments):
    return {deployment["name"]: deployment for deployment in deployments}


def test_every_deployment_says_what_it_is_and_where_it_goes(deployments):
    assert list(by_name(deployments)) == ["research", "recurring", "ci", "maintenance"]
    for deployment in deployments:
        assert len(deployment["description"]) > 60
        assert deployment["version"] == __version__
        assert deployment["tags"][0] == "lethe"
        assert deployment["work_pool"]["name"] == "lethe"
        assert deployment["concurrency_limit"]["limit"] >= 1
        # What a run's process is given comes from the pool: an automation starts runs without job variables.
        assert "job_variables" not in deployment["work_pool"]
    queues = {name: one["work_pool"]["work_queue_name"] for name, one in by_name(deployments).items()}
    assert queues == {
        "research": "interactive",
        "ci": "interactive",
        "recurring": "scheduled",
        "maintenance": "scheduled",
    }


def test_every_parameter_is_one_of_its_flow_and_a_value_that_it_takes(deployments):
    for deployment in deployments:
        module, _, name = deployment["entrypoint"].rpartition(".")
        flow = getattr(importlib.import_module(module), name)
        fields = parameter_schema(flow.fn).properties
        assert deployment["parameters"].keys() <= fields.keys(), deployment["name"]
        asked = {} if "question" not in fields else {"question": "What?"}
        assert flow.validate_parameters({**asked, **deployment["parameters"]})


def test_the_recurring_schedule_is_off_until_it_has_a_question(deployments):
    recurring = by_name(deployments)["recurring"]
    assert "question" not in recurring["parameters"]
    assert recurring["parameters"]["series"]
    (schedule,) = recurring["schedules"]
    assert (schedule["active"], bool(schedule["slug"])) == (False, True)
    for deployment in deployments:
        for one in deployment.get("schedules", []):
            CronSchedule(cron=one["cron"], timezone=one["timezone"])


def test_ci_is_small_and_strict(deployments):
    ci, research = (by_name(deployments)[name]["parameters"] for name in ("ci", "research"))
    assert set(ci["fail_on"]) == set(CHECKS)
    assert ci["max_iterations"] < research["max_iterations"]
    assert ci["time_budget"] < research["time_budget"]


def test_no_deployment_stores_a_secret(deployments):
    assert "KEY" not in yaml.safe_dump(deployments)
    assert "{{" not in yaml.safe_dump(deployments)


def test_compose_starts_the_server_with_the_settings_that_were_measured(services):
    environment = services["prefect"]["environment"]
    recorder = {name: value for name, value in SERVER_SETTINGS.items() if "RECORDER" in name}
    assert recorder.items() <= environment.items()
    assert environment["PREFECT_SERVER_ANALYTICS_ENABLED"] == "false"


def test_compose_mounts_the_corpus_read_only_and_keeps_lethe_s_home(services):
    worker = services["worker"]
    assert "./corpus:/corpus:ro" in worker["volumes"]
    assert "lethe:/var/lib/lethe" in worker["volumes"]
    dockerfile = (ROOT / worker["build"]["dockerfile"]).read_text(encoding="utf-8")
    assert "LETHE_HOME=/var/lib/lethe" in dockerfile


def test_dockerfile_copies_what_there_is(services):
    text = (ROOT / services["worker"]["build"]["dockerfile"]).read_text(encoding="utf-8")
    for line in re.findall(r"^COPY (.+) \S+$", text, re.MULTILINE):
        for name in line.split():
            assert (ROOT / name).exists() or name == "README.md", name
