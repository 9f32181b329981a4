"""A session's report from the graph alone, as its own settings would have it."""

from typing import Any

from lethe_core.control.embedding import Embedder
from lethe_core.graph.session_state import SessionState
from lethe_core.graph.snapshot import GraphSnapshot
from lethe_core.report.assembly import DEFAULT_SETTINGS, ReportSettings, assemble
from lethe_core.report.document import Report


def stored_report(snapshot: GraphSnapshot, state: SessionState, embedder: Embedder) -> Report:
    """The report of a session as it stands; embedder: that of the session's profile."""
    return assemble(snapshot, state, embedder=embedder, settings=_settings_of(state.config))


def _settings_of(config: Any) -> ReportSettings:
    quotations = int(config.get("report_quotations", DEFAULT_SETTINGS.max_section_quotes))
    return ReportSettings(
        unsupported=config.get("report_unsupported", DEFAULT_SETTINGS.unsupported),
        max_answer_quotes=quotations,
        max_section_quotes=quotations,
    )
