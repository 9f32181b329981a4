"""A run that is started again after a crash: it waits for the lease that its former process may have left."""

from contextlib import suppress

from prefect.runtime import flow_run

from flows.commands.lease import wait_for_lease
from lethe_core.config import Settings
from lethe_core.errors import SessionNotFoundError
from lethe_core.graph.nodes import SessionId


def await_former_process(settings: Settings, session_id: SessionId) -> None:
    """Wait, a minute at most, until the lease of a process that cannot be seen from here has run out.

    A first start waits for nobody. Raises SessionBusyError for a process that lives: it renews its lease.
    """
    # Another container's process, say: whether it has died is seen by its lease alone.
    if (flow_run.run_count or 0) > 1:
        with suppress(SessionNotFoundError):
            wait_for_lease(settings, session_id, quiet=True)
