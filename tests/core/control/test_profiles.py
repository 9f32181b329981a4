"""The measured profiles, and what an unknown model is told."""

import pytest

from lethe_core.control.profiles import (
    MEASURED_ON,
    MINILM_L6,
    PROFILES,
    QWEN3_4B,
    WORDLLAMA_256,
    find_profile,
)
from lethe_core.errors import ConfigError


@pytest.mark.parametrize(
    ("profile", "dimension", "similar", "floor"),
    [(WORDLLAMA_256, 256, 0.469, 0.68), (MINILM_L6, 384, 0.361, 0.664), (QWEN3_4B, 2560, 0.55, 0.65)],
)
def test_thresholds_are_those_that_were_measured(profile, dimension, similar, floor):
    assert (profile.dimension, profile.similar_threshold, profile.ga_floor) == (dimension, similar, floor)
    assert profile.duplicate_threshold == 0.95


def test_every_profile_says_what_it_was_measured_on():
    assert set(MEASURED_ON) == set(PROFILES)
    assert all(MEASURED_ON.values())


def test_only_the_instructed_model_has_a_query_prompt():
    assert QWEN3_4B.query_prompt.startswith("Instruct: ")
    assert QWEN3_4B.query_prompt.endswith("\nQuery:")
    assert WORDLLAMA_256.query_prompt == MINILM_L6.query_prompt == ""


@pytest.mark.parametrize(
    ("name", "profile"),
    [
        ("sentence-transformers/all-MiniLM-L6-v2", MINILM_L6),
        ("all-minilm-l6-v2", MINILM_L6),
        ("Qwen3-Embedding-4B", QWEN3_4B),
        ("wordllama-256", WORDLLAMA_256),
    ],
)
def test_a_model_is_found_with_or_without_its_publisher(name, profile):
    assert find_profile(name) is profile


def test_an_unknown_model_is_told_how_to_get_thresholds():
    with pytest.raises(ConfigError, match=r"'some/model'.*lethe eval calibrate"):
        find_profile("some/model")
