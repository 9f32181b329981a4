"""The options that every command takes, and the settings that come of them."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from lethe_core.config import LoadedSettings

Command = TypeVar("Command", bound=Callable[..., Any])


class NamedPath(click.Path):
    """A path that is not empty: an unset variable in a script would otherwise name the working folder."""

    def __init__(self) -> None:
        super().__init__(path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not str(value).strip():
            self.fail("the path is empty: name one (the working folder is ./)", param, ctx)
        return super().convert(value, param, ctx)


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


def effective_settings(
    flags: Mapping[str, Any], *, config: Path | None, home: Path | None
) -> "LoadedSettings":
    """All sources merged, with every path made absolute: a worker, or the server, has another folder.

    From here on LETHE_HOME in this process's environment names the home that is in effect.
    """
    from lethe_core.adapters.stores import absolute_url
    from lethe_core.config import LoadedSettings, load_settings

    loaded = load_settings(
        {**flags, "home": absolute(home) if home is not None else None},
        config_file=absolute(config) if config is not None else None,
    )
    settings = loaded.settings
    paths = {
        "home": absolute(settings.home),
        "corpus": tuple(absolute(folder) for folder in settings.corpus),
        "store": absolute_url(settings.store, Path.cwd()) if settings.store else "",
        "out": absolute(settings.out) if settings.out is not None else None,
    }
    settings = settings.model_copy(update=paths)
    os.environ["LETHE_HOME"] = str(settings.home)
    return LoadedSettings(settings, loaded.origins)


def absolute(path: Path) -> Path:
    """The path from the root, without ``..``, its links left as they are."""
    return Path(os.path.abspath(path.expanduser()))  # noqa: PTH100 (Path.absolute keeps "..")
