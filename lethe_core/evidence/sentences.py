"""Sentences with their exact places (algorithms.md 8 and 9).

The spans partition the text: white space behind a sentence belongs to it. Sentences never cross a
block: a heading, a list's item, a table's header and each of its rows stand alone. Inside prose the
library ``sentencex`` decides; what it gets wrong is repaired here and nothing else:

- it panics on a no-break space and its kin after an initial, so it is shown an ASCII shadow of the
  text, of the same length;
- it takes a unit at the end of a sentence ("… 21 m/s. The …") for an initial;
- it leaves the end of Markdown's emphasis to the next sentence, and takes a bold head that runs into its
  text ("**Lease.** An owner, …") for a sentence;
- it cuts after abbreviations that take a number ("approx. 3", "Vol. 2"), inside German dates
  ("3. Mai"), behind a list's number and before lower case.
"""

import re
import unicodedata
from collections.abc import Iterator
from itertools import pairwise

import sentencex

from lethe_core.evidence.blocks import Block, blocks
from lethe_core.evidence.lexicon import UNITS

_BEFORE_NUMBER = re.compile(
    r"(?:^|[\s(\[“\"'])(?:approx|ca?|circa|est|max|min|avg|no|nos|nr|vol|vols|ch|chap|sec|sect|fig|figs|tab|eq|"
    r"eqs|app|art|arts|par|para|pp?|pt|ed|eds|vers?|rev|rd|tel|ext|cl|reg|ref|bd|abb|kap|abs|ziff|s|zzgl|"
    r"incl|excl|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\.$",
    re.IGNORECASE,
)
_ALWAYS_OPEN = re.compile(
    r"(?:^|[\s(\[“\"'])(?:approx|circa|vs|cf|e\.g|i\.e|viz|resp|incl|excl|esp|dept|tel|bzw|vgl|"
    r"z\. ?B|d\. ?h|u\. ?a)\.$",
    re.IGNORECASE,
)
_DAY = re.compile(r"(?:^|\s)\d{1,2}\.$")
_MONTH = re.compile(r"(?:Jan|Feb|M[aä]r|Apr|Ma[iy]|Jun|Jul|Aug|Sep|O[ck]t|Nov|De[cz])[a-z]*\b")
_ORDINAL = re.compile(r"\s*\(?(?:\d{1,3}|[A-Za-z]|[ivxIVX]{1,5})[.)]\s*$")
_WIDE_STOP = re.compile(r"[。！？｡．]+[”’」』）】》\"']*")
_FIELD = re.compile(r"[ \t]*[*_]{0,2}[A-Z][\w /()-]{0,40}[*_]{0,2}:[*_]{0,2}[ \t]+\S")
_AFTER_UNIT = re.compile(
    r"(?<=\d)[ ]?(?P<unit>_[CF]|[A-Za-z]{1,4}(?:/[A-Za-z]{1,3})?)\.[\"')\]]{0,3}\s{1,9}(?=[\"'(\[]?[A-Z])"
)
# What ends emphasis stands behind the stop; a bold head that runs into its text is a part of its sentence.
_EMPHASIS_END = re.compile(r"[*_]{1,3}(?=\s)[^\S\n]*")
_RUN_IN = re.compile(
    r"\s*(?:[-*+]\s+|\(?\d{1,3}[.)]\s+)?(?P<mark>\*\*\*?|__)(?=\S)[^*_\n]{1,60}[.:](?P=mark)\s*"
)
_LINE_START = re.compile(r"\n(?=[^\n])")

_SHADOW = {
    **{ord(mark): '"' for mark in "“”„«»‟″"},
    **{ord(mark): "'" for mark in "‘’‚‹›‛′"},
    **{ord(mark): "." for mark in "…।۔։።"},
    **{ord(mark): "?" for mark in "؟;"},
    **{ord(mark): "-" for mark in "‐‑‒–—―−"},
}


