"""A slot of a concurrency limit that holds on all workers together, taken for each call of the model.

The limit is Prefect's and is made by deployments/bootstrap.py; taking a slot costs some .1 s
(benchmarks/prefect_cost.py), so none is taken where no limit is configured, nor for the reasoner that asks no
server.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from prefect import get_run_logger
from prefect.concurrency.asyncio import ConcurrencySlotAcquisitionError
from prefect.concurrency.sync import concurrency

from lethe_core.errors import ConfigError, LetheError, ModelUnavailableError
from lethe_core.session.handle import SessionHandle

# The slot of a process that was killed is free again after so long; a living one renews it meanwhile.
LEASE_SECONDS: Final = 60.0


@contextmanager
def model_slot(session: SessionHandle) -> Iterator[None]:
    """Wait for a slot, hold it while the block lasts.

    Raises ConfigError for a limit that does not exist, ModelUnavailableError where the server gives no answer
    (a busy SQLite refuses with 503): that may pass, and the call is made again.
    """
    settings = session.deps.settings
    if not settings.llm_limit or not settings.llm_base_url:
        yield
        return
    done = False
    try:
        # A renewal that fails (the server is away) must not end an answer that is being paid for.
        with concurrency(
            settings.llm_limit,
            strict=True,
            lease_duration=LEASE_SECONDS,
            raise_on_lease_renewal_failure=False,
        ):
            yield
            done = True
    except ConcurrencySlotAcquisitionError as error:
        raise _explained(settings.llm_limit, error) from error
    except Exception as error:
        if not done:
            raise
        # The answer is there, and must not be lost for a slot that could not be given back.
        get_run_logger().warning(
            "a slot of %s is free after %.0f s: %s", settings.llm_limit, LEASE_SECONDS, error
        )


def _explained(limit: str, error: ConcurrencySlotAcquisitionError) -> LetheError:
    if error.__cause__ is not None:
        return ModelUnavailableError(f"no slot of the concurrency limit {limit!r} could be taken: {error}")
    return ConfigError(
        f"the concurrency limit {limit!r} (LETHE_LLM_LIMIT) does not exist on the Prefect server: make it "
        "with `python deployments/bootstrap.py --model-concurrency N`, or unset it"
    )
