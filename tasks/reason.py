"""Steps 7 and 8: one turn of the model, and what is wrong with its answer."""

from typing import Any

from prefect import get_run_logger, task
from prefect.cache_policies import NO_CACHE
from prefect.context import TaskRunContext

from lethe_core.errors import LetheError
from lethe_core.reasoning.protocol import Answer
from lethe_core.session.answering import as_record, ask, judge
from lethe_core.session.handle import SessionHandle
from lethe_core.session.writing import ask_section
from tasks.policies import RETRIED, run_name
from tasks.slots import model_slot


def answer_key(context: TaskRunContext, parameters: dict[str, Any]) -> str:  # noqa: ARG001
    """Under which a bought answer is kept: the session's UUID, since a name may come again after a deletion;
    the iteration and the repair round, since the same prompt later must be asked again. Nothing of the
    prompt: time feeds its budget, and a digest of it would change from run to run.
    """
    session: SessionHandle = parameters["session"]
    return f"llm-{session.state.uuid}-{session.record.iteration}-{parameters['round_number']}"


def section_key(context: TaskRunContext, parameters: dict[str, Any]) -> str:  # noqa: ARG001
    """As `answer_key`; the iterations done are in it, since a reopened session writes its sections anew."""
    session: SessionHandle = parameters["session"]
    return f"llm-{session.state.uuid}-report-{session.state.iterations}-{parameters['n']}"


# Persisted, as nothing else is: an answer whose bytes arrived is never bought again.
@task(
    name="call_llm",
    task_run_name=run_name("call model, round {round_number}"),
    cache_key_fn=answer_key,
    persist_result=True,
    result_serializer="json",
    **RETRIED,
)
def call_llm(session: SessionHandle, round_number: int) -> dict[str, Any]:
    """Step 7: ask the model; plain values, for the persisted result."""
    with model_slot(session):
        answer = ask(session, round_number)
    get_run_logger().info("%s answered with %d characters", answer.model, len(answer.text))
    return as_record(answer)


@task(
    name="parse_response",
    task_run_name=run_name("parse response, round {round_number}"),
    cache_policy=NO_CACHE,
    **RETRIED,
)
def parse_response(
    session: SessionHandle, round_number: int, answer: dict[str, Any] | None, failure: LetheError | None
) -> list[str]:
    """Step 8: commit the answer, or that none came; returns what is wrong with it."""
    if failure is not None:
        get_run_logger().warning("no answer: %s", failure)
        return judge(session, round_number, failure)
    errors = judge(session, round_number, Answer(**(answer or {})))
    if errors:
        get_run_logger().warning("answer with %d errors, the first: %.200s", len(errors), errors[0])
    return errors


# Bought once like an answer: it is the same model behind the same key.
@task(
    name="write_section",
    task_run_name="write section {n}",
    cache_key_fn=section_key,
    persist_result=True,
    result_serializer="json",
    **RETRIED,
)
def write_section(session: SessionHandle, n: int) -> dict[str, Any]:
    """One section's prose, at the end of the session."""
    with model_slot(session):
        answer = ask_section(session, n)
    get_run_logger().info("section %d: %d characters", n, len(answer.text))
    return as_record(answer)
