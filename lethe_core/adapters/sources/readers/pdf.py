"""PDF to canonical Markdown: text in reading order, headings by type size, ruled and aligned tables.

Lines that stand at the same place on most pages (running heads, page numbers) are furniture. A file that
needs a password or holds only images says so.
"""

import re
from collections import Counter
from dataclasses import dataclass
from typing import Any

from lethe_core.adapters.sources.readers.document import Document
from lethe_core.adapters.sources.readers.markdown import first_heading
from lethe_core.adapters.sources.readers.pdf_layout import Row, Segment, Table, compose
from lethe_core.adapters.sources.readers.table import table_markdown
from lethe_core.errors import SourceError


@dataclass(frozen=True, slots=True)
class PdfConfig:
    max_pages: int = 2_000
    max_drawings: int = 3_000  # of a page searched for ruled tables: a plan or a chart takes minutes
    heading_ratio: float = 1.12  # type size of a heading to that of the body
    min_characters: int = 16  # of the whole file; below, it is a scan


# Of PyMuPDF's text flags only these: ligatures are taken apart and pictures are not decoded.
_FLAGS = 2 | 64  # TEXT_PRESERVE_WHITESPACE | TEXT_MEDIABOX_CLIP
_END = b"%%EOF"
_END_WITHIN = 1024  # bytes of the file's end
_NUMBER_ONLY = re.compile(
    r"(?:page|seite|p\.)?\s*[-–—]?\s*\d{1,4}\s*(?:(?:/|of|von|de)\s*\d{1,4})?\s*[-–—]?", re.I
)
_PAGE_OF = re.compile(r"\b(?:page|seite|p\.)\s*\d{1,4}\s*(?:/|of|von)\s*\d{1,4}\s*$", re.I)
_DATE = re.compile(r"D:((?:19|20)\d\d)(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])")


def read_pdf(data: bytes, config: PdfConfig | None = None) -> Document:
    """Read a PDF. Raises SourceError when it is damaged, needs a password or holds no text."""
    import pymupdf

    config = config or PdfConfig()
    tools: Any = pymupdf.TOOLS
    tools.mupdf_display_errors(False)
    tools.mupdf_display_warnings(False)
    getattr(pymupdf, "no_recommend_layout", lambda: None)()  # else it prints an advertisement
    opened: Any = pymupdf.open
    try:
        with opened(stream=data, filetype="pdf") as file:
            if file.needs_pass:
                raise SourceError("a PDF that needs a password")
            return _read(file, config, cut_off=_END not in data[-_END_WITHIN:])
    except (RuntimeError, ValueError, IndexError, KeyError, TypeError) as error:  # what PyMuPDF raises
        raise _damaged(_END not in data[-_END_WITHIN:]) from error


def _damaged(cut_off: bool) -> SourceError:
    """PyMuPDF's own words ("Failed to open stream") say nothing to a person."""
    how = "cut off before its end" if cut_off else "damaged"
    return SourceError(f"a PDF that is {how}: no text can be read from it (get the file again)")


def _read(file: Any, config: PdfConfig, *, cut_off: bool) -> Document:
    notes: list[str] = []
    if cut_off and file.is_repaired:
        notes.append("the PDF is cut off before its end: only what is left of it is read")
    count = file.page_count
    if count > config.max_pages:
        notes.append(f"only the first {config.max_pages:,} of {count:,} pages are read")
    pages: list[list[Row | Table]] = []
    empty = 0
    for number in range(min(count, config.max_pages)):
        page = file[number]
        items = _page_items(page, number, config)
        if not items and page.get_images():
            empty += 1
        pages.append(items)
    letters = sum(len(s.text) for items in pages for row in items if isinstance(row, list) for s in row)
    letters += sum(len(item.markdown) for items in pages for item in items if isinstance(item, Table))
    if letters < config.min_characters and file.is_repaired:
        raise _damaged(cut_off)
    if letters < config.min_characters:
        what = "images only (a scan: run text recognition over it first)" if empty else "no text"
        raise SourceError(f"a PDF of {count} {'page' if count == 1 else 'pages'} that holds {what}")
    if empty:
        notes.append(f"{empty} of {count} pages hold images only")
    pages = _without_furniture(pages)
    text, starts = compose(pages, config.heading_ratio)
    title, date = _metadata(file.metadata or {})
    heading = first_heading(text)
    return Document(
        text=text, title=heading or title, date=date, page_starts=tuple(starts), note="; ".join(notes)
    )


