"""Renders a report as the JSON object of ``--json`` and ``report.json``."""

from collections.abc import Sequence

from lethe_core.graph.outline import OutlinedSource
from lethe_core.report.diff import Changes, Statement
from lethe_core.report.document import Report
from lethe_core.report.escaping import plain, readable
from lethe_core.report.gate import Failure
from lethe_core.report.model import (
    ChangedFigureJson,
    ChangedSourceJson,
    ChangesJson,
    ClaimJson,
    ContradictionJson,
    DroppedJson,
    GateJson,
    ReportJson,
    SkippedJson,
    SourceJson,
    StatementJson,
    UnansweredJson,
)
from lethe_core.report.outcome import outcome_of


def render_json(report: Report, *, path: str = "", gate: Sequence[Failure] = ()) -> ReportJson:
    """The versioned object; path: of the Markdown file; gate: the checks that the report does not pass.

    The status follows from the stop reason and the findings; a session without a stop reason is running.
    """
    closing = report.closing
    findings = tuple(claim.id for claim in report.findings)
    stop = closing.stop_reason
    return ReportJson(
        session=closing.session,
        status=outcome_of(stop, len(findings)).status.value if stop else "running",
        stop_reason=stop,
        iterations=closing.iterations,
        seconds=round(closing.seconds, 3),
        tokens=closing.tokens,
        report=path,
        sources=tuple(
            SourceJson(
                n=source.n,
                title=readable(source.title),
                url=readable(source.address),
                date=source.date,
                edition=source.edition,
            )
            for source in report.sources
        ),
        claims=tuple(
            ClaimJson(
                id=claim.id,
                section=readable(claim.section),
                text=plain(claim.text),
                citations=claim.citations,
                edition=claim.edition,
                support=round(claim.support, 4),
                supported=claim.supported,
            )
            for claim in report.claims
        ),
        findings=findings,
        unsupported=tuple(claim.id for claim in report.unsupported),
        contradictions=tuple(
            ContradictionJson(
                claims=tuple(claim.id for claim in item.claims),
                sources=tuple(dict.fromkeys(n for claim in item.claims for n in claim.citations)),
            )
            for item in report.disagreements
        ),
        skipped=tuple(
            SkippedJson(source=readable(item.source), reason=readable(item.reason)) for item in report.skipped
        ),
        unanswered=tuple(
            UnansweredJson(part=readable(item.task), reason="open" if item.left_open else "nothing_found")
            for item in report.not_found
        ),
        changes=None if report.changes is None else render_changes(report.changes),
        gate=tuple(
            GateJson(check=failure.check, message=readable(failure.message), claims=failure.claims)
            for failure in gate
        ),
    )


def render_changes(changes: Changes) -> ChangesJson:
    """What changed, as `lethe diff --json` says it too."""
    return ChangesJson(
        since=changes.since,
        changed=bool(changes),
        new_findings=_statements(changes.new_findings),
        changed_figures=tuple(
            ChangedFigureJson(old=_statement(figure.old), new=_statement(figure.new))
            for figure in changes.changed_figures
        ),
        dropped=tuple(
            DroppedJson(
                statement=_statement(item.statement), reason="vanished" if item.vanished else "changed"
            )
            for item in changes.dropped
        ),
        new_sources=tuple(map(_source, changes.new_sources)),
        vanished_sources=tuple(map(_source, changes.vanished_sources)),
        contradictions_appeared=tuple(map(_statements, changes.appeared)),
        contradictions_settled=tuple(map(_statements, changes.settled)),
    )


def _statements(statements: Sequence[Statement]) -> tuple[StatementJson, ...]:
    return tuple(map(_statement, statements))


def _statement(statement: Statement) -> StatementJson:
    return StatementJson(
        text=plain(statement.text), claims=statement.ids, sources=tuple(map(_source, statement.sources))
    )


def _source(source: OutlinedSource) -> ChangedSourceJson:
    return ChangedSourceJson(title=readable(source.title), url=readable(source.address), date=source.date)
