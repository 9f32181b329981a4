"""Whether a report can be written where it is to go, tried before the work and not after it."""

import tempfile
from pathlib import Path
from typing import IO, Final

from lethe_core.errors import UsageError

PROBE_BYTES: Final = 64 * 1024  # as a report of a few findings: a full disk takes an empty file all the same


def check_folder(folder: Path) -> None:
    """Make the folder and write a file into it that is gone again. Raises UsageError when that fails."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder, buffering=0) as file:
            _fill(file)
    except OSError as error:
        raise _refusal(folder, error, "DIR") from None


def check_file(path: Path) -> None:
    """The same for one file, which is left as it is. Raises UsageError."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists():
            path.open("ab").close()
        with tempfile.TemporaryFile(dir=path.parent, buffering=0) as file:
            _fill(file)
    except OSError as error:
        raise _refusal(path, error, "FILE") from None


def _fill(file: IO[bytes]) -> None:
    """Write all of the probe: what little room there is takes a part of it without an error."""
    left = PROBE_BYTES
    while left > 0:
        left -= file.write(b"\0" * left)


def _refusal(path: Path, error: OSError, what: str) -> UsageError:
    return UsageError(
        f"the report cannot be written to {path}: {error.strerror or error} (name another --out {what})"
    )
