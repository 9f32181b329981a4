"""What `lethe_core` logs goes into the run's log, where a person looks for it.

Prefect has a setting for that (extra loggers), but it is the environment's of each process, needs the level
set besides, and loses what a thread without a run's context says, such as the one that renews the lease.
"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from prefect import get_run_logger
from prefect.exceptions import MissingContextError

CORE: Final = "lethe_core"


class RunLog(logging.Handler):
    """Hands records on to the log of the task that is at work, else of the flow's run."""

    def __init__(self, run: "logging.Logger | logging.LoggerAdapter[Any]") -> None:
        super().__init__(logging.INFO)
        self._run = run

    def emit(self, record: logging.LogRecord) -> None:
        try:
            log = get_run_logger()
        except MissingContextError:
            log = self._run
        log.log(record.levelno, "%s", record.getMessage(), exc_info=record.exc_info)


@contextmanager
def core_logged() -> Iterator[None]:
    """While the block lasts, in a flow, hand on what the core has to say."""
    logger, handler = logging.getLogger(CORE), RunLog(get_run_logger())
    level = logger.level
    logger.addHandler(handler)
    if logger.getEffectiveLevel() > logging.INFO:
        logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        logger.setLevel(level)
        logger.removeHandler(handler)
