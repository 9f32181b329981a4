"""The shape of a section: tables regrouped, quotations listed, length limited, titles shortened."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TypeAlias

from lethe_core.graph.nodes import TaskNode
from lethe_core.report.claims import (
    Draft,
    DraftBlock,
    DraftHeading,
    DraftList,
    DraftParagraph,
    DraftTable,
    drafts_of,
)
from lethe_core.report.document import Note
from lethe_core.report.quoting import normalise

Shape: TypeAlias = DraftBlock | Note

LONGEST_TITLE = 120  # characters


def kept(blocks: Sequence[Shape], keep: Callable[[Draft], bool]) -> list[Shape]:
    """The blocks with only those claims that are to stay; headings and leads without any go too."""
    found: list[Shape] = []
    for block in blocks:
        if isinstance(block, DraftParagraph):
            if claims := tuple(draft for draft in block.claims if keep(draft)):
                found.append(DraftParagraph(claims))
        elif isinstance(block, DraftList):
            items = (tuple(draft for draft in item if keep(draft)) for item in block.items)
            if left := tuple(item for item in items if item):
                found.append(replace(block, items=left))
        elif isinstance(block, DraftTable):
            if rows := tuple(row for row in block.rows if keep(row)):
                found.append(replace(block, rows=rows))
        else:
            found.append(block)
    return [
        block
        for index, block in enumerate(found)
        if not isinstance(block, DraftHeading)
        or (index + 1 < len(found) and not isinstance(found[index + 1], DraftHeading))
    ]


def merged(blocks: Sequence[Shape]) -> list[Shape]:
    """Neighbouring tables with the same header as one, neighbouring lone quotations as one list."""
    found: list[Shape] = []
    for block in blocks:
        last = found[-1] if found else None
        if (
            isinstance(block, DraftTable)
            and isinstance(last, DraftTable)
            and block.header == last.header
            and not block.lead
        ):
            found[-1] = replace(last, rows=(*last.rows, *block.rows))
        elif _is_quotation(block) and isinstance(last, DraftList) and not last.whole:
            found[-1] = replace(last, items=(*last.items, *((draft,) for draft in _claims(block))))
        elif _is_quotation(block) and last is not None and _is_quotation(last):
            both = (draft for quotation in (last, block) for draft in _claims(quotation))
            found[-1] = DraftList("", tuple((draft,) for draft in both), whole=False)
        else:
            found.append(block)
    return found


def limited(blocks: Sequence[Shape], most: int) -> tuple[list[Shape], int]:
    """At most so many quotations, and the number left out.

    A table or a list is one. Prose is not limited.
    """
    if not all(_quoted(block) for block in blocks):
        return list(blocks), 0
    found: list[Shape] = []
    used = left_out = 0
    for block in blocks:
        if isinstance(block, DraftTable) or (isinstance(block, DraftList) and block.whole):
            if used < most:
                found.append(block)
                used += 1
            else:
                left_out += 1
        elif isinstance(block, DraftList):
            room = block.items[: max(0, most - used)]
            if room:
                found.append(replace(block, items=room))
            used += len(room)
            left_out += len(block.items) - len(room)
        elif isinstance(block, DraftParagraph):
            claims = block.claims[: max(0, most - used)]
            if claims:
                found.append(DraftParagraph(claims))
            used += len(claims)
            left_out += len(block.claims) - len(claims)
        else:
            found.append(block)
    return kept(found, lambda _: True), left_out


def told_once(blocks: Sequence[Shape]) -> list[Shape]:
    """Without quotations that the same section has already."""
    seen: set[tuple[str, tuple[str, ...]]] = set()

    def first(draft: Draft) -> bool:
        key = (normalise(draft.text), draft.header)
        new = not draft.is_quotation or key not in seen
        seen.add(key)
        return new

    return kept(blocks, first)


def joined(blocks: Sequence[Shape]) -> list[Shape]:
    """Neighbouring lists of quotations, and quotations beside them, as one list; after the limit."""
    found: list[Shape] = []
    for block in blocks:
        last = found[-1] if found else None
        if isinstance(last, DraftList) and _quoted(last) and _joins(block):
            items = block.items if isinstance(block, DraftList) else tuple((d,) for d in _claims(block))
            found[-1] = replace(last, items=(*last.items, *items))
        elif isinstance(block, DraftList) and _joins(block) and last is not None and _is_quotation(last):
            found[-1] = replace(block, items=(*((d,) for d in _claims(last)), *block.items))
        else:
            found.append(block)
    return found


def titles(tasks: Sequence[TaskNode]) -> list[str]:
    """What each section is about: its task, without the lead-in that all of them share."""
    described = [" ".join(task.description.split()) for task in tasks]
    lead = _shared_lead(described)
    return [title[len(lead) :] for title in described]


def shorten(text: str, most: int = LONGEST_TITLE) -> str:
    """One line, cut at a word with "…" when it is longer."""
    text = " ".join(text.split())
    if len(text) <= most:
        return text
    return text[:most].rsplit(" ", 1)[0].rstrip(" ,;:.") + "…"


def _shared_lead(described: Sequence[str]) -> str:
    if len(described) < 2:
        return ""
    lead, colon, _ = described[0].partition(": ")
    lead += colon
    shared = colon and all(text.startswith(lead) and len(text) > len(lead) for text in described)
    return lead if shared else ""


def _joins(block: Shape) -> bool:
    return _is_quotation(block) or (isinstance(block, DraftList) and not block.lead and _quoted(block))


def _is_quotation(block: Shape) -> bool:
    return isinstance(block, DraftParagraph) and _quoted(block)


def _quoted(block: Shape) -> bool:
    return all(draft.is_quotation for draft in _claims(block))


def _claims(block: Shape) -> Iterator[Draft]:
    if not isinstance(block, Note):
        yield from drafts_of(block)
