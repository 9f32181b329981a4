"""Word documents to canonical Markdown: headings, lists and tables in the order of the document.

The package is checked before it is opened: sizes that only a bomb has, and the entity declarations that
no word processor writes. Headers, footers and deleted text of tracked changes go; inserted text stays.
"""

import io
import re
import zipfile
import zlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from lethe_core.adapters.sources.readers.document import Document
from lethe_core.adapters.sources.readers.markdown import first_heading
from lethe_core.adapters.sources.readers.table import table_markdown
from lethe_core.errors import SourceError

if TYPE_CHECKING:
    from docx.document import Document as WordDocument

_MOST_BYTES = 200 * 1024 * 1024  # unpacked, of the parts that are parsed
_MOST_RATIO = 200  # unpacked to packed, of a part larger than a megabyte; real XML reaches 40
_MOST_PARTS = 10_000
_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_TITLES = ("title", "titel", "titre", "título")
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"


def read_docx(data: bytes) -> Document:
    """Read a Word document. Raises SourceError when it is damaged, hostile or without text."""
    _check_package(data)
    import docx
    from docx.opc.exceptions import PackageNotFoundError
    from lxml import etree

    try:
        word = docx.Document(io.BytesIO(data))
        text = _join(list(_blocks(word)))
        title, date = _properties(word)
    # What python-docx raises on damaged packages: no one class.
    except (PackageNotFoundError, zipfile.BadZipFile, etree.LxmlError) as error:
        raise SourceError(f"a damaged Word document: {error}") from error
    except (
        KeyError,
        ValueError,
        AttributeError,
        IndexError,
        TypeError,
        OSError,
        EOFError,
        RecursionError,
    ) as error:
        raise SourceError(f"a damaged Word document ({type(error).__name__}: {error})") from error
    if not text.strip():
        raise SourceError("a Word document without text")
    return Document(text=text, title=first_heading(text) or title, date=date)


def _check_package(data: bytes) -> None:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as package:
            parts = package.infolist()
            if len(parts) > _MOST_PARTS:
                raise SourceError(f"a package of {len(parts):,} parts; the limit is {_MOST_PARTS:,}")
            if any(part.flag_bits & 1 for part in parts):
                raise SourceError("protected by a password")
            for part in parts:
                if part.file_size > 1_000_000 and part.file_size > _MOST_RATIO * max(1, part.compress_size):
                    raise SourceError(
                        f"a package that unpacks from {part.compress_size:,} bytes to {part.file_size:,}"
                    )
            total = sum(part.file_size for part in parts)
            if total > _MOST_BYTES:
                raise SourceError(f"a package of {total:,} bytes unpacked; the limit is {_MOST_BYTES:,}")
            for part in parts:
                if part.filename.endswith((".xml", ".rels")):
                    with package.open(part) as stream:
                        if b"<!DOCTYPE" in stream.read(4096) or b"<!ENTITY" in stream.read(4096):
                            raise SourceError("a package that declares XML entities: refused")
    except (
        zipfile.BadZipFile,
        OSError,
        EOFError,
        NotImplementedError,
        ValueError,
        zlib.error,
    ) as error:
        raise SourceError(f"a damaged package: {error}") from error


def _properties(word: "WordDocument") -> tuple[str, str]:
    properties = word.core_properties
    moment = properties.modified or properties.created
    # Templates carry the library's or the office's own birthday; such a date says nothing.
    date = moment.date().isoformat() if moment is not None and moment.year > 2013 else ""
    title = (properties.title or "").strip()
    return ("" if title.lower() in ("word document", "untitled", "document1") else title), date


def _blocks(word: "WordDocument") -> Iterator[str]:
    styles = {style.style_id: (style.name or "") for style in word.styles if style.style_id}
    numbered = _numbered_lists(word)
    counters: dict[tuple[str, int], int] = {}
    below_title = 0  # headings lie a level deeper in a document that has a title
    for element in _flow(word.element.body):
        if element.tag == _W + "tbl":
            yield _table(element)
            continue
        text = _text(element)
        if not text:
            continue
        style = styles.get(_value(element, "pStyle"), "")
        level = _heading_level(style, element, below_title)
        if level:
            counters.clear()
            below_title = below_title or int(style.lower() in _TITLES)
            yield "#" * level + " " + text
            continue
        number, depth = _value(element, "numId"), int(_value(element, "ilvl") or 0)
        if (number and number != "0") or style.lower().startswith("list"):
            indent = "  " * min(depth, 8)
            if (number, depth) in numbered or (not number and "number" in style.lower()):
                counters[number, depth] = counters.get((number, depth), 0) + 1
                yield f"{indent}{counters[number, depth]}. {text}"
            else:
                yield f"{indent}- {text}"
            continue
        yield text


