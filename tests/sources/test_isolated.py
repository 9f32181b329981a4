"""The reading process: the same documents as without it, and nothing that a document does reaches us."""

import os
import signal

import pymupdf
import pytest

from lethe_core.adapters.sources.isolated import IsolationConfig, ReaderProcess
from lethe_core.adapters.sources.reading import parse
from lethe_core.errors import SourceError

PAGE = b"<html><body><h1>Mill</h1><p>The mill closed in 1987.</p></body></html>"


def a_pdf() -> bytes:
    with pymupdf.open() as file:
        for text in ("The mill closed.", "It opened again."):
            file.new_page().insert_text((72, 100), text)
        return bytes(file.tobytes())


def test_documents_are_those_that_are_read_here() -> None:
    with ReaderProcess() as reader:
        assert reader.parse("html", PAGE) == parse("html", PAGE)
        assert reader.parse("pdf", a_pdf()) == parse("pdf", a_pdf())
        assert reader.parse("markdown", b"# Mill\n\nText.") == parse("markdown", b"# Mill\n\nText.")


def test_reasons_come_through_and_the_process_goes_on() -> None:
    with ReaderProcess() as reader:
        with pytest.raises(SourceError, match="without text"):
            reader.parse("html", b"<html></html>")
        assert reader.parse("html", PAGE).title == "Mill"


def test_a_document_that_takes_too_long_is_given_up_and_the_next_is_read() -> None:
    with ReaderProcess(IsolationConfig(seconds=0.001)) as reader:
        with pytest.raises(SourceError, match=r"HTML document not read within 0\.001 s"):
            reader.parse("html", PAGE)
        reader._config = IsolationConfig()
        assert reader.parse("html", PAGE).title == "Mill"


def test_a_process_that_dies_costs_one_document() -> None:
    with ReaderProcess() as reader:
        reader.parse("html", PAGE)
        assert reader._process is not None
        os.kill(reader._process.pid, signal.SIGKILL)
        reader._process.wait()
        with pytest.raises(SourceError, match="reader crash"):
            reader.parse("html", PAGE)
        assert reader.parse("html", PAGE).title == "Mill"


def test_plain_text_starts_no_process() -> None:
    with ReaderProcess() as reader:
        reader.parse("text", b"hello")
        reader.parse("csv", b"a,b\n1,2\n")
        assert reader._process is None


def test_the_process_ends_with_its_owner() -> None:
    reader = ReaderProcess()
    reader.parse("html", PAGE)
    process = reader._process
    assert process is not None
    assert process.stdin is not None
    process.stdin.close()
    assert process.wait(timeout=20) == 0
    reader.close()


def test_closing_twice_is_no_error() -> None:
    reader = ReaderProcess()
    reader.parse("html", PAGE)
    reader.close()
    reader.close()
    assert reader._process is None
