"""Lethe's own runs on the Prefect server: old ones removed, and those ended that nobody works on any more."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from prefect.client.orchestration import SyncPrefectClient, get_client
from prefect.client.schemas.filters import (
    ArtifactFilter,
    ArtifactFilterFlowRunId,
    FlowFilter,
    FlowFilterName,
    FlowRunFilter,
    FlowRunFilterEndTime,
    FlowRunFilterId,
    FlowRunFilterState,
    FlowRunFilterStateType,
)
from prefect.client.schemas.objects import FlowRun, State, StateType
from prefect.client.schemas.sorting import FlowRunSort, TaskRunSort
from prefect.events.filters import (
    EventFilter,
    EventNameFilter,
    EventOccurredFilter,
    EventOrder,
    EventResourceFilter,
)
from prefect.exceptions import ObjectNotFound

from flows.naming import of_run

PAGE: Final = 100
# A worker ends a cancelled run within a minute; what hangs for so long has no worker any more.
CANCELLING: Final = timedelta(hours=1)
SILENCE: Final = timedelta(hours=1)  # a living run gives a sign every half minute
# One that was told to give none still makes task runs; only its folders' first reading may take hours.
STEPLESS: Final = timedelta(days=1)
ENDED: Final = [StateType.COMPLETED, StateType.FAILED, StateType.CRASHED, StateType.CANCELLED]


@dataclass(frozen=True, slots=True)
class OldRuns:
    """Which runs are too many."""

    flows: tuple[str, ...]  # by name; others are not Lethe's to remove
    before: datetime | None  # ended before
    keep: int | None  # the newest, whatever their age


def remove_old_runs(old: OldRuns) -> int:
    """Remove runs with what hangs on them (task runs, logs, artifacts); returns how many."""
    removed = 0
    with get_client(sync_client=True) as client:
        if old.before is not None:
            while runs := _ended(client, old.flows, before=old.before):
                removed += _remove(client, runs)
        if old.keep is not None:
            while runs := _ended(client, old.flows, offset=old.keep):
                removed += _remove(client, runs)
    return removed


def end_hanging(flows: Sequence[str], *, now: datetime | None = None) -> int:
    """Cancel what was asked to cancel and has nobody who would do so; returns how many."""
    now = now or datetime.now(UTC)
    ended = 0
    with get_client(sync_client=True) as client:
        for run in _in_state(client, flows, StateType.CANCELLING):
            if run.state is not None and run.state.timestamp < now - CANCELLING:
                state = State(
                    type=StateType.CANCELLED,
                    message="nobody was there to cancel it: its worker has ended",
                )
                client.set_flow_run_state(run.id, state, force=True)
                ended += 1
    return ended


def end_silent(flows: Sequence[str], at_work: Callable[[str], bool], *, now: datetime | None = None) -> int:
    """Call crashed what has given no sign for an hour and has no lease on its session; returns how many.

    A run that never gave a heartbeat may have been told to give none, or have died before its first one: it
    is called so when its last task run, or its start, is a day ago.
    An automation of the pool does so within minutes, and starts them again; this is for what it has missed
    (the server's services were away) and for runs of no pool.
    at_work: whether somebody holds the lease of a session of this name.
    """
    now = now or datetime.now(UTC)
    ended = 0
    with get_client(sync_client=True) as client:
        for run in _in_state(client, flows, StateType.RUNNING):
            sign, silence = _last_heartbeat(client, run, now), SILENCE
            if sign is None:
                sign, silence = _last_step(client, run), STEPLESS
            if sign is None or sign > now - silence or at_work(_session_of(run)):
                continue
            message = f"no sign of it since {sign:%Y-%m-%d %H:%M} UTC: its process, or its machine, has ended"
            client.set_flow_run_state(run.id, State(type=StateType.CRASHED, message=message))
            ended += 1
    return ended


def _last_heartbeat(client: SyncPrefectClient, run: FlowRun, now: datetime) -> datetime | None:
    """When the last heartbeat was since the run was last started; None for none."""
    signs = client.read_events(
        EventFilter(
            event=EventNameFilter(name=["prefect.flow-run.heartbeat"]),
            resource=EventResourceFilter(id=[f"prefect.flow-run.{run.id}"]),
            occurred=EventOccurredFilter.model_validate({"since": _started(run), "until": now}),
            order=EventOrder.DESC,
        ),
        limit=1,
    ).events
    return signs[0].occurred if signs else None


def _last_step(client: SyncPrefectClient, run: FlowRun) -> datetime | None:
    """When the last task run was since the run was last started; for none, that start."""
    started = _started(run)
    steps = client.read_task_runs(
        flow_run_filter=FlowRunFilter(id=FlowRunFilterId(any_=[run.id])),
        sort=TaskRunSort.EXPECTED_START_TIME_DESC,
        limit=1,
    )
    times = [started, *(step.state.timestamp for step in steps if step.state is not None)]
    return max((at for at in times if at is not None), default=None)


def _started(run: FlowRun) -> datetime | None:
    return run.state.timestamp if run.state is not None else run.created


def _session_of(run: FlowRun) -> str:
    return str(run.parameters.get("session") or of_run(str(run.id)))


def _in_state(client: SyncPrefectClient, flows: Sequence[str], kind: StateType) -> list[FlowRun]:
    return client.read_flow_runs(
        flow_filter=FlowFilter(name=FlowFilterName(any_=list(flows))),
        flow_run_filter=FlowRunFilter(state=_of_types([kind])),
        limit=PAGE,
    )


def _ended(
    client: SyncPrefectClient, flows: Sequence[str], *, before: datetime | None = None, offset: int = 0
) -> list[FlowRun]:
    return client.read_flow_runs(
        flow_filter=FlowFilter(name=FlowFilterName(any_=list(flows))),
        flow_run_filter=FlowRunFilter(
            state=_of_types(ENDED),
            end_time=FlowRunFilterEndTime.model_validate({"before_": before}),
        ),
        sort=FlowRunSort.END_TIME_DESC,
        limit=PAGE,
        offset=offset,
    )


def _of_types(types: list[StateType]) -> FlowRunFilterState:
    return FlowRunFilterState(type=FlowRunFilterStateType(any_=types))


def _remove(client: SyncPrefectClient, runs: Sequence[FlowRun]) -> int:
    of_runs = ArtifactFilter(flow_run_id=ArtifactFilterFlowRunId(any_=[run.id for run in runs]))
    # Prefect leaves them behind when their run goes.
    while artifacts := client.read_artifacts(artifact_filter=of_runs):
        for artifact in artifacts:
            with suppress(ObjectNotFound):
                client.delete_artifact(artifact.id)
    for run in runs:
        with suppress(ObjectNotFound):
            client.delete_flow_run(run.id)
    return len(runs)
