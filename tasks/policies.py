"""What the ten tasks share: when a retry can help, and how a run is called on Prefect's page."""

from collections.abc import Callable
from typing import Any, Final, TypedDict

from prefect.client.schemas.objects import State, TaskRun
from prefect.tasks import Task

from lethe_core.errors import ModelUnavailableError, SearchUnavailableError, StoreUnavailableError

TRANSIENT: Final = (ModelUnavailableError, SearchUnavailableError, StoreUnavailableError)


class Retrying(TypedDict):
    """Options of a task that is retried."""

    retries: int
    retry_delay_seconds: list[float]
    retry_condition_fn: Callable[[Task[..., Any], TaskRun, State[Any]], bool]


def can_pass_later(task: Task[..., Any], run: TaskRun, state: State[Any]) -> bool:  # noqa: ARG001
    """Retry what may pass by itself; a refused key or a bad answer stays what it is."""
    try:
        state.result()
    except TRANSIENT:
        return True
    except BaseException:  # noqa: BLE001 - only the kind of error is asked for here; Prefect keeps the error
        return False
    return False


RETRIED: Final[Retrying] = {
    "retries": 2,
    "retry_delay_seconds": [2.0, 10.0],
    "retry_condition_fn": can_pass_later,
}


def run_name(step: str) -> str:
    """A template for task run names: the iteration, then the step."""
    return "{session.label} " + step
