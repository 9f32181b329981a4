"""What can be quoted from the evidence that a DIN shows: sentences, table rows, whole short lists.

Every candidate's text is an exact piece of its block's content (algorithms.md 9.3, 10). A table row keeps
the header lines that stand above it. A short list is one candidate, with the line that introduces it, and
each of its items is another: which of the two is quoted is the selection's to say.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from lethe_core.din.document import EvidenceBlock
from lethe_core.evidence.blocks import Block, blocks
from lethe_core.evidence.sentences import sentences
from lethe_core.reasoning.terms import content_set

Kind = Literal["sentence", "row", "list", "item"]

MARKER = re.compile(r"^\s*(?:[-*+•‣▪–]|\(?\d{1,3}[.)]|\(?[a-z][.)])\s+")
# What a document says about itself is shown by the citation; it answers nothing.
_LABEL = re.compile(
    r"^\W*(?:last )?(?:date|updated|author|issued[_ ]by|edition|version|title|(?:prepared|compiled|kept) by)"
    r"\W*:\s*\S",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class CandidateConfig:
    """What is too short to say something and too long to be quoted whole."""

    shortest: int = 4  # words of a sentence: the report counts an exact quotation from 4 on
    longest_list: int = 8  # items
    longest_list_characters: int = 900


@dataclass(frozen=True, slots=True)
class Candidate:
    """One piece that can be quoted."""

    block: int  # index into the DIN's evidence
    position: int  # in reading order within the block
    kind: Kind
    text: str  # an exact piece of the block's content
    header: str  # of a row: the table's header and separator lines, exact
    own: frozenset[str]  # stems of the text and, of a row, of its header
    context: frozenset[str]  # stems of title and place


def candidates(
    evidence: Sequence[EvidenceBlock], config: CandidateConfig | None = None
) -> tuple[Candidate, ...]:
    """Everything that can be quoted, in the order of the DIN; syntheses, being quotations, are left out."""
    config = config or CandidateConfig()
    found: list[Candidate] = []
    for index, block in enumerate(evidence):
        if block.synthesis:
            continue
        context = content_set(f"{block.title} {block.place}")
        for position, (kind, text, header) in enumerate(_pieces(block.content, config)):
            own = content_set(f"{header}\n{text}" if header else text)
            if own:
                found.append(Candidate(index, position, kind, text, header, own, context))
    return tuple(found)


def _pieces(content: str, config: CandidateConfig) -> Iterator[tuple[Kind, str, str]]:
    lead = ""
    for block in blocks(content):
        text = content[block.start : block.end]
        if block.kind == "table" and block.table is not None:
            first = block.table.rows[0].span[0] if block.table.rows else block.end
            header = content[block.table.span[0] : first].strip()
            for row in block.table.rows:
                yield "row", content[row.span[0] : row.span[1]].strip(), header
        elif block.kind == "list":
            yield from _list(content, block, lead, config)
        elif block.kind == "prose":
            for sentence in sentences(text):
                piece = MARKER.sub("", sentence).strip()
                if len(piece.split()) >= config.shortest and not _LABEL.match(piece):
                    yield "sentence", piece, ""
        lead = (
            text if block.kind == "prose" and text.rstrip().endswith(":") and "\n" not in text.strip() else ""
        )


def _list(content: str, block: Block, lead: str, config: CandidateConfig) -> Iterator[tuple[Kind, str, str]]:
    edges = (*block.items, block.end)
    items = [content[start:end].strip() for start, end in pairwise(edges)]
    whole = content[block.start - len(lead) : block.end].strip()
    if len(items) <= config.longest_list and len(whole) <= config.longest_list_characters:
        yield "list", whole, ""
    for item in items:
        text = MARKER.sub("", item, count=1).strip()
        if len(text.split()) >= config.shortest:
            yield "item", text, ""
