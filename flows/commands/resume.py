"""``lethe resume``: go on with a session by its name alone."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from flows.commands.common import common_options, effective_settings

if TYPE_CHECKING:
    from lethe_core.config import Settings

LEASE_WAIT: Final = 65.0  # a lease runs for 60 seconds; one that is renewed meanwhile belongs to the living


@click.command(short_help="Go on with a session that was interrupted, or give it higher targets.")
@click.argument("session")
@click.option("--max-iterations", type=int, metavar="N", help="Another target for the iterations.")
@click.option("--time-budget", type=float, metavar="SECONDS", help="Another target for the time at work.")
@click.option("--force", is_flag=True, help="Start also after three starts without progress.")
@click.option("--out", type=click.Path(path_type=Path), metavar="DIR", help="Folder for the report.")
@click.option("--store", metavar="URL", help="The graph store; default graph.db in LETHE_HOME.")
@click.option(
    "--json", "as_json", is_flag=True, help="Print the report as one JSON object, and nothing else."
)
@click.option("--quiet", is_flag=True, help="Print nothing but errors.")
@common_options
def resume(
    session: str,
    force: bool,
    as_json: bool,
    quiet: bool,
    debug: bool,
    config: Path | None,
    home: Path | None,
    **flags: Any,
) -> int:
    """Go on with SESSION where it stood: its question, folders and limits are remembered.

    A finished session prints its report with the exit code of then; with a higher target it goes on for
    at least one iteration, unless its question was answered.
    """
    from flows.commands.finished import show_finished
    from flows.commands.running import Request, report_folder, run_session
    from flows.commands.stored import known_session, recalled_settings
    from lethe_core.session.opening import may_go_on

    state = known_session(effective_settings(flags, config=config, home=home).settings, session)
    settings = recalled_settings(state, flags, config=config, home=home)
    request = Request(
        question=state.goal,
        session=state.session_id,
        settings=settings,
        out=report_folder(settings, state.session_id),
        config=config,
        force=force,
        as_json=as_json,
        quiet=quiet,
        debug=debug,
    )
    if not may_go_on(state, settings.model_dump(mode="json")):
        return show_finished(request)
    _wait_for_lease(settings, session, quiet=quiet)
    return run_session(request)


def _wait_for_lease(settings: "Settings", session: str, *, quiet: bool) -> None:
    """Wait while another run may be at work that is seen from here neither to live nor to have died.

    A run that is alive renews its lease: then the store refuses, naming it. One that has certainly ended
    holds none.
    """
    from flows.terminal import write_line
    from lethe_core.adapters.stores import open_store
    from lethe_core.adapters.stores.leases import busy
    from lethe_core.adapters.stores.owner import owner_is_alive
    from lethe_core.graph.nodes import SessionId

    store = open_store(settings.store_url)
    try:
        begun = time.monotonic()
        first = held = store.lease_holder(SessionId(session))
        while held is not None:
            renewed = first is None or held.until > first.until
            if renewed or owner_is_alive(held.owner) or time.monotonic() - begun > LEASE_WAIT:
                raise busy(held.session_id, held.owner, held.until)
            if held is first and not quiet:
                write_line(
                    f"session {session} is held by {held.owner}, which cannot be seen from here: waiting "
                    "until its lease runs out (a minute at most) …"
                )
            time.sleep(1.0)
            held = store.lease_holder(SessionId(session))
    finally:
        store.close()
