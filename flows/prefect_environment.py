"""What Prefect is told through the environment, which it reads once: when it is imported.

Imports no Prefect: the command line decides here which server a run goes to before it pays for the import.
"""

import os
import tomllib
from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

HEARTBEAT_SECONDS: Final = 30
# Of a request to the own server, after 2 and 4 seconds: on this machine it is there or gone for good.
OWN_SERVER_RETRIES: Final = 2

# The recorder takes task runs one by one by default: 15 a second, and a lag of half a minute after a session.
SERVER_SETTINGS: Final[Mapping[str, str]] = {
    "PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_BATCH_SIZE": "100",
    "PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_READ_BATCH_SIZE": "100",
    "PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_FLUSH_INTERVAL": "1",
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "PREFECT_SERVER_UI_SHOW_PROMOTIONAL_CONTENT": "false",
    "DO_NOT_TRACK": "1",
}


@dataclass(frozen=True, slots=True)
class ConfiguredServer:
    """A Prefect server that the user has named, and where."""

    url: str
    origin: str


def configured_server(environment: Mapping[str, str] | None = None) -> ConfiguredServer | None:
    """The server named by the environment, the working folder or the active profile, in Prefect's order."""
    environment = os.environ if environment is None else environment
    if url := environment.get("PREFECT_API_URL", ""):
        return ConfiguredServer(url, "PREFECT_API_URL")
    if url := _from_dotenv(Path(".env")):
        return ConfiguredServer(url, f"PREFECT_API_URL in {Path('.env').absolute()}")
    for path, section in ((Path("prefect.toml"), ()), (Path("pyproject.toml"), ("tool", "prefect"))):
        if url := _text(_read_toml(path), *section, "api", "url"):
            return ConfiguredServer(url, str(path.absolute()))
    return _from_profile(environment)


def page_of(api_url: str) -> str:
    """Where the pages of a server are, for a person; of Prefect Cloud nothing is guessed."""
    return os.environ.get("PREFECT_UI_URL", "") or api_url.rstrip("/").removesuffix("/api")


def point_prefect_at(api_url: str, home: Path, *, own: bool, debug: bool) -> None:
    """Set up this process's environment before Prefect is imported.

    home: LETHE_HOME; persisted results lie there whatever the server.
    own: the server is Lethe's, so Prefect's own files lie under LETHE_HOME, too.
    """
    environment = os.environ
    environment["PREFECT_API_URL"] = api_url
    if not {"PREFECT_RESULTS_LOCAL_STORAGE_PATH", "PREFECT_LOCAL_STORAGE_PATH"} & environment.keys():
        environment["PREFECT_RESULTS_LOCAL_STORAGE_PATH"] = str(home / "results")
    environment.setdefault("PREFECT_FLOWS_HEARTBEAT_FREQUENCY", str(HEARTBEAT_SECONDS))
    environment.setdefault("DO_NOT_TRACK", "1")
    if not debug:
        # The server keeps every line; on the terminal Lethe says in its own words what is worth it.
        environment["PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL"] = "CRITICAL"
        environment["PREFECT_INTERNAL_LOGGING_LEVEL"] = "CRITICAL"
    if own:
        environment["PREFECT_HOME"] = str(home / "prefect")
        environment.pop("PREFECT_PROFILE", None)
        environment.setdefault("PREFECT_CLIENT_MAX_RETRIES", str(OWN_SERVER_RETRIES))
        without_proxy(environment, urlsplit(api_url).hostname or "127.0.0.1")


def without_proxy(environment: MutableMapping[str, str], host: str) -> None:
    """Reach a host directly also where a proxy is set for all others."""
    for name in ("NO_PROXY", "no_proxy"):
        hosts = [part for part in environment.get(name, "").split(",") if part.strip()]
        if host not in hosts:
            environment[name] = ",".join([*hosts, host])


def _from_profile(environment: Mapping[str, str]) -> ConfiguredServer | None:
    home = Path(environment.get("PREFECT_HOME") or Path.home() / ".prefect").expanduser()
    path = Path(environment.get("PREFECT_PROFILES_PATH") or home / "profiles.toml").expanduser()
    profiles = _read_toml(path)
    name = environment.get("PREFECT_PROFILE") or _text(profiles, "active")
    url = _text(profiles, "profiles", name, "PREFECT_API_URL")
    return ConfiguredServer(url, f"the profile {name!r} in {path}") if url else None


def _from_dotenv(path: Path) -> str:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return ""
    for line in lines:
        name, _, value = line.removeprefix("export ").partition("=")
        if name.strip() == "PREFECT_API_URL":
            return value.strip().strip("'\"")
    return ""


def _read_toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError):
        return {}


def _text(value: Any, *keys: str) -> str:
    for key in keys:
        if not isinstance(value, dict):
            return ""
        value = value.get(key)
    return value if isinstance(value, str) else ""
