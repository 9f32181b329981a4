"""Which model a configuration names, and what is said when it names none."""

from pathlib import Path
from typing import Any

import pytest

from lethe_core.adapters.models.embedders import opened_embedder, profile_of, settings_of_filled
from lethe_core.config import Settings
from lethe_core.control.profiles import MINILM_L6, WORDLLAMA_256
from lethe_core.errors import ConfigError
from lethe_core.session.opening import profile_key

OWN: dict[str, Any] = {"embedding_similar_threshold": 0.4, "embedding_ga_floor": 0.7}


def test_a_known_model_has_its_profile_and_settings_go_before_it() -> None:
    assert profile_of(Settings()) is WORDLLAMA_256
    assert profile_of(Settings(embedding="all-MiniLM-L6-v2")) is MINILM_L6
    changed = profile_of(Settings(embedding_ga_floor=0.5))
    assert (changed.ga_floor, changed.similar_threshold) == (0.5, WORDLLAMA_256.similar_threshold)


def test_a_model_without_a_profile_needs_both_thresholds() -> None:
    profile = profile_of(Settings(embedding="house/embed", **OWN))
    assert (profile.name, profile.dimension, profile.duplicate_threshold) == ("house/embed", 0, 0.95)
    for missing in OWN:
        given = {name: value for name, value in OWN.items() if name != missing}
        with pytest.raises(ConfigError, match=r"'house/embed'.*lethe eval calibrate"):
            profile_of(Settings(embedding="house/embed", **given))


def test_a_folder_is_called_by_its_path_and_has_the_thresholds_of_its_name(tmp_path: Path) -> None:
    folder = tmp_path / "all-MiniLM-L6-v2"
    folder.mkdir()
    profile = profile_of(Settings(embedding=str(folder)))
    assert profile.name == str(folder.resolve())
    assert (profile.dimension, profile.similar_threshold) == (384, MINILM_L6.similar_threshold)


def test_a_known_name_means_the_model_whatever_lies_in_the_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "wordllama-256").mkdir()
    monkeypatch.chdir(tmp_path)
    assert profile_of(Settings()) is WORDLLAMA_256
    assert profile_of(Settings(embedding="./wordllama-256")).name == str(tmp_path.resolve() / "wordllama-256")


def test_for_calibration_a_folder_or_a_published_name_needs_no_profile(tmp_path: Path) -> None:
    assert profile_of(Settings(embedding=str(tmp_path)), uncalibrated=True).dimension == 0
    named = Settings(embedding="house/embed", embedding_query_prompt="query: ")
    assert profile_of(named, uncalibrated=True).query_prompt == "query: "
    with pytest.raises(ConfigError, match="known: wordllama-256"):
        profile_of(Settings(embedding="wordlama"), uncalibrated=True)


def test_a_folder_that_is_not_there_or_holds_no_model_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"folder is not there: .*/absent"):
        profile_of(Settings(embedding=str(tmp_path / "absent")))
    with (
        pytest.raises(ConfigError, match=r"holds no embedding model \(no config.json"),
        opened_embedder(Settings(embedding=str(tmp_path), **OWN)),
    ):
        pass


def test_a_stored_session_is_read_with_the_model_that_filled_it() -> None:
    here = Settings(embedding="house/embed", embedding_base_url="http://127.0.0.1:1/v1", **OWN)
    assert settings_of_filled(here, "house/embed") is here
    other = settings_of_filled(here, profile_key(WORDLLAMA_256))
    assert profile_of(other) is WORDLLAMA_256
    assert other.embedding_base_url == ""
    assert settings_of_filled(Settings(), profile_key(WORDLLAMA_256)) == Settings()
