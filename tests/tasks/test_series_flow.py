"""Runs of a series under a real Prefect server: events, the series' own artifact, and whose turn it is."""

import logging
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from prefect.client.orchestration import get_client
from prefect.client.schemas.actions import DeploymentScheduleCreate
from prefect.client.schemas.filters import ArtifactFilter, FlowRunFilter, FlowRunFilterDeploymentId
from prefect.client.schemas.objects import State
from prefect.client.schemas.schedules import IntervalSchedule
from prefect.client.schemas.sorting import FlowRunSort
from prefect.flow_engine import run_flow
from prefect.settings import PREFECT_API_URL

from flows.session import research
from lethe_core.adapters.stores import open_store, sqlite_url
from lethe_core.adapters.stores.owner import make_owner
from lethe_core.graph.nodes import SessionId

pytestmark = [pytest.mark.prefect, pytest.mark.usefixtures("prefect_server")]

QUESTION = "How long is the Tarn bridge, and when was it opened?"


def run(corpus: Path, session: str, series: str, **parameters: Any) -> State[Any]:
    state: State[Any] = research(
        QUESTION, corpus=[str(corpus)], session=session, series=series, return_state=True, **parameters
    )
    return state


def events(series: str, number: int) -> list[dict[str, Any]]:
    """The series' events in their order; they are sent behind the run's back."""
    wanted = {"filter": {"resource": {"id": [f"lethe.series.{series}"]}, "order": "ASC"}}
    until = time.monotonic() + 60
    while True:
        answer = httpx.post(f"{PREFECT_API_URL.value()}/events/filter", json=wanted, timeout=30)
        found: list[dict[str, Any]] = answer.raise_for_status().json()["events"]
        if len(found) >= number or time.monotonic() > until:
            return found
        time.sleep(0.5)


def test_an_event_tells_whether_a_report_is_news_and_nothing_of_what_it_says(
    home: Path, corpus: Path
) -> None:
    assert run(corpus, "s-1", "tarn-news").name == "goal_complete"
    assert run(corpus, "s-2", "tarn-news").name == "goal_complete"
    (corpus / "tarn-bridge.md").write_text("# Tarn bridge\n\nThe Tarn bridge is 415 metres long.\n", "utf-8")
    assert run(corpus, "s-3", "tarn-news").name == "goal_complete"
    found = events("tarn-news", 3)
    assert [event["event"] for event in found] == [
        "lethe.report.changed",  # the first report is news
        "lethe.report.unchanged",
        "lethe.report.changed",
    ]
    last = found[-1]
    assert last["resource"]["prefect.resource.name"] == "tarn-news"
    assert {"lethe.session.s-3", "session"} <= {v for one in last["related"] for v in one.values()}
    assert last["payload"] == {
        "session": "s-3",
        "run": 3,
        "since": "s-2",
        "stop_reason": "goal_complete",
        "findings": last["payload"]["findings"],
        "sources": last["payload"]["sources"],
        "new_findings": 0,
        "changed_figures": 1,
        "dropped": 1,
        "new_sources": 0,
        "vanished_sources": 0,
        "contradictions_appeared": 0,
        "contradictions_settled": 0,
    }
    assert "metres" not in str(found)
    assert str(home) not in str(found)
    with get_client(sync_client=True) as client:
        of_series = client.read_artifacts(artifact_filter=ArtifactFilter(key={"any_": ["report-tarn-news"]}))
    assert len(of_series) == 3


def test_a_run_of_no_series_emits_nothing(corpus: Path, home: Path) -> None:  # noqa: ARG001
    assert research(QUESTION, corpus=[str(corpus)], session="s-alone", return_state=True).is_completed()
    run(corpus, "s-after", "tarn-alone")
    assert [event["payload"]["session"] for event in events("tarn-alone", 1)] == ["s-after"]
    assert events("", 0) == []


