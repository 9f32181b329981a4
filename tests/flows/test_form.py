"""What Prefect's page makes of a flow's parameters, and what its server refuses before there is a run."""

import importlib
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from prefect.utilities.callables import parameter_schema
from prefect.utilities.schema_tools.validation import ValidationError, validate

from flows import parameters
from flows.recurring import recur
from flows.session import research
from lethe_core.errors import UsageError
from lethe_core.session.opening import checked_session_id

ROOT = Path(__file__).parents[2]
DEPLOYMENTS = yaml.safe_load((ROOT / "prefect.yaml").read_text(encoding="utf-8"))["deployments"]
ENTRYPOINTS = sorted({deployment["entrypoint"] for deployment in DEPLOYMENTS})


def schema_of(entrypoint: str) -> dict[str, Any]:
    module, _, name = entrypoint.rpartition(".")
    schema: dict[str, Any] = parameter_schema(getattr(importlib.import_module(module), name).fn).model_dump(
        exclude_none=True
    )
    return schema


SCHEMA = schema_of("flows.session.research")


def refusal(**values: Any) -> str:
    """What the server says of a run with these parameters; empty when it takes them."""
    try:
        validate({"question": "How long is it?", **values}, SCHEMA, raise_on_error=True)
    except ValidationError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("entrypoint", ENTRYPOINTS)
def test_every_field_has_help_one_type_and_a_default_that_one_sees(entrypoint: str) -> None:
    schema = schema_of(entrypoint)
    assert set(schema["required"]) <= {"question"}
    for name, field in schema["properties"].items():
        assert len(field.get("description", "")) > 20, name
        assert "type" in field, f"{name} would be shown as tabs"
        assert name == "question" or "default" in field, name


@pytest.mark.parametrize("deployment", DEPLOYMENTS, ids=lambda one: one["name"])
def test_what_a_deployment_gives_is_taken(deployment: dict[str, Any]) -> None:
    asked = {"question": "What?"} if "question" in schema_of(deployment["entrypoint"])["properties"] else {}
    validate({**asked, **deployment["parameters"]}, schema_of(deployment["entrypoint"]), raise_on_error=True)


def test_what_one_begins_with_comes_first() -> None:
    order = sorted(SCHEMA["properties"], key=lambda name: SCHEMA["properties"][name]["position"])
    assert order[:4] == ["question", "corpus", "max_iterations", "time_budget"]
    assert order[-1] == "force"


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"question": ""}, "'' does not match '(?#not only spaces)"),
        ({"question": "x" * 8_001}, "is too long"),
        ({"corpus": ["papers"]}, "[0]'. Failure reason: 'papers' does not match '(?#an absolute path)"),
        ({"corpus": "/papers"}, "'/papers' is not of type 'array'"),
        ({"max_iterations": 101}, "101 is greater than the maximum of 100"),
        ({"max_iterations": -1}, "-1 is less than the minimum of 0"),
        ({"max_iterations": "many"}, "'many' is not of type 'integer'"),
        ({"time_budget": 604_801}, "604801 is greater than the maximum of 604800"),
        ({"max_tokens": 1.5}, "1.5 is not of type 'integer'"),
        ({"session": "9 lives"}, "'9 lives' does not match '(?#a letter, then letters, digits and ._-)"),
        ({"session": 12345678}, "12345678 is not of type 'string'"),
        ({"if_running": "ask"}, "'ask' is not one of ['as configured', 'wait', 'skip']"),
        ({"fail_on": ["typos"]}, "'typos' is not one of ['unsupported', 'contradiction'"),
        ({"out": "reports"}, "'reports' does not match '(?#an absolute path, or nothing)"),
        ({"store": "neo4j://me:word@graph/db"}, "(?#a URL without a user or a password)"),
        ({"store": "bolt+s://me@graph:7687"}, "(?#a URL without a user or a password)"),
        ({"config_file": "~/lethe.toml"}, "does not match '(?#an absolute path, or nothing)"),
    ],
)  # fmt: skip
def test_a_wrong_value_is_refused_with_the_field_and_the_rule(values: dict[str, Any], said: str) -> None:
    (name,) = values
    message = refusal(**values)
    assert f"field '{name}" in message
    assert said in message


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"corpus": ["/papers", "C:\\papers", "\\\\server\\papers"], "out": "/reports"},
        {"max_iterations": 100, "time_budget": 0.5, "max_tokens": 1, "max_cost": 0.01},
        {"store": "sqlite:////data/me@home/graph.db"},
        {"store": "neo4j+s://graph.example:7687/lethe"},
        {"session": "s-1", "series": "tarn.weekly_2", "if_running": "skip", "fail_on": ["stale"]},
    ],
)
def test_a_right_value_is_taken(values: dict[str, Any]) -> None:
    assert refusal(**values) == ""
    assert research.validate_parameters({"question": "How long is it?", **values})


def test_a_schedule_may_have_no_question_yet_and_its_runs_say_so() -> None:
    schema = schema_of("flows.recurring.recur")
    asked = dict(SCHEMA["properties"]["question"])
    assert schema["properties"].pop("question") == {**asked, "default": ""}
    assert schema["properties"] == {k: v for k, v in SCHEMA["properties"].items() if k != "question"}
    with pytest.raises(UsageError, match="no question: give one to the schedule"):
        recur.fn(**recur.validate_parameters({"question": "", "series": "tarn"}))


@settings(deadline=None, max_examples=100)
@given(st.text(alphabet=st.sampled_from("aZ09._- \n/é"), min_size=1, max_size=66))
def test_the_server_and_the_core_take_the_same_names(name: str) -> None:
    try:
        checked_session_id(name)
    except UsageError:
        assert refusal(session=name)
    else:
        assert refusal(session=name) == ""


def test_what_says_nothing_is_left_to_the_configuration() -> None:
    silent = {
        name: field.get("default") for name, field in SCHEMA["properties"].items() if name != "question"
    }
    assert parameters.given(silent) == {}
    assert parameters.given({"max_iterations": 3, "model": "", "corpus": ("/a",), "if_running": "wait"}) == {
        "max_iterations": 3,
        "corpus": ("/a",),
        "if_running": "wait",
    }
