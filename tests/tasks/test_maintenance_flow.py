"""The maintenance flow under a real Prefect server: backup first, then what is old goes."""

import sqlite3
import time
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from prefect.client.orchestration import SyncPrefectClient, get_client
from prefect.client.schemas.filters import ArtifactFilter, FlowFilter
from prefect.client.schemas.objects import FlowRun, State, StateType

from flows.maintenance import maintain
from flows.old_runs import end_hanging, end_silent
from flows.session import research
from lethe_core.adapters.stores import open_store, sqlite_url
from lethe_core.adapters.stores.owner import make_owner
from lethe_core.graph.nodes import SessionId
from lethe_core.graph.session_state import SessionPatch, SessionStatus
from tasks.select import select_task

pytestmark = [pytest.mark.prefect, pytest.mark.usefixtures("prefect_server", "home")]

QUESTION = "How long is the Tarn bridge, and when was it opened?"


@pytest.fixture
def client():
    with get_client(sync_client=True) as made:
        yield made


def run(corpus: Path, session: str, **parameters: Any) -> None:
    assert research(
        QUESTION, corpus=[str(corpus)], session=session, return_state=True, **parameters
    ).is_completed()


def keep(**parameters: Any) -> State[Any]:
    state: State[Any] = maintain(return_state=True, **parameters)
    return state


def age(home: Path, session: str, days: float) -> None:
    with closing(sqlite3.connect(home / "graph.db")) as database:
        database.execute(
            "UPDATE session SET updated_at = ? WHERE id = ?", (time.time() - days * 86400, session)
        )
        database.commit()


def sessions(home: Path) -> list[str]:
    with closing(open_store(sqlite_url(home / "graph.db"))) as store:
        return [str(state.session_id) for state in store.list_sessions()]


def test_old_sessions_go_after_a_backup_that_has_them(home: Path, corpus: Path, client: Any) -> None:
    for name in ("s-old", "s-new"):
        run(corpus, name)
    run(corpus, "s-series", series="tarn-kept")
    age(home, "s-old", 100)
    age(home, "s-series", 100)
    state = keep(backup_to=str(home / "copies"), sessions_older_than="90d")
    assert state.is_completed(), state.message
    assert sessions(home) == ["s-new", "s-series"]  # of a series the last good run stays
    (backup,) = (home / "copies").iterdir()
    with closing(open_store(sqlite_url(backup))) as store:
        assert len(store.list_sessions()) == 3
    assert "1 deleted, 1 left" in str(state.message)
    found = client.read_artifacts(artifact_filter=ArtifactFilter(key={"any_": ["lethe-maintenance"]}))
    assert "1 deleted, 1 left" in str(found[-1].data)


def test_no_session_goes_unasked(home: Path, corpus: Path) -> None:
    run(corpus, "s-old")
    age(home, "s-old", 4000)
    assert keep().is_completed()
    assert sessions(home) == ["s-old"]


def test_without_the_backup_that_was_asked_for_nothing_is_removed(home: Path, corpus: Path) -> None:
    run(corpus, "s-old")
    age(home, "s-old", 100)
    (home / "file").write_text("", "utf-8")
    state = keep(backup_to=str(home / "file" / "copies"), sessions_older_than="90d")
    assert state.is_failed()
    assert "the backup cannot be written" in str(state.message)
    assert sessions(home) == ["s-old"]
    relative = keep(backup_to="copies")
    assert relative.is_failed()
    assert "absolute path" in str(relative.message)


@pytest.mark.parametrize("parameters", [{"sessions_older_than": "soon"}, {"keep_runs": 0}])
def test_a_wrong_value_is_refused_before_anything_is_removed(home: Path, parameters: dict[str, Any]) -> None:
    state = keep(**parameters)
    assert state.is_failed()
    assert next(iter(parameters)) in str(state.message)
    assert not (home / "graph.db").exists()


def research_runs(client: SyncPrefectClient) -> list[FlowRun]:
    return client.read_flow_runs(flow_filter=FlowFilter(name={"any_": ["lethe"]}))


def test_old_runs_go_with_their_artifacts_and_the_newest_stay(corpus: Path, client: Any) -> None:
    for name in ("s-a", "s-b", "s-c"):
        run(corpus, name)
    state = keep(keep_runs=2, runs_older_than="")
    assert state.is_completed(), state.message
    # Of Lethe's ended runs the newest, whichever test began them; what other tests' kills left open is none.
    left = [run for run in research_runs(client) if run.state is not None and run.state.is_final()]
    assert {run.parameters["session"] for run in left} == {"s-b", "s-c"}
    keys = {one.key for one in client.read_artifacts(artifact_filter=ArtifactFilter(key={"like_": "-s-"}))}
    assert {"report-s-b", "report-s-c"} <= keys
    assert "report-s-a" not in keys


