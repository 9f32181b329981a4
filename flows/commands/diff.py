"""``lethe diff``: what changed between a session and its predecessor, or another one."""

from pathlib import Path

import click

from flows.commands.common import effective_settings
from flows.commands.options import common_options, store_option


@click.command(short_help="Say what changed since a session's predecessor, or another session.")
@click.argument("session")
@click.argument("other", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@store_option
@common_options
def diff(
    session: str,
    other: str | None,
    as_json: bool,
    store: str | None,
    debug: bool,  # noqa: ARG001 (read by the entry point)
    config: Path | None,
    home: Path | None,
) -> int:
    """Say what changed in SESSION since the run of its series that it follows, or since session OTHER.

    New findings, changed figures, dropped statements, new and vanished sources, contradictions. What is only
    worded or chosen otherwise is no change. The exit code is 0 whether something changed or not; the JSON
    object says it in `changes.changed`.
    """
    from flows.commands.stored import known_session, stored_outline, stored_report
    from lethe_core.errors import UsageError
    from lethe_core.report.changed import changed_parts
    from lethe_core.report.diff import compare
    from lethe_core.report.model import DiffJson
    from lethe_core.report.to_json import render_changes

    settings = effective_settings({"store": store}, config=config, home=home).settings
    state = known_session(settings, session)
    if other is not None:
        against = known_session(settings, other).session_id
        changes = compare(stored_outline(settings, against), stored_outline(settings, state.session_id))
    elif state.before is None:
        raise UsageError(
            f"session {state.session_id} follows no other: name the one to compare it with "
            f"(lethe diff {state.session_id} OTHER)"
        )
    else:
        found = stored_report(settings, state.session_id).changes
        assert found is not None
        changes = found
    if as_json:
        click.echo(DiffJson(session=state.session_id, changes=render_changes(changes)).dumps())
    else:
        click.echo("\n\n".join(changed_parts(changes, numbered=False)))
    return 0
