"""The doctor names what is wrong, hides what is secret, starts nothing."""

import pytest

from flows.doctor import Level, check_all, effective_values
from lethe_core.config import Settings, load_settings


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PREFECT_API_URL", raising=False)
    monkeypatch.setenv("PREFECT_HOME", str(tmp_path / "prefect"))
    monkeypatch.setenv("LETHE_HOME", str(tmp_path / "home"))


def checks_of(settings, environment=None):
    return {check.name: check for check in check_all(settings, environment or {})}


def test_values_say_where_they_came_from_and_hide_the_key(monkeypatch, tmp_path):
    monkeypatch.setenv("LETHE_LLM_API_KEY", "sk-very-secret")
    (tmp_path / "lethe.toml").write_text("context_tokens = 4096\n")
    values = {value.name: value for value in effective_values(load_settings({"max_iterations": 7}))}
    assert values.keys() == Settings.model_fields.keys()
    assert (values["max_iterations"].value, values["max_iterations"].origin) == ("7", "--max-iterations")
    assert values["context_tokens"].origin.endswith("lethe.toml")
    assert values["llm_api_key"].value == "(set, hidden)"
    assert not any("sk-very" in value.value for value in values.values())


def test_password_in_an_address_is_hidden():
    loaded = load_settings({"llm_base_url": "http://me:pass@host/v1", "llm_model": "m"})
    values = {value.name: value.value for value in effective_values(loaded)}
    assert values["llm_base_url"] == "http://host/v1"


def test_embedded_defaults_are_well_and_what_is_off_says_how_to_turn_it_on(tmp_path):
    checks = checks_of(load_settings().settings)
    assert not [check for check in checks.values() if check.level is Level.FAILED]
    assert checks["embedding"].level is Level.OK
    assert "LETHE_LLM_BASE_URL" in checks["model"].text
    assert checks["model"].level is Level.OFF
    assert checks["corpus"].level is Level.OFF
    assert not (tmp_path / "home" / "graph.db").exists()


def test_what_is_configured_and_does_not_answer_fails(tmp_path, monkeypatch):
    monkeypatch.setenv("PREFECT_API_URL", "http://127.0.0.1:9/api")
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "graph.db").write_bytes(b"no database" * 1000)
    flags = {
        "llm_base_url": "http://127.0.0.1:9/v1",
        "llm_model": "m",
        "corpus": (tmp_path / "absent",),
        "embedding": "unknown-model",
    }
    checks = checks_of(load_settings(flags).settings)
    failed = {name for name, check in checks.items() if check.level is Level.FAILED}
    assert failed == {"store", "embedding", "model", f"corpus {tmp_path / 'absent'}", "Prefect"}


def test_variables_that_do_nothing_are_pointed_out():
    checks = checks_of(
        load_settings().settings, {"LETHE_MAX_ITERATION": "3", "LETHE_XYZ": "1", "LETHE_HOME": "/"}
    )
    assert "did you mean LETHE_MAX_ITERATIONS?" in checks["LETHE_MAX_ITERATION"].text
    assert checks["LETHE_XYZ"].level is Level.NOTE
    assert "LETHE_HOME" not in checks
