"""Renders a report as Markdown, the canonical format (architecture.md, "The report").

Stable: the same report gives the same bytes. No ids of the graph and no time of day stand in it; what a
run took stands in the closing line alone. Citations are ``[[1]]``, links to the numbered source by
reference definitions at the end, so that the text reads well with and without a renderer.
"""

from collections.abc import Iterator, Sequence

from lethe_core.report.changed import CHANGED, changed_parts
from lethe_core.report.conflicts import DISAGREE, OLDER
from lethe_core.report.document import (
    Block,
    Claim,
    ClaimList,
    ClaimTable,
    Closing,
    Disagreement,
    Heading,
    Note,
    NotFound,
    OlderStatement,
    Paragraph,
    Report,
    Section,
    Source,
)
from lethe_core.report.escaping import address, cell, inline, line
from lethe_core.report.outcome import FINISHED
from lethe_core.report.unread import how_many, named

MAX_SKIPPED = 20  # named in the Markdown; the JSON names all
MAX_SEARCHES = 12  # of one task

_STOPPED = {
    "goal_complete": "Every part of the question was worked through",
    "converged": "Further searching changed nothing any more",
    "budget": "The budget was used up",
    "no_ready_tasks": "No task was left to work on",
    "blocked": "The remaining tasks wait for others that failed",
    "wall_clock_cap": "Stopped at the limit on time",
    "iteration_cap": "Stopped at the limit on iterations",
    "token_cap": "Stopped at the limit on tokens",
    "cost_cap": "Stopped at the limit on cost",
    "model_unavailable": "Stopped because the language model gave no usable answer",
    "search_unavailable": "Stopped because no search could be made",
    "cancelled": "Cancelled",
    "error": "Stopped by an error",
}
_OUTCOMES = {"new": "new sources", "nothing": "nothing new", "failed": "failed"}


def render_markdown(report: Report) -> str:
    """The report as Markdown, ending in one line end."""
    parts: list[str] = [f"# {inline(report.title)}"]
    if report.title != report.question:
        parts.append(line(report.question))
    if report.changes is not None:
        parts += [f"## {CHANGED}", *changed_parts(report.changes, numbered=True)]
    parts += _section(report.answer)
    for section in report.sections:
        parts += _section(section)
    if report.disagreements:
        parts += [f"## {DISAGREE}", *(_disagreement(item) for item in report.disagreements)]
    if report.older:
        parts += [
            f"## {OLDER}",
            "These statements stand in editions that newer ones have replaced.",
            "\n".join(_older(item) for item in report.older),
        ]
    if report.not_found:
        parts += ["## Not found", "\n".join(_not_found(item) for item in report.not_found)]
    if report.sources:
        parts += ["## Sources", "\n".join(_source(source) for source in report.sources)]
    if report.skipped:
        parts += ["## Not read", "\n".join(_skipped(report))]
    parts += ["---", _closing(report)]
    if report.sources:
        parts.append("\n".join(f"[{source.n}]: #source-{source.n}" for source in report.sources))
    return "\n\n".join(parts) + "\n"


def _section(section: Section) -> list[str]:
    return [f"## {inline(section.title)}", *(_block(block) for block in section.blocks)]


def _block(block: Block) -> str:
    if isinstance(block, Heading):
        return f"### {inline(block.text)}"
    if isinstance(block, Note):
        return f"*{block.text}*"
    if isinstance(block, Paragraph):
        return " ".join(_claim(claim, first=i == 0) for i, claim in enumerate(block.claims))
    if isinstance(block, ClaimList):
        items = "\n".join(f"- {' '.join(_claim(claim) for claim in item)}" for item in block.items)
        return f"{line(block.lead)}\n\n{items}" if block.lead else items
    return _table(block)


def _claim(claim: Claim, *, first: bool = True) -> str:
    """A sentence with what a reader must know behind it: date, citations, label, mark."""
    text = line(claim.text) if first else inline(claim.text)
    return " ".join([text, *_behind(claim, date=claim.quotation)])


def _behind(claim: Claim, *, date: bool, label: bool = True, brackets: bool = True) -> Iterator[str]:
    if date and claim.date:
        yield f"({inline(claim.date)})" if brackets else inline(claim.date)
    if claim.citations:
        yield _numbers(claim.citations)
    if label and claim.label:
        yield f"*({inline(claim.label)})*"
    if not claim.supported:
        yield "*(not supported by the source)*" if claim.citations else "*(no source)*"


def _numbers(citations: Sequence[int]) -> str:
    return "[" + ", ".join(f"[{n}]" for n in citations) + "]"


