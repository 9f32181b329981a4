"""prefect.yaml, docker-compose.yml and the Dockerfile agree with the code and with each other."""

import ast
import importlib
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from pkgutil import iter_modules

import prefect_redis
import pytest
import yaml
from prefect.client.schemas.schedules import CronSchedule
from prefect.settings.base import PrefectBaseSettings
from prefect.settings.legacy import _get_settings_fields
from prefect.settings.models.root import Settings as PrefectSettings
from prefect.utilities.callables import parameter_schema

from flows.prefect_environment import SERVER_SETTINGS
from flows.session import research
from lethe_core import __version__
from lethe_core.config import Settings
from lethe_core.report.gate import CHECKS

ROOT = Path(__file__).parents[2]
DOCKERFILE = ROOT / "deployments" / "Dockerfile"

sys.path.append(str(ROOT / "deployments"))  # scripts, no package: they find each other beside them
bootstrap = importlib.import_module("bootstrap").main


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
    measured = {name: value for name, value in SERVER_SETTINGS.items() if "_UI_" not in name}
    del measured["DO_NOT_TRACK"]  # the image sets it
    assert any("RECORDER" in name for name in measured)
    for name in ("prefect", "services"):
        assert measured.items() <= services[name]["environment"].items()


def test_every_setting_that_compose_gives_is_one_that_its_reader_knows(services):
    known = {f"LETHE_{name.upper()}" for name in Settings.model_fields}
    known |= set(_get_settings_fields(PrefectSettings))
    known |= {f"{one.model_config['env_prefix'].upper()}URL" for one in redis_settings()}
    known |= {option.envvar for option in bootstrap.params if option.envvar}
    for name in ("prefect", "services", "setup", "worker"):
        assert services[name]["environment"].keys() <= known, name


def test_the_modules_that_the_server_loads_for_redis_are_installed(services):
    named = {
        value
        for value in services["prefect"]["environment"].values()
        if str(value).startswith("prefect_redis.")
    }
    assert len(named) == 4
    for module in named:
        assert importlib.util.find_spec(module) is not None, module


def test_nothing_of_the_server_looks_for_redis_on_its_own_machine(services, monkeypatch):
    """Of the modules some have a setting of their own for the address, and do not fall back on another's."""
    for name in ("prefect", "services"):
        with monkeypatch.context() as given:
            for variable, value in services[name]["environment"].items():
                given.setenv(variable, value)
            assert len(redis_settings()) >= 2
            for one in redis_settings():
                assert str(one().url).startswith("redis://redis:"), one.__name__


def test_a_busy_database_at_a_start_does_not_end_the_service_of_the_automations(services):
    for name in ("prefect", "services"):
        environment = services[name]["environment"]
        for variable in ("PREFECT_API_DATABASE_TIMEOUT", "PREFECT_API_DATABASE_CONNECTION_TIMEOUT"):
            assert float(environment[variable]) >= 60


def test_the_services_hear_that_they_shall_stop(services):
    """A container's first process ignores what it has no handler for, and is killed 10 seconds later."""
    assert services["services"]["stop_signal"] == "SIGINT"


def test_the_server_copies_its_page_to_where_it_may_write(services):
    """By default it is copied beside Prefect's code, which is root's: the page was not found then."""
    environment = services["prefect"]["environment"]
    assert environment["PREFECT_SERVER_UI_STATIC_DIRECTORY"].startswith(f"{environment['PREFECT_HOME']}/")
    assert environment["PREFECT_HOME"].startswith("/tmp/")


def redis_settings() -> list[type[PrefectBaseSettings]]:
    """Every group of settings by which something of prefect_redis is told where Redis is."""
    modules = [
        importlib.import_module(f"prefect_redis.{one.name}") for one in iter_modules(prefect_redis.__path__)
    ]
    classes = {value for module in modules for value in vars(module).values() if isinstance(value, type)}
    return [
        one
        for one in classes
        if issubclass(one, PrefectBaseSettings) and {"url", "host"} <= one.model_fields.keys()
    ]


def test_compose_runs_what_the_tests_run(services):
    """The commands of `make up`, on one image: no version beside another, no entry point of its own."""
    ours = {name for name, service in services.items() if service["image"] == "lethe"}
    assert ours == {"prefect", "services", "setup", "reports", "worker"}
    dockerfile = DOCKERFILE.read_text(encoding="utf-8")
    (command,) = re.findall(r"^CMD (\[.+\])$", dockerfile, re.MULTILINE)
    assert json.loads(command) == ["prefect", "worker", "start", "--pool", "lethe", "--type", "process"]
    assert "command" not in services["worker"]
    local = (ROOT / "deployments" / "local.py").read_text(encoding="utf-8")
    assert '"worker", "start", "--pool", POOL, "--type", "process"' in local
    setup = (ROOT / "deployments" / "setup.sh").read_text(encoding="utf-8")
    assert services["setup"]["command"] == "./deployments/setup.sh"
    assert "\npython deployments/bootstrap.py\nprefect --no-prompt deploy --all\n" in setup
    assert '"--no-prompt", "deploy", "--all"' in local
    assert os.access(ROOT / "deployments" / "setup.sh", os.X_OK)
    assert services["prefect"]["command"].startswith("prefect server start ")
    grace = "python -m flows.server_grace && exec prefect server services start"
    assert services["services"]["command"] == f'sh -c "{grace}"'


def test_every_service_waits_for_one_that_there_is_and_can_say_that_it_is_ready(services):
    for name, service in services.items():
        for other, how in service.get("depends_on", {}).items():
            assert other in services, name
            if how["condition"] == "service_healthy":
                assert services[other]["healthcheck"]["test"], other
    assert services["worker"]["depends_on"]["setup"]["condition"] == "service_completed_successfully"


