"""Delimited files: delimiter, header, caption, limits."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lethe_core.adapters.sources.readers.csv import CsvConfig, delimiter_of, read_csv
from lethe_core.errors import SourceError
from lethe_core.evidence.blocks import tables


def rows_of(text: str) -> list[tuple[str, ...]]:
    (table,) = tables(text)
    return [table.header, *(row.cells for row in table.rows)]


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_told_from_the_rows(delimiter: str) -> None:
    data = "\n".join(
        delimiter.join(row) for row in (["name", "weight kg"], ["Osyth", "2310"], ["Wenna", "1688"])
    )
    assert rows_of(read_csv(data.encode()).text) == [
        ("name", "weight kg"),
        ("Osyth", "2310"),
        ("Wenna", "1688"),
    ]


def test_decimal_commas_do_not_make_a_comma_the_delimiter() -> None:
    assert delimiter_of(["Preis;Menge", "3,50;2", "4,25;1", "5,00;9"]) == ";"


def test_a_line_that_names_the_delimiter_is_obeyed() -> None:
    assert rows_of(read_csv(b"sep=;\na;b\n1;2\n").text) == [("a", "b"), ("1", "2")]


def test_quoted_cells_keep_delimiters_and_lose_line_ends() -> None:
    data = b'name,note\n"Moss, A.","two\nlines | and a pipe"\n'
    assert rows_of(read_csv(data).text)[1] == ("Moss, A.", "two lines | and a pipe")


def test_data_without_a_header_gets_numbered_columns() -> None:
    assert rows_of(read_csv(b"2021,4\n2022,5\n").text) == [
        ("column 1", "column 2"),
        ("2021", "4"),
        ("2022", "5"),
    ]


def test_a_header_of_years_is_a_header() -> None:
    assert rows_of(read_csv(b"item,2023,2024\nincome,97,104\n").text)[0] == ("item", "2023", "2024")


def test_a_caption_stands_above_the_table_and_is_the_title() -> None:
    document = read_csv(b"Bells of the tower;;\n;;\nno;name;kg\n1;Osyth;2310\n")
    assert document.title == "Bells of the tower"
    assert document.text.startswith("Bells of the tower\n\n| no | name | kg |")


def test_what_is_above_the_limits_is_left_out_and_said() -> None:
    data = "a,b\n" + "".join(f"{index},x\n" for index in range(20))
    document = read_csv(data.encode(), CsvConfig(max_rows=5))
    assert len(rows_of(document.text)) == 6
    assert document.note == "only the first 5 of 20 rows are read"


def test_a_million_columns_are_cut_and_said() -> None:
    header = ",".join(f"c{index}" for index in range(1_000_000))
    document = read_csv(f"{header}\n{header}\n".encode())
    assert len(rows_of(document.text)[0]) == CsvConfig().max_columns
    assert "1,000,000 columns" in document.note


def test_a_cell_beyond_what_the_reader_takes_is_a_reason() -> None:
    with pytest.raises(SourceError, match="cannot be read"):
        read_csv(b'a,b\n"' + b"x" * 300_000 + b'",1\n')


def test_no_row_is_a_reason() -> None:
    with pytest.raises(SourceError, match="without a row"):
        read_csv(b",,\n,,\n")


CELLS = st.from_regex(r"[a-z]{1,6}( [a-z]{1,6})?", fullmatch=True)


@settings(max_examples=60, deadline=None)
@given(
    body=st.integers(2, 5).flatmap(
        lambda width: st.lists(st.lists(CELLS, min_size=width, max_size=width), min_size=1, max_size=8)
    ),
    delimiter=st.sampled_from([",", ";", "\t"]),
)
def test_every_cell_is_read_where_it_stands(body: list[list[str]], delimiter: str) -> None:
    header = [f"h{index}" for index in "abcde"[: len(body[0])]]
    data = "\n".join(delimiter.join(row) for row in [header, *body]).encode()
    assert rows_of(read_csv(data).text) == [tuple(header), *map(tuple, body)]
