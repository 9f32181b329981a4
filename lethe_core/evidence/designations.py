"""Things that are called by a number: "No. 17", "Room 12", "Turbine 4" (algorithms.md 5.1b).

Texts say "No. 17" or "Room 12"; a table has the number alone, below a header that says of what. Both come
out in one form, so that a row is found by what a text calls it.
"""

import re
from collections.abc import Iterator

from lethe_core.evidence.blocks import blocks
from lethe_core.evidence.lexicon import FUNCTION_WORDS, NUMBER_WORDS, POLARITY
from lethe_core.evidence.written_dates import MONTHS

_NUMBER = r"\d{1,6}"
_WRITTEN = re.compile(
    rf"(?<!\w)(?:#|(?:№|n[º°])\s?|(?P<word>[^\W\d_]{{2,20}})\.?[ \u00a0])(?P<number>{_NUMBER})"
    r"(?![\w%]|[.,:/-]\d)"
)
_WORD = re.compile(r"[^\W\d_]+|#|№")
_CELL = re.compile(rf"(?:#|№|[Nn][or]\.?)?\s?(?P<number>{_NUMBER})")
_NO = frozenset({"no", "nr", "num", "number", "id", "#", "№"})
# Where something stands in a document, not what it is.
_PLACES = frozenset(
    {"annex", "appendix", "chapter", "clause", "edition", "figure", "fig", "item", "note", "page"}
    | {"paragraph", "part", "point", "section", "step", "table", "volume", "vol"}
)
_DAYS = frozenset({"mon", "tue", "tues", "wed", "thu", "thur", "thurs", "fri", "sat", "sun"})
_NO_NAME = (
    FUNCTION_WORDS | frozenset(POLARITY) | frozenset(NUMBER_WORDS) | frozenset(MONTHS) | _DAYS | _PLACES
)


def designations(text: str) -> tuple[str, ...]:
    """What a text calls by a number, each once, in order, as "no 17" or "room 12".

    In prose "No. 17", "#17", "number 17", or a capitalised word in front of the number; of a table's rows
    the number in the first column with the last word of its header.
    """
    found = [_term(match) for match in _written(text)]
    if "|" in text:
        for block in blocks(text):
            if block.table is None or not (words := _WORD.findall(block.table.header[0])):
                continue
            for row in block.table.rows:
                if key := _CELL.fullmatch(row.cells[0]):
                    found.append(f"{_kind(words[-1])} {int(key['number'])}")
    return tuple(dict.fromkeys(found))


def written_designations(text: str) -> tuple[str, ...]:
    """The same as they are written ("No. 17"), tables' first columns aside, each thing once."""
    found: dict[str, str] = {}
    for match in _written(text):
        found.setdefault(_term(match), match[0])
    return tuple(found.values())


def _written(text: str) -> Iterator[re.Match[str]]:
    for match in _WRITTEN.finditer(text):
        word = match["word"] or "no"
        if _kind(word) == "no" or (word[0].isupper() and _kind(word) not in _NO_NAME):
            yield match


def _term(match: re.Match[str]) -> str:
    return f"{_kind(match['word'] or 'no')} {int(match['number'])}"


def _kind(word: str) -> str:
    plain = word.casefold()
    return "no" if plain in _NO else plain
