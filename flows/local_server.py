"""Lethe's own Prefect server: started when none is configured, reused by every run, shared by all processes.

It runs in a process of its own, detached from the terminal, on 127.0.0.1, with its files under
LETHE_HOME/prefect. Several commands that start at once start one server: who holds the file lock starts it,
the others wait and use it. Imports no Prefect.
"""

import contextlib
import errno
import http.client
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Final

from flows.interrupts import held_back
from flows.server_process import HOST, ServerState, log_path, read_state, state_path
from lethe_core.adapters.stores.owner import owner_is_alive, owner_is_dead
from lethe_core.errors import ConfigError, LetheError, StoreUnavailableError

START_SECONDS: Final = (
    240.0  # with a database to make, on a busy machine; a start that failed is seen at once
)
STOP_SECONDS: Final = 15.0
GIVE_UP_SECONDS: Final = 3.0  # for a half-started one, which nobody uses yet
SAY_EVERY: Final = 5.0
MAX_LOG_BYTES: Final = 1_000_000
LAST_LINES: Final = 40  # of the log, which starts before this one have written to as well
FULL_BYTES: Final = 64 * 1024
FULL_DISK: Final = (os.strerror(errno.ENOSPC), "disk is full")  # Python's words and SQLite's

Say = Callable[[str], None]

_PROCESS: Final = (
    "import sys, json; sys.path[:] = json.loads(sys.argv[1]); from flows.server_process import main; main()"
)


@dataclass(slots=True)
class StartingServer:
    """A server that runs or is about to; ``wait`` until it answers."""

    home: Path
    state: ServerState
    fresh: bool  # it was started just now
    _process: "subprocess.Popen[bytes] | None" = None

    def wait(self, say: Say) -> None:
        """Return when the server answers. Raises LetheError when it ends or takes too long."""
        begun = said = time.monotonic()
        while not answers(self.state.port):
            now = time.monotonic()
            if self._has_ended():
                raise _failure(self.home)
            if now - begun > START_SECONDS:
                raise LetheError(
                    f"the local Prefect server did not answer within {START_SECONDS:.0f} s: see "
                    f"{log_path(self.home)}, then run the command again"
                )
            if now - said >= SAY_EVERY:
                said = now
                say(f"the local Prefect server is still starting ({now - begun:.0f} s) …")
            time.sleep(0.1)

    def _has_ended(self) -> bool:
        if self._process is not None:
            return self._process.poll() is not None
        return not _is_alive(self.state)


@contextmanager
def starting_server(home: Path, say: Say) -> Iterator[StartingServer]:
    """Find or start the server; others wait while the block lasts, so wait for its answer inside.

    Raises ConfigError (home cannot be written to), StoreUnavailableError (disk full), LetheError.
    """
    _make_folders(home)
    state = _running(home)
    if state is not None and answers(state.port):
        yield StartingServer(home, state, fresh=False)
        return
    with _lock(home, say):
        state = _running(home)
        if state is not None and _comes_up(state, say):
            yield StartingServer(home, state, fresh=False)
            return
        if state is not None and _is_alive(state):
            _end(state)
        first = not (home / "prefect" / "prefect.db").exists()
        say(f"starting a local Prefect server{' (first start: about half a minute)' if first else ''} …")
        process: subprocess.Popen[bytes] | None = None
        try:
            with held_back():  # a signal within Popen would leave a process that nobody knows
                process = _spawn(home)
            yield StartingServer(home, _announced(home, process), fresh=True, _process=process)
        except BaseException:
            # Half started, it would go on for nobody; one that answers already may be of use to the next.
            if process is not None and process.poll() is None and not _answers_of(home, process.pid):
                _give_up(home, process)
            raise


def running_server(home: Path) -> ServerState | None:
    """The server if its process is alive, whether it answers yet or not. Starts nothing."""
    state = read_state(home)
    return state if state is not None and _is_alive(state) else None


def stop_server(home: Path) -> ServerState | None:
    """End the server; returns what was ended, None when none was running."""
    state = running_server(home)
    if state is not None:
        _end(state)
    return state


def answers(port: int, *, timeout: float = 3.0) -> bool:
    """Whether a Prefect server answers at this port of this machine."""
    connection = http.client.HTTPConnection(HOST, port, timeout=timeout)
    try:
        connection.request("GET", "/api/health")
        response = connection.getresponse()
        return response.status == 200 and response.read(16).strip() == b"true"
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


# -- private ------------------------------------------------------------------------------------


def _running(home: Path) -> ServerState | None:
    """A live server of the installed version; one of another version is ended."""
    state = running_server(home)
    if state is not None and state.prefect != version("prefect"):
        _end(state)
        return None
    return state


def _is_alive(state: ServerState) -> bool:
    """Its number may be another process's by now, which must neither be waited for nor ended."""
    if owner_is_alive(state.owner):
        return True
    told = "/-/" not in state.owner  # this system tells when a process was started
    return not told and not owner_is_dead(state.owner) and answers(state.port)


