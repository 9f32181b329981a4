"""What changed, in words: the report's first section, and what ``lethe diff`` prints."""

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from lethe_core.graph.outline import OutlinedSource
from lethe_core.report.diff import Changes, Statement
from lethe_core.report.escaping import address, inline, line

CHANGED: Final = "What changed"
NOTHING: Final = "Nothing new"

Cite = Callable[[Statement], str]
"""How a statement of the later report names its sources."""


def changed_parts(changes: Changes, *, numbered: bool) -> list[str]:
    """Markdown paragraphs below the section's heading.

    numbered: cite the later report's sources by their numbers in it, else by their names.
    """
    if not changes:
        return [f"{NOTHING} since session {inline(changes.since)}."]
    now: Cite = _by_number if numbered else _by_name
    parts = [f"Since session {inline(changes.since)}:"]
    for title, lines in (
        ("Changed figures", _figures(changes, now)),
        ("New findings", (f"- {_said(item, now)}" for item in changes.new_findings)),
        ("Dropped", _dropped(changes)),
        ("New sources", (f"- {_source(source)}" for source in changes.new_sources)),
        ("Vanished sources", (f"- {_source(source)}" for source in changes.vanished_sources)),
        ("Contradictions that appeared", _groups(changes.appeared, now)),
        ("Contradictions that were settled", _groups(changes.settled, _by_name)),
    ):
        if told := "\n".join(lines):
            parts += [f"### {title}", told]
    return parts


def _figures(changes: Changes, now: Cite) -> Iterator[str]:
    for figure in changes.changed_figures:
        yield f"- {_said(figure.new, now)}"
        yield f"  - Before: {_said(figure.old, _by_name)}"


def _dropped(changes: Changes) -> Iterator[str]:
    for item in changes.dropped:
        why = "the source has vanished" if item.vanished else "no longer said there"
        yield f"- {_said(item.statement, _by_name)} — {why}"


def _groups(groups: Sequence[Sequence[Statement]], cite: Cite) -> Iterator[str]:
    for group in groups:
        first, *others = (_said(statement, cite) for statement in group)
        yield f"- {first}"
        yield from (f"  - against {other}" for other in others)


def _said(statement: Statement, cite: Cite) -> str:
    return f"{line(statement.text)} {cite(statement)}".rstrip()


def _by_number(statement: Statement) -> str:
    return "[" + ", ".join(f"[{n}]" for n in statement.numbers) + "]" if statement.numbers else ""


def _by_name(statement: Statement) -> str:
    named = "; ".join(_source(source) for source in statement.sources)
    return f"({named})" if named else ""


def _source(source: OutlinedSource) -> str:
    title = source.title if source.title.strip() != source.address else ""
    parts = (inline(title), address(source.address), inline(source.date))
    return " · ".join(part for part in parts if part)
