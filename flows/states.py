"""The run's states, which tell the truth: its last one, and what somebody wants of a run under way."""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from prefect import get_run_logger
from prefect.client.orchestration import get_client
from prefect.client.schemas.objects import State, StateType
from prefect.exceptions import Pause
from prefect.runtime import flow_run

from flows.watching import stop_asked
from flows.wording import STOPPED, count
from lethe_core.report.gate import Failure
from lethe_core.session.finishing import Ending
from lethe_core.session.handle import SessionHandle

POLL_SECONDS: Final = 2.0


def final_state(ending: Ending, report: Path, gate: Sequence[Failure] = ()) -> State[Any]:
    """A state named by the stop reason, or nothing_found; its message says why, and what there is to read.

    gate: checks that the report does not pass; they fail a run that else were complete, and name its state.
    """
    state_type, name = StateType[ending.outcome.state_type], ending.outcome.state_name
    message = outcome_message(ending, report)
    if gate:
        message = f"{'; '.join(failure.message for failure in gate)} - {message}"
        if state_type is StateType.COMPLETED:
            state_type, name = StateType.FAILED, f"gate: {', '.join(failure.check for failure in gate)}"
    return State(type=state_type, name=name, message=message)


def outcome_message(ending: Ending, report: Path) -> str:
    """How a session ended, in a line; what matters most comes first, since the page cuts it."""
    sources = count(len(ending.report.sources), "source")
    found = len(ending.report.findings)
    says = f"{count(found, 'finding')} from {sources}" if found else f"nothing was found in {sources}"
    why = f"{STOPPED[ending.reason]} ({ending.reason})"
    if ending.message:
        why = f"{why}: {ending.message[:500]}"
    return f"{ending.outcome.status}: {says}; {why}; report: {report}"


def asked_to_stop(session: SessionHandle) -> bool:
    """Whether somebody asked this run to end with a report, looked at before each iteration.

    A run that is suspended leaves by Pause: its worker's next one goes on with the session. While it is
    paused, which its process outlives, nothing is done, and the time is no time at work.
    """
    if stop_asked():
        return True
    state = own_state()
    if state is not None and state.is_paused():
        if state.state_details.pause_reschedule:
            get_run_logger().info("suspended after %d iterations", session.state.iterations)
            raise Pause(state=state)
        with session.resting():
            state = _until_resumed(state)
    return state is not None and state.is_cancelling()


def cancel_requested() -> bool:
    """Whether the page, or whoever watches, asked a run that has no session yet to stop."""
    if stop_asked():
        return True
    state = own_state()
    return state is not None and state.is_cancelling()


def own_state() -> State[Any] | None:
    """The run's state on the server, by which alone a directly called run is told what the page wants."""
    run_id = flow_run.id
    if run_id is None:
        return None
    with get_client(sync_client=True) as client:
        return client.read_flow_run(run_id).state


def _until_resumed(state: State[Any] | None) -> State[Any] | None:
    get_run_logger().info("paused")
    while state is not None and state.is_paused() and not stop_asked():
        time.sleep(POLL_SECONDS)
        state = own_state()
    return state
