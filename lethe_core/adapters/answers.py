"""Where the answers that were bought of a model are kept: a folder, or a store of objects (S3 and its like).

Prefect writes and reads them, each under a name that begins with its session's UUID; here they are only
listed and removed. Other programs' results in the same place are not Lethe's to touch.
"""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import Any, Final, Protocol

from lethe_core.errors import StoreUnavailableError

PREFIX: Final = "llm-"
# What the file systems of fsspec call the time of the last change: S3, Google's, Azure's, and the others.
_CHANGED: Final = ("LastModified", "mtime", "updated", "last_modified", "created")


@dataclass(frozen=True, slots=True)
class KeptAnswer:
    """One answer's file or object."""

    name: str
    path: str  # in its storage
    used: float  # when it was last written or, where that is known, read; seconds since the epoch
    size: int  # bytes


class AnswerStorage(Protocol):
    """What keeps answers. Both methods raise StoreUnavailableError where it cannot be reached."""

    def list(self, prefix: str = PREFIX) -> "list[KeptAnswer]":
        """Those whose name begins so, in any order."""
        ...

    def remove(self, answer: KeptAnswer) -> None:
        """Remove one; nothing happens when it is gone."""
        ...


def names_of(uuid: str) -> str:
    """How the names of a session's answers begin."""
    return f"{PREFIX}{uuid}-"


class AnswerFolder:
    """A folder, one worker's or shared by all."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def list(self, prefix: str = PREFIX) -> "list[KeptAnswer]":
        found = []
        for path in self._root.glob(f"**/{prefix}*"):
            try:
                stat = path.stat()
            except FileNotFoundError:
                continue  # it went while we looked
            if path.is_file():
                used = max(stat.st_mtime, stat.st_atime)
                found.append(KeptAnswer(path.name, str(path), used, stat.st_size))
        return found

    def remove(self, answer: KeptAnswer) -> None:
        Path(answer.path).unlink(missing_ok=True)


class RemoteAnswers:
    """A folder of any file system of fsspec. When something was read there nobody knows, only when written.

    filesystem: an `fsspec.AbstractFileSystem`.
    root: the folder's URL or path in it.
    """

    def __init__(self, filesystem: Any, root: str) -> None:
        self._filesystem = filesystem
        self._root = root

    def list(self, prefix: str = PREFIX) -> "list[KeptAnswer]":
        with self._reached():
            self._filesystem.invalidate_cache()  # other workers write there, too
            found = self._filesystem.find(self._root, detail=True)
            return [
                KeptAnswer(name, path, self._changed(path, entry), int(entry.get("size") or 0))
                for path, entry in found.items()
                if (name := PurePosixPath(path).name).startswith(prefix)
            ]

    def remove(self, answer: KeptAnswer) -> None:
        with self._reached(), suppress(FileNotFoundError):
            self._filesystem.rm_file(answer.path)

    def _changed(self, path: str, entry: dict[str, Any]) -> float:
        found = next((entry[key] for key in _CHANGED if entry.get(key) is not None), None)
        if found is None:
            found = self._filesystem.modified(path)
        if isinstance(found, str):
            found = datetime.fromisoformat(found)
        return found.timestamp() if isinstance(found, datetime) else float(found)

    @contextmanager
    def _reached(self) -> Iterator[None]:
        try:
            yield
        except Exception as error:  # every file system has errors of its own
            raise StoreUnavailableError(
                f"the kept answers at {self._root} cannot be reached: {str(error) or type(error).__name__}"
            ) from error
