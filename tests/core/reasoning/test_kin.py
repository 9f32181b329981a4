import pytest

from lethe_core.adapters.models.wordllama import WordLlamaEmbedder
from lethe_core.reasoning.kin import KinConfig, kin_of
from lethe_core.reasoning.terms import stem


@pytest.fixture(scope="module")
def embedder() -> WordLlamaEmbedder:
    return WordLlamaEmbedder()


def test_other_forms_and_other_words_are_kin(embedder: WordLlamaEmbedder) -> None:
    kin = kin_of(
        [stem("predictions"), "night"],
        "what predictions at night",
        ["predicted in the evening, and a door"],
        embedder,
    )
    assert stem("predicted") in kin[stem("predictions")]
    assert stem("evening") in kin["night"]
    assert not any(stem("door") in near for near in kin.values())


def test_weights_lie_between_the_floor_and_one_and_a_word_is_no_kin_of_its_own(
    embedder: WordLlamaEmbedder,
) -> None:
    kin = kin_of(["night", "car"], "night car", ["night nights car cars auto evening"], embedder)
    assert all(0.5 <= weight <= 1 for near in kin.values() for weight in near.values())
    assert all(term not in near for term, near in kin.items())


def test_a_season_is_told_by_its_months_and_a_possessive_has_the_kin_of_its_word(
    embedder: WordLlamaEmbedder,
) -> None:
    kin = kin_of(["summer"], "this summer's check", ["Inspection, June 2025", "Ice in January"], embedder)
    assert kin["summer"]["june"] == KinConfig().calendar
    assert stem("january") not in kin["summer"]


def test_figures_have_no_kin_and_nothing_has_kin_in_nothing(embedder: WordLlamaEmbedder) -> None:
    assert kin_of(["12"], "12", ["13 and 14"], embedder) == {}
    assert kin_of(["night"], "night", [], embedder) == {}
    assert kin_of(["night"], "night", ["…"], embedder) == {}
