"""The end of a session: what stopped it, the report from what is in the graph, and the last commit."""

from dataclasses import dataclass, replace

from lethe_core.errors import LetheError
from lethe_core.graph.session_state import SessionPatch, SessionStatus
from lethe_core.report.assembly import ReportSettings, assemble
from lethe_core.report.document import Report
from lethe_core.report.outcome import CANCELLED, ERROR, SessionOutcome, outcome_of
from lethe_core.session.handle import SessionHandle
from lethe_core.session.stopping import stop_reason


@dataclass(frozen=True, slots=True)
class Ending:
    """How a session ended, and its report."""

    reason: str
    outcome: SessionOutcome
    report: Report


def check_stop(session: SessionHandle) -> str:
    """Why the next iteration must not begin; empty when it may. An open iteration is always gone on with."""
    if session.state.phase is not None:
        return CANCELLED if session.cancelled() else ""
    return stop_reason(
        session.state,
        session.snapshot,
        session.deps.budget,
        seconds=session.seconds,
        cancelled=session.cancelled(),
    )


def draft_report(session: SessionHandle, reason: str) -> Ending:
    """Assemble the report that a session ends with for a reason; nothing is written yet."""
    settings = session.deps.settings
    report = assemble(
        session.snapshot,
        replace(session.state, stop_reason=reason, seconds=session.seconds),
        embedder=session.deps.embedder,
        settings=ReportSettings(
            unsupported=settings.report_unsupported,
            max_answer_quotes=settings.report_quotations,
            max_section_quotes=settings.report_quotations,
        ),
    )
    return Ending(reason, outcome_of(reason, len(report.findings)), report)


def close_session(session: SessionHandle, ending: Ending, message: str = "") -> None:
    """Commit how the session ended, after its report has been written."""
    with session.write() as tx:
        tx.update_session(
            SessionPatch(
                status=ending.outcome.status,
                stop_reason=ending.reason,
                message=message,
                n_findings=len(ending.report.findings),
            )
        )


def record_failure(session: SessionHandle, error: BaseException) -> None:
    """Leave a word in the session about the error that ended its run; what was committed stays."""
    message = str(error) if isinstance(error, LetheError) else f"{type(error).__name__}: {error}"
    with session.write() as tx:
        tx.update_session(
            SessionPatch(status=SessionStatus.FAILED, stop_reason=ERROR, message=message[:2_000])
        )
