"""Word documents, made with python-docx, and packages made to do harm."""

import io
import zipfile
from datetime import UTC, datetime

import docx
import pytest
from docx.document import Document as WordDocument

from lethe_core.adapters.sources.readers.docx import read_docx
from lethe_core.errors import SourceError


def saved(word: WordDocument) -> bytes:
    stream = io.BytesIO()
    word.save(stream)
    return stream.getvalue()


def package(parts: dict[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as made:
        for name, data in parts.items():
            made.writestr(name, data)
    return stream.getvalue()


def repacked(data: bytes, name: str, change: tuple[bytes, bytes]) -> bytes:
    with zipfile.ZipFile(io.BytesIO(data)) as source:
        parts = {part: source.read(part) for part in source.namelist()}
    assert change[0] in parts[name]
    parts[name] = parts[name].replace(*change)
    return package(parts)


def test_headings_lists_and_tables_come_in_order() -> None:
    word = docx.Document()
    word.add_heading("Rope register", 0)
    word.add_paragraph("Every rope in use.")
    word.add_heading("Ropes", 1)
    table = word.add_table(rows=2, cols=2)
    for row, texts in enumerate((("Rope", "Line"), ("H-16", "Harbour"))):
        for column, text in enumerate(texts):
            table.cell(row, column).text = text
    word.add_paragraph("six broken wires", style="List Bullet")
    word.add_paragraph("struck by lightning", style="List Bullet")
    word.add_paragraph("Stop.", style="List Number")
    word.add_paragraph("Ring.", style="List Number")
    document = read_docx(saved(word))
    assert document.title == "Rope register"
    assert document.text == (
        "# Rope register\n\nEvery rope in use.\n\n## Ropes\n\n"
        "| Rope | Line |\n| --- | --- |\n| H-16 | Harbour |\n\n"
        "- six broken wires\n- struck by lightning\n1. Stop.\n2. Ring."
    )


def test_properties_give_title_and_date_where_the_text_has_none() -> None:
    word = docx.Document()
    word.add_paragraph("Only text.")
    word.core_properties.title = "Minutes"
    word.core_properties.modified = datetime(2024, 3, 11, tzinfo=UTC)
    document = read_docx(saved(word))
    assert (document.title, document.date) == ("Minutes", "2024-03-11")


def test_merged_cells_are_read_once_and_a_spanning_row_is_a_caption() -> None:
    word = docx.Document()
    table = word.add_table(rows=3, cols=2)
    table.cell(0, 0).merge(table.cell(0, 1)).text = "Prices of 2025"
    for row, texts in ((1, ("Ticket", "Price")), (2, ("Adult", "£9.50"))):
        for column, text in enumerate(texts):
            table.cell(row, column).text = text
    text = read_docx(saved(word)).text
    assert text == "Prices of 2025\n\n| Ticket | Price |\n| --- | --- |\n| Adult | £9.50 |"


def test_inserted_text_stays_and_deleted_text_goes() -> None:
    word = docx.Document()
    word.add_paragraph("The fee is MARK pounds.")
    changed = (
        b"</w:t></w:r><w:del><w:r><w:delText>110</w:delText></w:r></w:del><w:ins><w:r><w:t>145</w:t></w:r></w:ins>"
        b"<w:r><w:t xml:space='preserve'>"
    )
    text = read_docx(repacked(saved(word), "word/document.xml", (b"MARK", changed))).text
    assert text.replace(" ", "") == "Thefeeis145pounds."


def test_a_cut_off_file_is_a_reason() -> None:
    word = docx.Document()
    word.add_paragraph("text")
    data = saved(word)
    for length in (10, len(data) // 2, len(data) - 10):
        with pytest.raises(SourceError, match="damaged"):
            read_docx(data[:length])


def test_a_package_that_unpacks_to_a_thousandfold_is_refused() -> None:
    with pytest.raises(SourceError, match="unpacks from"):
        read_docx(package({"word/document.xml": b" " * 30_000_000}))


def test_declared_entities_are_refused() -> None:
    word = docx.Document()
    word.add_paragraph("MARK")
    bomb = b"<!DOCTYPE w [<!ENTITY a 'aaaa'>]><w:document "
    with pytest.raises(SourceError, match="entities"):
        read_docx(repacked(saved(word), "word/document.xml", (b"<w:document ", bomb)))


def test_a_document_without_text_is_a_reason() -> None:
    with pytest.raises(SourceError, match="without text"):
        read_docx(saved(docx.Document()))


def test_a_package_without_its_parts_is_a_reason() -> None:
    with pytest.raises(SourceError, match="damaged"):
        read_docx(package({"word/document.xml": b"<x/>"}))
