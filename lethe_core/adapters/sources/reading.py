"""One file of a corpus to a page: what it is by its content, the reader for it, title and date.

The suffix only decides among texts that have no mark of their own (Markdown, CSV, plain). Every failure
is a SourceError that names the source and the reason.
"""

import errno
import os
import re
import stat
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Final, Literal

from lethe_core.adapters.sources.readers.document import Document
from lethe_core.errors import SourceAccessError, SourceError
from lethe_core.evidence.dates import page_date
from lethe_core.evidence.page import Page

Kind = Literal["markdown", "text", "html", "pdf", "docx", "csv"]
Parse = Callable[[Kind, bytes], Document]


@dataclass(frozen=True, slots=True)
class ReadConfig:
    max_bytes: int = 50 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Reading:
    """A page as it was read, and what of the file is not in it."""

    page: Page
    note: str


GONE: Final = "gone while the folder was read"
_MARKDOWN = frozenset((".md", ".markdown", ".mdown", ".mkd", ".mkdn", ".rmd", ".qmd", ".mdx"))
_TABLES = frozenset((".csv", ".tsv", ".tab"))
_HTML = frozenset((".html", ".htm", ".xhtml"))
_OTHERS = (
    (b"\x89PNG", "an image"),
    (b"\xff\xd8\xff", "an image"),
    (b"GIF8", "an image"),
    (b"RIFF", "an image, sound or video"),
    (b"\x1f\x8b", "a compressed archive"),
    (b"BZh", "a compressed archive"),
    (b"7z\xbc\xaf", "a compressed archive"),
    (b"Rar!", "a compressed archive"),
    (b"\x28\xb5\x2f\xfd", "a compressed archive"),
    (b"\x7fELF", "a program"),
    (b"MZ\x90\0", "a program"),
    (b"SQLite format 3\0", "a database"),
    (b"ID3", "sound"),
    (b"OggS", "sound or video"),
    (b"\xd0\xcf\x11\xe0", "an old or protected Office file (save it as .docx without a password)"),
    (b"{\\rtf", "an RTF document (save it as .docx)"),
)
_HTML_START = re.compile(
    rb"(?:\s|<!--.*?-->|<\?xml[^>]*\?>)*<(?:!doctype\s+html|html|head|body)\b", re.I | re.DOTALL
)
_HTML_TAG = re.compile(
    rb"<(?:p|div|h[1-6]|table|ul|ol|span|section|article|main|br|title|meta)\b[^<>]*>", re.I
)


def read_source(path: Path, address: str, *, config: ReadConfig | None = None) -> Page:
    """Read one file in this process. Raises SourceError naming the address and the reason."""
    try:
        data, modified = load(path, config or ReadConfig())
        return page_of(data, path.suffix, address, modified, parse).page
    except SourceError as error:
        raise SourceError(f"{address}: {error}") from error


