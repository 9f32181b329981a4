"""What Prefect is told through the environment, which it reads once: when it is imported.

Imports no Prefect: the command line decides here which server a run goes to before it pays for the import.
"""

import os
import tomllib
from collections.abc import Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from ssl import SSLContext

HEARTBEAT_SECONDS: Final = 30
# Of a request to the own server, after 2 and 4 seconds: on this machine it is there or gone for good.
OWN_SERVER_RETRIES: Final = 2
# To another's: half a minute with its pauses, as long as a restart takes. Prefect's own 5 are a minute.
RETRIES: Final = 4
REQUEST_SECONDS: Final = 30  # Prefect's own are 60, each of a request's tries

ANSWER_SECONDS: Final = 10.0  # for a sign of life from a configured server, busy or far away

# Both names are Prefect's, the older one second.
RESULTS_FOLDER: Final = ("PREFECT_RESULTS_LOCAL_STORAGE_PATH", "PREFECT_LOCAL_STORAGE_PATH")
RESULTS_BLOCK: Final = ("PREFECT_RESULTS_DEFAULT_STORAGE_BLOCK", "PREFECT_DEFAULT_RESULT_STORAGE_BLOCK")

# The recorder takes task runs one by one by default: 15 a second, and a lag of half a minute after a session.
SERVER_SETTINGS: Final[Mapping[str, str]] = {
    "PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_BATCH_SIZE": "100",
    "PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_READ_BATCH_SIZE": "100",
    "PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_FLUSH_INTERVAL": "1",
    # A run beyond its deployment's limit looks again after so many seconds; by default after 30.
    "PREFECT_SERVER_DEPLOYMENTS_CONCURRENCY_SLOT_WAIT_SECONDS": "10",
    # What died while the server was away is seen after an absence of a day at most; by default of a minute.
    "PREFECT_SERVER_EVENTS_EXPIRED_BUCKET_BUFFER": "P1D",
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


def silence_of(server: ConfiguredServer) -> str:
    """Why a configured server cannot be used, in a line that says what to do; empty when it answers."""
    trouble = trouble_of(server.url)
    if not trouble:
        return ""
    return (
        f"the Prefect server at {without_password(server.url)} does not answer: {trouble} ({server.origin} "
        "names it: start it, or take that away and Lethe starts one of its own)"
    )


def trouble_of(api_url: str) -> str:
    """Why nobody answers at an address; empty when somebody does.

    Asked without Prefect's client, which repeats a request for minutes before it gives up.
    """
    import httpx

    try:
        answer = httpx.get(f"{api_url.rstrip('/')}/health", timeout=ANSWER_SECONDS, verify=_verify())
    except httpx.TimeoutException:
        return f"nothing within {ANSWER_SECONDS:.0f} s"
    except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
        return str(error) or type(error).__name__
    # A server that wants a key answers; whether it takes the key is seen by Prefect's client.
    taken = answer.status_code < 400 or answer.status_code in (401, 403)
    return "" if taken else f"HTTP {answer.status_code} (is its path /api?)"


def without_password(text: str) -> str:
    """A URL without what stands between ``//`` and ``@``."""
    scheme, separator, rest = text.partition("://")
    authority, slash, path = rest.partition("/")
    if separator and "@" in authority:
        return f"{scheme}://{authority.rpartition('@')[2]}{slash}{path}"
    return text


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
    if not _said_first(environment, RESULTS_FOLDER):
        environment[RESULTS_FOLDER[0]] = str(results_folder(home))
    environment.setdefault("PREFECT_FLOWS_HEARTBEAT_FREQUENCY", str(HEARTBEAT_SECONDS))
    environment.setdefault("DO_NOT_TRACK", "1")
    # An environment is above a profile: what the user's own says of this stays.
    said = {} if own else _profile(environment)[1]
    for name, value in (
        ("PREFECT_API_REQUEST_TIMEOUT", REQUEST_SECONDS),
        ("PREFECT_CLIENT_MAX_RETRIES", OWN_SERVER_RETRIES if own else RETRIES),
    ):
        if name not in said:
            environment.setdefault(name, str(value))
    if not debug:
        # The server keeps every line; on the terminal Lethe says in its own words what is worth it.
        environment["PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL"] = "CRITICAL"
        environment["PREFECT_INTERNAL_LOGGING_LEVEL"] = "CRITICAL"
    if own:
        environment["PREFECT_HOME"] = str(home / "prefect")
        environment.pop("PREFECT_PROFILE", None)
        without_proxy(environment, urlsplit(api_url).hostname or "127.0.0.1")


def results_folder(home: Path) -> Path:
    """Where runs from here keep what they have bought: under LETHE_HOME, unless Prefect is told otherwise."""
    return Path(_said_first(os.environ, RESULTS_FOLDER) or home / "results").expanduser()


def results_block() -> str:
    """The storage block that is told to keep it instead; empty for none."""
    return _said_first(os.environ, RESULTS_BLOCK)


def _said_first(environment: Mapping[str, str], names: Sequence[str]) -> str:
    return next((value for name in names if (value := environment.get(name, ""))), "")


def without_proxy(environment: MutableMapping[str, str], host: str) -> None:
    """Reach a host directly also where a proxy is set for all others."""
    for name in ("NO_PROXY", "no_proxy"):
        hosts = [part for part in environment.get(name, "").split(",") if part.strip()]
        if host not in hosts:
            environment[name] = ",".join([*hosts, host])


def _verify() -> "SSLContext | bool":
    """How the server's certificate is checked: as Prefect's client does it."""
    import ssl

    if os.environ.get("PREFECT_API_TLS_INSECURE_SKIP_VERIFY", "").lower() in ("1", "true", "yes", "on"):
        return False
    file = os.environ.get("PREFECT_API_SSL_CERT_FILE", "")
    return ssl.create_default_context(cafile=file) if file else True


def _from_profile(environment: Mapping[str, str]) -> ConfiguredServer | None:
    origin, profile = _profile(environment)
    url = _text(profile, "PREFECT_API_URL")
    return ConfiguredServer(url, origin) if url else None


def _profile(environment: Mapping[str, str]) -> tuple[str, dict[str, Any]]:
    """What the active profile is called, and its settings."""
    home = Path(environment.get("PREFECT_HOME") or Path.home() / ".prefect").expanduser()
    path = Path(environment.get("PREFECT_PROFILES_PATH") or home / "profiles.toml").expanduser()
    profiles = _read_toml(path)
    name = environment.get("PREFECT_PROFILE") or _text(profiles, "active")
    known = profiles.get("profiles")
    profile = known.get(name) if isinstance(known, dict) else None
    return f"the profile {name!r} in {path}", profile if isinstance(profile, dict) else {}


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
