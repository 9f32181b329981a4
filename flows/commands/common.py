"""The settings that come of a command's options, with every path from the root."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lethe_core.config import LoadedSettings


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
