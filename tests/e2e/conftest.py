"""The command as a user runs it: a process of its own; one LETHE_HOME, one Prefect server for all tests."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

LETHE = (sys.executable, "-c", "from flows.cli import main; main()")
ANSWER = "The lighthouse at Farrow Point was built in 1871 by the engineer Maud Ellery."
QUESTION = "When was the lighthouse at Farrow Point built, and by which engineer?"


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def complaint(self) -> str:
        """The one line that says what was wrong; a trace never stands beside it."""
        assert "Traceback" not in self.err + self.out
        lines = [line for line in self.err.splitlines() if line.startswith("lethe: ")]
        assert len(lines) == 1, self.err
        return lines[0]


def clean_environment(home: Path, **more: str) -> dict[str, str]:
    """This process's environment without settings of the developer's own."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("LETHE_", "PREFECT_"))}
    return {**kept, "LETHE_HOME": str(home), **more}


@dataclass(frozen=True)
class Lethe:
    """Runs commands under one home, in one working folder."""

    home: Path
    folder: Path

    def start(self, *arguments: str | Path, **environment: str) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            [*LETHE, *map(str, arguments)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=clean_environment(self.home, **environment),
            cwd=self.folder,
        )

    def __call__(self, *arguments: str | Path, seconds: float = 240, **environment: str) -> Ended:
        process = self.start(*arguments, **environment)
        try:
            out, err = process.communicate(timeout=seconds)
        except BaseException:
            process.kill()
            process.communicate()
            raise
        return Ended(process.returncode, out, err)

    def at(self, home: Path) -> "Lethe":
        return Lethe(home, self.folder)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The command line's tests first of this folder's: they begin where there is no server yet."""
    here = [place for place, item in enumerate(items) if item.path.parent == Path(__file__).parent]
    ordered = sorted((items[place] for place in here), key=lambda item: item.path.name != "test_cli.py")
    for place, item in zip(here, ordered, strict=True):
        items[place] = item


@pytest.fixture(scope="session")
def lethe(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lethe]:
    """The command under a home of its own; the server that its first run starts is ended with the tests."""
    # A user's profile would send the runs to that user's server.
    lethe = Lethe(tmp_path_factory.mktemp("home"), tmp_path_factory.mktemp("work"))
    try:
        yield lethe
    finally:
        lethe("server", "stop", "--force")


@pytest.fixture(scope="session")
def api_url(lethe: Lethe) -> str:
    """The local server's address, started if no run has done so yet."""
    from flows.local_server import starting_server

    with starting_server(lethe.home, lambda _: None) as server:
        server.wait(lambda _: None)
        return server.state.api_url


@pytest.fixture(scope="session")
def deployed_module(load_module: Callable[[Path], ModuleType]) -> ModuleType:
    return load_module(Path(__file__).with_name("deployed.py"))


@pytest.fixture(scope="session")
def deployed(
    deployed_module: ModuleType, api_url: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Any]:
    """What `make up` makes, on the tests' server; `make down` ends it."""
    folder = tmp_path_factory.mktemp("deployed")
    made = deployed_module.Deployed(api_url, folder / "home", folder)
    up = made.script("local.py", "up")
    assert up.code == 0, up.said
    yield made
    down = made.script("local.py", "down")
    assert down.code == 0, down.said
    assert "the worker has ended" in down.said


@pytest.fixture(scope="session")
def question() -> str:
    """What the small corpus answers."""
    return QUESTION


@pytest.fixture(scope="session")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A few short documents, one of which answers QUESTION."""
    folder = tmp_path_factory.mktemp("documents") / "harbour"
    write_documents(
        folder,
        (
            ("lighthouse.md", f"# Farrow Point\n\n{ANSWER} Its lamp was electrified in 1926.\n"),
            ("ferry.md", "# Ferry\n\nThe ferry to Farrow Point carries 84 passengers and sails hourly.\n"),
            ("museum.txt", "The harbour museum keeps the papers of Maud Ellery, who died in 1903.\n"),
        ),
    )
    return folder


def write_documents(folder: Path, documents: Sequence[tuple[str, str]]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in documents:
        (folder / name).write_text(text, encoding="utf-8")
