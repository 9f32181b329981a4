"""What texts call by a number, and the rows of tables that stand below the same."""

from hypothesis import given, settings
from hypothesis import strategies as st

from lethe_core.evidence.designations import designations, written_designations
from lethe_core.evidence.tables import render_row
from lethe_core.evidence.terms import anchor_terms


def test_numbers_that_name_something_are_told_from_numbers_that_count_or_date() -> None:
    text = "A crack in No. 17, the one beside Turbine 4; see #7, nº 8 and number 10."
    assert designations(text) == ("no 17", "turbine 4", "no 7", "no 8", "no 10")
    assert written_designations(text) == ("No. 17", "Turbine 4", "#7", "nº 8", "number 10")
    for other in (
        "All 31 bells were rung on 3 May 2025, a Sat. 19, in June 2025.",
        "It weighs 17 kg, costs No. 17.5 and was seen by 12 people at No. 17:30.",
        "See Section 4, page 7 and Table 2.",
        "room 12 in small letters is any number behind a word",
    ):
        assert designations(other) == ()


def test_a_row_is_called_by_its_first_column() -> None:
    assert designations(render_row(["bell_no", "name"], ["17", "Agnes"])) == ("no 17",)
    assert designations(render_row(["Room", "seats"], ["12", "40"])) == ("room 12",)
    assert designations(render_row(["No.", "name"], ["No. 9", "Clare"])) == ("no 9",)
    assert designations(render_row(["Room", "seats"], ["12 m", "40"])) == ()
    assert designations(render_row(["", "seats"], ["12", "40"])) == ()
    assert written_designations(render_row(["Room", "seats"], ["12", "40"])) == ()


def test_text_and_row_have_a_term_in_common() -> None:
    row = anchor_terms(render_row(["bell_no", "name"], ["17", "Agnes"]))
    assert "no 17" in row & anchor_terms("The bell to take the place of No. 17 would weigh more.")
    assert "room 12" in anchor_terms("Room 12 is closed.") & anchor_terms(render_row(["Room"], ["12"]))


@settings(max_examples=100, deadline=None)
@given(st.text(alphabet="No. #17|-\nRoom№ºx2,:", max_size=60))
def test_any_text_is_read_and_the_written_ones_stand_in_it(text: str) -> None:
    assert len(set(designations(text))) == len(designations(text))
    assert all(written in text for written in written_designations(text))
