"""Steps 4 to 6: expand, pack and write down the context."""

from prefect import get_run_logger, task
from prefect.cache_policies import NO_CACHE

from lethe_core.graph.nodes import NodeId
from lethe_core.session.composing import expand, pack_evidence, serialize
from lethe_core.session.handle import SessionHandle
from tasks.policies import RETRIED, run_name


@task(name="expand_context", task_run_name=run_name("expand context"), cache_policy=NO_CACHE)
def expand_context(session: SessionHandle, chosen: NodeId) -> int:
    """Step 4: Personalized PageRank from the selected task."""
    reached = expand(session, chosen)
    get_run_logger().info("%d pieces of evidence reached", reached)
    return reached


@task(name="pack_context", task_run_name=run_name("pack context"), cache_policy=NO_CACHE)
def pack_context(session: SessionHandle, chosen: NodeId) -> int:
    """Step 5: score and pack under the token budget."""
    packed = pack_evidence(session, chosen)
    get_run_logger().info("%d pieces of evidence packed", packed)
    return packed


@task(
    name="serialize_context",
    task_run_name=run_name("serialize context"),
    cache_policy=NO_CACHE,
    **RETRIED,
)
def serialize_context(session: SessionHandle, chosen: NodeId) -> int:
    """Step 6: the DIN-Read text; commits what was decided so far as the phase ``begin``."""
    length = serialize(session, chosen)
    get_run_logger().info("prompt of %d characters", length)
    return length
