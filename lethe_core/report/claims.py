"""Splits cited text into claims: sentences and table rows, each with the short ids it rests on.

Which bracket belongs to which sentence (algorithms.md 10):
- a bracket belongs to the sentence that it stands in or directly behind; a quotation in “ ” is one
  sentence, however many full stops it has;
- writers often put one bracket behind two or three sentences. A sentence without a bracket may
  therefore borrow the next bracket of its own paragraph or item (``inherited``); it keeps it only when
  the cited text turns out to support it. Behind the last bracket nothing can be borrowed;
- headings, and a line that ends in a colon above a list or table and states no number, claim nothing.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

from lethe_core.din.cited import CITATION, cited_ids
from lethe_core.evidence.sentences import sentence_spans
from lethe_core.evidence.tables import is_separator, split_cells
from lethe_core.graph.nodes import ShortId
from lethe_core.report.wording import numbers

_HEADING = re.compile(r"(#{1,6})[ \t]+(.*?)[ \t#]*")
ITEM_MARK = re.compile(r"^(?:[-*+•‣–]|\(?\d{1,3}[.)])[ \t]+(?=\S)")
_RULE = re.compile(r"(?:[-*_=][ \t]*){3,}|`{3,}.*|~{3,}.*")
_QUOTE_MARK = re.compile(r"^(?:>[ \t]?)+")
_STOP = re.compile(r"([.!?…]*)[\"”’)]*\s+(?=[^\W_a-z]|[“\"(])")
# Brackets that look like citations and cite nothing that exists: [e-…], [source], [1]. In a quotation they
# are the page's own words.
_STRAY = re.compile(
    r"\s*\[(?:e-[^\]\n]{0,80}|sources?|citation needed|\d{1,3}(?:\s*[,;–-]\s*\d{1,3})*)\]", re.I
)


@dataclass(frozen=True, slots=True)
class Draft:
    """A claim as it was written: its sources not yet looked up."""

    text: str  # inline Markdown, one line, without brackets; of a row its cells, joined
    ids: tuple[ShortId, ...]
    inherited: bool = False  # the ids stand behind a later sentence
    cells: tuple[str, ...] = ()  # of a table row
    header: tuple[str, ...] = ()

    @property
    def is_quotation(self) -> bool:
        """Whether it is wholly set in quotation marks, or is a row of a table."""
        return bool(self.cells) or (self.text.startswith("“") and self.text.rstrip(".,;:").endswith("”"))


@dataclass(frozen=True, slots=True)
class DraftHeading:
    text: str


@dataclass(frozen=True, slots=True)
class DraftParagraph:
    claims: tuple[Draft, ...]


@dataclass(frozen=True, slots=True)
class DraftList:
    """Items of one or more claims each; ``lead`` is the line above that introduces them."""

    lead: str
    items: tuple[tuple[Draft, ...], ...]
    whole: bool = True  # written as one list; False: quotations that were only put together


@dataclass(frozen=True, slots=True)
class DraftTable:
    lead: str
    header: tuple[str, ...]
    rows: tuple[Draft, ...]


DraftBlock: TypeAlias = DraftHeading | DraftParagraph | DraftList | DraftTable


def read_cited(text: str) -> tuple[DraftBlock, ...]:
    """Read cited text into blocks of claims, in order."""
    return tuple(_with_leads(list(_blocks(text))))


def drafts_of(block: DraftBlock) -> tuple[Draft, ...]:
    """The claims of a block, in order."""
    if isinstance(block, DraftParagraph):
        return block.claims
    if isinstance(block, DraftList):
        return tuple(draft for item in block.items for draft in item)
    return block.rows if isinstance(block, DraftTable) else ()


def _blocks(text: str) -> Iterator[DraftBlock]:
    paragraph: list[str] = []
    items: list[str] = []
    table: list[str] = []

    def flush() -> Iterator[DraftBlock]:
        if paragraph and (claims := _sentences(" ".join(paragraph))):
            yield DraftParagraph(claims)
        if items and (found := tuple(claims for item in items if (claims := _sentences(item)))):
            yield DraftList("", found)
        if table:
            yield from _table(table)
        paragraph.clear()
        items.clear()
        table.clear()

    for raw in text.splitlines():
        line = _QUOTE_MARK.sub("", raw.strip(), count=1).strip()
        heading = _HEADING.fullmatch(line)
        if line.startswith("|") and "|" in line[1:]:
            if not table:
                yield from flush()
            table.append(line)
            continue
        if table:
            yield from flush()
        if not line or _RULE.fullmatch(line):
            # A list may have blank lines between its items.
            if not items or line:
                yield from flush()
        elif heading:
            yield from flush()
            if title := _plain(heading.group(2)):
                yield DraftHeading(title)
        elif match := ITEM_MARK.match(line):
            if not items:
                yield from flush()
            items.append(line[match.end() :])
        elif items and raw[:1].isspace():
            items[-1] += " " + line
        else:
            # Lines that end in a bracket are claims of their own; others are one wrapped sentence.
            if items or (paragraph and _ends_cited(paragraph[-1])):
                yield from flush()
            paragraph.append(line)
    yield from flush()


def _ends_cited(line: str) -> bool:
    matches = list(CITATION.finditer(line))
    return bool(matches) and not line[matches[-1].end() :].strip(" .")


def _table(lines: Sequence[str]) -> Iterator[DraftTable]:
    header: tuple[str, ...] = ()
    rows: list[Draft] = []
    for index, line in enumerate(lines):
        if is_separator(line):
            continue
        ids = tuple(cited_ids(line))
        if not ids and index + 1 < len(lines) and is_separator(lines[index + 1]):
            if rows:
                yield DraftTable("", header, tuple(rows))
                rows = []
            header = tuple(_plain(cell) for cell in split_cells(line))
            continue
        # A row may be a page's own: whether its [1] was written there is seen where it is measured.
        cells = tuple(" ".join(cell.split()) for cell in split_cells(_without_brackets(line)))
        if any(cells):
            rows.append(Draft("; ".join(cell for cell in cells if cell), ids, cells=cells, header=header))
    if rows:
        yield DraftTable("", header, tuple(rows))


def _sentences(line: str) -> tuple[Draft, ...]:
    """The claims of one paragraph or item."""
    text, brackets = _lift_brackets(line)
    cuts = {start for start, _ in sentence_spans(text)} | {len(text)}
    # A bracket and a full stop end a sentence, whatever abbreviation stands before them.
    for offset, _ in brackets:
        if (stop := _STOP.match(text, offset)) and (stop.group(1) or text[:offset].endswith((".", "!", "?"))):
            cuts.add(stop.end())
    spans = [span for span in pairwise(sorted(cuts)) if text[slice(*span)].strip()]
    spans = _joined_quotations(text, spans)
    own: list[list[ShortId]] = [[] for _ in spans]
    for offset, ids in brackets:
        holder = max((i for i, (start, _) in enumerate(spans) if start < offset), default=None)
        if holder is not None:
            own[holder].extend(ids)
    claims: list[Draft] = []
    borrowed: tuple[ShortId, ...] = ()
    for (start, end), ids in zip(reversed(spans), reversed(own), strict=True):
        sentence = _plain(text[start:end])
        if ids:
            borrowed = tuple(dict.fromkeys(ids))
            claims.append(Draft(sentence, borrowed))
        elif any(character.isalnum() for character in sentence):
            claims.append(Draft(sentence, borrowed, inherited=bool(borrowed)))
    return tuple(claim for claim in reversed(claims) if claim.text)


def _lift_brackets(line: str) -> tuple[str, list[tuple[int, list[ShortId]]]]:
    """The line without its brackets, and for each the offset where it stood."""
    text = ""
    brackets: list[tuple[int, list[ShortId]]] = []
    start = 0
    for match in CITATION.finditer(line):
        text += line[start : match.start()]
        brackets.append((len(text), cited_ids(match.group())))
        start = match.end()
    return text + line[start:], brackets


def _joined_quotations(text: str, spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Join sentences that a quotation in “ ” spans."""
    joined: list[tuple[int, int]] = []
    for start, end in spans:
        if joined:
            before = text[joined[-1][0] : joined[-1][1]]
            if before.count("“") > before.count("”") and "”" in text[start:]:
                joined[-1] = (joined[-1][0], end)
                continue
        joined.append((start, end))
    return joined