def _comes_up(state: ServerState, say: Say) -> bool:
    """Whether a server that lives answers in the end; one whose start was interrupted may be ending.

    Whoever starts one holds the lock until it answers: with the lock in hand, this one is nobody's.
    """
    said = time.monotonic()
    while not answers(state.port):
        if not _is_alive(state) or time.time() - state.started_at > START_SECONDS:
            return False
        if time.monotonic() - said >= SAY_EVERY:
            said = time.monotonic()
            say("waiting for the local Prefect server that another lethe began to start …")
        time.sleep(0.1)
    return True


def _give_up(home: Path, process: "subprocess.Popen[bytes]") -> None:
    """End a half-started server and forget it, so that the next run finds none."""
    process.terminate()
    try:
        process.wait(GIVE_UP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    state = read_state(home)
    if state is not None and state.pid == process.pid:
        with contextlib.suppress(OSError):
            state_path(home).unlink(missing_ok=True)


def _make_folders(home: Path) -> None:
    try:
        for folder in (state_path(home).parent, log_path(home).parent):
            folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise home_error(home, error) from None


def home_error(home: Path, error: OSError) -> LetheError:
    """What to say when something under LETHE_HOME cannot be written."""
    if error.errno == errno.ENOSPC:
        return StoreUnavailableError(f"the disk of {home} is full: make room, or set --home (LETHE_HOME)")
    return ConfigError(
        f"{home} cannot be written to: {error.strerror or error} (set --home, or LETHE_HOME, to a folder "
        "that can)"
    )


@contextmanager
def _lock(home: Path, say: Say) -> Iterator[None]:
    from filelock import FileLock, Timeout

    lock = FileLock(str(home / "prefect" / "server.lock"))
    begun = said = time.monotonic()
    while True:
        try:
            lock.acquire(timeout=0.5)
            break
        except Timeout:
            now = time.monotonic()
            if now - begun > START_SECONDS:
                raise LetheError(
                    f"another process has been starting the Prefect server of {home} for "
                    f"{START_SECONDS:.0f} s: end it, then run the command again"
                ) from None
            if now - said >= SAY_EVERY:
                said = now
                say("waiting for another lethe that starts the local Prefect server …")
        except OSError as error:
            raise home_error(home, error) from None
    try:
        yield
    finally:
        lock.release()


def _spawn(home: Path) -> "subprocess.Popen[bytes]":
    log = log_path(home)
    try:
        if log.exists() and log.stat().st_size > MAX_LOG_BYTES:
            log.replace(log.with_suffix(".log.1"))
        output = log.open("ab")
    except OSError as error:
        raise home_error(home, error) from None
    paths = json.dumps([os.path.abspath(path) for path in sys.path])  # noqa: PTH100 (an entry may be "")
    # Neither the user's Prefect settings nor Lethe's secrets are this server's.
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("PREFECT_", "LETHE_"))}
    with output:
        return subprocess.Popen(
            [sys.executable, "-c", _PROCESS, paths, str(home)],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env=environment,
            cwd=home,
            start_new_session=True,  # Ctrl-C at the terminal is not for it
        )


def _announced(home: Path, process: "subprocess.Popen[bytes]") -> ServerState:
    """The new process's state file, which is the first thing that it writes."""
    begun = time.monotonic()
    while True:
        state = read_state(home)
        if state is not None and state.pid == process.pid:
            return state
        if process.poll() is not None:
            raise _failure(home)
        if time.monotonic() - begun > START_SECONDS / 2:
            process.kill()
            raise LetheError(f"the local Prefect server did not begin to start: see {log_path(home)}")
        time.sleep(0.02)


def _answers_of(home: Path, pid: int) -> bool:
    state = read_state(home)
    return state is not None and state.pid == pid and answers(state.port)


def _failure(home: Path) -> LetheError:
    try:
        lines = log_path(home).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    if _disk_is_full(home, lines[-LAST_LINES:]):
        return home_error(home, OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)))
    last = next((line.strip() for line in reversed(lines) if line.strip()), "it said nothing")
    return LetheError(f"the local Prefect server did not start: {last[:300]} (see {log_path(home)})")


def _disk_is_full(home: Path, said: list[str]) -> bool:
    """Whether a server ended for that: its log says so, or ends in the middle because of it."""
    if any(words in line for line in said for words in FULL_DISK):
        return True
    with contextlib.suppress(OSError):
        return shutil.disk_usage(home).free < FULL_BYTES
    return False


def _end(state: ServerState) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(state.pid, signal.SIGTERM)
    begun = time.monotonic()
    while _is_alive(state):
        if time.monotonic() - begun > STOP_SECONDS:
            with contextlib.suppress(ProcessLookupError):
                os.kill(state.pid, signal.SIGKILL)
            return
        time.sleep(0.05)
