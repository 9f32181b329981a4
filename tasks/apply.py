"""Steps 9 and 10: operations into the graph, tool calls and their evidence, and the signals."""

from prefect import get_run_logger, task
from prefect.cache_policies import NO_CACHE

from lethe_core.session.applying import apply_answer
from lethe_core.session.calling import execute_calls
from lethe_core.session.handle import SessionHandle
from lethe_core.session.measuring import measure
from tasks.policies import RETRIED, run_name


# Never persisted: it changes the session that it is given, and a cache hit would skip the change.
@task(
    name="apply_operations",
    task_run_name=run_name("apply operations"),
    cache_policy=NO_CACHE,
    **RETRIED,
)
def apply_operations(session: SessionHandle) -> int:
    """Step 9: one transaction for the operations, then the tool calls; returns how much was found."""
    get_run_logger().info("operations: %s", apply_answer(session))
    found = execute_calls(session)
    for call, result in zip(session.record.calls, session.record.results, strict=True):
        get_run_logger().info(
            "%s %.120r: %s, %d new %s", call.tool, call.argument, result.outcome, result.n_new, result.reason
        )
    session.announce()
    return found


@task(
    name="compute_signals",
    task_run_name=run_name("compute signals"),
    cache_policy=NO_CACHE,
    **RETRIED,
)
def compute_signals(session: SessionHandle) -> float:
    """Step 10: the iteration's signals, which close its record; returns convergence."""
    signals = measure(session)
    get_run_logger().info(
        "coverage %.2f, novelty %.2f, convergence %.2f, plateau %.2f",
        signals.goal_coverage,
        signals.novelty,
        signals.convergence,
        signals.plateau,
    )
    return signals.convergence
