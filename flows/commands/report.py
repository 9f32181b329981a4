"""``lethe report``: a session's report from the graph alone, as it stands."""

from pathlib import Path

import click

from flows.commands.common import absolute, effective_settings
from flows.commands.options import NamedPath, common_options, store_option


@click.command(short_help="Print or write a session's report from the graph.")
@click.argument("session")
@click.option(
    "--format",
    "kind",
    type=click.Choice(["md", "json"]),
    default="md",
    show_default=True,
    help="Markdown or the versioned JSON object.",
)
@click.option(
    "--out",
    type=NamedPath(),
    metavar="FILE",
    help="Write to this file instead of standard output.",
)
@store_option
@common_options
def report(
    session: str,
    kind: str,
    out: Path | None,
    store: str | None,
    debug: bool,  # noqa: ARG001 (read by the entry point)
    config: Path | None,
    home: Path | None,
) -> int:
    """Make the report of SESSION from what is in the graph, finished or not. Calls no model."""
    from flows.commands.stored import known_session, stored_report
    from flows.writable import check_file
    from lethe_core.report.markdown import render_markdown
    from lethe_core.report.to_json import render_json

    settings = effective_settings({"store": store}, config=config, home=home).settings
    state = known_session(settings, session)
    if out is not None:
        check_file(absolute(out))
    made = stored_report(settings, state.session_id)
    text = render_markdown(made) if kind == "md" else render_json(made).dumps() + "\n"
    if out is None:
        click.echo(text, nl=False)
    else:
        _write(absolute(out), text)
        click.echo(str(absolute(out)))
    return 0


def _write(path: Path, text: str) -> None:
    from lethe_core.errors import UsageError

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise UsageError(
            f"the report cannot be written to {path}: {error.strerror or error} (name another --out FILE)"
        ) from None
