"""The blocks of a Markdown text (algorithms.md 8): headings, tables, lists, code and prose.

One pass over the lines, linear on any input. The blocks partition the text: each owns the blank lines
behind it, the first also those before it. Chunks and sentences are cut inside blocks, never across.
"""

import re
from bisect import bisect_right
from dataclasses import dataclass
from typing import Literal

from lethe_core.evidence.tables import Table, read_table, starts_table

BlockKind = Literal["heading", "table", "list", "code", "prose"]

_ITEM = re.compile(r"[ \t]{0,12}(?:[-*+•‣▪]|(\d{1,3})[.)]|\(?[a-z\d]{1,3}\))[ \t]+\S")
_FENCE = re.compile(r"[ ]{0,3}(`{3,}|~{3,})")
_MARKUP = re.compile(r"[*_`]{1,3}(?=\S)|(?<=\S)[*_`]{1,3}")
_LINK = re.compile(r"!?\[([^\[\]]{0,300})\]\([^()\s]{0,500}\)")


@dataclass(frozen=True, slots=True)
class Block:
    """One block and its half-open span in the text."""

    kind: BlockKind
    start: int
    end: int
    level: int = 0  # of a heading, 1 to 6
    heading: str = ""  # a heading's plain text
    table: Table | None = None
    items: tuple[int, ...] = ()  # offsets at which a list's items begin


def blocks(text: str) -> tuple[Block, ...]:
    """Cut a Markdown text into blocks; none when it is empty or only white space."""
    lines = text.splitlines(keepends=True)
    return _Scanner(lines).run(len(text)) if text.strip() else ()


def tables(text: str) -> tuple[Table, ...]:
    """Every pipe table of a Markdown text, in order; what stands in a code fence is none."""
    return tuple(block.table for block in blocks(text) if block.table is not None)


def plain(markdown: str) -> str:
    """A heading or a cell without emphasis and link targets, on one line."""
    return " ".join(_MARKUP.sub("", _LINK.sub(r"\1", markdown)).split())


def is_item(line: str) -> bool:
    """Whether a line begins a list's item."""
    return _ITEM.match(line) is not None


class _Scanner:
    def __init__(self, lines: list[str]) -> None:
        self.lines = lines
        self.blank = [not line.strip() for line in lines]
        self.starts: list[int] = []
        offset = 0
        for line in lines:
            self.starts.append(offset)
            offset += len(line)
        # Only a bare fence closes; one with a language behind it opens.
        self.closing: dict[str, list[int]] = {"`": [], "~": []}
        for index, line in enumerate(lines):
            if (match := _FENCE.match(line)) and not line.strip().strip(match[1][0]):
                self.closing[match[1][0]].append(index)

    def run(self, length: int) -> tuple[Block, ...]:
        found: list[Block] = []
        index = self._front_matter(found)
        while index < len(self.lines):
            if self.blank[index]:
                index += 1
                continue
            index = self._block(index, found)
        # Contiguous: a block reaches to where the next begins.
        edges = [0, *(block.start for block in found[1:]), length]
        return tuple(
            Block(b.kind, edges[i], edges[i + 1], b.level, b.heading, b.table, b.items)
            for i, b in enumerate(found)
        )

    def _front_matter(self, found: list[Block]) -> int:
        if self.lines[0].rstrip() != "---":
            return 0
        for index in range(1, min(len(self.lines), 60)):
            if self.blank[index]:
                return 0
            if self.lines[index].rstrip() in ("---", "..."):
                self._add(found, "code", 0)
                return index + 1
        return 0

    def _block(self, index: int, found: list[Block]) -> int:
        line = self.lines[index]
        closing = self._closing_fence(index)
        if closing:
            self._add(found, "code", index)
            return closing + 1
        level, heading = _heading(line)
        if level:
            self._add(found, "heading", index, level=level, heading=heading)
            return index + 1
        if self._table_at(index):
            table, after = read_table(self.lines, self.starts, index)
            self._add(found, "table", index, table=table)
            return after
        if is_item(line):
            items, after = self._list(index)
            if len(items) > 1:
                self._add(found, "list", index, items=tuple(self.starts[i] for i in items))
            else:
                self._add(found, "prose", index)
            return after
        return self._prose(index, found)

    def _prose(self, index: int, found: list[Block]) -> int:
        after = index + 1
        while after < len(self.lines) and not self.blank[after] and not self._interrupts(after):
            underline = self.lines[after].strip()
            if after == index + 1 and len(underline) > 2 and not underline.strip(underline[0]):
                level = {"=": 1, "-": 2}.get(underline[0], 0)
                if level and len(self.lines[index]) <= 200:
                    self._add(found, "heading", index, level=level, heading=plain(self.lines[index]))
                    return after + 1
            after += 1
        self._add(found, "prose", index)
        return after

    def _list(self, index: int) -> tuple[list[int], int]:
        items = [index]
        after = index + 1
        while after < len(self.lines):
            upcoming = after
            while upcoming < len(self.lines) and self.blank[upcoming]:
                upcoming += 1
            if upcoming == len(self.lines):
                break
            line = self.lines[upcoming]
            if is_item(line):
                items.append(upcoming)
            elif (upcoming > after and not line.startswith(("  ", "\t"))) or self._ends_list(upcoming):
                break
            after = upcoming + 1
        return items, after

    def _ends_list(self, index: int) -> bool:
        return bool(_heading(self.lines[index])[0] or self._table_at(index) or self._closing_fence(index))

    def _interrupts(self, index: int) -> bool:
        """Whether a line ends the paragraph above it although no blank line stands between."""
        if self._ends_list(index):
            return True
        match = _ITEM.match(self.lines[index])
        if match is None:
            return False
        # "… in the year\n1990. Then …" is no list: a later number needs a colon or a list above it.
        return match[1] in (None, "1") or self.lines[index - 1].rstrip().endswith(":")

    def _table_at(self, index: int) -> bool:
        return index + 1 < len(self.lines) and starts_table(self.lines[index], self.lines[index + 1])

    def _closing_fence(self, index: int) -> int:
        """The line that closes the fence which opens here; 0 when none opens or it is never closed."""
        match = _FENCE.match(self.lines[index])
        if match is None:
            return 0
        closing = self.closing[match[1][0]]
        position = bisect_right(closing, index)
        if position == len(closing) or len(self.lines[closing[position]].strip()) < len(match[1]):
            return 0
        return closing[position]

    def _add(
        self,
        found: list[Block],
        kind: BlockKind,
        index: int,
        *,
        level: int = 0,
        heading: str = "",
        table: Table | None = None,
        items: tuple[int, ...] = (),
    ) -> None:
        found.append(Block(kind, self.starts[index], 0, level, heading, table, items))


def _heading(line: str) -> tuple[int, str]:
    if not line.startswith(("#", " #", "  #", "   #")):
        return 0, ""
    stripped = line.strip()
    rest = stripped.lstrip("#")
    level = len(stripped) - len(rest)
    if level > 6 or (rest and not rest[0].isspace()):
        return 0, ""
    return level, plain(rest.strip().rstrip("#"))
