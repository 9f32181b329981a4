"""``lethe doctor``: the effective settings, and whether what is configured answers."""

import json
from dataclasses import asdict
from pathlib import Path

import click

from flows.commands.common import effective_settings
from flows.commands.options import NamedPath, common_options


@click.command(short_help="Show what is configured, what answers and what is off.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option("--store", metavar="URL", help="The graph store; default graph.db in LETHE_HOME.")
@click.option(
    "--corpus",
    multiple=True,
    type=NamedPath(),
    metavar="DIR",
    help="Look at these folders, too.",
)
@common_options
def doctor(
    as_json: bool,
    store: str | None,
    corpus: tuple[Path, ...],
    debug: bool,  # noqa: ARG001 (read by the entry point)
    config: Path | None,
    home: Path | None,
) -> int:
    """Show every setting and where it came from, what of it answers, what is off and how to turn it on.

    Starts nothing. Exit code 2 when something that is configured does not answer.
    """
    from flows.doctor import Level, check_all, effective_values

    loaded = effective_settings({"store": store, "corpus": corpus or None}, config=config, home=home)
    values, checks = effective_values(loaded), check_all(loaded.settings)
    failed = any(check.level is Level.FAILED for check in checks)
    if as_json:
        settings = [asdict(value) for value in values]
        found = [asdict(check) for check in checks]
        click.echo(
            json.dumps({"schema": 1, "ok": not failed, "settings": settings, "checks": found}, indent=2)
        )
    else:
        width = max(len(value.name) for value in values)
        click.echo("Settings (lethe.toml: name; environment: LETHE_NAME)")
        for value in values:
            click.echo(f"  {value.name:{width}}  {value.value or '-'}  [{value.origin}]")
        click.echo("\nWhat answers")
        for check in checks:
            click.echo(f"  {check.level.value:5} {check.name}: {check.text}")
    return 2 if failed else 0