def test_the_later_of_two_runs_is_skipped_and_its_state_says_so(home: Path, corpus: Path) -> None:
    run(corpus, "s-1", "tarn-skip")
    store = open_store(sqlite_url(home / "graph.db"))
    lease = store.acquire_lease(SessionId("s-1"), make_owner(), force=True)
    state = run(corpus, "s-2", "tarn-skip", if_running="skip")
    assert (state.type, state.name) == ("COMPLETED", "Skipped")
    assert "series tarn-skip is being worked on: session s-1" in str(state.message)
    assert [one.session_id for one in store.list_sessions("tarn-skip")] == ["s-1"]
    store.release_lease(lease)
    store.close()
    assert run(corpus, "s-2", "tarn-skip", if_running="skip").name == "goal_complete"


class OnWaiting(logging.Handler):
    """Does something as soon as a run says that it waits."""

    def __init__(self, act: Callable[[], None]) -> None:
        super().__init__(logging.WARNING)
        self._act = act

    def emit(self, record: logging.LogRecord) -> None:
        if record.getMessage().startswith("waiting until it is over: series"):
            self._act()


def test_the_later_of_two_runs_waits_and_reads_its_sources_when_its_turn_has_come(
    home: Path, corpus: Path
) -> None:
    run(corpus, "s-1", "tarn-wait")
    store = open_store(sqlite_url(home / "graph.db"))
    lease = store.acquire_lease(SessionId("s-1"), make_owner(), force=True)
    acted = []

    def end() -> None:
        page = corpus / "tarn-bridge.md"
        page.write_text(page.read_text("utf-8").replace("412", "415 or so, in all"), "utf-8")
        acted.append([one.session_id for one in store.list_sessions("tarn-wait")])
        store.release_lease(lease)

    handler = OnWaiting(end)
    logging.getLogger("prefect.flow_runs").addHandler(handler)
    try:
        state = run(corpus, "s-2", "tarn-wait")
    finally:
        logging.getLogger("prefect.flow_runs").removeHandler(handler)
    assert acted == [["s-1"]]  # nothing is stored of a run that waits
    assert state.name == "goal_complete"
    second = store.load_session(SessionId("s-2"))
    assert (second.n, second.previous) == (2, "s-1")
    assert "415 or so" in (home / "reports" / "s-2" / "report.md").read_text("utf-8")
    store.close()


def test_a_series_name_that_cannot_be_used_is_refused_before_anything_runs(home: Path, corpus: Path) -> None:
    state = run(corpus, "s-1", "../up")
    assert state.is_failed()
    assert "series name '../up' cannot be used" in str(state.message)
    assert not (home / "graph.db").exists()


def test_of_late_runs_of_a_schedule_the_newest_does_the_work_of_all(home: Path, corpus: Path) -> None:
    """Scheduled by the server itself, for hours in which no worker was there."""
    parameters = {"question": QUESTION, "corpus": [str(corpus)], "series": "tarn-late"}
    now = datetime.now(UTC)
    with get_client(sync_client=True) as client:
        deployment = client.create_deployment(
            client.create_flow(research),
            "late",
            schedules=[DeploymentScheduleCreate(schedule=IntervalSchedule(interval=timedelta(hours=1)))],
            parameters=parameters,
        )
        past = {"start_time": (now - timedelta(hours=3)).isoformat(), "end_time": now.isoformat()}
        asked = httpx.post(
            f"{PREFECT_API_URL.value()}/deployments/{deployment}/schedule", json=past, timeout=30
        )
        asked.raise_for_status()
        runs = client.read_flow_runs(
            flow_run_filter=FlowRunFilter(deployment_id=FlowRunFilterDeploymentId(any_=[deployment])),
            sort=FlowRunSort.EXPECTED_START_TIME_ASC,
        )
    late = [run for run in runs if run.expected_start_time and run.expected_start_time <= now]
    assert len(late) == 3
    states = [
        run_flow(research, flow_run=run, parameters=run.parameters, return_type="state") for run in late
    ]
    assert [state.name for state in states] == ["Skipped", "Skipped", "goal_complete"]
    due = f"{late[-1].expected_start_time:%Y-%m-%d %H:%M} UTC"
    assert str(states[0].message) == f"skipped: a newer run of the schedule is due since {due}"
    store = open_store(sqlite_url(home / "graph.db"))
    assert len(store.list_sessions("tarn-late")) == 1
    store.close()
