"""One file to a page: by its content, with title and date; every failure names file and reason."""

import os
from pathlib import Path

import docx
import pymupdf
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lethe_core.adapters.sources.reading import ReadConfig, kind_of, name_of, read_source
from lethe_core.errors import SourceError


def put(folder: Path, name: str, data: bytes) -> Path:
    path = folder / name
    path.write_bytes(data)
    return path


def a_pdf() -> bytes:
    with pymupdf.open() as file:
        file.new_page().insert_text((72, 100), "The mill closed in 1987 after a flood.")
        return bytes(file.tobytes())


def test_content_decides_and_not_the_suffix(tmp_path: Path) -> None:
    assert "mill closed" in read_source(put(tmp_path, "a.txt", a_pdf()), "c/a.txt").text
    page = b"<!DOCTYPE html><html><body><p>The mill closed.</p></body></html>"
    assert read_source(put(tmp_path, "b.md", page), "c/b.md").text == "The mill closed."
    word = docx.Document()
    word.add_paragraph("The mill closed.")
    word.save(str(tmp_path / "c.pdf"))
    assert read_source(tmp_path / "c.pdf", "c/c.pdf").text == "The mill closed."
    assert (
        read_source(put(tmp_path, "d.html", b"The mill < closed."), "c/d.html").text == "The mill < closed."
    )


def test_a_table_without_a_suffix_is_told_from_prose() -> None:
    assert kind_of(b"a;b;c\n1;2;3\n4;5;6\n7;8;9\n", ".txt") == "csv"
    assert kind_of(b"One, two, three.\nFour, five, six.\nSeven, eight, nine.\nTen, a, b.\n", ".txt") == "text"


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "an empty file"),
        (b" \n\t ", "an empty file"),
        (b"\x89PNG\r\n\x1a\n" + bytes(50), "an image"),
        (b"\xd0\xcf\x11\xe0" + bytes(50), r"old or protected Office file.*save it as"),
        (b"PK\x03\x04 cut off", "damaged or cut-off"),
        (b"%PDF-1.7 cut off", "PDF"),
        (bytes(range(256)) * 8, "binary"),
        (b"---\ntitle: x\n---\n", "no text"),
    ],
)
def test_a_failure_names_file_and_reason(tmp_path: Path, data: bytes, reason: str) -> None:
    with pytest.raises(SourceError, match=rf"^c/x\.md: .*{reason}"):
        read_source(put(tmp_path, "x.md", data), "c/x.md")


def test_what_cannot_be_opened_is_a_reason_and_a_pipe_does_not_wait(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for name, reason in (
        ("pipe", "no regular file"),
        ("gone", "gone while the folder was read"),
        (".", "not readable|no regular"),
    ):
        with pytest.raises(SourceError, match=reason):
            read_source(tmp_path / name, f"c/{name}")


def test_a_file_above_the_limit_is_not_loaded(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="the limit is 1 MB"):
        read_source(put(tmp_path, "x", b"x" * 2**21), "c/x", config=ReadConfig(max_bytes=2**20))


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("---\ntitle: Front\n---\n# Heading\n\nText.", "Front"),
        ("# Heading\n\nText.", "Heading"),
        ("Only text that goes on.", "the water mill 2nd edition"),
    ],
)
def test_the_title_is_front_matter_then_heading_then_name(tmp_path: Path, text: str, title: str) -> None:
    path = put(tmp_path, "x.md", text.encode())
    assert read_source(path, "c/the-water_mill-2nd-edition.md").title == title


@pytest.mark.parametrize(
    ("text", "name", "date"),
    [
        ("---\ndate: 2024-03-11\n---\nText.", "a-2020.md", ("2024-03-11", "text")),
        ("Updated: 3 May 2024\n\nText.", "a-2020.md", ("2024-05-03", "text")),
        ("Text of 3 May 2024.", "a-2020.md", ("2020", "name")),
        ("Text.", "a.md", ("1973-11-29", "modified")),
    ],
)
def test_the_date_is_text_then_name_then_modification(
    tmp_path: Path, text: str, name: str, date: object
) -> None:
    path = put(tmp_path, "x.md", text.encode())
    os.utime(path, (123_456_789, 123_456_789))
    page = read_source(path, f"c/{name}")
    assert (page.date, page.date_source) == date
    assert page.modified == 123_456_789


def test_a_name_becomes_a_title() -> None:
    assert name_of("c/annual-report_2024.v2.pdf") == "annual report 2024.v2"
    assert name_of("c/README") == "README"
    assert name_of("c/.md") == ".md"


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    head=st.sampled_from([b"", b"%PDF-1.7\n", b"PK\x03\x04", b"<html>", b"\xff\xfe", b"---\n", b"sep=;\n"]),
    body=st.binary(max_size=200),
    suffix=st.sampled_from([".md", ".txt", ".csv", ".html", ""]),
)
def test_any_bytes_give_a_page_or_a_named_reason(
    tmp_path: Path, head: bytes, body: bytes, suffix: str
) -> None:
    path = put(tmp_path, f"x{suffix}", head + body)
    reason = ""
    try:
        page = read_source(path, "c/x")
    except SourceError as error:
        reason = str(error)
    if reason:
        assert reason.startswith("c/x: ")
        return
    assert page.text.strip()
    assert page.title
    page.text.encode("utf-8")
