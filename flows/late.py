"""Runs of a schedule that are late: the newest stands for all of them (a worker was away for a day)."""

from datetime import UTC, datetime
from typing import Final
from uuid import UUID

from prefect import get_run_logger
from prefect.client.orchestration import get_client
from prefect.client.schemas.filters import (
    DeploymentFilter,
    DeploymentFilterId,
    FlowRunFilter,
    FlowRunFilterExpectedStartTime,
)
from prefect.client.schemas.objects import FlowRun, StateType
from prefect.exceptions import PrefectException
from prefect.runtime import flow_run

# A newer run that ended otherwise stands for nothing: the older one is the better try.
_STANDS: Final = (
    StateType.SCHEDULED,
    StateType.PENDING,
    StateType.RUNNING,
    StateType.PAUSED,
    StateType.COMPLETED,
)
_SAME: Final = ("question", "series", "session")


def newer_due_run() -> FlowRun | None:
    """The newest run of this run's schedule that was due after it and is not over in vain; None for none.

    None, too, for a run that no schedule made, and where the server does not say.
    """
    if flow_run.id is None:
        return None
    try:
        with get_client(sync_client=True) as client:
            own = client.read_flow_run(UUID(str(flow_run.id)))
            if not own.auto_scheduled or own.deployment_id is None or own.expected_start_time is None:
                return None
            due = client.read_flow_runs(
                deployment_filter=DeploymentFilter(id=DeploymentFilterId(any_=[own.deployment_id])),
                flow_run_filter=FlowRunFilter(
                    expected_start_time=FlowRunFilterExpectedStartTime.model_validate(
                        {"after_": own.expected_start_time, "before_": datetime.now(UTC)}
                    )
                ),
            )
    except PrefectException as error:
        get_run_logger().warning("whether a newer run of the schedule is due is not known: %s", error)
        return None
    newer = [
        other
        for other in due
        if other.id != own.id
        and other.auto_scheduled
        and other.state_type in _STANDS
        and other.expected_start_time is not None
        and other.expected_start_time > own.expected_start_time
        # One deployment may have a schedule for each of several series.
        and all(other.parameters.get(name) == own.parameters.get(name) for name in _SAME)
    ]
    return max(newer, key=lambda other: other.expected_start_time or datetime.min, default=None)