def test_what_hangs_in_its_cancelling_is_ended_when_nobody_can_be_there_any_more(client: Any) -> None:
    made = client.create_flow_run(research, parameters={"question": QUESTION})
    client.set_flow_run_state(made.id, State(type=StateType.CANCELLING), force=True)
    end_hanging(["lethe"])
    assert client.read_flow_run(made.id).state.type is StateType.CANCELLING
    assert end_hanging(["lethe"], now=datetime.now(UTC) + timedelta(hours=2)) >= 1
    state = client.read_flow_run(made.id).state
    assert state.is_cancelled()
    assert "its worker has ended" in str(state.message)


def beat(client: Any, run: Any, at: datetime) -> None:
    """A sign of life that the run gives."""
    event = {
        "id": str(uuid4()),
        "occurred": at.isoformat(),
        "event": "prefect.flow-run.heartbeat",
        "resource": {"prefect.resource.id": f"prefect.flow-run.{run}"},
    }
    client._client.post("/events", json=[event]).raise_for_status()


def test_a_run_that_died_unseen_is_called_crashed_and_a_living_one_is_left(client: Any) -> None:
    runs = {
        name: client.create_flow_run(research, parameters={"question": QUESTION, "session": f"s-{name}"}).id
        for name in ("dead", "beating", "leased", "mute")
    }
    for run_id in runs.values():
        client.set_flow_run_state(run_id, State(type=StateType.RUNNING), force=True)
    begun = datetime.now(UTC) + timedelta(seconds=1)
    for name, at in (("dead", 0), ("leased", 0), ("beating", 0), ("beating", 110)):
        beat(client, runs[name], begun + timedelta(minutes=at))
    time.sleep(5)  # the server writes events down some seconds after they are sent

    def crashed(minutes: float) -> dict[str, str]:
        """Which of them are so after maintenance at that time; other tests' kills leave runs behind, too."""
        end_silent(["lethe"], {"s-leased"}.__contains__, now=begun + timedelta(minutes=minutes))
        states = {name: client.read_flow_run(run_id).state for name, run_id in runs.items()}
        return {name: state.message for name, state in states.items() if state.is_crashed()}

    assert crashed(30) == {}
    assert crashed(120).keys() == {"dead"}
    assert "no sign of it since" in crashed(120)["dead"]
    assert "runs that died unseen: 0 ended" in str(keep().message)
    for run_id in runs.values():
        client.delete_flow_run(run_id)


def test_a_run_that_never_gave_a_heartbeat_is_called_crashed_a_day_after_its_last_step(client: Any) -> None:
    runs = {
        name: client.create_flow_run(research, parameters={"question": QUESTION, "session": f"s-{name}"}).id
        for name in ("dead", "stepping", "leased")
    }
    for run_id in runs.values():
        client.set_flow_run_state(run_id, State(type=StateType.RUNNING), force=True)
    time.sleep(0.1)
    step = client.create_task_run(select_task, runs["stepping"], "0", state=State(type=StateType.RUNNING))
    stepped = client.read_task_run(step.id).state.timestamp
    begun = max(client.read_flow_run(run_id).state.timestamp for run_id in runs.values())
    assert begun < stepped

    def crashed(now: datetime) -> set[str]:
        end_silent(["lethe"], {"s-leased"}.__contains__, now=now)
        return {name for name, run_id in runs.items() if client.read_flow_run(run_id).state.is_crashed()}

    assert crashed(begun + timedelta(hours=23)) == set()
    assert crashed(begun + (stepped - begun) / 2 + timedelta(days=1)) == {"dead"}
    assert crashed(stepped + timedelta(days=1, seconds=1)) == {"dead", "stepping"}
    for run_id in runs.values():
        client.delete_flow_run(run_id)


def test_a_session_that_waits_to_be_resumed_is_named(home: Path, corpus: Path) -> None:
    run(corpus, "s-done")
    run(corpus, "s-waits")
    with closing(open_store(sqlite_url(home / "graph.db"))) as store:
        lease = store.acquire_lease(SessionId("s-waits"), make_owner())
        with store.transaction(lease) as tx:
            tx.update_session(SessionPatch(status=SessionStatus.RUNNING))
        assert "interrupted sessions: none" in str(keep().message)  # somebody is at work on it
        store.release_lease(lease)
    age(home, "s-waits", 1)
    message = str(keep().message)
    assert "interrupted sessions: s-waits: run them again" in message
