"""Renders a report as the JSON object of ``--json`` and ``report.json``."""

from lethe_core.report.document import Report
from lethe_core.report.escaping import plain, readable
from lethe_core.report.model import ClaimJson, ContradictionJson, ReportJson, SkippedJson, SourceJson
from lethe_core.report.outcome import outcome_of


def render_json(report: Report, *, path: str = "") -> ReportJson:
    """The versioned object; path: of the Markdown file.

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
    )