def _page_items(page: Any, number: int, config: PdfConfig) -> list[Row | Table]:
    tables = _ruled_tables(page, config)
    height = page.rect.height or 1.0
    items: list[Row | Table] = []
    placed: set[int] = set()
    for block_number, block in enumerate(page.get_text("dict", flags=_FLAGS)["blocks"]):
        for line in block.get("lines", ()):
            x0, y0, x1, y1 = line["bbox"]
            inside = next(
                (i for i, (box, _) in enumerate(tables) if _contains(box, (x0 + x1) / 2, (y0 + y1) / 2)), None
            )
            if inside is not None:
                if inside not in placed:
                    placed.add(inside)
                    items.append(Table(tables[inside][1]))
                continue
            segment = _segment(line, height, (number, block_number))
            if segment is None:
                continue
            last = items[-1] if items else None
            if isinstance(last, list) and _same_row(last, segment, height):
                last.append(segment)
                last.sort(key=lambda part: part.x0)  # cells may be written in any order
            else:
                items.append([segment])
    return items


def _same_row(row: Row, segment: Segment, height: float) -> bool:
    """Whether a run of text stands on a row's baseline, beside what the row has."""
    if abs(row[-1].y - segment.y) * height >= 0.4 * segment.size:
        return False
    return all(segment.x0 >= other.x1 - 1 or segment.x1 <= other.x0 + 1 for other in row)


def _segment(line: dict[str, Any], height: float, block: tuple[int, int]) -> Segment | None:
    spans = [span for span in line["spans"] if span["text"].strip()]
    text = " ".join("".join(span["text"] for span in line["spans"]).replace("\u00ad", "").split())
    text = "".join(character for character in text if character >= " " and character != "�")
    if not spans or not text:
        return None
    weight = sum(len(span["text"]) for span in spans)
    x0, y0, x1, y1 = line["bbox"]
    x, y = spans[0]["origin"]
    if abs(line["dir"][1]) > 0.9:  # turned by a quarter: read along its own direction
        upwards = line["dir"][1] < 0
        x0, x1 = (-y1, -y0) if upwards else (y0, y1)
        y = x if upwards else -x
    return Segment(
        text=text,
        x0=x0,
        x1=x1,
        y=y / height,
        size=sum(span["size"] * len(span["text"]) for span in spans) / weight,
        block=block,
    )


def _ruled_tables(page: Any, config: PdfConfig) -> list[tuple[tuple[float, float, float, float], str]]:
    """Tables whose cells are drawn with lines: searched only where there are lines, kept only when filled."""
    drawings = len(page.get_cdrawings())
    if not 4 <= drawings <= config.max_drawings:
        return []
    found: list[tuple[tuple[float, float, float, float], str]] = []
    for table in page.find_tables(strategy="lines_strict").tables:
        rows = [[" ".join((cell or "").split()) for cell in row] for row in table.extract()]
        rows = [row for row in rows if any(row)]
        cells = [cell for row in rows for cell in row]
        if len(rows) >= 2 and len(rows[0]) >= 2 and sum(map(bool, cells)) >= 0.5 * len(cells):
            found.append((tuple(table.bbox), table_markdown(rows)))
    return found


def _contains(box: tuple[float, float, float, float], x: float, y: float) -> bool:
    return box[0] <= x <= box[2] and box[1] <= y <= box[3]


def _without_furniture(pages: list[list[Row | Table]]) -> list[list[Row | Table]]:
    def key(row: Row) -> tuple[int, str]:
        return round(row[0].y * 50), re.sub(r"\d+", "#", " ".join(s.text for s in row))

    margins = [
        {key(row) for row in items if isinstance(row, list) and not 0.1 < row[0].y < 0.9} for items in pages
    ]
    seen = Counter(entry for margin in margins for entry in margin)
    repeated = {entry for entry, times in seen.items() if times >= max(2, 0.5 * len(pages))}

    def kept(row: Row | Table) -> bool:
        if isinstance(row, Table):
            return True
        text = " ".join(s.text for s in row)
        numbered = _PAGE_OF.search(text) if len(text) <= 120 else None
        if len(pages) > 1:
            numbered = numbered or _NUMBER_ONLY.fullmatch(text)
        return key(row) not in repeated and (0.1 < row[0].y < 0.9 or not numbered)

    return [[row for row in items if kept(row)] for items in pages]


def _metadata(metadata: dict[str, Any]) -> tuple[str, str]:
    title = " ".join((metadata.get("title") or "").split())
    if re.search(r"\.(docx?|pdf|tex|indd|xlsx?|odt|pptx?)$|^(untitled|microsoft word|slide 1)", title, re.I):
        title = ""
    match = _DATE.match(metadata.get("modDate") or "") or _DATE.match(metadata.get("creationDate") or "")
    return title, "-".join(match.groups()) if match else ""
