"""The servers that the sessions need, each in a process of its own; all are ended when the block is left."""

import importlib.util
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from flows.local_server import starting_server, stop_server

from .fork_server import end_with_parent
from .session_process import ROOT


@contextmanager
def prefect_server(home: Path) -> Iterator[str]:
    """The address of a Prefect server as the command line starts one."""
    try:
        with starting_server(home, lambda _: None) as server:
            server.wait(lambda _: None)
        yield server.state.api_url
    finally:
        stop_server(home)


@dataclass(frozen=True, slots=True)
class Model:
    """A chat server, and the file in which it writes down what it serves."""

    address: str
    log: Path


@contextmanager
def model_server(log: Path) -> Iterator[Model]:
    """A chat server for any number of sessions."""
    process = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.kills.model_server", str(log)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        preexec_fn=end_with_parent,
    )
    try:
        assert process.stdout is not None
        yield Model(process.stdout.readline().strip(), log)
    finally:
        process.kill()
        process.communicate()


@contextmanager
def neo4j_server(folder: Path) -> Iterator[Any]:
    """A database server that may be killed and started again (``tests/neo4j/server.py``)."""
    path = ROOT / "tests" / "neo4j" / "server.py"
    spec = importlib.util.spec_from_file_location("tests_neo4j_server", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    server = module.Server(folder)
    try:
        server.start()
        yield server
    finally:
        server.kill()
