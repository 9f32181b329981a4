"""Words that mean the same compare equal; names are whole; question words carry nothing."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lethe_core.reasoning.terms import content, content_set, name_key, names, stem


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("hauling", "haulage"),
        ("ropes", "rope"),
        ("emptied", "empty"),
        ("steepest", "steep"),
        ("Géza's", "geza"),
        ("quarterly", "quarter"),
        ("stopped", "stoppages"),
        ("companies", "company"),
    ],
)
def test_forms_of_a_word_have_one_stem(one: str, other: str) -> None:
    assert stem(one) == stem(other)


@pytest.mark.parametrize("word", ["A-17", "2024", "3.5", "gas", "bus", "class", "basis"])
def test_numbers_identifiers_and_short_words_stay_whole(word: str) -> None:
    assert stem(word) == word.lower()


def test_question_words_and_generic_verbs_are_no_content() -> None:
    assert content("What is the name of that which was given to you?") == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "Are Christopher Nolan and Sathish Kalathil both directors?",
            ["Christopher Nolan", "Sathish Kalathil"],
        ),
        (
            "the rope of the Abbey Line of the Marrowick Cliff Railway",
            ["Abbey Line", "Marrowick Cliff Railway"],
        ),
        ("the late President of the Republic", ["President of the Republic"]),
        ("She kept the Pelloe drive.", ["Pelloe"]),
        ("Grace Krilanovich's first novel", ["Grace Krilanovich"]),
        ('the song "Wonderland by Night" of 1968', ["Wonderland by Night"]),
        ("Members met in June.", []),
    ],
)
def test_names_are_found_whole(text: str, expected: list[str]) -> None:
    found = names(text)
    assert [name for name in found if name in expected] == expected
    assert expected or not found


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=60))
def test_any_text_has_terms_without_error(text: str) -> None:
    assert content_set(text) == frozenset(content(text))
    for name in names(text):
        name_key(name)


def test_what_only_says_is_is_no_word_of_the_subject() -> None:
    assert content("which turned out to be cracked, and proved to be so") == ["crack"]
    assert content("a turned bowl proved hollow") == ["turn", "bowl", "prov", "hollow"]


def test_a_form_of_address_is_no_word_of_the_subject() -> None:
    assert content("Miss Veale and Mr. Frewin missed the tide") == ["veal", "frewin", "miss", "tide"]
