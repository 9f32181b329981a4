import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lethe_core.evidence.sentences import sentence_spans, sentences

pieces = st.sampled_from(
    [
        "A word. ",
        "approx. ",
        "J. ",
        "\u00a0",
        "\u2003",
        "3.5 ",
        "No. 4",
        "St. ",
        '"Yes." ',
        "Why? ",
        "\n",
        "\n\n",
        "- x\n",
        "# H\n",
        "| a | b |\n",
        "|---|---|\n",
        "。",
        "é",
        "🎉",
        "U.S. ",
        "(see p. 3)",
        "\r\n",
        "\x0b",
        "\x1c",
        "...",
        "“Oh.” ",
    ]
)


@settings(max_examples=100, deadline=None)
@given(st.lists(pieces | st.text(max_size=8), max_size=30).map("".join))
def test_spans_partition_any_text(text: str) -> None:
    spans = sentence_spans(text)
    assert "".join(text[start:end] for start, end in spans) == text
    assert all(start < end for start, end in spans)
    assert not text.strip() or all(text[start:end].strip() for start, end in spans)


def test_a_no_break_space_after_an_initial_does_not_break_the_library() -> None:
    assert sentences("J.\u00a0Smith came. He left.") == ("J.\u00a0Smith came.", "He left.")


@pytest.mark.parametrize(
    "sentence",
    [
        "It was approx. 3 km long.",
        "See Fig. 3 and Tab. 4.",
        "St. Peter lives at No. 4 Main Street.",
        "Use it e.g. for this, i.e. that.",
        "He weighs 3.5 kg and pays $4.2 million.",
        "J. R. R. Tolkien wrote it.",
        "In the U.S. the law holds.",
        "The U.S. Army left.",
        "Vol. 3, pp. 4-5 and ch. 2 say so.",
        "Dr. Smith met Prof. Dr. Müller at 5 p.m. on Tuesday.",
        "Smith et al. 2020 found it.",
        "Am 3. Mai kam er z. B. um 5 Uhr.",
        "Visit www.example.com or version 1.2.3 of it.",
    ],
)
def test_dots_inside_a_sentence_do_not_end_it(sentence: str) -> None:
    assert sentences(f"{sentence} Then another came.") == (sentence, "Then another came.")


@pytest.mark.parametrize(
    "text",
    [
        "We live in the U.S. It is big.",
        "He lives at 5 Main St. He likes it.",
        "Founded in 1990. 3 people came.",
    ],
)
def test_sentences_that_end_like_an_abbreviation_still_end(text: str) -> None:
    assert len(sentences(text)) == 2


def test_the_end_of_emphasis_belongs_to_its_sentence() -> None:
    text = "He said **stop.** Then *left.* __Done.__\nIt is **over**. Next."
    assert sentences(text) == ("He said **stop.**", "Then *left.*", "__Done.__", "It is **over**.", "Next.")


@pytest.mark.parametrize(
    "sentence",
    [
        "**Lease.** An owner holds it for 60 s.",
        "- **Lease.** An owner holds it for 60 s.",
        "2. __Wind limit:__ The line stops at 21 m/s.",
    ],
)
def test_a_bold_head_that_runs_into_its_text_is_a_part_of_its_sentence(sentence: str) -> None:
    assert sentences(f"{sentence} Every write begins with it.") == (sentence, "Every write begins with it.")


def test_wide_full_stops_end_sentences() -> None:
    assert sentences("この文は。次の文。") == ("この文は。", "次の文。")


def test_headings_items_rows_and_fields_stand_alone() -> None:
    text = "# Head\nOne. Two.\n\n- item a\n- item b\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\nName: X\nDate: Y\n"
    assert sentences(text) == (
        "# Head",
        "One.",
        "Two.",
        "- item a",
        "- item b",
        "| a | b |\n|---|---|",
        "| 1 | 2 |",
        "Name: X",
        "Date: Y",
    )


def test_a_line_broken_in_mid_sentence_is_one_sentence() -> None:
    assert sentences("The fare is\nthree euros. It holds.") == ("The fare is\nthree euros.", "It holds.")


def test_a_unit_ends_a_sentence_and_an_initial_does_not() -> None:
    assert sentences("It stops at 21 m/s. The block weighs 5 t. It is -6 °C. In winter") == (
        "It stops at 21 m/s.",
        "The block weighs 5 t.",
        "It is -6 °C.",
        "In winter",
    )
    assert sentences("In Vol. 5 T. Smith wrote it.") == ("In Vol. 5 T. Smith wrote it.",)


def test_empty_text_has_no_sentence_and_blank_text_one_span() -> None:
    assert sentence_spans("") == ()
    assert sentence_spans(" \n ") == ((0, 3),)
    assert sentences(" \n ") == ()
