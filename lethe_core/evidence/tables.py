"""Pipe tables in Markdown text (algorithms.md 8, "Tables").

A row is never torn from its header: ``render_row`` writes it as a table of its own, ``row_text`` as
"header: cell; header: cell". Reads what ``to_markdown`` writes and what people type: escaped pipes,
ragged rows, missing outer pipes, padding. What does not look like a table in its first two lines is
none, so that prose with a stray pipe stays prose.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

_SEPARATOR_CELL = re.compile(r":?-+:?")
_ESCAPED_PIPE = "\\|"


@dataclass(frozen=True, slots=True)
class TableRow:
    """One row of cells and where it stands."""

    cells: tuple[str, ...]
    span: tuple[int, int]  # half-open, in the text; with the line's end


@dataclass(frozen=True, slots=True)
class Table:
    """A table's header, its rows below the separator, and the span of the whole."""

    header: tuple[str, ...]
    rows: tuple[TableRow, ...]
    span: tuple[int, int]


def split_cells(line: str) -> tuple[str, ...]:
    """The cells of one table line: outer pipes dropped, escaped pipes kept as pipes, ends stripped."""
    line = line.strip()
    if line.startswith("|"):
        line = line[1:]
    cells: list[str] = []
    pending = ""
    pieces = line.split("|")
    for index, piece in enumerate(pieces):
        if piece.endswith("\\") and index < len(pieces) - 1:
            pending += piece[:-1] + "|"
            continue
        cells.append((pending + piece).strip())
        pending = ""
    # The piece behind a closing pipe is no cell; a line without one ends in a cell.
    if len(cells) > 1 and not cells[-1] and line.endswith("|"):
        cells.pop()
    return tuple(cells)


def is_separator(line: str) -> bool:
    """Whether a line is the dashes under a table's header."""
    stripped = line.strip()
    if "-" not in stripped or stripped.strip("|:- \t"):
        return False
    return all(_SEPARATOR_CELL.fullmatch(cell) for cell in split_cells(stripped))


def starts_table(line: str, below: str) -> bool:
    """Whether ``line`` is a table's header: it has a pipe, and the dashes below it fit."""
    if "|" not in line or "|" not in below or not is_separator(below) or is_separator(line):
        return False
    columns, dashes = len(split_cells(line)), len(split_cells(below))
    return columns == dashes or (columns >= 2 and dashes >= 2)


def read_table(lines: Sequence[str], starts: Sequence[int], first: int) -> tuple[Table, int]:
    """Read the table whose header is ``lines[first]``; also the index of the line behind it.

    lines: with their ends; starts: the offset of each in the text. The header must satisfy
    ``starts_table`` together with the line below it.
    """
    rows: list[TableRow] = []
    index = first + 2
    while index < len(lines) and "|" in lines[index].replace(_ESCAPED_PIPE, ""):
        start = starts[index]
        rows.append(TableRow(split_cells(lines[index]), (start, start + len(lines[index]))))
        index += 1
    end = starts[index - 1] + len(lines[index - 1])
    return Table(split_cells(lines[first]), tuple(rows), (starts[first], end)), index


def row_text(header: Sequence[str], row: Sequence[str]) -> str:
    """A row as "header: cell; header: cell"; empty cells are left out, a cell without header stands alone."""
    parts: list[str] = []
    for index, cell in enumerate(row):
        if not cell:
            continue
        name = header[index].rstrip(":") if index < len(header) else ""
        parts.append(f"{name}: {cell}" if name else cell)
    return "; ".join(parts)


def render_row(header: Sequence[str], row: Sequence[str]) -> str:
    """A row as a pipe table of its own: header, dashes, the row; the shorter of the two is padded."""
    return to_markdown([header, row])


def to_markdown(rows: Iterable[Sequence[str]]) -> str:
    """Rows of plain cells as a pipe table, the first as its header; empty when there is no cell.

    Pipes are escaped, white space and line ends inside a cell become one space; short rows are padded
    to the widest, so that reading it again gives the same cells.
    """
    cells = [[_escape(cell) for cell in row] for row in rows]
    width = max((len(row) for row in cells), default=0)
    if width == 0:
        return ""
    lines = ["| " + " | ".join(row + [""] * (width - len(row))) + " |" for row in cells]
    lines.insert(1, "|" + " --- |" * width)
    return "\n".join(lines)


def _escape(cell: str) -> str:
    return " ".join(cell.split()).replace("|", _ESCAPED_PIPE)
