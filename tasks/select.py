"""Steps 1 to 3: the ready set, the task to work on, and SIMILAR_TO."""

from prefect import get_run_logger, task
from prefect.cache_policies import NO_CACHE

from lethe_core.graph.nodes import NodeId
from lethe_core.session.handle import SessionHandle
from lethe_core.session.selecting import ready_tasks, select
from lethe_core.session.syncing import sync_similar as sync
from tasks.policies import RETRIED, run_name


# Each writes to the store, so each may meet a busy one; what is committed already is skipped by the record.
@task(name="ready_set", task_run_name=run_name("ready set"), cache_policy=NO_CACHE, **RETRIED)
def ready_set(session: SessionHandle) -> list[NodeId]:
    """Step 1: tasks that could be worked on."""
    ready = ready_tasks(session)
    get_run_logger().info("tasks ready: %d", len(ready))
    return ready


@task(name="select_task", task_run_name=run_name("select task"), cache_policy=NO_CACHE, **RETRIED)
def select_task(session: SessionHandle, ready: list[NodeId]) -> NodeId:
    """Step 2: the task to work on, now ACTIVE."""
    chosen = select(session, ready)
    node = session.snapshot.tasks[chosen]
    get_run_logger().info("%s: %.120s", node.short_id, node.description)
    session.announce()
    return chosen


@task(name="sync_similar", task_run_name=run_name("sync similar"), cache_policy=NO_CACHE, **RETRIED)
def sync_similar(session: SessionHandle, final: bool = False) -> int:
    """Step 3: edges between what different tasks found; once more before assembly."""
    changed = sync(session, final=final)
    get_run_logger().info("%d SIMILAR_TO edges changed", changed)
    return changed
