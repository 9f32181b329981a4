"""Ctrl-C and its kin: the first ends a run in order, the second at once."""

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import Any, Final

EXIT_INTERRUPTED: Final = 130  # 128 + SIGINT, as of every interrupted program; imports nothing for it
_SIGNALS: Final = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)


class Interrupted(Exception):
    """Work that was interrupted before its end; its text says what there is to do."""


@dataclass(slots=True)
class Interruption:
    """Whether this process has been asked to end."""

    asked: bool = False


@contextmanager
def held_back() -> Iterator[None]:
    """Let what the block does be done whole: a signal that comes meanwhile is delivered at its end.

    For the few instants after which something must be remembered, such as a process that was just started.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # signals come to the main thread alone
        return
    came: list[int] = []
    before: dict[int, Any] = {}
    for number in _SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            before[number] = signal.signal(number, lambda caught, _: came.append(caught))
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for number in came:
            signal.raise_signal(number)


def leave_quietly(code: int) -> None:
    """From here on a signal ends this process with its exit code: all has been said that there is to say."""
    for number in _SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, lambda *_: os._exit(code))


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
            os._exit(EXIT_INTERRUPTED)
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
