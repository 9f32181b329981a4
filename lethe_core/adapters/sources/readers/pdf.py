"""PDF to canonical Markdown: text in reading order, headings by type size, ruled and aligned tables.

Lines that stand at the same place on most pages (running heads, page numbers) are furniture. A file that
needs a password or holds only images says so.
"""

import re
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from lethe_core.adapters.sources.readers.document import Document
from lethe_core.adapters.sources.readers.markdown import first_heading
from lethe_core.adapters.sources.readers.table import table_markdown
from lethe_core.errors import SourceError


@dataclass(frozen=True, slots=True)
class PdfConfig:
    max_pages: int = 2_000
    max_drawings: int = 3_000  # of a page searched for ruled tables: a plan or a chart takes minutes
    heading_ratio: float = 1.12  # type size of a heading to that of the body
    min_characters: int = 16  # of the whole file; below, it is a scan


@dataclass(frozen=True, slots=True)
class _Segment:
    """A run of text on one baseline."""

    text: str
    x0: float
    x1: float
    y: float  # baseline, as a share of the page's height
    size: float
    bold: bool
    block: tuple[int, int]  # page and block


@dataclass(frozen=True, slots=True)
class _Table:
    markdown: str


_Row = list[_Segment]
# Of PyMuPDF's text flags only these: ligatures are taken apart and pictures are not decoded.
_FLAGS = 2 | 64  # TEXT_PRESERVE_WHITESPACE | TEXT_MEDIABOX_CLIP
_NUMBER_ONLY = re.compile(
    r"(?:page|seite|p\.)?\s*[-–—]?\s*\d{1,4}\s*(?:(?:/|of|von|de)\s*\d{1,4})?\s*[-–—]?", re.I
)
_PAGE_OF = re.compile(r"\b(?:page|seite|p\.)\s*\d{1,4}\s*(?:/|of|von)\s*\d{1,4}\s*$", re.I)
_BULLET = re.compile(r"[•·◦‣▪●○■–\uf0b7\uf0a7]\s*(?=\S)|[-*]\s+(?=\S)")
_ORDERED = re.compile(r"\d{1,2}[.)]\s+(?=\S)")
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
            return _read(file, config)
    except (RuntimeError, ValueError, IndexError, KeyError, TypeError) as error:  # what PyMuPDF raises
        raise SourceError(f"a damaged PDF: {' '.join(str(error).split())[:200]}") from error


def _read(file: Any, config: PdfConfig) -> Document:
    notes: list[str] = []
    count = file.page_count
    if count > config.max_pages:
        notes.append(f"only the first {config.max_pages:,} of {count:,} pages are read")
    pages: list[list[_Row | _Table]] = []
    empty = 0
    for number in range(min(count, config.max_pages)):
        page = file[number]
        items = _page_items(page, number, config)
        if not items and page.get_images():
            empty += 1
        pages.append(items)
    letters = sum(len(s.text) for items in pages for row in items if isinstance(row, list) for s in row)
    letters += sum(len(item.markdown) for items in pages for item in items if isinstance(item, _Table))
    if letters < config.min_characters:
        what = "images only (a scan: run text recognition over it first)" if empty else "no text"
        raise SourceError(f"a PDF of {count} {'page' if count == 1 else 'pages'} that holds {what}")
    if empty:
        notes.append(f"{empty} of {count} pages hold images only")
    pages = _without_furniture(pages)
    text, starts = _compose(pages, config)
    title, date = _metadata(file.metadata or {})
    heading = first_heading(text)
    return Document(
        text=text, title=heading or title, date=date, page_starts=tuple(starts), note="; ".join(notes)
    )


def _page_items(page: Any, number: int, config: PdfConfig) -> list[_Row | _Table]:
    tables = _ruled_tables(page, config)
    height = page.rect.height or 1.0
    items: list[_Row | _Table] = []
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
                    items.append(_Table(tables[inside][1]))
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


