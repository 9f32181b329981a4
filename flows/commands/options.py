"""Options that several commands take, and the kinds of values that they have in common."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])


class NamedPath(click.Path):
    """A path that is not empty: an unset variable in a script would otherwise name the working folder."""

    def __init__(self) -> None:
        super().__init__(path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not str(value).strip():
            self.fail("the path is empty: name one (the working folder is ./)", param, ctx)
        return super().convert(value, param, ctx)


class NamedText(click.types.StringParamType):
    """A text that is not empty, for the same reason."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if not str(value).strip():
            self.fail("it is empty: give a value, or leave the option out", param, ctx)
        return str(value)


def common_options(command: Command) -> Command:
    """``--config``, ``--home`` and ``--debug``."""
    for option in (
        click.option("--debug", is_flag=True, help="Show the trace of an error, and Prefect's log."),
        click.option(
            "--home",
            type=NamedPath(),
            help="Where graphs, indexes, results and logs lie (LETHE_HOME).",
        ),
        click.option(
            "--config",
            type=NamedPath(),
            help="A configuration file; default: lethe.toml in this folder, else in LETHE_HOME.",
        ),
    ):
        command = option(command)
    return command


def store_option(command: Command) -> Command:
    """``--store``."""
    option = click.option(
        "--store",
        type=NamedText(),
        metavar="URL",
        help="The graph store, sqlite:///PATH or neo4j://HOST; default graph.db in LETHE_HOME.",
    )
    return option(command)


quiet_option = click.option("--quiet", is_flag=True, help="Print nothing but errors.")


def run_options(command: Command) -> Command:
    """What `research` and `resume` take alike: the limits of a run, and what becomes of its report."""
    for option in reversed(RUN_OPTIONS):
        command = option(command)
    return command


RUN_OPTIONS: Final[tuple[Callable[[Any], Any], ...]] = (
    click.option(
        "--max-iterations", type=int, metavar="N", help="Target for the iterations; the cap is twice it."
    ),
    click.option(
        "--time-budget",
        type=float,
        metavar="SECONDS",
        help="Target for the time at work; the cap is twice it.",
    ),
    click.option("--max-tokens", type=int, metavar="N", help="Hard cap on the model's tokens."),
    click.option(
        "--max-cost",
        type=float,
        metavar="AMOUNT",
        help="Hard cap on the model's cost; needs prices configured.",
    ),
    click.option(
        "--out",
        type=NamedPath(),
        metavar="DIR",
        help="Folder for report.md and report.json; default ./lethe-reports/SESSION.",
    ),
    store_option,
    click.option(
        "--json", "as_json", is_flag=True, help="Print the report as one JSON object, and nothing else."
    ),
    quiet_option,
)