def depends_on(services, name):
    direct = services[name].get("depends_on", {})
    return {*direct, *(further for other in direct for further in depends_on(services, other))}


def test_one_service_builds_the_image_and_none_asks_a_registry_for_it(services):
    """Several that build one name at once fail where images lie in containerd ("already exists")."""
    ours = {name: service for name, service in services.items() if service["image"] == "lethe"}
    assert [name for name, service in ours.items() if "build" in service] == ["prefect"]
    for name, service in ours.items():
        assert service["pull_policy"] == "never"
        # So that naming one service builds what it runs.
        assert name in ("prefect", "reports") or "prefect" in depends_on(services, name)


def test_the_worker_may_write_where_its_reports_go(services):
    """It is not root, and an engine makes a missing folder as root's."""
    made = services["reports"]
    (folder,) = made["volumes"]
    assert folder in services["worker"]["volumes"]
    assert made["command"] == f"chmod 1777 {folder.split(':')[1]}"
    assert made["user"] == "root"
    assert services["worker"]["depends_on"]["reports"]["condition"] == "service_completed_successfully"
    assert "user" not in services["worker"]


def test_postgres_is_ready_when_the_server_that_is_meant_answers(services):
    """The one that prepares a new volume listens on its socket only."""
    assert "pg_isready -h 127.0.0.1 " in services["postgres"]["healthcheck"]["test"][1]


def test_every_image_of_others_is_pinned_and_neo4j_is_the_one_that_is_tested(services):
    for service in services.values():
        if service["image"] != "lethe":
            assert re.fullmatch(r"\w+:\d[\w.-]+", service["image"])
    pom = (ROOT / "tests" / "neo4j" / "pom.xml").read_text(encoding="utf-8")
    version = services["neo4j"]["image"].removeprefix("neo4j:").removesuffix("-community")
    assert f">{version}<" in pom


def test_every_volume_is_declared_and_only_this_machine_reaches_a_port():
    compose = yaml.safe_load((ROOT / "docker-compose.yml").read_text(encoding="utf-8"))
    for service in compose["services"].values():
        for volume in service.get("volumes", []):
            source = volume.split(":")[0]
            assert source.startswith("./") or source in compose["volumes"]
        for port in service.get("ports", []):
            assert port.startswith("127.0.0.1:")


def test_compose_mounts_the_corpus_read_only_and_keeps_lethe_s_home(services):
    worker = services["worker"]
    assert "./corpus:/corpus:ro" in worker["volumes"]
    assert "lethe:/var/lib/lethe" in worker["volumes"]
    assert ROOT / services["prefect"]["build"]["dockerfile"] == DOCKERFILE
    dockerfile = DOCKERFILE.read_text(encoding="utf-8")
    assert "LETHE_HOME=/var/lib/lethe" in dockerfile


COMPOSE = (("docker", "compose"), ("docker-compose",))  # today's, and Debian's, which needs no engine either


def docker_compose(command: tuple[str, ...], *arguments: str) -> "subprocess.CompletedProcess[str]":
    environment = {**os.environ, "LETHE_NEO4J_PASSWORD": "only-for-this-test"}
    command = (*command, *arguments)
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)


def test_docker_itself_takes_the_compose_file():
    installed = [
        command
        for command in COMPOSE
        if shutil.which(command[0]) is not None and docker_compose(command, "version").returncode == 0
    ]
    if not installed:
        pytest.skip("docker compose is not on this machine")
    done = docker_compose(installed[0], "config", "--quiet")
    assert done.returncode == 0, done.stderr


def test_dockerfile_copies_what_there_is(services):
    assert services
    text = DOCKERFILE.read_text(encoding="utf-8")
    for line in re.findall(r"^COPY (.+) \S+$", text, re.MULTILINE):
        for name in line.split():
            assert (ROOT / name).exists() or name == "README.md", name


def test_the_engine_gets_what_is_copied_and_nothing_else():
    lines = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    assert "*" in lines
    copied = re.findall(r"^COPY (.+) \S+$", DOCKERFILE.read_text(encoding="utf-8"), re.MULTILINE)
    wanted = {name for line in copied for name in line.split()}
    assert wanted == {line[1:] for line in lines if line.startswith("!")}


def test_the_image_has_what_a_bucket_of_answers_needs():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    (extras,) = re.findall(r'"\.\[(.+)\]"', DOCKERFILE.read_text(encoding="utf-8"))
    assert set(extras.split(",")) == {"server", "s3"} <= project["optional-dependencies"].keys()


def test_the_readme_names_every_deployment_as_prefect_does(deployments):
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for deployment in deployments:
        module, _, name = deployment["entrypoint"].rpartition(".")
        flow = getattr(importlib.import_module(module), name)
        assert f"| `{flow.name}/{deployment['name']}` |" in readme


def test_make_up_and_down_are_the_commands_that_the_tests_run():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert "$(BIN)/python deployments/local.py up" in makefile
    assert "$(BIN)/python deployments/local.py down" in makefile


def test_ci_examples_run_the_deployment_that_there_is_with_parameters_that_it_has(deployments):
    fields = parameter_schema(research.fn).properties
    names = {f"lethe/{deployment['name']}" for deployment in deployments}
    for path in (ROOT / "deployments" / "ci").glob("*.yml"):
        text = path.read_text(encoding="utf-8")
        assert isinstance(yaml.safe_load(text), dict)
        assert set(re.findall(r"prefect deployment run (\S+)", text)) == {"lethe/ci"} <= names
        assert "--watch" in text
        given = re.findall(r"--param ['\"]?(\w+)=", text)
        assert given
        assert set(given) <= fields.keys(), path.name
