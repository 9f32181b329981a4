"""Read a DIN-Read text back into its data; the grammar stands in `din.grammar`.

One grammar, two directions: what `serialize_din` writes, `parse_din` reads back exactly.
"""

from typing import cast

from lethe_core.din.document import DIN_VERSION, CoverageWord, DinRead, EvidenceBlock, SubtaskLine, Warn
from lethe_core.din.grammar import (
    COVERAGE_WORDS,
    EVIDENCE_START,
    NO_DATE,
    NO_SOURCE,
    NO_TITLE,
    OLDER,
    OLDER_THAN,
    PARENT_GOAL,
    PERIOD,
    REASON,
    REPAIR_MARK,
    RESULT,
    SEARCH_OUTCOMES,
    SEPARATOR,
    SYNTHESIS,
    TASK_START,
    UNDER,
    WARN_FORMS,
    YOUR_TASK,
    ZERO_YIELD,
)
from lethe_core.din.operations import offered_operations
from lethe_core.din.quoting import checked_id, read_quoted, unquote_line
from lethe_core.din.write import serialize_din
from lethe_core.errors import DinSyntaxError
from lethe_core.graph.nodes import ShortId, TaskStatus

__all__ = ["parse_din", "serialize_din"]


def parse_din(text: str) -> DinRead:
    """Read a DIN-Read text back, with or without a repair section behind it.

    Raises DinSyntaxError, naming the line, for anything that `serialize_din` does not write.
    """
    return _Reader(text).document()


