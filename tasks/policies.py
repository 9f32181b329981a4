"""What the ten tasks share: when a retry can help, and how a run is called on Prefect's page."""

from typing import Any, Final

from prefect.client.schemas.objects import State, TaskRun
from prefect.tasks import Task

from lethe_core.errors import ModelUnavailableError, SearchUnavailableError, StoreUnavailableError

TRANSIENT: Final = (ModelUnavailableError, SearchUnavailableError, StoreUnavailableError)

RETRY_DELAYS: Final[list[float]] = [2.0, 10.0]


def can_pass_later(task: Task[..., Any], run: TaskRun, state: State[Any]) -> bool:  # noqa: ARG001
    """Retry what may pass by itself; a refused key or a bad answer stays what it is."""
    try:
        state.result()
    except TRANSIENT:
        return True
    except BaseException:  # noqa: BLE001 - only the kind of error is asked for here; Prefect keeps the error
        return False
    return False


def run_name(step: str) -> str:
    """A template for task run names: the iteration, then the step."""
    return "{session.label} " + step
