"""A Prefect server that goes away in mid-run: how its absence shows in the errors of Prefect's client."""

import os
import sys
from contextlib import suppress
from typing import NoReturn

from lethe_core.errors import LetheError

_UNREACHED = "Failed to reach API"  # Prefect's words, in a RuntimeError, when a run is begun without a server


class ServerLostError(LetheError):
    """The Prefect server of a run does not answer any more."""


def leave_at_once(code: int) -> NoReturn:
    """End this process: Prefect's threads would offer a gone server what they hold for half a minute."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):
            stream.flush()
    os._exit(code)


def is_server_loss(error: BaseException) -> bool:
    """Whether an error that ended a run, or one that it came of, is Prefect's client finding no server.

    The model's and the store's transport errors never get here: their adapters raise errors of Lethe's.
    """
    import httpx

    seen: BaseException | None = error
    visited: set[int] = set()
    while seen is not None and id(seen) not in visited and not isinstance(seen, LetheError):
        if isinstance(seen, httpx.TransportError):
            return True
        if isinstance(seen, RuntimeError) and _UNREACHED in str(seen):
            return True
        visited.add(id(seen))
        seen = seen.__cause__ or seen.__context__
    return False
