"""What a run writes into its log as a warning, in a line each and without Prefect's dress."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from flows.terminal import Display
from flows.wording import shown

_OF_THE_ENGINE: Final = ("Finished in state", "Encountered exception", "Crash detected")
_LOGGERS: Final = ("prefect.flow_runs", "prefect.task_runs")


class Notes(logging.Handler):
    """Shows warnings on a display, which may be a silent one, and remembers the last."""

    def __init__(self, display: Display) -> None:
        super().__init__(logging.WARNING)
        self._display = display
        self.last = ""

    def emit(self, record: logging.LogRecord) -> None:
        # Records with a trace, and of states, are the engine's; the error itself is said at the end.
        if record.exc_info or record.getMessage().startswith(_OF_THE_ENGINE):
            return
        self.last = shown(record.getMessage(), 300)
        self._display.say(f"note: {self.last}")

    @contextmanager
    def taken(self) -> Iterator[None]:
        """Take the warnings of every run of this process while the block lasts."""
        loggers = [logging.getLogger(name) for name in _LOGGERS]
        for logger in loggers:
            logger.addHandler(self)
        try:
            yield
        finally:
            for logger in loggers:
                logger.removeHandler(self)
