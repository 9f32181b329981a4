"""Everything on one machine: Prefect server, pool, deployments and a worker (`make up`, `make down`).

    python deployments/local.py up [--model-concurrency N]
    python deployments/local.py down

The server is Lethe's own, unless PREFECT_API_URL or a profile names another one; the worker's log lies in
LETHE_HOME. Run twice, `up` brings pool and deployments up to date and starts nothing that runs already.
"""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

import click

from flows.commands.common import effective_settings
from flows.local_server import starting_server
from flows.prefect_environment import configured_server, page_of, point_prefect_at
from lethe_core.adapters.stores.owner import make_owner, owner_is_dead

ROOT: Final = Path(__file__).parents[1]
POOL: Final = "lethe"
WORKER_SECONDS: Final = 120.0  # to start in, on a busy machine
STOP_SECONDS: Final = 60.0  # its runs write partial reports first, for which they have 20 seconds


@click.group()
def cli() -> None:
    """A Prefect server, Lethe's deployments and a worker on this machine."""


@cli.command()
@click.option("--model-concurrency", type=click.IntRange(0), envvar="LETHE_MODEL_CONCURRENCY", metavar="N")
@click.option("--name", default="local", show_default=True, help="The worker's name.")
def up(model_concurrency: int | None, name: str) -> None:
    """Start what does not run yet, and bring pool and deployments up to date."""
    home = effective_settings({}, config=None, home=None).settings.home
    home.mkdir(parents=True, exist_ok=True)
    page = _server(home)
    _bootstrap(model_concurrency)
    _deploy()
    pid = _worker(home, name)
    click.echo(
        f"\nPrefect's page:  {page}/deployments\n"
        f"worker:          process {pid}, log {_log(home)}\n"
        "a run:           open the page, or\n"
        f"                 PREFECT_API_URL={os.environ['PREFECT_API_URL']} prefect deployment run "
        "lethe/research \\\n"
        """                   -p question="…" -p corpus='["/absolute/path"]' --watch\n"""
        "ends by:         make down"
    )


@cli.command()
def down() -> None:
    """End the worker, then Lethe's own server; another server is left alone."""
    home = effective_settings({}, config=None, home=None).settings.home
    owner = _owner(home)
    if owner is not None:
        _end(home, _pid_of(owner))
    else:
        click.echo("no worker of `make up` runs")
    if configured_server() is None:
        code = subprocess.run([_script("lethe"), "server", "stop"], check=False).returncode
        raise SystemExit(code)


def _server(home: Path) -> str:
    """Find or start the server and point this process and its children at it; returns its page."""
    configured = configured_server()
    if configured is not None:
        click.echo(f"Prefect server at {configured.url} ({configured.origin})")
        point_prefect_at(configured.url, home, own=False, debug=True)
        return page_of(configured.url)
    with starting_server(home, click.echo) as server:
        server.wait(click.echo)
        point_prefect_at(server.state.api_url, home, own=True, debug=True)
        return server.state.page


def _bootstrap(model_concurrency: int | None) -> None:
    from bootstrap import main as bootstrap

    arguments = [] if model_concurrency is None else ["--model-concurrency", str(model_concurrency)]
    bootstrap.main(arguments, standalone_mode=False)


def _deploy() -> None:
    done = subprocess.run(
        [_script("prefect"), "--no-prompt", "deploy", "--all"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise click.ClickException(f"the deployments could not be made:\n{done.stdout}{done.stderr}")
    click.echo("deployments are up to date")


def _worker(home: Path, name: str) -> int:
    """Start a worker that outlives this process, or find the one that runs; returns its number."""
    owner = _owner(home)
    if owner is not None:
        click.echo(f"the worker runs already (process {_pid_of(owner)})")
        return _pid_of(owner)
    _log(home).parent.mkdir(parents=True, exist_ok=True)
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        # As from a script in the background: the worker would inherit that, and end by nothing but a kill,
        # since it takes a SIGTERM for a SIGINT.
        signal.signal(signal.SIGINT, signal.default_int_handler)
    command = [_script("prefect"), "worker", "start", "--pool", POOL, "--type", "process", "--name", name]
    with _log(home).open("wb") as log:
        worker = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            # Not the repository: what runs on a worker is what is installed there.
            cwd=home,
        )
    _state(home).write_text(json.dumps({"owner": make_owner(worker.pid)}), encoding="utf-8")
    until = time.monotonic() + WORKER_SECONDS
    while "started!" not in _log(home).read_text(encoding="utf-8", errors="replace"):
        if worker.poll() is not None or time.monotonic() > until:
            raise click.ClickException(f"the worker did not start: see {_log(home)}")
        time.sleep(0.2)
    click.echo("the worker has started")
    return worker.pid


def _end(home: Path, pid: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGTERM)
    until = time.monotonic() + STOP_SECONDS
    while _owner(home) is not None:
        if time.monotonic() > until:
            raise click.ClickException(f"the worker (process {pid}) does not end: see {_log(home)}")
        time.sleep(0.2)
    _state(home).unlink(missing_ok=True)
    click.echo(f"the worker has ended (process {pid})")


def _owner(home: Path) -> str | None:
    """The worker that was started last, while it lives."""
    try:
        owner = json.loads(_state(home).read_text(encoding="utf-8"))["owner"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return owner if isinstance(owner, str) and not owner_is_dead(owner) else None


def _pid_of(owner: str) -> int:
    return int(owner.split("/")[1])


def _state(home: Path) -> Path:
    return home / "worker.json"


def _log(home: Path) -> Path:
    return home / "logs" / "worker.log"


def _script(name: str) -> str:
    """A command of this interpreter's environment, whatever the path says."""
    return str(Path(sys.executable).with_name(name))


if __name__ == "__main__":
    cli()
