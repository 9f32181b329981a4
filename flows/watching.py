"""Who watches a directly called run: the command line listens here. On a worker nobody does."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

from lethe_core.session.handle import Progress


class Watcher(Protocol):
    """Is told what happens while a session runs, and may ask it to end."""

    def checking(self, model: str) -> None: ...
    def indexing(self, done: int, total: int, name: str) -> None: ...
    def iteration(self, progress: Progress) -> None: ...
    def assembling(self) -> None: ...
    def stop_asked(self) -> bool: ...


@dataclass(slots=True)
class _Current:
    watcher: Watcher | None = None


_current = _Current()


@contextmanager
def watched_by(watcher: Watcher) -> Iterator[None]:
    """Tell a watcher of every run of this process while the block lasts."""
    _current.watcher = watcher
    try:
        yield
    finally:
        _current.watcher = None


def watched() -> bool:
    """Whether this process runs for somebody who watches it."""
    return _current.watcher is not None


def on_check(model: str) -> None:
    if _current.watcher is not None:
        _current.watcher.checking(model)


def on_index(done: int, total: int, name: str) -> None:
    if _current.watcher is not None:
        _current.watcher.indexing(done, total, name)


def on_progress(progress: Progress) -> None:
    if _current.watcher is not None:
        _current.watcher.iteration(progress)


def on_assembly() -> None:
    if _current.watcher is not None:
        _current.watcher.assembling()


def stop_asked() -> bool:
    """Whether the watcher wants the run to end; asked at the start of each iteration."""
    return _current.watcher is not None and _current.watcher.stop_asked()
