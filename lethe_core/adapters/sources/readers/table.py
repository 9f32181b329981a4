"""Rows of cells to a pipe table with its caption above it: what every reader of tables shares."""

from collections.abc import Sequence

from lethe_core.evidence.tables import to_markdown

_CAPTION_ROWS = 20  # at most so many rows above a header are its caption


def split_caption(rows: Sequence[Sequence[str]]) -> tuple[list[str], list[list[str]]]:
    """Take the rows with a single filled cell off a table's top; none when no row has two."""
    table = [[" ".join(cell.split()) for cell in row] for row in rows]
    table = [row for row in table if any(row)]
    filled = [sum(1 for cell in row if cell) for row in table[:_CAPTION_ROWS]]
    if max(filled, default=0) < 2:
        return [], table
    start = next(index for index, count in enumerate(filled) if count >= 2)
    return [next(cell for cell in row if cell) for row in table[:start]], table[start:]


def table_markdown(rows: Sequence[Sequence[str]]) -> str:
    """A table as Markdown: its caption as a paragraph, the first full row as the header; empty without cells.

    Where the first row holds figures under which there are only figures, it is no header; the header is
    then left blank.
    """
    caption, table = split_caption(rows)
    if not table:
        return ""
    if headless(table):
        table.insert(0, [""] * len(table[0]))
    return "\n\n".join([*caption, to_markdown(table)])


def headless(table: Sequence[Sequence[str]]) -> bool:
    """Whether the first row of a table is one of its data: an amount stands above amounts only."""
    first, body = table[0], table[1:]
    for column, cell in enumerate(first):
        below = [row[column] for row in body if column < len(row) and row[column]]
        amount = is_number(cell) and not _is_year(cell)
        if amount and len(below) >= 2 and all(map(is_number, below)):
            return True
    return False


def is_number(cell: str) -> bool:
    """Whether a cell is a figure, with its unit or sign, rather than words with a figure in them."""
    digits = sum(1 for character in cell if character.isdigit())
    return digits > 0 and digits >= 2 * sum(1 for character in cell if character.isalpha())


def _is_year(cell: str) -> bool:
    return len(cell) == 4 and cell.isdigit() and cell[:2] in ("18", "19", "20")
