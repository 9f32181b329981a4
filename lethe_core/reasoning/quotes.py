"""Quotations as cited text: exact, each with the short id of its source and its date (algorithms.md 9.3).

A page may hold brackets that look like citations; they would be read as such, so a quotation omits them.
"""

import re
from collections.abc import Sequence

from lethe_core.din.cited import CITATION, cite
from lethe_core.din.document import EvidenceBlock
from lethe_core.reasoning.candidates import MARKER, Candidate

_DATE = re.compile(r"\d{4}(?:-\d{2}){0,2}")
_FEWEST = 4  # words of an exact quotation, algorithms.md 10
_FEWEST_PIECE = 3  # words of each piece of one with an omission


def quotable(piece: Candidate) -> bool:
    """Whether something exact is left of a piece when what looks like a citation is omitted."""
    if piece.kind == "row":
        return not CITATION.search(piece.text) and not CITATION.search(piece.header)
    return bool(_lines(piece))


def render(pieces: Sequence[Candidate], evidence: Sequence[EvidenceBlock]) -> str:
    """The pieces in their order; rows of one table stand together under its header, once."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for number, piece in enumerate(pieces):
        block = evidence[piece.block]
        bracket = bracket_of(block)
        if piece.kind == "row":
            key: tuple[str, ...] = ("row", piece.header)
            lines = groups.setdefault(key, piece.header.splitlines())
            lines.append(f"{_closed(piece.text)} {bracket}")
        elif piece.kind == "list":
            groups[(str(number),)] = [f"- “{line}” {bracket}" for line in _lines(piece)]
        else:
            groups[(str(number),)] = [f"“{line}” {bracket}" for line in _lines(piece)]
    return "\n\n".join("\n".join(lines) for lines in groups.values())


def bracket_of(block: EvidenceBlock) -> str:
    """The citation of a block, with its date when it has one."""
    date = _DATE.match(block.date)
    return cite(block.short_id, date.group() if date else "")


def _lines(piece: Candidate) -> list[str]:
    """What is quoted, one line for each item of a list, on one line each."""
    texts = _items(piece.text) if piece.kind == "list" else [piece.text]
    return [line for text in texts if (line := _exact(text))]


def _items(text: str) -> list[str]:
    items: list[str] = []
    for line in text.splitlines():
        if MARKER.match(line) or not items or items[-1].endswith(":"):
            items.append(MARKER.sub("", line))
        else:
            items[-1] += " " + line
    return items


def _exact(text: str) -> str:
    """One line, without what looks like a citation; empty when too little is left to be exact."""
    kept = [" ".join(run.split()) for run in _without_citations(text)]
    kept = [run for run in kept if len(run.split()) >= (_FEWEST_PIECE if len(kept) > 1 else _FEWEST)]
    line = " … ".join(kept)
    return line if len(line.split()) >= _FEWEST else ""


def _without_citations(text: str) -> list[str]:
    return [text[start:end] for start, end in _between(text) if text[start:end].strip(" .,;:!?")]


def _between(text: str) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    start = 0
    for match in CITATION.finditer(text):
        spans.append((start, match.start()))
        start = match.end()
    spans.append((start, len(text)))
    return spans


def _closed(row: str) -> str:
    """A table row with its outer pipes, so that the citation stands behind the last one."""
    row = row if row.startswith("|") else f"| {row}"
    return row if row.endswith("|") else f"{row} |"
