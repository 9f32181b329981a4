"""What a session says of itself while it runs, a line at a time, so that it is known where a kill fell."""

import json
import os
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias

What: TypeAlias = Literal[
    "started",  # by the fork server: the child's process number
    "reading",  # a file of the corpus is read
    "leased",
    "asking",  # the model, under the key that its answer will be kept under
    "answered",
    "searching",
    "found",
    "writing",  # a transaction is being staged
    "committing",
    "committed",
    "ended",  # the flow, with its state
    "exited",  # by the fork server: how the child's process ended
]

PIPE_LINE: Final = 4096  # bytes that a pipe takes in one piece


@dataclass(frozen=True, slots=True)
class Mark:
    what: What
    values: dict[str, Any] = field(default_factory=dict)


def write_mark(descriptor: int, what: What, **values: Any) -> None:
    """Say it at once and in one piece; nothing is buffered in a process that may be killed."""
    line = json.dumps({"what": what, "values": values}) + "\n"
    assert len(line) < PIPE_LINE
    os.write(descriptor, line.encode())


def read_mark(line: bytes) -> Mark:
    return Mark(**json.loads(line))
