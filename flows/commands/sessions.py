"""``lethe sessions``: what there is, its state and why it stopped."""

import json
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from flows.commands.common import effective_settings
from flows.commands.options import common_options, store_option
from flows.wording import shown

if TYPE_CHECKING:
    from lethe_core.graph.session_state import SessionState
    from lethe_core.graph.store import GraphStore

COLUMNS: Final = ("session", "status", "stopped by", "iterations", "last change", "series", "question")
QUESTION_WIDTH: Final = 60


@click.command(short_help="List the sessions of the graph store.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@store_option
@common_options
def sessions(
    as_json: bool,
    store: str | None,
    debug: bool,  # noqa: ARG001 (read by the entry point)
    config: Path | None,
    home: Path | None,
) -> int:
    """List every session: name, status, stop reason, iterations, last change, series and run, question."""
    from flows.commands.stored import existing_store

    settings = effective_settings({"store": store}, config=config, home=home).settings
    opened = existing_store(settings)
    if opened is None:
        rows = []
    else:
        try:
            rows = [_row(opened, state) for state in opened.list_sessions()]
        finally:
            opened.close()
    if as_json:
        click.echo(json.dumps({"schema": 1, "store": settings.store_url, "sessions": rows}, indent=2))
    elif rows:
        click.echo("\n".join(_table(rows)))
    else:
        click.echo(
            f'no session in {settings.store_url} yet: begin with lethe research "QUESTION" --corpus DIR'
        )
    return 0


def _row(store: "GraphStore", state: "SessionState") -> dict[str, Any]:
    status = state.status.value
    if status == "running" and store.lease_holder(state.session_id) is None:
        # Its process has ended without a last word; or it is alive, and another of its series is at work.
        status = "interrupted" if state.n else "not begun"
    return {
        "session": state.session_id,
        "question": state.goal,
        "status": status,
        "stop_reason": state.stop_reason,
        "iterations": state.iterations,
        "seconds": round(state.seconds, 3),
        "series": state.series,
        "n": state.n,
        "previous": state.previous,
        "created_at": _utc(state.created_at),
        "updated_at": _utc(state.updated_at),
    }


def _utc(seconds: float) -> str:
    from datetime import UTC

    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


def _table(rows: list[dict[str, Any]]) -> list[str]:
    cells = [COLUMNS] + [
        (
            row["session"],
            row["status"].replace("_", " "),
            row["stop_reason"] or "-",
            str(row["iterations"]),
            datetime.fromisoformat(row["updated_at"]).astimezone().strftime("%Y-%m-%d %H:%M"),
            f"{row['series']} {row['n']}" if row["series"] else "-",
            shown(row["question"], QUESTION_WIDTH),
        )
        for row in rows
    ]
    widths = [max(len(line[column]) for line in cells) for column in range(len(COLUMNS))]
    return [
        "  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip()
        for line in cells
    ]
