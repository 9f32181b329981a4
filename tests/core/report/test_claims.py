"""Which sentence carries which bracket."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lethe_core.report.claims import (
    DraftHeading,
    DraftList,
    DraftParagraph,
    DraftTable,
    drafts_of,
    read_cited,
)


def claims(text):
    return [(d.text, d.ids, d.inherited) for block in read_cited(text) for d in drafts_of(block)]


def test_a_bracket_belongs_to_its_own_sentence():
    assert claims("The rope is 36 mm [e-aaaa]. The car is red [e-bbbb].") == [
        ("The rope is 36 mm.", ("e-aaaa",), False),
        ("The car is red.", ("e-bbbb",), False),
    ]


def test_a_bracket_behind_the_full_stop_belongs_to_the_sentence_before():
    assert claims("The rope is 36 mm. [e-aaaa] The car is red. [e-bbbb]")[0] == (
        "The rope is 36 mm.",
        ("e-aaaa",),
        False,
    )


def test_a_sentence_may_borrow_the_next_bracket_of_its_paragraph():
    assert claims("The rope is 36 mm. It is new [e-aaaa].") == [
        ("The rope is 36 mm.", ("e-aaaa",), True),
        ("It is new.", ("e-aaaa",), False),
    ]


def test_nothing_can_be_borrowed_behind_the_last_bracket_or_from_another_paragraph():
    assert claims("It is new [e-aaaa]. It is old.\n\nIt is red.")[1:] == [
        ("It is old.", (), False),
        ("It is red.", (), False),
    ]


def test_several_brackets_in_one_sentence_are_put_together():
    assert claims("Harbour stops at 21 m/s [e-aaaa 2024-03-11] and Abbey at 17 m/s [e-bbbb; e-aaaa].") == [
        ("Harbour stops at 21 m/s and Abbey at 17 m/s.", ("e-aaaa", "e-bbbb"), False)
    ]


def test_a_bracket_ends_a_sentence_whose_last_word_looks_like_an_abbreviation():
    assert [text for text, *_ in claims("It stops at 21 m/s [e-aaaa]. After that it waits [e-bbbb].")] == [
        "It stops at 21 m/s.",
        "After that it waits.",
    ]


def test_a_quotation_is_one_claim_however_many_sentences_it_has():
    assert claims("“It is new. It is red. It runs.” [e-aaaa 2024]") == [
        ("“It is new. It is red. It runs.”", ("e-aaaa",), False)
    ]


def test_lines_that_end_in_a_bracket_are_apart_and_wrapped_lines_are_one():
    assert [
        text for text, *_ in claims("“One line here.” [e-aaaa]\n“Another that\nis wrapped.” [e-bbbb]")
    ] == [
        "“One line here.”",
        "“Another that is wrapped.”",
    ]


def test_a_table_row_is_a_claim_under_its_header():
    text = "| Line | Limit |\n|---|---|\n| Harbour | 21 | [e-aaaa 2024-11-04]\n| Abbey | 17 [e-bbbb] |\n"
    (table,) = read_cited(text)
    assert isinstance(table, DraftTable)
    assert table.header == ("Line", "Limit")
    assert [(row.cells, row.ids) for row in table.rows] == [
        (("Harbour", "21"), ("e-aaaa",)),
        (("Abbey", "17"), ("e-bbbb",)),
    ]


def test_headings_and_leads_claim_nothing_but_a_lead_with_a_figure_does():
    heading, found, paragraph, other = read_cited(
        "# Limits\nThey are:\n- red cars here [e-aaaa]\n\n"
        "In 2024 it had 500 cars, namely:\n\n- blue ones [e-bbbb]"
    )
    assert isinstance(heading, DraftHeading)
    assert isinstance(found, DraftList)
    assert found.lead == "They are:"
    assert isinstance(paragraph, DraftParagraph)
    assert isinstance(other, DraftList)


def test_brackets_that_cite_nothing_are_taken_out():
    assert claims("It is new [1] and red [e-zz] [source].") == [("It is new and red.", (), False)]


def test_in_a_quotation_the_pages_own_brackets_stay():
    text = "“It was built in 1871.[1] Its lamp, electrified in 1926 [2, 3], burns [source].” [e-aaaa]"
    assert claims(text) == [
        (
            "“It was built in 1871.[1] Its lamp, electrified in 1926 [2, 3], burns [source].”",
            ("e-aaaa",),
            False,
        )
    ]
    assert claims("So [4] it says: “built [1] in 1871” [5] [e-aaaa].") == [
        ("So it says: “built [1] in 1871”.", ("e-aaaa",), False)
    ]


def test_a_greater_than_sign_in_a_sentence_stays():
    assert claims("> It runs if <b>wind</b> > 5 [e-aaaa].") == [
        ("It runs if <b>wind</b> > 5.", ("e-aaaa",), False)
    ]


LINES = (
    *("# T", "A b c d [e-aaaa].", "x y z", "- item one [e-bbbb]", "| a | b |", "|---|---|"),
    *("| 1 | 2 | [e-aaaa]", "", "> q", "“o", "p”", "```"),
)
lines = st.lists(st.sampled_from(LINES), max_size=14)


@settings(max_examples=100, deadline=None)
@given(lines)
def test_no_citation_is_lost_and_none_invented(parts):
    text = "\n".join(parts)
    cited = [i for _, ids, inherited in claims(text) if not inherited for i in ids]
    assert len(cited) <= text.count("[e-")
    assert set(cited) == {i for i in ("e-aaaa", "e-bbbb") if f"[{i}]" in text}


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=200))
def test_any_text_can_be_read(text):
    assert all(
        draft.text and "\n" not in draft.text for block in read_cited(text) for draft in drafts_of(block)
    )


@pytest.mark.parametrize("text", ["", " \n\t", "---", "```\n```"])
def test_a_text_without_words_has_no_claims(text):
    assert claims(text) == []