def _table(table: ClaimTable) -> str:
    width = max([len(table.header), *(len(row.cells) for row in table.rows)])
    header = [cell(text) for text in table.header] + [""] * (width - len(table.header))
    lines = [
        "| " + " | ".join([*header, "Source"]) + " |",
        "|" + " --- |" * (width + 1),
    ]
    for row in table.rows:
        cells = [cell(text) for text in row.cells] + [""] * (width - len(row.cells))
        lines.append(
            "| " + " | ".join([*cells, " ".join(_behind(row.claim, date=True, brackets=False))]) + " |"
        )
    body = "\n".join(lines)
    return f"{line(table.lead)}\n\n{body}" if table.lead else body


def _disagreement(item: Disagreement) -> str:
    return "\n".join(f"- {_claim(claim)}" for claim in item.claims)


def _older(item: OlderStatement) -> str:
    text = " ".join([line(item.claim.text), *_behind(item.claim, date=True, label=False)])
    text += " — older edition"
    if item.superseded_by is not None:
        text += f", superseded by {_numbers((item.superseded_by,))}"
    elif item.newest:
        text += f", superseded by {inline(item.newest)}"
    instead = [f"  - Now: {_claim(claim)}" for claim in item.instead]
    return "\n".join([f"- {text}", *instead])


def _not_found(item: NotFound) -> str:
    state = "left open" if item.left_open else "nothing found"
    lines = [f"- {line(item.task)} ({state})"]
    if item.reason:
        lines.append(f"  - Reason: {inline(item.reason)}")
    searches = [
        f"“{inline(search.query)}” ({_OUTCOMES.get(search.outcome, inline(search.outcome))})"
        for search in item.searches
    ]
    if searches:
        named = "; ".join(searches[:MAX_SEARCHES])
        more = f"; and {len(searches) - MAX_SEARCHES} more" if len(searches) > MAX_SEARCHES else ""
        lines.append(f"  - Searched for: {named}{more}")
    elif item.left_open:
        lines.append("  - No search was made for it.")
    return "\n".join(lines)


def _source(source: Source) -> str:
    about = [address(source.address)] if source.address else []
    changed = f"file of {source.modified}" if source.modified else ""
    about += [inline(text) for text in (source.date, changed, source.edition) if text]
    title = f"**{inline(source.title).replace('**', '')}**" if source.title.strip() else ""
    places = f"Cited from: {'; '.join(inline(place) for place in source.places)}" if source.places else ""
    text = ". ".join(part for part in (title, " · ".join(about), places) if part)
    return f'{source.n}. <a id="source-{source.n}"></a>{text}'


def _skipped(report: Report) -> Iterator[str]:
    for skipped in report.skipped[:MAX_SKIPPED]:
        yield f"- {line(skipped.source)}: {inline(skipped.reason)}"
    if (more := how_many(report.skipped) - how_many(report.skipped[:MAX_SKIPPED])) > 0:
        yield f"- and {more:,} more; report.json names {len(named(report.skipped)):,} in all"


def _closing(report: Report) -> str:
    closing = report.closing
    found = [_stop(closing, found_something=bool(report.findings))]
    iterations = "iteration" if closing.iterations == 1 else "iterations"
    found.append(f"{closing.iterations} {iterations}, {_duration(closing.seconds)} at work.")
    if closing.models:
        found.append(f"Models: {', '.join(inline(model) for model in closing.models)}.")
    if not closing.nli:
        found.append("Support was measured without NLI.")
    if closing.quotations:
        found.append("The report is a collection of quotations: no language model wrote it.")
    found += [f"{text}." for text in _counts(report)]
    return " ".join(found)


def _stop(closing: Closing, *, found_something: bool) -> str:
    words = _STOPPED.get(closing.stop_reason)
    if closing.stop_reason in FINISHED and not found_something:
        words = "Nothing was found that answers the question"
    if words is None:
        words = f"Stopped: {inline(closing.stop_reason)}" if closing.stop_reason else "Still at work"
    code = f" (`{closing.stop_reason}`)" if closing.stop_reason in _STOPPED else ""
    code = "" if words.lower() == closing.stop_reason else code
    message = f": {inline(closing.message).rstrip('.')}" if closing.message else ""
    return f"{words}{code}{message}."


def _counts(report: Report) -> Iterator[str]:
    closing, total, unsupported = report.closing, len(report.claims), len(report.unsupported)
    if total:
        yield f"{total - unsupported} of {total} statements are supported by their sources"
    for count, one, many in (
        (closing.dropped, "unsupported statement was left out", "unsupported statements were left out"),
        (closing.removed_citations, "citation to nothing was removed", "citations to nothing were removed"),
        (how_many(report.skipped), "source could not be read", "sources could not be read"),
    ):
        if count:
            yield f"{count} {one if count == 1 else many}"


def _duration(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"