def _same_row(row: _Row, segment: _Segment, height: float) -> bool:
    """Whether a run of text stands on a row's baseline, beside what the row has."""
    if abs(row[-1].y - segment.y) * height >= 0.4 * segment.size:
        return False
    return all(segment.x0 >= other.x1 - 1 or segment.x1 <= other.x0 + 1 for other in row)


def _segment(line: dict[str, Any], height: float, block: tuple[int, int]) -> _Segment | None:
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
    return _Segment(
        text=text,
        x0=x0,
        x1=x1,
        y=y / height,
        size=sum(span["size"] * len(span["text"]) for span in spans) / weight,
        bold=all(span["flags"] & 16 or "bold" in span["font"].lower() for span in spans),
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


def _without_furniture(pages: list[list[_Row | _Table]]) -> list[list[_Row | _Table]]:
    def key(row: _Row) -> tuple[int, str]:
        return round(row[0].y * 50), re.sub(r"\d+", "#", " ".join(s.text for s in row))

    margins = [
        {key(row) for row in items if isinstance(row, list) and not 0.1 < row[0].y < 0.9} for items in pages
    ]
    seen = Counter(entry for margin in margins for entry in margin)
    repeated = {entry for entry, times in seen.items() if times >= max(2, 0.5 * len(pages))}

    def kept(row: _Row | _Table) -> bool:
        if isinstance(row, _Table):
            return True
        text = " ".join(s.text for s in row)
        numbered = _PAGE_OF.search(text) if len(text) <= 120 else None
        if len(pages) > 1:
            numbered = numbered or _NUMBER_ONLY.fullmatch(text)
        return key(row) not in repeated and (0.1 < row[0].y < 0.9 or not numbered)

    return [[row for row in items if kept(row)] for items in pages]


def _compose(pages: list[list[_Row | _Table]], config: PdfConfig) -> tuple[str, list[int]]:
    sizes: Counter[float] = Counter()
    for items in pages:
        for row in items:
            if isinstance(row, list):
                sizes.update({round(s.size * 2) / 2: len(s.text) for s in row})
    body = sizes.most_common(1)[0][0] if sizes else 0.0
    larger = sorted({size for size in sizes if size >= config.heading_ratio * body}, reverse=True)
    levels = {size: min(level, 4) for level, size in enumerate(larger, 1)}
    text, starts = "", []
    for items in pages:
        paragraphs = _paragraphs(_with_aligned_tables(items), levels)
        joined = "\n\n".join(paragraphs)
        if text and joined:
            above = text.rsplit("\n", 1)[-1]
            prose = _continues(above, joined) and not above.startswith(("#", "|"))
            text += " " if prose else "\n\n"
        starts.append(len(text))
        text += joined
    return text, starts


def _with_aligned_tables(items: list[_Row | _Table]) -> list[_Row | _Table]:
    """Three rows or more in a row with the same columns are a table, drawn or not."""
    result: list[_Row | _Table] = []
    index = 0
    while index < len(items):
        end = index
        while end < len(items) and _aligned(items[index], items[end]):
            end += 1
        if end - index >= 3:
            rows = [row for row in items[index:end] if isinstance(row, list)]
            cells = [[s.text for s in row] for row in rows]
            above = result[-1] if result else None
            if isinstance(above, list) and (header := _header(above, rows)):
                cells.insert(0, header)
                result.pop()
            result.append(_Table(table_markdown(cells)))
            index = end
        else:
            result.append(items[index])
            index += 1
    return result


def _header(above: _Row, rows: list[_Row]) -> list[str]:
    """The header that a shorter row above a table is: each of its runs stands over one column; else empty."""
    if not 2 <= len(above) < len(rows[0]):
        return []
    header = [""] * len(rows[0])
    for segment in above:
        over = [
            column
            for column in range(len(header))
            if any(row[column].x0 < segment.x1 and segment.x0 < row[column].x1 for row in rows)
        ]
        if len(over) != 1 or header[over[0]]:
            return []
        header[over[0]] = segment.text
    return header


def _aligned(first: _Row | _Table, other: _Row | _Table) -> bool:
    if (
        not (isinstance(first, list) and isinstance(other, list))
        or len(first) < 2
        or len(first) != len(other)
    ):
        return False
    if _BULLET.fullmatch(first[0].text + " x") or len(first[0].text) <= 1:
        return False
    if any(right.x0 - left.x1 < left.size for left, right in pairwise(other)):
        return False  # a wide space in a justified line
    return all(
        (abs(a.x0 - b.x0) < 3 or abs(a.x1 - b.x1) < 3 or abs(a.x0 + a.x1 - b.x0 - b.x1) < 6)
        and len(b.text) <= 60
        for a, b in zip(first, other, strict=True)
    )


def _paragraphs(items: list[_Row | _Table], levels: dict[float, int]) -> list[str]:
    rows = [item for item in items if isinstance(item, list)]
    edges: dict[int, float] = {}  # where the lines that begin at the same place end at the latest
    for row in rows:
        start = round(row[0].x0)
        edges[start] = max(edges.get(start, 0.0), row[-1].x1)
    parts: list[tuple[str, str]] = []  # (kind, text); kind: "h2" | "table" | "item" | "prose"
    last: _Row | None = None
    for item in items:
        if isinstance(item, _Table):
            parts.append(("table", item.markdown))
            last = None
            continue
        text = " ".join(s.text for s in item)
        level = (
            levels.get(round(item[0].size * 2) / 2, 0) if len(text) <= 200 and re.search(r"\w", text) else 0
        )
        same = last is not None and last[0].block == item[0].block
        close = last is not None and abs(last[0].size - item[0].size) < 0.5
        if level:
            if same and close and parts[-1][0] == f"h{level}":
                parts[-1] = (parts[-1][0], _glue(parts[-1][1], text))
            else:
                parts.append((f"h{level}", text))
        elif _BULLET.match(text):
            parts.append(("item", "- " + _BULLET.sub("", text, count=1)))
        elif _ORDERED.match(text):
            parts.append(("item", text))
        elif parts and parts[-1][0] == "prose" and _continues(parts[-1][1], text):
            parts[-1] = ("prose", _glue(parts[-1][1], text))
        elif same and last is not None and parts[-1][0] in ("prose", "item"):
            broken = parts[-1][0] == "prose" and _broken(last, item, edges[round(last[0].x0)])
            joined = f"{parts[-1][1]}\n{text}" if broken else _glue(parts[-1][1], text)
            parts[-1] = (parts[-1][0], joined)
        else:
            parts.append(("prose", text))
        last = item
    return _joined_items(parts)


def _joined_items(parts: list[tuple[str, str]]) -> list[str]:
    paragraphs: list[str] = []
    before = ""
    for kind, text in parts:
        if kind == "item" and before == "item":
            paragraphs[-1] += "\n" + text
        else:
            paragraphs.append("#" * int(kind[1]) + " " + text if re.fullmatch(r"h\d", kind) else text)
        before = kind
    return paragraphs


def _broken(last: _Row, row: _Row, edge: float) -> bool:
    """Whether a line was ended on purpose: the next one's first word would have fitted on it."""
    width = (row[0].x1 - row[0].x0) / max(1, len(row[0].text))
    first = row[0].text.split(" ", 1)[0]
    return last[-1].x1 + (len(first) + 3) * width < edge


def _continues(above: str, line: str) -> bool:
    """Whether a paragraph that ends a column or a page goes on in this line."""
    return line[:1].islower() and (above[-1:].isalpha() or above[-1:] in ",-")


def _glue(above: str, line: str) -> str:
    """Join two lines; a word divided at the line's end becomes whole again."""
    if re.search(r"[^\W\d_]-$", above) and line[:1].islower():
        return above[:-1] + line
    return f"{above} {line}"


def _metadata(metadata: dict[str, Any]) -> tuple[str, str]:
    title = " ".join((metadata.get("title") or "").split())
    if re.search(r"\.(docx?|pdf|tex|indd|xlsx?|odt|pptx?)$|^(untitled|microsoft word|slide 1)", title, re.I):
        title = ""
    match = _DATE.match(metadata.get("modDate") or "") or _DATE.match(metadata.get("creationDate") or "")
    return title, "-".join(match.groups()) if match else ""
