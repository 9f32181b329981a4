"""What a run of a series does beside its research: takes its turn, and tells what changed."""

import time
from collections.abc import Callable
from contextlib import closing
from typing import Any, Final

from prefect import get_run_logger
from prefect.client.schemas.objects import State, StateType
from prefect.events import emit_event

from flows.late import newer_due_run
from lethe_core.adapters.stores import open_store
from lethe_core.config import Settings
from lethe_core.errors import SeriesBusyError, SessionNotFoundError
from lethe_core.graph.nodes import SessionId
from lethe_core.graph.store import GraphStore
from lethe_core.report.document import Report
from lethe_core.report.outcome import CAPS, FINISHED
from lethe_core.session.handle import SessionHandle

SKIPPED: Final = "Skipped"
CHANGED: Final = "lethe.report.changed"
UNCHANGED: Final = "lethe.report.unchanged"
POLL_SECONDS: Final = 2.0


def await_turn(settings: Settings, busy: SeriesBusyError, cancelled: Callable[[], bool]) -> State[Any] | None:
    """Wait until the run that is at work has ended; the state to end with where this one must not go on.

    Nothing of a run is stored before its turn, and its sources are read when it has come, not before.
    """
    if settings.if_running == "skip":
        return State(type=StateType.COMPLETED, name=SKIPPED, message=f"skipped: {busy}")
    get_run_logger().warning("waiting until it is over: %s", busy)
    with closing(open_store(settings.store_url)) as store:
        while _at_work(store, SessionId(busy.session_id)):
            if cancelled():
                return State(type=StateType.CANCELLED, message=f"cancelled while waiting: {busy}")
            time.sleep(POLL_SECONDS)
    return None


def overtaken(settings: Settings) -> State[Any] | None:
    """The state to end with where a newer run of this run's schedule is due: it does the work of both."""
    if not settings.series or (newer := newer_due_run()) is None:
        return None
    message = (
        f"skipped: a newer run of the schedule is due since {newer.expected_start_time:%Y-%m-%d %H:%M %Z}"
    )
    return State(type=StateType.COMPLETED, name=SKIPPED, message=message)


def _at_work(store: GraphStore, session_id: SessionId) -> bool:
    try:
        return store.lease_holder(session_id) is not None
    except SessionNotFoundError:
        return False


def tell_changes(session: SessionHandle, report: Report, reason: str) -> None:
    """Emit whether the report of a series says something new; the first one of a series does.

    An interrupted or failed run tells nothing: the next one is compared with the one before it.
    """
    state = session.state
    if not state.series or reason not in (*FINISHED, *CAPS):
        return
    changes = report.changes
    counts = {}
    if changes is not None:
        counts = {
            "new_findings": len(changes.new_findings),
            "changed_figures": len(changes.changed_figures),
            "dropped": len(changes.dropped),
            "new_sources": len(changes.new_sources),
            "vanished_sources": len(changes.vanished_sources),
            "contradictions_appeared": len(changes.appeared),
            "contradictions_settled": len(changes.settled),
        }
    try:
        emit_event(
            CHANGED if changes is None or changes else UNCHANGED,
            resource={
                "prefect.resource.id": f"lethe.series.{state.series}",
                "prefect.resource.name": state.series,
            },
            related=[
                {
                    "prefect.resource.id": f"lethe.session.{state.session_id}",
                    "prefect.resource.role": "session",
                }
            ],
            # Names and numbers alone: what was asked and found is nobody's business but the report's.
            payload={
                "session": state.session_id,
                "run": state.n,
                "since": state.previous,
                "stop_reason": reason,
                "findings": len(report.findings),
                "sources": len(report.sources),
                **counts,
            },
        )
    except Exception as error:  # noqa: BLE001 - whatever the server says, the report is written
        get_run_logger().warning("the event about what changed could not be emitted: %s", error)
