"""Write a DIN-Read text from its data; the grammar stands in `din.grammar`."""

from lethe_core.din.document import DIN_VERSION, DinRead, EvidenceBlock, SubtaskLine, Warn
from lethe_core.din.grammar import (
    COVERAGE_WORDS,
    NO_DATE,
    NO_SOURCE,
    NO_TITLE,
    OLDER,
    OLDER_THAN,
    PARENT_GOAL,
    PERIOD,
    REASON,
    RESULT,
    SEARCH_OUTCOMES,
    SEPARATOR,
    SYNTHESIS,
    UNDER,
    WARN_STARTS,
    YOUR_TASK,
    ZERO_YIELD,
)
from lethe_core.din.operations import TOOL_OPERATIONS, offered_operations
from lethe_core.din.quoting import checked_id, plain_or_quoted, quote, quote_lines
from lethe_core.errors import DinSyntaxError


def serialize_din(din: DinRead) -> str:
    """Write a DIN-Read text; `din.read.parse_din` gives back exactly what was written.

    Raises DinSyntaxError for data that the grammar has no line for (an id that is none, an unknown tool, a
    warn line with a detail that its kind does not have).
    """
    lines = [f"=DIN {DIN_VERSION}", _goal_line(din), f"=TASK {checked_id(din.task, 't')}"]
    if din.hint:
        lines.append(f"=HINT {quote(din.hint)}")
    if din.parent is not None:
        lines.append(task_line("PARENT", din.parent))
    lines.extend(_warn_line(warn) for warn in din.warns)
    lines.extend(task_line("SUB", subtask) for subtask in din.subtasks)
    lines.extend(task_line("DEP", dependency) for dependency in din.dependencies)
    lines.extend(task_line("REL", related) for related in din.related)
    for block in din.evidence:
        lines.extend(("", *evidence_lines(block)))
    unknown = [tool for tool in din.tools if tool not in TOOL_OPERATIONS]
    if unknown:
        raise DinSyntaxError(f"unknown tool {unknown[0]!r}; there are {', '.join(TOOL_OPERATIONS)}")
    lines.extend(
        ("", f"=TOOLS {', '.join(din.tools) or 'none'}", f"=OPS {', '.join(offered_operations(din))}")
    )
    return "\n".join(lines) + "\n"


def task_line(mark: str, task: SubtaskLine) -> str:
    """One line on a task; mark: SUB, DEP, PARENT or REL."""
    if task.coverage not in COVERAGE_WORDS:
        raise DinSyntaxError(f"coverage {task.coverage!r} is none of {', '.join(COVERAGE_WORDS)}")
    line = f">{mark} {checked_id(task.short_id, 't')} · {task.status} · coverage {task.coverage}"
    line += SEPARATOR + quote(task.description)
    return line + RESULT + quote(task.result) if task.result else line


def evidence_lines(block: EvidenceBlock) -> list[str]:
    """Header and quoted content of one piece of evidence."""
    if block.older_than is not None and not block.older:
        raise DinSyntaxError(f"{block.short_id} names a newer edition without being an older one")
    fields = [
        checked_id(block.short_id, "e"),
        _field(block.title, NO_TITLE),
        _field(block.source, NO_SOURCE),
        _field(block.date, NO_DATE),
    ]
    if block.period:
        fields.append(PERIOD + _field(block.period))
    if block.synthesis:
        fields.append(SYNTHESIS)
    if block.older_than is not None:
        fields.append(OLDER_THAN + checked_id(block.older_than, "e"))
    elif block.older:
        fields.append(OLDER)
    if block.place:
        fields.append(UNDER + _field(block.place))
    return [SEPARATOR.join(fields), *quote_lines(block.content)]


def _field(text: str, empty: str = "") -> str:
    return plain_or_quoted(text, never=("·",), empty=empty)


def _goal_line(din: DinRead) -> str:
    if din.is_root:
        start = din.goal.startswith(YOUR_TASK.strip())
        return f"=GOAL {quote(din.goal) if start else plain_or_quoted(din.goal)}"
    task, goal = (plain_or_quoted(part, never=(PARENT_GOAL.strip(),)) for part in (din.goal, din.parent_goal))
    return f"=GOAL {YOUR_TASK}{task}{PARENT_GOAL}{goal})"


def _warn_line(warn: Warn) -> str:
    if warn.kind == "zero_yield":
        form, line = not warn.quoted and not warn.detail, ZERO_YIELD
    elif warn.kind == "searched":
        form = warn.detail in SEARCH_OUTCOMES
        line = f"{WARN_STARTS['searched']}{quote(warn.quoted)} ({warn.detail})"
    elif warn.kind == "dead_end":
        form, line = True, WARN_STARTS["dead_end"] + quote(warn.quoted)
        line += REASON + quote(warn.detail) if warn.detail else ""
    elif warn.kind == "note":
        form, line = not warn.quoted, WARN_STARTS["note"] + plain_or_quoted(warn.detail)
    else:
        form, line = not warn.detail, WARN_STARTS[warn.kind] + quote(warn.quoted)
    if not form:
        raise DinSyntaxError(f"a warn line {warn.kind!r} cannot say {warn.quoted!r} with {warn.detail!r}")
    return line
