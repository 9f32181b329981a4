"""One session from outside: started, watched by its marks, killed, started again."""

import json
import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from flows.prefect_environment import point_prefect_at

from .corpus import QUESTION
from .fork_server import end_with_parent
from .marks import Mark, read_mark

ROOT: Final = Path(__file__).parents[2]
SILENCE_SECONDS: Final = 240.0  # longer than a session waits for a database server that is gone
MAX_ITERATIONS: Final = 30
NEO4J_CREDENTIALS: Final = ("LETHE_NEO4J_USER", "LETHE_NEO4J_PASSWORD")


class SilentError(Exception):
    """A session said nothing for so long that it must be stuck."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a session works."""

    name: str
    through: Literal["flow", "loop"]
    home: Path  # LETHE_HOME: results, indexes, reports
    store: str  # URL
    corpus: Path
    model_url: str
    prefect_url: str

    @property
    def report(self) -> Path:
        return self.home / "reports" / self.name / "report.json"


class SessionProcess:
    """A fork server whose children run one session, one after the other."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.pid = 0
        place.home.mkdir(parents=True, exist_ok=True)
        reading, writing = os.pipe()
        self._marks = reading
        self._rest = b""
        self._selector = selectors.DefaultSelector()
        self._selector.register(reading, selectors.EVENT_READ)
        with (place.home / "session.log").open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "benchmarks.kills.fork_server", place.through, str(writing)],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                pass_fds=(writing,),
                env=_environment(place),
                preexec_fn=end_with_parent,
            )
        os.close(writing)

    def start(self) -> None:
        """Begin, or go on with, the session in a new process."""
        parameters = {
            "question": QUESTION,
            "corpus": [str(self.place.corpus)],
            "session": self.place.name,
            "store": self.place.store,
            "max_iterations": MAX_ITERATIONS,
        }
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(parameters).encode() + b"\n")
        self._process.stdin.flush()
        self.pid = int(self.next_mark().values["pid"])

    def next_mark(self, seconds: float = SILENCE_SECONDS) -> Mark:
        """The next thing that it says. Raises TimeoutError after so many seconds, SilentError when stuck."""
        deadline = time.monotonic() + seconds
        while True:
            line, end, rest = self._rest.partition(b"\n")
            if end:
                self._rest = rest
                return read_mark(line)
            if not self._selector.select(max(0.0, deadline - time.monotonic())):
                if seconds >= SILENCE_SECONDS:
                    raise SilentError(
                        f"session {self.place.name} said nothing for {seconds:.0f} s: {self.log}"
                    )
                raise TimeoutError
            data = os.read(self._marks, 65536)
            if not data:
                raise SilentError(f"the process of session {self.place.name} is gone: {self.log}")
            self._rest += data

    def until_exit(self) -> Iterator[Mark]:
        """All that is left to be said by the child that runs, its exit last."""
        while True:
            mark = self.next_mark()
            yield mark
            if mark.what == "exited":
                return

    def kill(self) -> None:
        os.kill(self.pid, signal.SIGKILL)

    def close(self) -> None:
        """End whatever runs."""
        if self._process.poll() is None:
            self._process.kill()  # its child ends with it
        self._process.wait()
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._selector.close()
        os.close(self._marks)

    @property
    def log(self) -> Path:
        return self.place.home / "session.log"


def _environment(place: Place) -> dict[str, str]:
    """As the command line sets up a run's: results under the session's own home, no settings of a user's."""
    kept = {
        k: v
        for k, v in os.environ.items()
        if k in NEO4J_CREDENTIALS or not k.startswith(("LETHE_", "PREFECT_"))
    }
    before = dict(os.environ)
    try:
        os.environ.clear()
        os.environ.update(kept)
        point_prefect_at(place.prefect_url, place.home, own=True, debug=False)
        made = dict(os.environ)
    finally:
        os.environ.clear()
        os.environ.update(before)
    return {
        **made,
        "LETHE_HOME": str(place.home),
        "LETHE_LLM_BASE_URL": place.model_url,
        "LETHE_LLM_MODEL": "scripted",
        "LETHE_SEARCH_DOCUMENTS": "2",  # so that several searches find something
        "PYTHONPATH": os.pathsep.join((str(ROOT), *(path for path in sys.path if path))),
        # Nobody reads a killed run's log on Prefect's page.
        "PREFECT_LOGGING_TO_API_ENABLED": "false",
    }
