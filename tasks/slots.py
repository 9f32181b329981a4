"""A slot of a concurrency limit that holds on all workers together, taken for each call of the model.

The limit is Prefect's and is made by deployments/bootstrap.py; taking a slot costs .36 s, so none is taken
where no limit is configured, nor for the reasoner that asks no server.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from prefect.concurrency.asyncio import ConcurrencySlotAcquisitionError
from prefect.concurrency.sync import concurrency

from lethe_core.errors import ConfigError
from lethe_core.session.handle import SessionHandle

# The slot of a process that was killed is free again after so long; a living one renews it meanwhile.
LEASE_SECONDS: Final = 60.0


@contextmanager
def model_slot(session: SessionHandle) -> Iterator[None]:
    """Wait for a slot, hold it while the block lasts. Raises ConfigError for a limit that does not exist."""
    settings = session.deps.settings
    if not settings.llm_limit or not settings.llm_base_url:
        yield
        return
    try:
        # A renewal that fails (the server is away) must not end an answer that is being paid for.
        with concurrency(
            settings.llm_limit,
            strict=True,
            lease_duration=LEASE_SECONDS,
            raise_on_lease_renewal_failure=False,
        ):
            yield
    except ConcurrencySlotAcquisitionError as error:
        raise ConfigError(
            f"the concurrency limit {settings.llm_limit!r} (LETHE_LLM_LIMIT) does not exist on the Prefect "
            "server: make it with `python deployments/bootstrap.py --model-concurrency N`, or unset it"
        ) from error
