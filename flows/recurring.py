"""Recurring research: the flow `lethe` for schedules, which may be switched on before they have a question.

No server looks at the parameters of a run that a schedule makes. Without any question its process would end
before there is a flow that could say why; here it has an empty one, and the run fails with what to do.
"""

from collections.abc import Callable
from inspect import signature
from typing import Any

from prefect import flow
from prefect.client.schemas.objects import State

from flows.naming import flow_run_name
from flows.session import research
from lethe_core.errors import UsageError


def _as_research(run: Callable[..., State[Any]]) -> Callable[..., State[Any]]:
    """Give a flow the parameters and the help of `research`, and its question a default."""
    given = signature(research.fn)
    parameters = [
        one.replace(default="") if one.name == "question" else one for one in given.parameters.values()
    ]
    run.__signature__ = given.replace(parameters=parameters)  # type: ignore[attr-defined]
    run.__doc__ = research.fn.__doc__
    return run


@flow(name="lethe", flow_run_name=flow_run_name, persist_result=False)
@_as_research
def recur(**parameters: Any) -> State[Any]:
    if not parameters["question"].strip():
        raise UsageError(
            "there is no question: give one to the schedule, or to its deployment (parameter `question`)"
        )
    return research.fn(**parameters)
