"""Lines of type on pages to Markdown: headings by size, paragraphs, lists, aligned columns as tables."""

import re
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise

from lethe_core.adapters.sources.readers.table import table_markdown


@dataclass(frozen=True, slots=True)
class Segment:
    """A run of text on one baseline."""

    text: str
    x0: float
    x1: float
    y: float  # baseline, as a share of the page's height
    size: float
    block: tuple[int, int]  # page and block


@dataclass(frozen=True, slots=True)
class Table:
    markdown: str


Row = list[Segment]
_BULLET = re.compile(r"[•·◦‣▪●○■–\uf0b7\uf0a7]\s*(?=\S)|[-*]\s+(?=\S)")
_ORDERED = re.compile(r"\d{1,2}[.)]\s+(?=\S)")


def compose(pages: list[list[Row | Table]], heading_ratio: float) -> tuple[str, list[int]]:
    """Make the Markdown of a file's pages, and the offsets at which they begin.

    heading_ratio: type size of a heading to that of the body, which is the size of most letters.
    """
    sizes: Counter[float] = Counter()
    for items in pages:
        for row in items:
            if isinstance(row, list):
                for segment in row:
                    sizes[round(segment.size * 2) / 2] += len(segment.text)
    body = sizes.most_common(1)[0][0] if sizes else 0.0
    larger = sorted({size for size in sizes if size >= heading_ratio * body}, reverse=True)
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


def _with_aligned_tables(items: list[Row | Table]) -> list[Row | Table]:
    """Three rows or more in a row with the same columns are a table, drawn or not."""
    result: list[Row | Table] = []
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
            result.append(Table(table_markdown(cells)))
            index = end
        else:
            result.append(items[index])
            index += 1
    return result


def _header(above: Row, rows: list[Row]) -> list[str]:
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


def _aligned(first: Row | Table, other: Row | Table) -> bool:
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


def _paragraphs(items: list[Row | Table], levels: dict[float, int]) -> list[str]:
    rows = [item for item in items if isinstance(item, list)]
    edges: dict[int, float] = {}  # where the lines that begin at the same place end at the latest
    for row in rows:
        start = round(row[0].x0)
        edges[start] = max(edges.get(start, 0.0), row[-1].x1)
    parts: list[tuple[str, str]] = []  # (kind, text); kind: "h2" | "table" | "item" | "prose"
    last: Row | None = None
    for item in items:
        if isinstance(item, Table):
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


def _broken(last: Row, row: Row, edge: float) -> bool:
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