def _without_brackets(text: str) -> str:
    return CITATION.sub("", text)


def without_strays(text: str) -> str:
    """A text without brackets that look like citations and cite nothing; what stands in “ ” is left alone."""
    first, last = text.find("“"), text.rfind("”")
    if 0 <= first < last:
        quoted = text[first : last + 1]
        text = f"{_STRAY.sub('', text[:first])}{quoted}{_STRAY.sub('', text[last + 1 :])}"
    else:
        text = _STRAY.sub("", text)
    return " ".join(text.split())


def _plain(text: str) -> str:
    return without_strays(_without_brackets(text))


def _with_leads(blocks: Sequence[DraftBlock]) -> Iterator[DraftBlock]:
    """Give lists and tables the line above that only introduces them."""
    index = 0
    while index < len(blocks):
        block = blocks[index]
        following = blocks[index + 1] if index + 1 < len(blocks) else None
        if isinstance(block, DraftParagraph) and isinstance(following, DraftList | DraftTable):
            last = block.claims[-1]
            if last.text.endswith(":") and (not last.ids or last.inherited) and not numbers(last.text):
                if block.claims[:-1]:
                    yield DraftParagraph(block.claims[:-1])
                if isinstance(following, DraftList):
                    yield DraftList(last.text, following.items, following.whole)
                else:
                    yield DraftTable(last.text, following.header, following.rows)
                index += 2
                continue
        yield block
        index += 1
