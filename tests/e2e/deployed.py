"""Lethe as it is deployed: `make up` on a machine of the tests' own, then Prefect's own commands."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent


@dataclass(frozen=True)
class Done:
    """How a command ended."""

    code: int
    text: str  # standard output
    said: str  # both streams, on one line: what Prefect says it wraps


@dataclass(frozen=True)
class Deployed:
    """A Prefect server with Lethe's pool, deployments and one worker."""

    api: str
    home: Path  # LETHE_HOME of its workers
    folder: Path  # anything else

    def environment(self, **more: str) -> dict[str, str]:
        """A worker's: nothing of the developer's own."""
        return self.outside(
            LETHE_HOME=str(self.home), PREFECT_RESULTS_LOCAL_STORAGE_PATH=str(self.home / "results"), **more
        )

    def outside(self, **more: str) -> dict[str, str]:
        """A pipeline's, or a person's: all that it knows is the server's address."""
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("LETHE_", "PREFECT_"))}
        return {**kept, "PREFECT_API_URL": self.api, "PREFECT_HOME": str(self.folder / "prefect"), **more}

    def run(self, *command: str | Path, cwd: Path | None = None, seconds: float = 400, **more: str) -> Done:
        done = subprocess.run(
            [str(part) for part in command],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            env=self.environment(**more),
            cwd=cwd or self.folder,
            timeout=seconds,
        )
        return Done(done.returncode, done.stdout, " ".join((done.stdout + done.stderr).split()))

    def script(self, name: str, *arguments: str, **more: str) -> Done:
        """One of deployments/."""
        return self.run(sys.executable, ROOT / "deployments" / name, *arguments, **more)

    def prefect(self, *arguments: str) -> Done:
        """Prefect's command, as somebody with nothing but the server's address runs it."""
        done = subprocess.run(
            [BIN / "prefect", *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            env=self.outside(),
            cwd=self.folder,
            timeout=400,
        )
        return Done(done.returncode, done.stdout, " ".join((done.stdout + done.stderr).split()))

    def start(self, deployment: str, *, watch: bool = True, **parameters: Any) -> Done:
        """`prefect deployment run`, with its parameters as JSON where they are no text."""
        given = [
            f"{name}={value if isinstance(value, str) else json.dumps(value)}"
            for name, value in parameters.items()
        ]
        options = [part for one in given for part in ("--param", one)]
        return self.prefect("deployment", "run", deployment, *options, *(["--watch"] if watch else []))

    def ask(self, method: str, path: str, **body: Any) -> Any:
        """The server's API; as Prefect's client does, again where its database was locked (503)."""
        for _ in range(10):
            answer = httpx.request(method, self.api + path, json=body or None, timeout=60)
            if answer.status_code != httpx.codes.SERVICE_UNAVAILABLE:
                break
            time.sleep(1)
        answer.raise_for_status()
        return answer.json() if answer.content else None

    def ask_list(self, path: str, body: list[Any]) -> None:
        httpx.post(self.api + path, json=body, timeout=60).raise_for_status()

    def create_run(self, deployment: str, **parameters: Any) -> str:
        found = self.ask("GET", f"/deployments/name/{deployment}")
        made = self.ask("POST", f"/deployments/{found['id']}/create_flow_run", parameters=parameters)
        return str(made["id"])

    def runs(self, ids: list[str]) -> dict[str, dict[str, Any]]:
        found = self.ask("POST", "/flow_runs/filter", flow_runs={"id": {"any_": ids}})
        return {run["id"]: run for run in found}

    @contextmanager
    def worker(self, name: str, **more: str) -> Iterator["subprocess.Popen[bytes]"]:
        with (self.folder / f"{name}.log").open("wb") as log:
            process = subprocess.Popen(
                [BIN / "prefect", "worker", "start", "--pool", "lethe", "--type", "process", "--name", name],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=self.environment(**more),
                cwd=self.folder,
                start_new_session=True,
            )
        try:
            yield process
        finally:
            kill_tree(process.pid)
            process.wait(timeout=60)


def family(pid: int) -> set[int]:
    """A process and everything that it has started."""
    found, grown = {pid}, True
    while grown:
        grown = False
        for entry in Path("/proc").iterdir():
            if entry.name.isdecimal() and int(entry.name) not in found and _parent(entry) in found:
                found.add(int(entry.name))
                grown = True
    return found


def kill_tree(pid: int, number: int = signal.SIGKILL) -> None:
    """A signal for a process and all that it has started: as when its machine goes, or stands still."""
    for member in sorted(family(pid)):
        with suppress(ProcessLookupError):
            os.kill(member, number)


def until(
    holds: Callable[[], Any], seconds: float, every: float = 0.5, instead: Callable[[], Any] = lambda: ""
) -> Any:
    """What `holds` returns as soon as it is true; fails with what there is `instead` when it never is."""
    end = time.monotonic() + seconds
    while not (value := holds()):
        assert time.monotonic() < end, f"not within {seconds} s: {instead()}"
        time.sleep(every)
    return value


def _parent(entry: Path) -> int | None:
    try:
        return int((entry / "stat").read_bytes().rpartition(b")")[2].split()[1])
    except (OSError, ValueError, IndexError):
        return None