def _flow(container: Any) -> Iterator[Any]:
    """Paragraphs and tables in order, content controls and text boxes opened; without recursion."""
    stack = list(reversed(container))
    while stack:
        element = stack.pop()
        if element.tag in (_W + "p", _W + "tbl"):
            yield element
            if element.tag == _W + "p":
                for box in element.iter(_W + "txbxContent"):
                    if not any(parent.tag == _FALLBACK for parent in box.iterancestors()):
                        stack.extend(reversed(box))
        elif element.tag in (_W + "sdt", _W + "sdtContent", _W + "ins", _W + "smartTag", _W + "customXml"):
            stack.extend(reversed(element))


def _text(element: Any) -> str:
    """What a paragraph or cell reads: inserted text stays, deleted text lies under another tag."""
    parts: list[str] = []
    for node in element.iter(_W + "t", _W + "tab", _W + "br", _W + "noBreakHyphen", _W + "p"):
        if element.tag == _W + "p" and any(a.tag == _W + "txbxContent" for a in _ancestors(node, element)):
            continue  # a text box is a block of its own
        if node.tag == _W + "t":
            parts.append(node.text or "")
        elif node.tag == _W + "noBreakHyphen":
            parts.append("-")
        else:
            parts.append(" ")
    return " ".join("".join(parts).split())


def _ancestors(node: Any, root: Any) -> Iterator[Any]:
    parent = node.getparent()
    while parent is not None and parent is not root:
        yield parent
        parent = parent.getparent()


def _table(element: Any) -> str:
    rows: list[list[str]] = []
    for row in element.iter(_W + "tr"):
        if next((a for a in row.iterancestors(_W + "tbl")), None) is not element:
            continue  # a table inside a cell reads as that cell's text
        cells: list[str] = []
        for cell in row.iter(_W + "tc"):
            if next((a for a in cell.iterancestors(_W + "tr")), None) is row:
                span = _value(cell, "gridSpan")
                cells.extend([_text(cell)] + [""] * (min(int(span), 100) - 1 if span.isdigit() else 0))
        if any(cells):
            rows.append(cells)
    return table_markdown(rows)


def _heading_level(style: str, element: Any, deeper: int) -> int:
    match = re.match(r"(?:heading|überschrift|titre|título|titolo|kop)\s*([1-9])", style.lower())
    if match:
        return min(6, int(match[1]) + deeper)
    if style.lower() in _TITLES:
        return 1
    outline = _value(element, "outlineLvl")
    return min(6, int(outline) + 1 + deeper) if outline.isdigit() and int(outline) < 9 else 0


def _numbered_lists(word: "WordDocument") -> set[tuple[str, int]]:
    """(list, level) pairs that are counted rather than bulleted."""
    try:
        root = word.part.numbering_part.element
    except (KeyError, NotImplementedError):
        return set()
    levels: dict[str, set[int]] = {}
    for abstract in root.iter(_W + "abstractNum"):
        levels[abstract.get(_W + "abstractNumId")] = {
            int(level.get(_W + "ilvl") or 0)
            for level in abstract.iter(_W + "lvl")
            if _value(level, "numFmt") not in ("bullet", "none", "")
        }
    return {
        (number.get(_W + "numId"), level)
        for number in root.iter(_W + "num")
        for level in levels.get(_value(number, "abstractNumId"), set())
    }


def _value(element: Any, name: str) -> str:
    """The w:val of the first such property below an element; empty without one."""
    found = next(element.iter(_W + name), None)
    return (found.get(_W + "val") or "") if found is not None else ""


def _join(blocks: list[str]) -> str:
    item = re.compile(r"\s*(?:- |\d+\. )")
    text, last = "", ""
    for block in filter(None, blocks):
        separator = "\n" if item.match(block) and item.match(last) else "\n\n"
        text, last = (text + separator + block if text else block), block
    return text
