"""Settings: precedence, origins, and refusals that say what to do."""

import os
from pathlib import Path

import pytest

from lethe_core.config import load_settings
from lethe_core.errors import ConfigError


@pytest.fixture(autouse=True)
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No LETHE_* of the machine, a working folder and a home of the test's own."""
    for name in [name for name in os.environ if name.startswith("LETHE_")]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LETHE_HOME", str(tmp_path / "home"))
    return tmp_path


def test_each_source_overrides_the_one_before_and_is_named(
    bare: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert load_settings().settings.max_iterations == 30
    assert load_settings().origins["max_iterations"] == "default"
    (bare / "lethe.toml").write_text("max_iterations = 11\ncontext_tokens = 4096\n")
    assert load_settings().settings.max_iterations == 11
    assert load_settings().origins["max_iterations"] == str(bare / "lethe.toml")
    monkeypatch.setenv("LETHE_MAX_ITERATIONS", "12")
    assert load_settings().settings.max_iterations == 12
    assert load_settings().origins["max_iterations"] == "LETHE_MAX_ITERATIONS"
    loaded = load_settings({"max_iterations": 13, "llm_model": None})
    assert loaded.settings.max_iterations == 13
    assert loaded.origins["max_iterations"] == "--max-iterations"
    assert loaded.settings.context_tokens == 4096


def test_the_named_file_comes_before_the_working_folders_and_that_before_homes(bare: Path) -> None:
    (bare / "home").mkdir()
    (bare / "home" / "lethe.toml").write_text("max_iterations = 5")
    assert load_settings().settings.max_iterations == 5
    (bare / "lethe.toml").write_text("max_iterations = 6")
    assert load_settings().settings.max_iterations == 6
    named = bare / "other.toml"
    named.write_text("max_iterations = 7")
    assert load_settings(config_file=named).settings.max_iterations == 7


def test_several_corpora_come_from_one_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LETHE_CORPUS", os.pathsep.join(["/a", "/b c"]))
    assert load_settings().settings.corpus == (Path("/a"), Path("/b c"))


@pytest.mark.parametrize("line", ['corpus = [""]', 'corpus = ""', 'corpus = ["/a", " "]', 'out = ""'])
def test_an_empty_path_is_refused_and_not_taken_for_the_working_folder(bare: Path, line: str) -> None:
    (bare / "lethe.toml").write_text(line)
    with pytest.raises(ConfigError, match="the path is empty") as refused:
        load_settings()
    assert line.split()[0] in str(refused.value)
    assert "lethe.toml" in str(refused.value)


def test_an_empty_entry_among_several_corpora_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LETHE_CORPUS", f"/a{os.pathsep}")
    with pytest.raises(ConfigError, match="the path is empty"):
        load_settings()


def test_a_value_inside_a_list_is_refused_with_its_source(bare: Path) -> None:
    (bare / "lethe.toml").write_text("corpus = [3]")
    with pytest.raises(ConfigError, match=r"corpus.0 3 \(.*lethe.toml\): Input is not a valid path"):
        load_settings()


def test_who_asks_for_one_iteration_gets_it_though_the_least_is_three_by_default() -> None:
    loaded = load_settings({"max_iterations": 1})
    assert loaded.settings.min_iterations == 1
    assert "max_iterations" in loaded.origins["min_iterations"]


@pytest.mark.parametrize(
    ("flags", "named"),
    [
        ({"max_iterations": 0}, "--max-iterations"),
        ({"max_iterations": 101}, "101"),
        ({"max_iterations": "many"}, "many"),
        ({"min_iterations": 9, "max_iterations": 4}, "9"),
        ({"time_budget": -1.0}, "--time-budget"),
        ({"max_cost": 3.0}, "price_prompt"),
        ({"llm_base_url": "ftp://x"}, "http"),
        ({"llm_base_url": "http://x/v1"}, "LETHE_LLM_MODEL"),
        ({"nli": "deberta"}, "nli"),
        ({"surprise": 1}, "surprise"),
    ],
)
def test_a_value_that_cannot_be_used_is_named_with_what_is_allowed(
    flags: dict[str, object], named: str
) -> None:
    with pytest.raises(ConfigError, match=named):
        load_settings(flags)


@pytest.mark.parametrize("text", ["max_iterations = ", "[section]\nmax_iterations = 3", "max_iteration = 3"])
def test_a_file_that_cannot_be_used_is_named(bare: Path, text: str) -> None:
    (bare / "lethe.toml").write_text(text)
    with pytest.raises(ConfigError, match=r"toml|section|max_iteration"):
        load_settings()


def test_a_secret_never_lies_in_a_file_nor_in_a_repr(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (bare / "lethe.toml").write_text('llm_api_key = "sk-very-secret"')
    with pytest.raises(ConfigError, match="LETHE_LLM_API_KEY") as refused:
        load_settings()
    assert "sk-very-secret" not in str(refused.value)
    (bare / "lethe.toml").unlink()
    monkeypatch.setenv("LETHE_LLM_API_KEY", "sk-very-secret")
    settings = load_settings().settings
    assert settings.llm_api_key.get_secret_value() == "sk-very-secret"
    assert "sk-very-secret" not in repr(settings)
    assert "sk-very-secret" not in str(settings.model_dump(mode="json"))


def test_a_missing_named_file_is_said() -> None:
    with pytest.raises(ConfigError, match=r"nowhere\.toml"):
        load_settings(config_file=Path("nowhere.toml"))
