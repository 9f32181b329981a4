"""What a run shows on Prefect's page. An artifact that cannot be written is logged, never fatal."""

from collections.abc import Callable
from typing import Any, Final
from uuid import UUID

from prefect import get_run_logger
from prefect.artifacts import (
    Artifact,
    create_markdown_artifact,
    create_progress_artifact,
    create_table_artifact,
    update_progress_artifact,
)

from flows.naming import artifact_key
from flows.wording import STOPPED, shown
from lethe_core.adapters.reports import Written
from lethe_core.report.outcome import FINISHED
from lethe_core.session.handle import SessionHandle

COLUMNS: Final = (
    "goal_coverage",
    "novelty",
    "overlap",
    "convergence",
    "plateau",
    "complexity",
    "n_zero_yield",
)


class ProgressBar:
    """One progress artifact a run: iterations done of their target."""

    def __init__(self, session: SessionHandle) -> None:
        self._session = session
        self._id: UUID | None = None

    def show(self) -> None:
        """Bring it up to the session's state."""
        state, settings = self._session.state, self._session.deps.settings
        self._set(self._share, f"iteration {state.iterations + 1}, aiming at {settings.max_iterations}")

    def finish(self, reason: str) -> None:
        """What was stopped before it was done does not look as if it were."""
        self._set(100.0 if reason in FINISHED else self._share, STOPPED[reason])

    @property
    def _share(self) -> float:
        return min(99.0, 100.0 * self._session.state.iterations / self._session.deps.settings.max_iterations)

    def _set(self, percent: float, doing: str) -> None:
        description = f"Session {self._session.state.session_id}: {doing}"
        if self._id is None:
            made = _tolerant(
                create_progress_artifact,
                progress=percent,
                key=artifact_key("progress", self._session.state.session_id),
                description=description,
            )
            self._id = made if isinstance(made, UUID) else None
        else:
            _tolerant(
                update_progress_artifact, artifact_id=self._id, progress=percent, description=description
            )


def publish_report(session: SessionHandle, written: Written) -> None:
    """The report, the same as JSON for who reads no worker's disk, and the table of signals by iteration."""
    session_id = session.state.session_id
    # That of a series is always its latest report, with the earlier ones as its history.
    for name in dict.fromkeys(name for name in (session_id, session.state.series) if name):
        _tolerant(
            create_markdown_artifact,
            markdown=written.markdown,
            key=artifact_key("report", name),
            description=session.state.goal[:200],
        )
    key = artifact_key("json", session_id)
    _tolerant(
        _create_json_artifact,
        data=written.json.model_dump(mode="json", by_alias=True),
        key=key,
        # The page shows it as one long line, which is for programs.
        description=f"The report for programs, report.json: prefect artifact inspect {key} --output json",
    )
    if rows := _signal_rows(session):
        _tolerant(
            create_table_artifact,
            table=rows,
            key=artifact_key("signals", session_id),
            description="Signals by iteration, and what was searched for and found in it",
        )


def _signal_rows(session: SessionHandle) -> list[dict[str, Any]]:
    state, rows = session.state, []
    for number, record in enumerate(state.signals, start=1):
        searches = [search for search in state.searches if search.iteration == number]
        rows.append(
            {
                "iteration": number,
                "new": sum(search.n_new for search in searches),
                **{name: round(float(record[name]), 3) for name in COLUMNS},
                "searched": "; ".join(shown(search.query, 60) for search in searches),
            }
        )
    return rows


def _create_json_artifact(data: dict[str, Any], key: str, description: str) -> None:
    # A type of its own: the page shows it as it is, `prefect artifact inspect` gives its JSON text.
    Artifact(type="json", data=data, key=key, description=description).create()


def _tolerant(make: Callable[..., Any], **arguments: Any) -> Any:
    try:
        return make(**arguments)
    except Exception as error:  # noqa: BLE001 - whatever the page's server says, the research goes on
        get_run_logger().warning("an artifact could not be written: %s", error)
        return None
