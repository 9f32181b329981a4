"""Report files: written beside the old ones and moved over them, so that a reader never sees half of one."""

import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from lethe_core.errors import StoreUnavailableError
from lethe_core.report.document import Report
from lethe_core.report.gate import Failure
from lethe_core.report.markdown import render_markdown
from lethe_core.report.model import ReportJson
from lethe_core.report.to_json import render_json

MARKDOWN: Final = "report.md"
JSON: Final = "report.json"


@dataclass(frozen=True, slots=True)
class Written:
    """A report as it lies in its folder now."""

    path: Path  # of the Markdown file
    markdown: str
    json: ReportJson


def write_report(report: Report, folder: Path, gate: Sequence[Failure] = ()) -> Written:
    """Write ``report.md`` and ``report.json``.

    gate: the checks that the report does not pass; the JSON file says them.
    Raises StoreUnavailableError when the folder cannot be written to.
    """
    path, markdown = folder / MARKDOWN, render_markdown(report)
    as_json = render_json(report, path=str(path), gate=gate)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _replace(path, markdown)
        _replace(folder / JSON, as_json.dumps() + "\n")
    except OSError as error:
        raise StoreUnavailableError(
            f"the report cannot be written to {folder}: {error.strerror or error} "
            "(name another folder with --out; the session itself is safe)"
        ) from None
    return Written(path, markdown, as_json)


def _replace(path: Path, text: str) -> None:
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        # mkstemp makes private files; a report is as readable as the folder's other files.
        Path(name).chmod(0o666 & ~_umask())
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
