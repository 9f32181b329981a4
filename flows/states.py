"""The run's final state, which tells the truth, and whether somebody has asked it to stop."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from prefect.client.orchestration import get_client
from prefect.client.schemas.objects import State, StateType
from prefect.runtime import flow_run

from flows.watching import stop_asked
from lethe_core.report.gate import Failure
from lethe_core.session.finishing import Ending


def final_state(ending: Ending, report: Path, gate: Sequence[Failure] = ()) -> State[Any]:
    """A state named by the stop reason, or nothing_found; its message says what there is to read.

    gate: checks that the report does not pass; they fail a run that else were complete, and name its state.
    """
    found = len(ending.report.findings)
    message = (
        f"{ending.outcome.status}: {found} finding{'' if found == 1 else 's'} from "
        f"{len(ending.report.sources)} sources, stopped by {ending.reason}; report: {report}"
    )
    state_type, name = StateType[ending.outcome.state_type], ending.outcome.state_name
    if gate:
        message = f"{'; '.join(failure.message for failure in gate)} - {message}"
        if state_type is StateType.COMPLETED:
            state_type, name = StateType.FAILED, f"gate: {', '.join(failure.check for failure in gate)}"
    return State(type=state_type, name=name, message=message)


def cancel_requested() -> bool:
    """Whether the page, or whoever watches, asked this run to stop.

    A directly called run is told by the page in no other way.
    """
    if stop_asked():
        return True
    run_id = flow_run.id
    if run_id is None:
        return False
    with get_client(sync_client=True) as client:
        state = client.read_flow_run(run_id).state
    return state is not None and state.is_cancelling()
