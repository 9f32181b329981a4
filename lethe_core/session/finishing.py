"""The end of a session: what stopped it, the report from what is in the graph, and the last commit."""

from dataclasses import dataclass, replace

from lethe_core.errors import LetheError
from lethe_core.graph.session_state import SessionPatch, SessionStatus
from lethe_core.report.assembly import ReportSettings, assemble
from lethe_core.report.document import Report
from lethe_core.report.outcome import CANCELLED, ERROR, MODEL_UNAVAILABLE, SessionOutcome, outcome_of
from lethe_core.session.handle import SessionHandle
from lethe_core.session.stopping import stop_reason


@dataclass(frozen=True, slots=True)
class Ending:
    """How a session ended, and its report."""

    reason: str
    message: str  # what a person should know about the stop
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


def draft_report(session: SessionHandle, reason: str, message: str = "") -> Ending:
    """Assemble the report that a session ends with for a reason; nothing is written yet.

    message: what is known of it; else what the session has noted of its last answer.
    """
    settings = session.deps.settings
    if reason == MODEL_UNAVAILABLE:
        message = message or session.state.message
    report = assemble(
        session.snapshot,
        replace(session.state, stop_reason=reason, message=message, seconds=session.seconds),
        embedder=session.deps.embedder,
        settings=ReportSettings(
            unsupported=settings.report_unsupported,
            max_answer_quotes=settings.report_quotations,
            max_section_quotes=settings.report_quotations,
        ),
    )
    return Ending(reason, message, outcome_of(reason, len(report.findings)), report)


def close_session(session: SessionHandle, ending: Ending) -> None:
    """Commit how the session ended, after its report has been written."""
    with session.write() as tx:
        tx.update_session(
            SessionPatch(
                status=ending.outcome.status,
                stop_reason=ending.reason,
                message=ending.message[:2_000],
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
