from hypothesis import given, settings
from hypothesis import strategies as st

from lethe_core.evidence.blocks import tables
from lethe_core.evidence.tables import (
    is_separator,
    render_row,
    row_text,
    split_cells,
    starts_table,
    to_markdown,
)

cell = st.text(
    st.characters(codec="utf-8", exclude_categories=("Cs", "Cc", "Zl", "Zp", "Zs"))
    | st.sampled_from("|\\ -:#"),
    max_size=12,
).map(lambda text: " ".join(text.split()))


@settings(max_examples=100, deadline=None)
@given(st.lists(st.lists(cell, min_size=2, max_size=4), min_size=2, max_size=5))
def test_a_written_table_reads_back_with_the_same_cells(rows: list[list[str]]) -> None:
    width = max(map(len, rows))
    rows[0] = ["head", *rows[0][1:]]
    (table,) = tables(to_markdown(rows))
    padded = [tuple(row + [""] * (width - len(row))) for row in rows]
    assert [table.header, *(row.cells for row in table.rows)] == padded


def test_escaped_pipes_stay_inside_their_cell() -> None:
    assert split_cells(r"| a \| b | c |") == ("a | b", "c")


def test_outer_pipes_may_be_missing_and_empty_cells_are_kept() -> None:
    assert split_cells("a | b") == ("a", "b")
    assert split_cells("| a | | c |") == ("a", "", "c")


def test_line_ends_in_a_cell_do_not_tear_the_row() -> None:
    assert to_markdown([["a", "b"], ["1\n2", "3"]]) == "| a | b |\n| --- | --- |\n| 1 2 | 3 |"


def test_no_cells_make_no_table() -> None:
    assert to_markdown([]) == ""
    assert to_markdown([[]]) == ""


def test_row_text_names_each_cell_and_leaves_empty_ones_out() -> None:
    assert (
        row_text(("Zone", "Fare:", ""), ("A", "3.10", "child", "extra"))
        == "Zone: A; Fare: 3.10; child; extra"
    )
    assert row_text(("Zone", "Fare"), ("A", "")) == "Zone: A"


def test_a_ragged_row_is_padded_to_its_header_and_keeps_what_exceeds_it() -> None:
    assert render_row(("a", "b"), ("1",)) == "| a | b |\n| --- | --- |\n| 1 |  |"
    assert render_row(("a",), ("1", "2")) == "| a |  |\n| --- | --- |\n| 1 | 2 |"


def test_spans_of_rows_are_their_lines() -> None:
    text = "Before.\n\n| a | b |\n|:--|--:|\n| 1 | 2 |\n| 3 |\n\nAfter."
    (table,) = tables(text)
    assert [text[slice(*row.span)] for row in table.rows] == ["| 1 | 2 |\n", "| 3 |\n"]
    assert text[slice(*table.span)] == "| a | b |\n|:--|--:|\n| 1 | 2 |\n| 3 |\n"


def test_prose_with_pipes_and_code_are_no_tables() -> None:
    assert tables("one | two\nthree | four\n") == ()
    assert tables("```\n| a | b |\n|---|---|\n| 1 | 2 |\n```\n") == ()
    assert not starts_table("a", "---")
    assert not is_separator("| a | b |")
