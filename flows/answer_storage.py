"""A run's patience with a storage of answers that cannot be reached: seconds, then on without it.

Left to themselves the file systems try for half a minute where nobody listens, and for many minutes where
somebody listens and says nothing, at each answer once to read and once to write. What is not kept there is
in the session's graph nevertheless, an instant later: only an answer that a process dies with in between is
bought again.
"""

import queue
import threading
import time
from collections.abc import Callable
from typing import Any, Final

from prefect import get_run_logger
from prefect.filesystems import LocalFileSystem, RemoteFileSystem
from prefect.results import get_result_store

WAIT_SECONDS: Final = 10.0  # a bucket far away takes one or two, its keys looked up
AGAIN_SECONDS: Final = 300.0  # until a storage that was away is looked at again
# What a storage says that is there: it has no such answer. S3 refuses to say so to who may not list.
_NOT_KEPT: Final = (FileNotFoundError, PermissionError)


def bound_waiting() -> None:
    """Make the run that is at work wait no longer than that for its storage; a folder is left alone."""
    store = get_result_store()
    storage = store.result_storage
    if storage is not None and not isinstance(storage, LocalFileSystem | PatientStorage):
        store.result_storage = PatientStorage(storage)  # type: ignore[assignment]


class PatientStorage:
    """What Prefect asks of a storage block, in its place. Not one itself: it is neither saved nor loaded."""

    def __init__(self, block: Any, *, wait: float | None = None, again: float | None = None) -> None:
        """block: a storage block of Prefect's, whose methods are called in their synchronous form.

        wait, again: seconds, for WAIT_SECONDS and AGAIN_SECONDS.
        """
        self._block = block
        self._wait = WAIT_SECONDS if wait is None else wait
        self._again = AGAIN_SECONDS if again is None else again
        self._away_until: float | None = None  # by the monotonic clock; None while it answers
        self._told = False
        # By it Prefect knows where the records of results lie.
        self._block_document_id = block._block_document_id

    def read_path(self, path: str, _sync: bool = True) -> bytes:
        """Raises FileNotFoundError for an answer that is not kept, or not to be had."""
        content: bytes | None = self._attempt(lambda: self._block.read_path(path, _sync=True))
        if content is None:
            raise FileNotFoundError(path)
        return content

    def write_path(self, path: str, content: bytes, _sync: bool = True) -> str:
        self._attempt(lambda: self._block.write_path(path, content=content, _sync=True), lookup=False)
        return path

    def _resolve_path(self, path: str) -> Any:
        return self._block._resolve_path(path)

    def _attempt(self, call: Callable[[], Any], *, lookup: bool = True) -> Any:
        """What the call returns; None where the storage is away. A lookup's not finding is an answer."""
        if self._away_until is not None and time.monotonic() < self._away_until:
            return None
        try:
            if isinstance(self._block, RemoteFileSystem):
                self._block.filesystem  # noqa: B018 - its library is imported in its own time
            result = _within(self._wait, call)
        except Exception as error:  # every file system has errors of its own
            if lookup and isinstance(error, _NOT_KEPT):
                raise
            self._away(error)
            return None
        if self._away_until is not None:
            self._away_until = None
            get_run_logger().info("the storage of answers%s is there again", self._named())
        return result

    def _away(self, error: Exception) -> None:
        self._away_until = time.monotonic() + self._again
        if not self._told:
            get_run_logger().warning(
                "the storage of answers%s cannot be reached: %s (the run goes on without it and looks again "
                "every %.0f s; its answers are in the graph)",
                self._named(),
                str(error) or type(error).__name__,
                self._again,
            )
        self._told = True

    def _named(self) -> str:
        path = getattr(self._block, "basepath", "")
        return f" at {path}" if path else ""


def _within(seconds: float, call: Callable[[], Any]) -> Any:
    """What the call returns or raises; TimeoutError when it takes longer. It is left to itself then."""
    outcome: queue.SimpleQueue[tuple[Any, Exception | None]] = queue.SimpleQueue()

    def work() -> None:
        try:
            outcome.put((call(), None))
        except Exception as error:  # noqa: BLE001 - raised again where it is waited for
            outcome.put((None, error))

    # A daemon: an end of the process does not wait for it.
    threading.Thread(target=work, name="lethe-answers", daemon=True).start()
    try:
        result, error = outcome.get(timeout=seconds)
    except queue.Empty:
        raise TimeoutError(f"nothing within {seconds:.0f} s") from None
    if error is not None:
        raise error
    return result