class _AsciiShadow(dict[int, str]):
    """One ASCII character for each other one: of the same case, and white space for white space."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        if code < 128:
            shadow = character
        elif character.isspace():
            shadow = " "
        elif character.isalpha():
            base = unicodedata.normalize("NFKD", character)[0]
            shadow = base if base.isascii() and base.isalpha() else "x" if character.islower() else "X"
        else:
            shadow = "0" if character.isdecimal() else "_"
        self[code] = shadow
        return shadow


_TO_ASCII = _AsciiShadow(_SHADOW)


def sentence_spans(text: str) -> tuple[tuple[int, int], ...]:
    """Half-open spans of the sentences, in order, that together are the whole text.

    Each has some visible character, save that a text of white space alone is one span; the empty
    text has none.
    """
    if not text:
        return ()
    cuts = {0, len(text)}
    for block in blocks(text):
        cuts.add(block.start)
        cuts.update(_cuts(text, block))
    return _without_blank(text, sorted(cuts))


def sentences(text: str) -> tuple[str, ...]:
    """The sentences of a text, stripped; none for white space."""
    found = (text[start:end].strip() for start, end in sentence_spans(text))
    return tuple(sentence for sentence in found if sentence)


def _cuts(text: str, block: Block) -> Iterator[int]:
    if block.kind == "table" and block.table is not None:
        yield from (row.span[0] for row in block.table.rows)
    elif block.kind == "list":
        edges = (block.start, *block.items, block.end)
        for start, end in pairwise(edges):
            yield start
            yield from _prose_cuts(text, start, end)
    elif block.kind != "heading":
        yield from _prose_cuts(text, block.start, block.end)


def _prose_cuts(text: str, start: int, end: int) -> Iterator[int]:
    """Where new sentences begin inside a block of prose, without its own start."""
    prose = text[start:end]
    shadow = prose if prose.isascii() else prose.translate(_TO_ASCII)
    cuts = {int(boundary["end_index"]) for boundary in sentencex.get_sentence_boundaries("en", shadow)}
    cuts = {marks.end() if (marks := _EMPHASIS_END.match(shadow, cut)) else cut for cut in cuts}
    cuts = {cut for cut in cuts if 0 < cut < len(prose) and not _joined(shadow, cut)}
    cuts.update(match.end() for match in _AFTER_UNIT.finditer(shadow) if _is_unit(match["unit"]))
    if not prose.isascii():
        cuts.update(match.end() for match in _WIDE_STOP.finditer(prose) if match.end() < len(prose))
    for match in _LINE_START.finditer(prose):
        # A hard break, or "Name: value" lines, which have no full stops.
        if prose.endswith("  ", 0, match.start()) or _FIELD.match(prose, match.end()):
            cuts.add(match.end())
    yield from (start + cut for cut in cuts)


def _is_unit(written: str) -> bool:
    """Whether letters behind a number are a unit; one capital alone is rather an initial ("5 T. Smith")."""
    if "/" in written or written.startswith("_"):
        return True
    return written.lower() in UNITS and not (len(written) == 1 and written.isupper())


def _joined(prose: str, cut: int) -> bool:
    """Whether the library cut at ``cut`` (offset of the next sentence) where no sentence ends."""
    before = prose[max(0, cut - 40) : cut].rstrip()
    following = prose[cut : cut + 20].lstrip("\"'([ \t\r\n")
    if not before or not following:
        return False
    if before.endswith("."):
        if _ALWAYS_OPEN.search(before) and following[0].isalnum():
            return True
        if _DAY.search(before) and _MONTH.match(following):
            return True
        if following[0].isdigit() and _BEFORE_NUMBER.search(before):
            return True
    if following[0].islower() and before[-1] in ".…" and not before.endswith(".."):
        return True
    if _RUN_IN.fullmatch(prose, prose.rfind("\n", max(0, cut - 80), cut - 1) + 1, cut):
        return True
    line = max(prose.rfind("\n", max(0, cut - 40), cut - 1) + 1, 0)
    return cut - line < 12 and (line > 0 or cut < 12) and bool(_ORDINAL.fullmatch(prose[line:cut]))


def _without_blank(text: str, cuts: list[int]) -> tuple[tuple[int, int], ...]:
    spans: list[tuple[int, int]] = []
    pending = 0
    for start, end in pairwise(cuts):
        if text[start:end].isspace():
            if spans:
                spans[-1] = (spans[-1][0], end)
                pending = end
            continue
        spans.append((pending, end))
        pending = end
    return tuple(spans) if spans else ((0, len(text)),)
