"""``lethe resume``: go on with a session by its name alone."""

from pathlib import Path
from typing import Any

import click

from flows.commands.common import effective_settings
from flows.commands.options import common_options, run_options


@click.command(short_help="Go on with a session that was interrupted, or give it higher targets.")
@click.argument("session")
@run_options
@click.option("--force", is_flag=True, help="Start also after three starts without progress.")
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
