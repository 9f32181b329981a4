"""Ctrl-C and its kin: the first ends a run in order, the second at once."""

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import Any, Final

from lethe_core.report.outcome import EXIT_CANCELLED

_SIGNALS: Final = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)


@dataclass(slots=True)
class Interruption:
    """Whether this process has been asked to end."""

    asked: bool = False


@contextmanager
def interruptible(last_words: Callable[[], None]) -> Iterator[Interruption]:
    """Raise KeyboardInterrupt at the first signal that asks this process to end.

    An exception that is raised in the middle of anything may also be lost in anything (one in some twenty,
    in a finalizer or a library that catches everything): whoever works in a loop asks what is yielded, too.

    last_words: said before a second one ends the process on the spot.
    A signal that was ignored when the process was started (nohup, a background job) stays ignored.
    """
    interruption = Interruption()

    def ask(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 (as signal calls it)
        if interruption.asked:
            last_words()
            os._exit(EXIT_CANCELLED)
        interruption.asked = True
        raise KeyboardInterrupt

    before: dict[int, Any] = {}
    for number in _SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            before[number] = signal.signal(number, ask)
    try:
        yield interruption
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
