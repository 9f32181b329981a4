"""``lethe server``: the local Prefect server that runs start and leave behind."""

from datetime import datetime
from pathlib import Path

import click

from flows.commands.common import effective_settings
from flows.commands.options import common_options


@click.group(short_help="Look at, or end, the local Prefect server.")
def server() -> None:
    """Look at, or end, the local Prefect server that a run starts when no other is configured.

    It stays for the next run, and ends by itself after a day unused.
    """


@server.command(short_help="Say whether it runs, and where its page is.")
@common_options
def status(debug: bool, config: Path | None, home: Path | None) -> int:  # noqa: ARG001
    """Say whether the local Prefect server runs, and where its page is. Starts nothing."""
    from flows.local_server import answers, running_server
    from flows.prefect_environment import configured_server
    from flows.server_process import log_path

    where = effective_settings({}, config=config, home=home).settings.home
    state = running_server(where)
    if state is None:
        click.echo("no local Prefect server is running; the next run starts one")
    else:
        since = datetime.fromtimestamp(state.started_at).astimezone().strftime("%Y-%m-%d %H:%M")
        condition = "answers" if answers(state.port) else "does not answer yet"
        click.echo(f"{state.page} {condition} (process {state.pid}, since {since}, log {log_path(where)})")
    configured = configured_server()
    if configured is not None:
        click.echo(f"not used: {configured.origin} names {configured.url}")
    return 0


@server.command(short_help="End it.")
@click.option("--force", is_flag=True, help="End it also under a run that is at work.")
@common_options
def stop(force: bool, debug: bool, config: Path | None, home: Path | None) -> int:  # noqa: ARG001
    """End the local Prefect server. The next run starts it again, with all its history."""
    from flows.commands.lease import refuse_if_at_work
    from flows.local_server import running_server, stop_server

    settings = effective_settings({}, config=config, home=home).settings
    if not force and running_server(settings.home) is not None:
        refuse_if_at_work(settings)
    ended = stop_server(settings.home)
    click.echo("no local Prefect server was running" if ended is None else f"ended {ended.page}")
    return 0
