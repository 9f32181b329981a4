"""PDF files, made with PyMuPDF: reading order, headings, tables, pages, and files that hold no text."""

import pymupdf
import pytest

from lethe_core.adapters.sources.readers.pdf import PdfConfig, read_pdf
from lethe_core.errors import SourceError


def pdf(*pages: str, **metadata: str) -> bytes:
    """Pages of HTML as a PDF."""
    with pymupdf.open() as file:
        for html in pages:
            file.new_page().insert_htmlbox((50, 60, 545, 780), html)
        if metadata:
            file.set_metadata(metadata)
        return bytes(file.tobytes())


PROSE = "The tower was built in stone and the bells were hung in a frame of riveted steel. " * 6


def test_headings_go_by_type_size_and_paragraphs_are_whole() -> None:
    document = read_pdf(pdf(f"<h1>The bell frame</h1><p>{PROSE}</p><h2>Corrosion</h2><p>{PROSE}</p>"))
    assert document.title == "The bell frame"
    paragraphs = document.text.split("\n\n")
    assert paragraphs == ["# The bell frame", PROSE.strip(), "## Corrosion", PROSE.strip()]


def test_bullets_and_numbers_are_lists() -> None:
    text = read_pdf(pdf(f"<p>{PROSE}</p><ul><li>Clear the gutter</li><li>Renew the ends</li></ul>")).text
    assert "- Clear the gutter\n- Renew the ends" in text


def test_a_ruled_table_is_a_table() -> None:
    with pymupdf.open() as file:
        page = file.new_page()
        for row, cells in enumerate((("Month", "Passengers"), ("January", "10,204"), ("February", "10,871"))):
            for column, cell in enumerate(cells):
                box = pymupdf.Rect(60 + 150 * column, 100 + 24 * row, 210 + 150 * column, 124 + 24 * row)
                page.draw_rect(box)
                page.insert_text((box.x0 + 5, box.y1 - 7), cell)
        text = read_pdf(file.tobytes()).text
    assert text == "| Month | Passengers |\n| --- | --- |\n| January | 10,204 |\n| February | 10,871 |"


def test_aligned_columns_without_rules_are_a_table() -> None:
    with pymupdf.open() as file:
        page = file.new_page()
        page.insert_text((72, 80), "Income and expenditure of the Trust in pounds")
        for row, cells in enumerate(
            (
                ("", "2024", "2023"),
                ("Income", "104,380", "97,205"),
                ("Spent", "99,115", "90,470"),
                ("Left", "5,265", "6,735"),
            )
        ):
            for column, cell in enumerate(cells):
                page.insert_text((72 + 120 * column, 120 + 18 * row), cell)
        text = read_pdf(file.tobytes()).text
    assert "|  | 2024 | 2023 |\n| --- | --- | --- |\n| Income | 104,380 | 97,205 |" in text


def test_two_columns_are_read_one_after_the_other() -> None:
    with pymupdf.open() as file:
        page = file.new_page()
        page.insert_textbox((50, 100, 280, 700), "left " * 150)
        page.insert_textbox((310, 100, 540, 700), "right " * 150)
        words = read_pdf(file.tobytes()).text.split()
    assert words == ["left"] * 150 + ["right"] * 150


def test_pages_begin_where_it_says_and_a_word_may_cross_them() -> None:
    document = read_pdf(pdf("<p>First page ends in the middle of a</p>", "<p>sentence and goes on.</p>"))
    assert document.text == "First page ends in the middle of a sentence and goes on."
    assert [document.text[start:][:8] for start in document.page_starts] == ["First pa", "sentence"]


def test_running_heads_and_page_numbers_go() -> None:
    with pymupdf.open() as file:
        for number in range(1, 5):
            page = file.new_page()
            page.insert_text((60, 40), "Annual report of the Trust")
            page.insert_text((60, 300), f"What happened in part {'abcd'[number - 1]} of the year.")
            page.insert_text((280, 810), f"Page {number} of 4")
        text = read_pdf(file.tobytes()).text
    assert "Annual report" not in text
    assert "Page" not in text
    assert text.count("What happened") == 4


def test_words_divided_at_a_line_end_become_whole() -> None:
    with pymupdf.open() as file:
        file.new_page().insert_text(
            (60, 100), "The frame had been exam-\nined in the year be-\nfore the war began."
        )
        assert "examined in the year before the war" in read_pdf(file.tobytes()).text


def test_metadata_give_title_and_date_where_the_text_has_none() -> None:
    document = read_pdf(pdf(f"<p>{PROSE}</p>", title="Minutes", modDate="D:20240311120000Z"))
    assert (document.title, document.date) == ("Minutes", "2024-03-11")


def test_a_password_is_a_reason() -> None:
    with pymupdf.open(stream=pdf("<p>secret</p>")) as file:
        locked = file.tobytes(encryption=pymupdf.PDF_ENCRYPT_AES_256, user_pw="u", owner_pw="o")
    with pytest.raises(SourceError, match="password"):
        read_pdf(locked)


def test_images_only_are_a_reason_that_names_the_remedy() -> None:
    with pymupdf.open() as file:
        picture = pymupdf.Pixmap(pymupdf.csRGB, (0, 0, 50, 50), False)
        picture.clear_with(90)
        file.new_page().insert_image((50, 50, 300, 300), pixmap=picture)
        with pytest.raises(SourceError, match=r"images only.*text recognition"):
            read_pdf(file.tobytes())


def test_pages_beyond_the_limit_are_left_out_and_said() -> None:
    document = read_pdf(pdf(*[f"<p>Page of part {letter}.</p>" for letter in "abcd"]), PdfConfig(max_pages=2))
    assert "part c" not in document.text
    assert document.note == "only the first 2 of 4 pages are read"


@pytest.mark.parametrize("cut", [9, 40, 111, 400])
def test_a_cut_off_file_is_a_reason(cut: int) -> None:
    with pytest.raises(SourceError) as refused:
        read_pdf(pdf(f"<p>{PROSE}</p>")[:cut])
    assert str(refused.value) == (
        "a PDF that is cut off before its end: no text can be read from it (get the file again)"
    )


def test_of_a_cut_off_file_what_is_left_is_read_and_the_loss_is_said() -> None:
    with pymupdf.open() as file:
        for letter in "abcdef":
            file.new_page().insert_text((60, 100), f"The frame of part {letter} was examined in the spring.")
        whole = file.tobytes()
    document = read_pdf(whole[: whole.index(b"endobj", len(whole) // 2) + 7])
    assert "part a" in document.text
    assert "part f" not in document.text
    assert document.note == "the PDF is cut off before its end: only what is left of it is read"
    assert read_pdf(whole).note == ""


def test_a_damaged_file_is_a_reason() -> None:
    whole = pdf(f"<p>{PROSE}</p>")
    with pytest.raises(SourceError, match="a PDF that is damaged: no text can be read from it"):
        read_pdf(whole[:60] + b"\0" * (len(whole) - 120) + whole[-60:])


def test_nothing_is_printed(capfd: pytest.CaptureFixture[str]) -> None:
    read_pdf(pdf(f"<table border=1><tr><td>a</td><td>b</td></tr></table><p>{PROSE}</p>"))
    assert capfd.readouterr() == ("", "")
