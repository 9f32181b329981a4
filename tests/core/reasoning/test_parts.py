"""A question that is several questions is taken apart, and nothing else is."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lethe_core.reasoning.parts import PartsConfig, parts


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        (
            "For the Otter Trust: 1) what is the fee; 2) who leads it?",
            ("For the Otter Trust: what is the fee", "For the Otter Trust: who leads it?"),
        ),
        (
            "1. What is the Alder Road? 2. What is the Birch Road?",
            ("What is the Alder Road?", "What is the Birch Road?"),
        ),
        ("(a) capital of France (b) population of Spain", ("capital of France", "population of Spain")),
        ("a) capital of France, and b) population of Spain", ("capital of France", "population of Spain")),
        (
            "On the Wend dam: i) its height ii) its cost",
            ("On the Wend dam: its height", "On the Wend dam: its cost"),
        ),
        ("Prices:\n- of tea\n- of milk\n", ("Prices: of tea", "Prices: of milk")),
        (
            "Who founded Acme Corp? When was it sold?",
            ("Who founded Acme Corp?", "Acme Corp: When was it sold?"),
        ),
        (
            "1. Who founded the seed library of all? 2. Where is it housed? 3. When may tools be lent?",
            (
                "Who founded the seed library of all?",
                "The seed library: Where is it housed?",
                "When may tools be lent?",
            ),
        ),
        (
            "The Otter Trust keeps rivers. How many wardens are there? How long is the river?",
            (
                "The Otter Trust keeps rivers: How many wardens are there?",
                "The Otter Trust keeps rivers: How long is the river?",
            ),
        ),
        (
            "Report on the city: population; area; mayor",
            ("Report on the city: population", "Report on the city: area", "Report on the city: mayor"),
        ),
        (
            "Explain what the treaty of 1648 says; describe who signed the treaty",
            ("Explain what the treaty of 1648 says", "describe who signed the treaty"),
        ),
    ],
)
def test_parts_are_taken_apart_in_order_with_what_they_share(
    question: str, expected: tuple[str, ...]
) -> None:
    assert parts(question) == expected


@pytest.mark.parametrize(
    "question",
    [
        "What is the span, e.g. 3.5 m; or the load?",
        "What happened on 1. May 2024 and on 2. June 2024 in Berlin?",
        "Which engine hauled No. 4; No. 5?",
        "Which rule, (1) or (2), applies to boats?",
        'Who wrote the story behind "Act of War; Direct Action"?',
        "Did the parish (church; school; mill) burn down in 1820?",
        "Is version 1.2 newer than version 1.10?",
        "Who is Dr. A. B. Carter of St. Ives?",
        "",
        "?",
    ],
)
def test_what_is_one_question_stays_one(question: str) -> None:
    assert parts(question) == ()


def test_more_parts_than_a_session_can_work_on_are_joined_at_the_end() -> None:
    question = " ".join(f"{n}) the height of tower {chr(64 + n)}{chr(64 + n)};" for n in range(1, 16))
    got = parts(question, PartsConfig(most=12))
    assert len(got) == 12
    assert "tower OO" in got[-1]
    assert "tower LL" in got[-1]


@settings(max_examples=100, deadline=None)
@given(st.text(alphabet="ab 1).;:?-\n(“”", max_size=80))
def test_any_text_gives_no_part_or_at_least_two_different_ones(text: str) -> None:
    got = parts(text)
    assert got == () or len(set(got)) == len(got) >= 2
