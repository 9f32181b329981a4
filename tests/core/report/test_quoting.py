"""Exact quotations are found whatever their typography, and nothing else is."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lethe_core.report.quoting import normalise, quotes, quotes_row

SOURCE = (
    "## Limits\n\n- **Harbour Line:** service is suspended once the wind reaches 15.5 m/s, and the efﬁcient "
    "stand-by drive is kept “warm” for an exam-\nple of 1,150 hours – all told.\n"
)
ROPES = "| Rope | Diameter |\n|---|---|\n| Abbey | 36 |\n| Harbour | 28 |\n"

WORDS = ("rope", "wind", "car", "drive", "12", "7.5", "m/s", "Harbour", "not", "the")
words = st.lists(st.sampled_from(WORDS), min_size=4, max_size=12)


@pytest.mark.parametrize(
    "claim",
    [
        "“service is suspended once the wind reaches 15.5 m/s”",
        "Service is suspended once the wind reaches 15.5 m/s.",
        "Harbour Line: service is suspended once the wind",
        "the efficient standby drive is kept warm",
        "kept 'warm' for an example of 1,150 hours - all told",
        "“Harbour Line: service … kept “warm” for an example”",
        "the efficient standby drive … an example of 1,150 hours",
    ],
)
def test_typography_does_not_hide_a_quotation(claim):
    assert quotes(claim, SOURCE)


@pytest.mark.parametrize(
    "claim",
    [
        "suspended once the wind reaches 15",
        "once the wind reaches 5.5 m/s",
        "an example of 1,15",
        "wind reaches 15.5",
        "service is not suspended once the wind reaches 15.5 m/s",
        "all told … service is suspended once the wind",
        "service is … the wind … drive is kept",
        "",
        "“”",
    ],
)
def test_less_or_other_than_the_source_says_is_no_quotation(claim):
    assert not quotes(claim, SOURCE)


@settings(max_examples=60, deadline=None)
@given(words, words, words)
def test_every_run_of_four_words_is_a_quotation_of_its_text(before, run, after):
    text = " ".join([*before, *run, *after])
    assert quotes(f"“{' '.join(run)}”", text)


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=80))
def test_normalising_twice_changes_nothing(text):
    assert normalise(normalise(text)) == " ".join(normalise(normalise(text)).split())


def test_a_whole_row_is_a_quotation_however_few_words_it_has():
    assert quotes_row(("Rope", "Diameter"), ("Abbey", "36"), ROPES)
    assert quotes_row((), ("**Abbey**", "36"), ROPES)


@pytest.mark.parametrize(
    ("header", "cells"),
    [
        (("Rope", "Diameter"), ("Abbey", "28")),
        (("Rope", "Diameter"), ("36", "Abbey")),
        (("Rope", "Length"), ("Abbey", "36")),
        (("Rope", "Diameter"), ("Rope", "Diameter")),
        ((), ("", "")),
    ],
)
def test_a_changed_row_or_header_is_no_quotation(header, cells):
    assert not quotes_row(header, cells, ROPES)


def test_a_row_is_found_in_a_source_that_reads_header_colon_cell():
    assert quotes_row(("Rope", "Diameter"), ("Abbey", "36 mm"), "Rope: Abbey; Diameter: 36 mm")
