"""What ``research`` and ``resume`` print when a session has ended."""

import re
import shutil
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from flows.wording import STOPPED, count, duration, shown

if TYPE_CHECKING:
    from lethe_core.report.model import ReportJson

ANSWER: Final = "Answer"
MAX_ANSWER: Final = 8  # sentences or rows shown; the report has them all
NOTHING: Final = {
    "model_unavailable": "the language model gave no usable answer: the question was not researched",
    "search_unavailable": "no search could be made: the question was not researched",
}
_PAGES_NUMBER: Final = re.compile(r"\[(\d[\d\s,;–-]*)\]")
MAX_WIDTH: Final = 100
MIN_WIDTH: Final = 20
# Not "cancelled": the last line on standard error says it.
GOES_ON: Final = ("model_unavailable", "search_unavailable", "error", "")


def print_summary(report: "ReportJson", *, page: str = "", own_server: bool = False) -> None:
    """The report's path first, then what a person wants to know before opening it.

    page: of the run, at Prefect's server; empty where none ran.
    own_server: it is the local one, which stays.
    """
    lines = [report.report, ""]
    answer = [claim for claim in report.claims if claim.section == ANSWER]
    for claim in answer[:MAX_ANSWER]:
        numbers = "".join(f"[{number}]" for number in claim.citations)
        lines += _wrapped(f"{_quoted(claim.text)} {numbers}", "  • ", "    ")
    if len(answer) > MAX_ANSWER:
        lines.append(f"    … {count(len(answer) - MAX_ANSWER, 'more statement')} in the report")
    if not report.findings:
        words = NOTHING.get(report.stop_reason, "nothing was found that answers the question")
        lines += _wrapped(words, "  ", "  ")
    lines += ["", *_changed(report), *_closing(report), *_where(report, page, own_server)]
    click.echo("\n".join(lines))


def print_json(report: "ReportJson") -> None:
    click.echo(report.dumps())


def resume_line(session: str) -> str:
    return f"lethe resume {session}"


def _quoted(text: str) -> str:
    """A claim as it is shown; a page's own [1] as in the report, where it is none of its citations."""
    return _PAGES_NUMBER.sub(r"\\[\1\\]", shown(text, 400))


def _wrapped(text: str, first: str = "", others: str = "") -> list[str]:
    """Lines no wider than the terminal (COLUMNS), nor than is read well; a word that is wider stays whole."""
    width = max(MIN_WIDTH, min(MAX_WIDTH, shutil.get_terminal_size((MAX_WIDTH, 24)).columns))
    return textwrap.wrap(
        text,
        width,
        initial_indent=first,
        subsequent_indent=others,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _changed(report: "ReportJson") -> list[str]:
    """What changed since the run that this one follows, in numbers; nothing for one that follows none."""
    changes = report.changes
    if changes is None:
        return []
    numbers = (
        (len(changes.changed_figures), "changed figure"),
        (len(changes.new_findings), "new finding"),
        (len(changes.dropped), "dropped statement"),
        (len(changes.new_sources), "new source"),
        (len(changes.vanished_sources), "vanished source"),
        (len(changes.contradictions_appeared), "new contradiction"),
        (len(changes.contradictions_settled), "settled contradiction"),
    )
    told = ", ".join(count(number, what) for number, what in numbers if number)
    return _wrapped(f"since session {shown(changes.since, 64)}: {told or 'nothing new'}")


def _closing(report: "ReportJson") -> list[str]:
    from lethe_core.report.unread import how_many

    return _wrapped(
        f"{count(len(report.findings), 'finding')} from {count(len(report.sources), 'source')} · "
        f"{STOPPED.get(report.stop_reason, report.stop_reason)} · "
        f"{count(report.iterations, 'iteration')}, {duration(report.seconds)}"
        + (f" · {count(how_many(report.skipped), 'source')} could not be read" if report.skipped else "")
    )


def _where(report: "ReportJson", page: str, own_server: bool) -> list[str]:
    lines = [f"session: {report.session}"]
    if report.report:
        lines.append(f"report:  {report.report} (and {Path(report.report).with_suffix('.json').name})")
    if page:
        lines.append(f"Prefect: {page}")
    if own_server:
        note = "(its server stays for the next run; `lethe server stop` ends it)"
        lines += _wrapped(note, " " * 9, " " * 9)
    if report.stop_reason in GOES_ON:
        lines.append(f"go on:   {resume_line(report.session)}")
    elif report.stop_reason != "cancelled" and (report.status == "partial" or report.stop_reason == "budget"):
        lines.append(f"go on:   {resume_line(report.session)} with a higher limit")
    return lines
