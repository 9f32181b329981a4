"""The process of Lethe's own Prefect server: started by ``flows.local_server``, ends by itself when unused.

It binds its port first and says so in the state file, so that who started it knows the address at once and
can import Prefect at the same time.
"""

import json
import os
import socket
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Final

from flows.prefect_environment import SERVER_SETTINGS
from flows.server_grace import give_grace
from lethe_core.adapters.stores.owner import make_owner

if TYPE_CHECKING:
    import uvicorn

HOST: Final = "127.0.0.1"
UNUSED_SECONDS: Final = 24 * 3600.0
WATCH_SECONDS: Final = 20.0
MAX_LOG_BYTES: Final = 5_000_000


@dataclass(frozen=True, slots=True)
class ServerState:
    """What the state file says of a server."""

    owner: str  # the process, as leases name one
    pid: int
    port: int
    started_at: float  # seconds since the epoch
    prefect: str  # its version

    @property
    def api_url(self) -> str:
        return f"http://{HOST}:{self.port}/api"

    @property
    def page(self) -> str:
        return f"http://{HOST}:{self.port}"


def state_path(home: Path) -> Path:
    return home / "prefect" / "server.json"


def log_path(home: Path) -> Path:
    return home / "logs" / "server.log"


def read_state(home: Path) -> ServerState | None:
    """The server that was started last under this home, dead or alive; None when there is none."""
    try:
        values = json.loads(state_path(home).read_text(encoding="utf-8"))
        return ServerState(**values)
    except (OSError, ValueError, TypeError):
        return None


def write_state(home: Path, state: ServerState) -> None:
    """Replace the state file whole, so that nobody reads half of one."""
    beside = state_path(home).with_suffix(f".{os.getpid()}")
    beside.write_text(json.dumps(asdict(state)), encoding="utf-8")
    beside.replace(state_path(home))


def serve(home: Path, unused_seconds: float = UNUSED_SECONDS) -> None:
    """Run the server until it is told to end, was not used for so long, or another has taken its place."""
    before = read_state(home)
    listener = _bind(before.port if before else 0)
    port = listener.getsockname()[1]
    state = ServerState(make_owner(), os.getpid(), port, time.time(), version("prefect"))
    os.environ.update(server_environment(home, port))
    # It stays when this process has ended: the next server takes the same port.
    write_state(home, state)
    give_grace(home / "prefect" / "prefect.db")
    _run(home, state, listener, unused_seconds)


def server_environment(home: Path, port: int) -> dict[str, str]:
    """Everything that Prefect's server reads from its environment."""
    prefect = home / "prefect"
    return {
        **SERVER_SETTINGS,
        # Prefect's own would wait a quarter of an hour for what was before a restart.
        "PREFECT_SERVER_EVENTS_CAUSAL_ORDERING": "flows.server_ordering",
        "PREFECT_HOME": str(prefect),
        "PREFECT_SERVER_DATABASE_CONNECTION_URL": f"sqlite+aiosqlite:///{prefect / 'prefect.db'}",
        "PREFECT_SERVER_API_HOST": HOST,
        "PREFECT_SERVER_API_PORT": str(port),
        "PREFECT_SERVER_UI_API_URL": f"http://{HOST}:{port}/api",
        # Its default lies within the installed package, which may be read-only or shared.
        "PREFECT_SERVER_UI_STATIC_DIRECTORY": str(prefect / "ui"),
        # Types of blocks that nothing here uses; registering them costs a sixth of a first start.
        "PREFECT_API_BLOCKS_REGISTER_ON_START": "false",
        "PREFECT_SERVER_LOGGING_LEVEL": "WARNING",
        "PREFECT_LOGGING_COLORS": "false",
    }


def _bind(port: int) -> socket.socket:
    """The port of last time, so that an open page finds its server again; else any that is free."""
    for wanted in dict.fromkeys((port, 0)):
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((HOST, wanted))
        except OSError:
            listener.close()
            if wanted == 0:
                raise
            continue
        return listener
    raise AssertionError("unreachable: port 0 binds or raises")


def _run(home: Path, state: ServerState, listener: socket.socket, unused_seconds: float) -> None:
    import uvicorn
    from prefect.server.api.server import create_app

    server = uvicorn.Server(
        uvicorn.Config(
            create_app(final=True),
            lifespan="on",
            log_level="warning",
            timeout_keep_alive=5,
            # A page that is open in a browser holds a connection for ever.
            timeout_graceful_shutdown=3,
        )
    )
    watch = threading.Thread(target=_watch, args=(home, state, server, unused_seconds), daemon=True)
    watch.start()
    server.run(sockets=[listener])


def _watch(home: Path, state: ServerState, server: "uvicorn.Server", unused_seconds: float) -> None:
    idle = idle_clock(lambda: server.server_state.total_requests)
    while not server.should_exit:
        time.sleep(min(WATCH_SECONDS, unused_seconds / 4))
        if idle() > unused_seconds or read_state(home) != state:
            server.should_exit = True
        _bound_log(log_path(home))


def idle_clock(
    requests: Callable[[], int], clock: Callable[[], float] = time.monotonic
) -> Callable[[], float]:
    """A function that tells for how many seconds the count of requests has not changed."""
    last_count, last_time = requests(), clock()

    def idle() -> float:
        nonlocal last_count, last_time
        count = requests()
        if count != last_count:
            last_count, last_time = count, clock()
        return clock() - last_time

    return idle


def _bound_log(path: Path) -> None:
    # The log is open for appending: cut to nothing, it goes on at its beginning.
    try:
        if path.stat().st_size > MAX_LOG_BYTES:
            os.truncate(path, 0)
    except OSError:
        return


def main() -> None:
    """Entry point of the process: its one argument is LETHE_HOME."""
    serve(Path(sys.argv[-1]))
