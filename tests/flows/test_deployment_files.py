"""prefect.yaml, docker-compose.yml and the Dockerfile agree with the code and with each other."""

import ast
import re
from pathlib import Path

import pytest
import yaml

from flows.prefect_environment import SERVER_SETTINGS

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


def test_research_goes_to_the_pool_with_a_limit_and_one_blas_thread(deployments):
    (research,) = [deployment for deployment in deployments if deployment["name"] == "research"]
    assert research["work_pool"]["name"] == "lethe"
    assert research["work_pool"]["job_variables"]["env"]["OPENBLAS_NUM_THREADS"] == "1"
    assert research["concurrency_limit"]["limit"] >= 1
    assert research["tags"] == ["lethe"]
    assert research["description"]


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
