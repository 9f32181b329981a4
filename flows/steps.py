"""How far a command has come that goes through many things of one kind: said on standard error.

On a terminal a bar; elsewhere a line every two seconds, the first after one: what is quick says nothing.
"""

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from flows.terminal import stderr_console, write_line
from flows.wording import count

PLAIN_FIRST_SECONDS: Final = 1.0  # another has gone by since the command was typed
PLAIN_SECONDS: Final = 2.0  # between two lines where there is no terminal

Step = Callable[[int, int], None]  # told (done, total)


@contextmanager
def steps_shown(doing: str, what: str, *, quiet: bool = False) -> Iterator[Step]:
    """Show how many of the things are done while the block runs; it is given what to tell that to.

    doing: "copying"; what: the things' name in the singular.
    """
    if quiet:
        yield lambda _done, _total: None
    elif sys.stderr.isatty():
        with _bar(doing, what) as step:
            yield step
    else:
        with _lines(doing, what) as step:
            yield step


@contextmanager
def _bar(doing: str, what: str) -> Iterator[Step]:
    from rich.progress import BarColumn, Progress, TextColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[said]}"))
    with Progress(*columns, console=stderr_console(), transient=True) as progress:
        bar = progress.add_task(doing, total=None, said="")
        yield lambda done, total: progress.update(
            bar, completed=done, total=total, said=_said(done, total, what)
        )


@contextmanager
def _lines(doing: str, what: str) -> Iterator[Step]:
    # By a thread: a single step, the database's own check say, may take longer than all others.
    place = ""
    ended = threading.Event()

    def step(done: int, total: int) -> None:
        nonlocal place
        place = _said(done, total, what)

    def speak() -> None:
        wait = PLAIN_FIRST_SECONDS
        while not ended.wait(wait):
            write_line(f"{doing}: {place}" if place else f"{doing} …")
            wait = PLAIN_SECONDS

    speaker = threading.Thread(target=speak, name="lethe-steps", daemon=True)
    speaker.start()
    try:
        yield step
    finally:
        ended.set()
        speaker.join()


def _said(done: int, total: int, what: str) -> str:
    return f"{done:,} of {count(total, what)}"
