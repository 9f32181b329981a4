"""What a person sees while a session runs: a live picture on a terminal, plain lines elsewhere.

Everything goes to standard error. What stands in documents, file names and models' answers is shown
without its control characters, so that none of it moves the cursor or colours the screen.
"""

import os
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Final, Protocol

from flows.wording import count, duration, shown

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from lethe_core.session.handle import Progress

PLAIN_INDEX_SECONDS: Final = 5.0  # between two lines about the index where there is no terminal
REFRESHES: Final = 6  # a second, of the live picture


class Display(Protocol):
    """A watcher of a run (``flows.watching``) that is also told other things."""

    def say(self, text: str) -> None: ...
    def checking(self, model: str) -> None: ...
    def indexing(self, done: int, total: int, name: str) -> None: ...
    def iteration(self, progress: "Progress") -> None: ...
    def assembling(self) -> None: ...
    def close(self) -> None: ...


def open_display(target: int, *, quiet: bool = False) -> Display:
    """The display that suits standard error.

    target: of the iterations, for "3 (target 30)".
    """
    if quiet:
        return QuietDisplay()
    return LiveDisplay(target) if sys.stderr.isatty() else PlainDisplay(target)


def write_line(text: str) -> None:
    """One line on standard error; that nobody listens any more is no reason to stop a run."""
    with suppress(OSError, ValueError):
        print(text, file=sys.stderr, flush=True)  # noqa: T201


def stderr_console() -> "Console":
    """Standard error for rich's pictures."""
    from rich.console import Console

    # With NO_COLOR rich leaves out colours but not other styles, such as dim.
    return Console(stderr=True, highlight=False, color_system=None if os.environ.get("NO_COLOR") else "auto")


class QuietDisplay:
    """Says nothing."""

    def say(self, text: str) -> None: ...
    def checking(self, model: str) -> None: ...
    def indexing(self, done: int, total: int, name: str) -> None: ...
    def iteration(self, progress: "Progress") -> None: ...
    def assembling(self) -> None: ...
    def close(self) -> None: ...


class PlainDisplay:
    """Lines for a log: two an iteration, one every few seconds while a folder is read."""

    def __init__(self, target: int) -> None:
        self._target = target
        self._begun = time.monotonic()
        self._indexed = 0.0
        self._shown: tuple[int, bool] = (0, False)

    def say(self, text: str) -> None:
        write_line(text)

    def checking(self, model: str) -> None:
        write_line(f"asking the model server whether it answers ({shown(model, 60)})")

    def indexing(self, done: int, total: int, name: str) -> None:
        now = time.monotonic()
        self._indexed = self._indexed or now
        if now - self._indexed >= PLAIN_INDEX_SECONDS:
            self._indexed = now
            now_read = f" ({shown(name, 60)})" if name else ""
            write_line(f"reading documents: {done:,} of {total:,}{now_read}")

    def iteration(self, progress: "Progress") -> None:
        place = (progress.iteration, progress.applied)
        if place == self._shown:
            return
        self._shown = place
        if not progress.applied:
            write_line(f"iteration {progress.iteration} (target {self._target}): {shown(progress.task, 100)}")
            return
        write_line(
            f"  {found_in(progress)} · {state_of(progress)} · {duration(time.monotonic() - self._begun)}"
        )

    def assembling(self) -> None:
        write_line("writing the report")

    def close(self) -> None: ...


class LiveDisplay:
    """A few lines at the foot of the terminal that change in place; what is said stands above them."""

    def __init__(self, target: int) -> None:
        from rich.live import Live

        self._target = target
        self._begun = time.monotonic()
        self._console = stderr_console()
        self._index: tuple[int, int, str] | None = None
        self._progress: Progress | None = None
        self._last_searches = ""
        self._doing = "starting"
        self._live: Live = Live(
            get_renderable=self._picture,
            console=self._console,
            refresh_per_second=REFRESHES,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        self._live.start()

    def say(self, text: str) -> None:
        from rich.text import Text

        self._console.print(Text(text))

    def checking(self, model: str) -> None:
        self._doing = f"asking the model server whether it answers ({shown(model, 60)})"

    def indexing(self, done: int, total: int, name: str) -> None:
        self._index = (done, total, name) if done < total else None
        self._doing = "reading documents"

    def iteration(self, progress: "Progress") -> None:
        self._index = None
        self._progress = progress
        if progress.searches:
            self._last_searches = found_in(progress)
        self._doing = "computing" if progress.applied else "thinking"

    def assembling(self) -> None:
        self._doing = "writing the report"

    def close(self) -> None:
        self._live.stop()

    def _picture(self) -> "RenderableType":
        from rich.console import Group
        from rich.progress_bar import ProgressBar
        from rich.spinner import Spinner
        from rich.table import Table
        from rich.text import Text

        elapsed = duration(time.monotonic() - self._begun)
        head = Table.grid(padding=(0, 1))
        head.add_row(
            Spinner("dots"), Text(f"{elapsed} · {self._heading()}", overflow="ellipsis", no_wrap=True)
        )
        lines: list[RenderableType] = [head]
        if self._index is not None:
            done, total, name = self._index
            bar = Table.grid(padding=(0, 1))
            bar.add_row(
                ProgressBar(total=max(total, 1), completed=done, width=30),
                Text(f"{done:,} of {total:,}  {shown(name, 60)}", overflow="ellipsis", no_wrap=True),
            )
            lines.append(bar)
        elif self._progress is not None:
            for label, text in (("task", shown(self._progress.task, 200)), ("found", self._last_searches)):
                if text:
                    lines.append(Text(f"  {label:6}{text}", overflow="ellipsis", no_wrap=True, style="dim"))
        return Group(*lines)

    def _heading(self) -> str:
        if self._progress is None:
            return self._doing
        place = f"iteration {self._progress.iteration} (target {self._target})"
        return f"{place} · {self._doing} · {state_of(self._progress)}"


def found_in(progress: "Progress") -> str:
    """This iteration's searches and what each brought."""
    if not progress.searches:
        return "no search"
    return "; ".join(
        f"searched “{shown(query, 60)}”: {f'{n_new} new' if n_new else 'nothing new'}"
        for query, n_new in progress.searches
    )


def state_of(progress: "Progress") -> str:
    """What the session holds."""
    return (
        f"{count(progress.n_evidence, 'passage')} from {count(progress.n_sources, 'source')} · "
        f"{progress.n_done} of {count(progress.n_tasks, 'task')} done"
    )
