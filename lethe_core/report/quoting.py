"""Whether a claim stands word for word in a cited text (algorithms.md 10, "exact quotation").

Compared are the words: typographic ligatures, quotation marks, emphasis, hyphenation, dashes, case and
white space make no difference; a figure that goes on beyond the quotation does.
"""

import re
import unicodedata
from collections.abc import Sequence

from lethe_core.evidence.tables import is_separator, row_text, split_cells

MIN_WORDS = 4  # a shorter run of words occurs by chance
MIN_PIECE_WORDS = 3  # of each piece of a quotation with an omission

_MARKS = re.compile("[\"'“”„‟«»‹›‘’‚‛`´*_\u00ad\u200b-\u200f\u2060\ufeff]")
_DASHES = re.compile("[‐‑‒–—―−]")
_HYPHEN = re.compile(r"(?<=[^\W\d_])-\s*(?=[^\W\d_])")
_LINK = re.compile(r"!?\[([^\]\n]*)\]\([^)\n]*\)")
_LINE_MARK = re.compile(r"^[ \t]*(?:#{1,6}|[-+•]|\d{1,3}[.)]|>)[ \t]+", re.MULTILINE)
_OMISSION = re.compile(r"\s*(?:\[\s*(?:\.{3}|…)\s*\]|\(\s*(?:\.{3}|…)\s*\)|\.{3}|…)\s*")
_EDGE = " \t.,;:!?-()[]"


def normalise(text: str) -> str:
    """A text as the comparison sees it: one line, folded, without marks and hyphenation."""
    text = _LINK.sub(r"\1", text)
    text = _LINE_MARK.sub("", text)
    text = _MARKS.sub("", unicodedata.normalize("NFKC", text))
    text = _HYPHEN.sub("", _DASHES.sub("-", text))
    return " ".join(text.casefold().split())


def quotes(claim: str, cited: str) -> bool:
    """Whether the claim is a run of at least four words of the cited text.

    An omission (… or [...]) parts it into pieces of at least three words, in order.
    """
    source = normalise(cited)
    pieces = [normalise(piece).strip(_EDGE) for piece in _OMISSION.split(claim.strip())]
    pieces = [piece for piece in pieces if piece]
    lengths = [len(piece.split()) for piece in pieces]
    if sum(lengths) < MIN_WORDS or (len(pieces) > 1 and min(lengths) < MIN_PIECE_WORDS):
        return False
    start = 0
    for piece in pieces:
        found = _run(piece).search(source, start)
        if found is None:
            return False
        start = found.end()
    return True


def quotes_row(header: Sequence[str], cells: Sequence[str], cited: str) -> bool:
    """Whether a table row stands whole in the cited text, under the same header when it has one.

    A row counts however few its words are: its cells and its header pin it down.
    """
    wanted = _cells(cells)
    if not any(wanted):
        return False
    wanted_header = _cells(header)
    in_words = normalise(row_text(header, cells))
    if len(in_words.split()) >= MIN_WORDS and _run(in_words).search(normalise(cited)):
        return True
    above: tuple[str, ...] = ()
    lines = cited.splitlines()
    for index, line in enumerate(lines):
        if "|" not in line:
            continue
        if index + 1 < len(lines) and is_separator(lines[index + 1]):
            above = _cells(split_cells(line))
        elif _cells(split_cells(line)) == wanted and (not any(wanted_header) or above in ((), wanted_header)):
            return True
    return False


def _cells(cells: Sequence[str]) -> tuple[str, ...]:
    normalised = [normalise(cell) for cell in cells]
    while normalised and not normalised[-1]:
        normalised.pop()
    return tuple(normalised)


def _run(words: str) -> re.Pattern[str]:
    # "15" must not be found in "115", "15.5" or "1,150".
    return re.compile(rf"(?<!\w)(?<!\d[.,]){re.escape(words)}(?!\w)(?![.,]\d)")
