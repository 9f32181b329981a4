"""``lethe resume``: go on with a session by its name alone."""

from pathlib import Path
from typing import Any

import click

from flows.commands.common import NamedPath, common_options, effective_settings


@click.command(short_help="Go on with a session that was interrupted, or give it higher targets.")
@click.argument("session")
@click.option("--max-iterations", type=int, metavar="N", help="Another target for the iterations.")
@click.option("--time-budget", type=float, metavar="SECONDS", help="Another target for the time at work.")
@click.option("--max-tokens", type=int, metavar="N", help="Another hard cap on the model's tokens.")
@click.option(
    "--max-cost", type=float, metavar="AMOUNT", help="Another hard cap on its cost; needs prices configured."
)
@click.option("--force", is_flag=True, help="Start also after three starts without progress.")
@click.option("--out", type=NamedPath(), metavar="DIR", help="Folder for the report.")
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
    from flows.commands.lease import wait_for_lease
    from flows.commands.running import Request, report_folder, run_session
    from flows.commands.stored import check_same_session, known_session, recalled_settings
    from flows.writable import check_folder
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
    check_same_session(settings, state, state.goal)
    check_folder(request.out)
    wait_for_lease(settings, state.session_id, quiet=quiet)
    return run_session(request)
