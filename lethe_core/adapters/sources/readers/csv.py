"""Delimited files to one pipe table: the delimiter and the header are told from the rows.

Lines above the table with a single filled cell (a caption) stay above it as text.
"""

import csv
from collections import Counter
from dataclasses import dataclass
from io import StringIO

from lethe_core.adapters.sources.readers.charset import decode
from lethe_core.adapters.sources.readers.document import Document
from lethe_core.adapters.sources.readers.table import is_number, split_caption
from lethe_core.errors import SourceError
from lethe_core.evidence.tables import to_markdown


@dataclass(frozen=True, slots=True)
class CsvConfig:
    max_rows: int = 5_000  # each row is a piece of evidence of its own
    max_columns: int = 100
    max_cell: int = 2_000  # characters


_SAMPLE_LINE = 20_000  # characters of a line that are enough to tell its delimiter
_CAPTION_ROWS = 20
_DELIMITERS = (",", ";", "\t", "|")


def read_csv(data: bytes, config: CsvConfig | None = None) -> Document:
    """Read a delimited file as one table. Raises SourceError when it holds no row."""
    config = config or CsvConfig()
    text = decode(data)
    lines = StringIO(text, newline="").readlines()
    if lines and lines[0].lower().startswith("sep=") and len(lines[0].strip()) == 5:
        delimiter, lines = lines[0].strip()[4], lines[1:]
    else:
        delimiter = delimiter_of(lines)
    widest = 0
    rows: list[list[str]] = []
    more = 0
    try:
        for row in csv.reader(lines, delimiter=delimiter):
            widest = max(widest, len(row))
            # Cut at once: a million columns cost seconds in every later step.
            cells = [" ".join(cell.split())[: config.max_cell] for cell in row[: config.max_columns]]
            if not any(cells):
                continue
            if len(rows) < config.max_rows + _CAPTION_ROWS:
                rows.append(cells)
            else:
                more += 1
    except csv.Error as error:
        raise SourceError(f"a delimited file that cannot be read: {error}") from error
    if not rows:
        raise SourceError("a delimited file without a row")
    caption, rows = split_caption(rows)
    header, body = _split_header(rows)
    notes: list[str] = []
    if len(body) > config.max_rows or more:
        notes.append(f"only the first {config.max_rows:,} of {len(body) + more:,} rows are read")
        body = body[: config.max_rows]
    if widest > config.max_columns:
        notes.append(f"only the first {config.max_columns:,} of {widest:,} columns are read")
    width = max(map(len, [header, *body]))
    table = [(row + [""] * width)[:width] for row in [header, *body]]
    for index, name in enumerate(table[0]):
        table[0][index] = name or f"column {index + 1}"
    above = "\n\n".join(caption)
    return Document(
        text=(above + "\n\n" if above else "") + to_markdown(table),
        title=caption[0] if caption else "",
        note="; ".join(notes),
    )


def delimiter_of(lines: list[str]) -> str:
    """The delimiter that splits the first lines most evenly into the most columns; a comma when none does."""
    sample = [line[:_SAMPLE_LINE] for line in lines[:50] if line.strip()]
    best, best_score = ",", 0.0
    for delimiter in _DELIMITERS:
        try:
            widths = Counter(len(row) for row in csv.reader(sample, delimiter=delimiter) if row)
        except csv.Error:
            continue
        if not widths:
            continue
        width, count = max(widths.items(), key=lambda item: (item[1] * (item[0] > 1), item[0]))
        score = 0.0 if width < 2 else count / sum(widths.values()) + 0.001 * min(width, 100)
        if score > best_score:
            best, best_score = delimiter, score
    return best


def looks_delimited(text: str) -> bool:
    """Whether text that no name calls a table is one: four lines or more, three columns or more, all even."""
    lines = [line for line in text.split("\n", 60)[:50] if line.strip()]
    if len(lines) < 4:
        return False
    for delimiter in ("\t", ";", ","):
        try:
            widths = {len(row) for row in csv.reader(lines, delimiter=delimiter)}
        except csv.Error:
            continue
        # Prose splits evenly at commas only by chance; its cells are long and start with a space.
        if (
            len(widths) == 1
            and min(widths) >= 3
            and not (delimiter == "," and any(", " in line for line in lines))
        ):
            return True
    return False


def _split_header(rows: list[list[str]]) -> tuple[list[str], list[list[str]]]:
    """The first row, when it names the columns: none of its cells is a number (save years), none repeats."""
    first = rows[0]
    named = [cell for cell in first if cell]
    numeric = sum(1 for cell in named if is_number(cell))
    below = [is_number(cell) for row in rows[1:20] for cell in row if cell]
    years = all(len(cell) == 4 for cell in named if is_number(cell)) and numeric < len(named)
    if len(set(named)) == len(named) and (numeric == 0 or (years and len(named) > 1 and any(below))):
        return first, rows[1:]
    return ["" for _ in first], rows