class _Reader:
    """Lines of a text, read once from the first to the last."""

    def __init__(self, text: str) -> None:
        lines = text.split("\n")
        if REPAIR_MARK in lines:
            del lines[lines.index(REPAIR_MARK) :]
        while lines and not lines[-1]:
            lines.pop()
        self._lines = lines
        self._next = 0

    def document(self) -> DinRead:
        version = self._required("=DIN ")
        if version != str(DIN_VERSION):
            raise self._error(f"DIN version {version[:20]!r}, this one reads {DIN_VERSION}")
        goal, parent_goal = self._goal(self._required("=GOAL "))
        task = ShortId(checked_id(self._required("=TASK "), "t"))
        hint = self._take("=HINT ")
        parents = self._tasks(">PARENT ")
        if len(parents) > 1:
            raise self._error("a second >PARENT line")
        warns = self._warns()
        subtasks, dependencies, related = (self._tasks(f">{mark} ") for mark in ("SUB", "DEP", "REL"))
        evidence = self._evidence()
        self._blank_lines()
        tools = self._required("=TOOLS ")
        din = DinRead(
            task=task,
            goal=goal,
            parent_goal=parent_goal,
            hint="" if hint is None else self._whole_quoted(hint),
            warns=warns,
            subtasks=subtasks,
            dependencies=dependencies,
            evidence=evidence,
            tools=() if tools == "none" else tuple(tools.split(", ")),
            parent=parents[0] if parents else None,
            related=related,
        )
        operations = self._required("=OPS ")
        if operations != ", ".join(offered_operations(din)):
            raise self._error("operations that do not follow from the lines above")
        if self._next < len(self._lines):
            raise self._error("a line behind the last", shift=1)
        return din

    # -- lines ----------------------------------------------------------------------------------

    def _take(self, start: str) -> str | None:
        """The rest of the next line, when it starts so."""
        if self._next < len(self._lines) and self._lines[self._next].startswith(start):
            self._next += 1
            return self._lines[self._next - 1][len(start) :]
        return None

    def _required(self, start: str) -> str:
        rest = self._take(start)
        if rest is None:
            raise self._error(f"no {start.strip()} line", shift=1)
        return rest

    def _blank_lines(self) -> None:
        while self._next < len(self._lines) and not self._lines[self._next]:
            self._next += 1

    def _error(self, what: str, shift: int = 0) -> DinSyntaxError:
        return DinSyntaxError(f"DIN-Read line {self._next + shift}: {what}")

    # -- fields ---------------------------------------------------------------------------------

    def _whole_quoted(self, text: str) -> str:
        value, end = read_quoted(text, 0)
        if end != len(text):
            raise self._error("text behind a quoted field")
        return value

    def _whole(self, text: str) -> str:
        return self._whole_quoted(text) if text.startswith('"') else text

    def _goal(self, line: str) -> tuple[str, str]:
        if not line.startswith(YOUR_TASK):
            return self._whole(line), ""
        body = line[len(YOUR_TASK) :]
        if body.startswith('"'):
            task, end = read_quoted(body, 0)
        else:
            end = max(body.find(PARENT_GOAL), 0)
            task = body[:end]
        if not body.startswith(PARENT_GOAL, end) or not body.endswith(")"):
            raise self._error("no parent goal behind the task")
        return task, self._whole(body[end + len(PARENT_GOAL) : -1])

    def _warns(self) -> tuple[Warn, ...]:
        warns: list[Warn] = []
        while self._next < len(self._lines) and self._lines[self._next].startswith("!"):
            self._next += 1
            warns.append(self._warn(self._lines[self._next - 1]))
        return tuple(warns)

    def _warn(self, line: str) -> Warn:
        if line == ZERO_YIELD:
            return Warn("zero_yield", "", "")
        start = next((start for start in WARN_FORMS if line.startswith(start)), None)
        if start is None:
            raise self._error("an unknown warn line")
        kind, rest = WARN_FORMS[start], line[len(start) :]
        if kind == "note":
            return Warn(kind, "", self._whole(rest))
        quoted, end = read_quoted(rest, 0)
        rest = rest[end:]
        if kind == "searched":
            if rest[2:-1] not in SEARCH_OUTCOMES or rest != f" ({rest[2:-1]})":
                raise self._error("a search without its outcome")
            return Warn(kind, quoted, rest[2:-1])
        if kind == "dead_end" and rest.startswith(REASON):
            return Warn(kind, quoted, self._whole_quoted(rest[len(REASON) :]))
        if rest:
            raise self._error("text behind a quoted field")
        return Warn(kind, quoted, "")

    def _tasks(self, start: str) -> tuple[SubtaskLine, ...]:
        found: list[SubtaskLine] = []
        while (rest := self._take(start)) is not None:
            match = TASK_START.match(rest)
            if match is None or match[2] not in TaskStatus.__members__ or match[3] not in COVERAGE_WORDS:
                raise self._error("no id, status, coverage and description")
            description, end = read_quoted(rest, match.end())
            result = ""
            if rest[end:]:
                if not rest.startswith(RESULT, end):
                    raise self._error("something other than a result behind the description")
                result = self._whole_quoted(rest[end + len(RESULT) :])
            coverage = cast(CoverageWord, match[3])
            found.append(SubtaskLine(ShortId(match[1]), TaskStatus(match[2]), coverage, description, result))
        return tuple(found)

    def _evidence(self) -> tuple[EvidenceBlock, ...]:
        blocks: list[EvidenceBlock] = []
        self._blank_lines()
        while self._next < len(self._lines) and EVIDENCE_START.match(self._lines[self._next]):
            blocks.append(self._block())
            self._blank_lines()
        return tuple(blocks)

    def _block(self) -> EvidenceBlock:
        line = self._lines[self._next]
        self._next += 1
        short_id, at = line[: line.index(SEPARATOR)], line.index(SEPARATOR)
        title, at = self._field(line, at, NO_TITLE)
        source, at = self._field(line, at, NO_SOURCE)
        date, at = self._field(line, at, NO_DATE)
        period, at = self._marked(line, at, PERIOD)
        synthesis = line.startswith(SEPARATOR + SYNTHESIS, at)
        at += len(SEPARATOR + SYNTHESIS) if synthesis else 0
        newer, at = self._marked(line, at, OLDER_THAN)
        older = bool(newer) or line.startswith(SEPARATOR + OLDER, at)
        at += len(SEPARATOR + OLDER) if older and not newer else 0
        place, at = self._marked(line, at, UNDER)
        if at != len(line):
            raise self._error("an evidence header with an unknown mark")
        content: list[str] = []
        while self._next < len(self._lines) and (text := unquote_line(self._lines[self._next])) is not None:
            content.append(text)
            self._next += 1
        if not content:
            raise self._error("evidence without content")
        return EvidenceBlock(
            short_id=ShortId(checked_id(short_id, "e")),
            title=title,
            source=source,
            date=date,
            older_than=ShortId(checked_id(newer, "e")) if newer else None,
            older=older,
            period=period,
            synthesis=synthesis,
            place=place,
            content="\n".join(content),
        )

    def _field(self, line: str, at: int, empty: str = "", mark: str = "") -> tuple[str, int]:
        """The field behind the separator at an offset, and the offset behind it."""
        start = at + len(SEPARATOR + mark)
        if not line.startswith(SEPARATOR + mark, at) or start == len(line):
            raise self._error("an evidence header without title, source and date")
        if line[start] == '"':
            return read_quoted(line, start)
        end = line.find(SEPARATOR, start)
        end = len(line) if end < 0 else end
        text = line[start:end]
        return ("" if text == empty else text), end

    def _marked(self, line: str, at: int, mark: str) -> tuple[str, int]:
        """A field that starts with a mark; empty, and the same offset, where there is none."""
        return self._field(line, at, mark=mark) if line.startswith(SEPARATOR + mark, at) else ("", at)
