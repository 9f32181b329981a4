"""What a person sees while an evaluation runs: a bar on a terminal, a line for each stage elsewhere."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from flows.terminal import stderr_console, write_line


@contextmanager
def watched() -> Iterator[Callable[[str, int, int], None]]:
    """Gives what is to be told the stage, what is done and the total; everything goes to standard error."""
    if not sys.stderr.isatty():
        stages: set[str] = set()

        def line(what: str, done: int, total: int) -> None:  # noqa: ARG001
            if what not in stages:
                stages.add(what)
                write_line(f"{what} ({total:,})")

        yield line
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=stderr_console(), transient=True) as bars:
        tasks: dict[str, TaskID] = {}

        def bar(what: str, done: int, total: int) -> None:
            if what not in tasks:
                tasks[what] = bars.add_task(what, total=total)
            bars.update(tasks[what], completed=done, total=total)

        yield bar