def load(path: Path, config: ReadConfig) -> tuple[bytes, float]:
    """A regular file's bytes and its modification time. Raises SourceError with the reason alone."""
    try:
        # Without O_NONBLOCK the opening of a pipe waits for its other end.
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
        with os.fdopen(handle, "rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise SourceAccessError("no regular file")
            data = file.read(config.max_bytes + 1) if status.st_size <= config.max_bytes else b""
    except FileNotFoundError:
        raise SourceAccessError(GONE) from None
    except OSError as error:
        reason = (
            "not readable: permission denied"
            if error.errno == errno.EACCES
            else f"not readable: {error.strerror}"
        )
        raise SourceAccessError(reason) from error
    if max(status.st_size, len(data)) > config.max_bytes:
        raise SourceError(
            f"{status.st_size / 1024 / 1024:,.0f} MB; the limit is {config.max_bytes // 1024 // 1024} MB"
        )
    return data, status.st_mtime


def page_of(data: bytes, suffix: str, address: str, modified: float, parsed: Parse) -> Reading:
    """Make a page of a file's bytes. Raises SourceError with the reason alone.

    parsed: makes the document; `parse` does it in this process, `isolated.ReaderProcess.parse` in another.
    """
    document = parsed(kind_of(data, suffix.lower()), data)
    text = document.text.strip("\n")
    if not text.strip():
        raise SourceError("holds no text")
    title = " ".join(document.title.split())[:300] or name_of(address)
    date, source = page_date(text, document.date, address, modified)
    if source == "metadata" and document.date_in_text:
        source = "text"
    lost = len(document.text) - len(document.text.lstrip("\n"))
    page = Page(
        address=address,
        title=title,
        text=text,
        date=date,
        date_source=source,
        modified=modified,
        domain=address,
        page_starts=tuple(max(0, start - lost) for start in document.page_starts),
    )
    return Reading(page, document.note)


def kind_of(data: bytes, suffix: str) -> Kind:
    """What a file is, by its content. Raises SourceError for what no reader takes."""
    if not data.strip():
        raise SourceError("an empty file")
    if b"%PDF-" in data[:1024]:
        return "pdf"
    if data.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return _package(data)
    for mark, what in _OTHERS:
        if data.startswith(mark):
            raise SourceError(f"{what}, not a document that can be read")
    head = (
        data[:65_536]
        .replace(b"\0", b"")
        .removeprefix(b"\xef\xbb\xbf")
        .removeprefix(b"\xff\xfe")
        .removeprefix(b"\xfe\xff")
    )
    if _HTML_START.match(head) or (suffix in _HTML and _HTML_TAG.search(head)):
        return "html"
    if suffix in _TABLES:
        return "csv"
    if suffix in _MARKDOWN:
        return "markdown"
    from lethe_core.adapters.sources.readers.csv import looks_delimited

    return "csv" if looks_delimited(head[:16_384].decode("utf-8", "ignore")) else "text"


def parse(kind: Kind, data: bytes) -> Document:
    """Read a file's bytes in this process; readers and their libraries are loaded when first needed."""
    match kind:
        case "pdf":
            from lethe_core.adapters.sources.readers.pdf import read_pdf

            return read_pdf(data)
        case "docx":
            from lethe_core.adapters.sources.readers.docx import read_docx

            return read_docx(data)
        case "html":
            from lethe_core.adapters.sources.readers.html import read_html

            return read_html(data)
        case "csv":
            from lethe_core.adapters.sources.readers.csv import read_csv

            return read_csv(data)
        case "markdown":
            from lethe_core.adapters.sources.readers.markdown import read_markdown

            return read_markdown(data)
        case "text":
            from lethe_core.adapters.sources.readers.markdown import read_text

            return read_text(data)


def name_of(address: str) -> str:
    """A title made of a file's name: without folder and suffix, dashes and underscores as spaces."""
    name = address.rsplit("/", 1)[-1]
    stem, dot, suffix = name.rpartition(".")
    name = stem if dot and stem and suffix.isalnum() and len(suffix) <= 8 else name
    return " ".join(re.sub(r"[-_]+", " ", name).split()) or address


def _package(data: bytes) -> Kind:
    try:
        with zipfile.ZipFile(BytesIO(data)) as package:
            names = package.namelist()
    except (zipfile.BadZipFile, OSError, EOFError, ValueError, NotImplementedError) as error:
        raise SourceError(f"a damaged or cut-off package: {error}") from error
    if "word/document.xml" in names:
        return "docx"
    if any(name.startswith("word/") for name in names):
        raise SourceError("a Word document without its text")
    what = "a compressed archive"
    for start, kind in (
        ("ppt/", "a presentation"),
        ("xl/", "a spreadsheet"),
        ("content.xml", "an OpenDocument file"),
    ):
        if any(name.startswith(start) for name in names):
            what = kind
    raise SourceError(f"{what}, not a document that can be read (export it as PDF, DOCX or CSV)")
