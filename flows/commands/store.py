"""``lethe store``, ``lethe delete``, ``lethe prune``: keeping the graph store, apart from any run."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from flows.ages import seconds_of
from flows.commands.common import absolute, effective_settings
from flows.commands.options import common_options, quiet_option, store_option
from flows.interrupts import Interrupted
from flows.prefect_environment import results_block, results_folder
from flows.steps import steps_shown
from flows.terminal import write_line
from flows.wording import count

if TYPE_CHECKING:
    from lethe_core.adapters.stores.copying import Copied
    from lethe_core.config import Settings
    from lethe_core.graph.store import GraphStore

EXIT_UNSOUND: Final = 1


@click.group(short_help="Check, back up or copy the graph store.")
def store() -> None:
    """Check, back up or copy the graph store."""


@store.command(short_help="Say whether the store is sound.")
@store_option
@quiet_option
@common_options
def check(
    store: str | None,
    quiet: bool,
    debug: bool,  # noqa: ARG001 (read by the entry point)
    config: Path | None,
    home: Path | None,
) -> int:
    """Look for dangling edges, wrong degrees, broken embeddings, ids given twice, and damage on the disk.

    Prints a line for each problem, and ends with exit code 1 when there is one. Changes nothing.
    """
    from lethe_core.adapters.stores.copying import check_store

    with _opened(effective_settings({"store": store}, config=config, home=home).settings) as opened:
        with steps_shown("checking", "session", quiet=quiet) as step:
            problems = check_store(opened, step)
        sessions = len(opened.list_sessions())
        for problem in problems:
            click.echo(problem)
        if problems:
            click.echo(f"{opened.url}: {count(len(problems), 'problem')} in {count(sessions, 'session')}")
            return EXIT_UNSOUND
        if not quiet:
            click.echo(f"{opened.url} is sound: {count(sessions, 'session')}")
        return 0


@store.command(short_help="Write the whole store into a file.")
@click.argument("file", type=click.Path(path_type=Path))
@store_option
@common_options
def backup(
    file: Path,
    store: str | None,
    debug: bool,  # noqa: ARG001 (read by the entry point)
    config: Path | None,
    home: Path | None,
) -> int:
    """Write the whole store, as it stands, into the SQLite file FILE, which must not exist.

    Runs at work are not disturbed. The backup is a store itself: --store sqlite:///FILE.
    """
    from lethe_core.adapters.stores.copying import back_up

    with _opened(effective_settings({"store": store}, config=config, home=home).settings) as opened:
        back_up(opened, absolute(file))
    click.echo(str(absolute(file)))
    return 0


@store.command(short_help="Copy all sessions into another store.")
@click.argument("source", metavar="FROM")
@click.argument("target", metavar="TO")
@quiet_option
@common_options
def copy(
    source: str,
    target: str,
    quiet: bool,
    debug: bool,  # noqa: ARG001 (read by the entry point)
    config: Path | None,
    home: Path | None,
) -> int:
    """Copy all sessions of the store FROM into the store TO, bit for bit; both are URLs.

    What TO has already, and equal, is left, so that an interrupted copy goes on with the same command.
    Nothing is copied when TO has a session of the same name that differs.
    """
    from contextlib import closing

    from lethe_core.adapters.stores import open_store
    from lethe_core.adapters.stores.copying import Copied, copy_sessions

    first = effective_settings({"store": source}, config=config, home=home).settings
    second = effective_settings({"store": target}, config=config, home=home).settings
    with _opened(first) as opened, closing(open_store(second.store_url)) as other:
        done = Copied(0)
        try:
            with steps_shown("copying", "session", quiet=quiet) as step:

                def tell(now: Copied) -> None:
                    nonlocal done
                    done = now
                    step(now.there + now.copied, now.total)

                copy_sessions(opened, other, tell)
        except KeyboardInterrupt:
            raise Interrupted(
                f"interrupted: {_copied(done)} of {done.total:,}; the same command goes on"
            ) from None
        if not quiet:
            click.echo(f"{_copied(done)} from {opened.url} to {other.url}")
    return 0


def _copied(done: "Copied") -> str:
    there = f" ({done.there:,} more there already)" if done.there else ""
    return f"copied {count(done.copied, 'session')}{there}"


@click.command(short_help="Remove a session with its graph and its bought answers.")
@click.argument("session")
@store_option
@common_options
def delete(
    session: str,
    store: str | None,
    debug: bool,  # noqa: ARG001 (read by the entry point)
    config: Path | None,
    home: Path | None,
) -> int:
    """Remove SESSION: its graph, and the answers of models that were kept for it. Reports stay."""
    from flows.commands.stored import known_session
    from lethe_core.adapters.answers import AnswerFolder
    from lethe_core.adapters.stores.copying import delete_session

    settings = effective_settings({"store": store}, config=config, home=home).settings
    state = known_session(settings, session)
    with _opened(settings) as opened:
        delete_session(opened, state, AnswerFolder(results_folder(settings.home)))
    click.echo(f"deleted {state.session_id}")
    _tell_of_block()
    return 0


@click.command(short_help="Remove the sessions that were not changed for a time.")
@click.option("--older-than", "age", required=True, metavar="AGE", help="Hours, days or weeks: 12h, 90d, 8w.")
@store_option
@common_options
def prune(
    age: str,
    store: str | None,
    debug: bool,  # noqa: ARG001 (read by the entry point)
    config: Path | None,
    home: Path | None,
) -> int:
    """Remove every session that was last changed longer ago than AGE.

    One that is at work stays, and of every series the last good run, from which the next one starts.
    """
    from lethe_core.adapters.answers import AnswerFolder
    from lethe_core.adapters.stores.copying import prune as prune_sessions

    seconds = seconds_of(age)
    settings = effective_settings({"store": store}, config=config, home=home).settings
    with _opened(settings) as opened:
        answers = AnswerFolder(results_folder(settings.home))
        pruned = prune_sessions(opened, answers, before=time.time() - seconds)
    for session in pruned.deleted:
        click.echo(f"deleted {session}")
    for session in pruned.at_work:
        click.echo(f"left {session}: it is being worked on")
    for session in pruned.followed:
        click.echo(f"left {session}: the next run of its series starts from it (`lethe delete` removes it)")
    if not (pruned.deleted or pruned.at_work or pruned.followed):
        click.echo(f"no session is older than {age}")
    if pruned.deleted:
        _tell_of_block()
    return 0


def _tell_of_block() -> None:
    """Only Prefect opens its blocks; these commands do without it."""
    if block := results_block():
        write_line(f"answers that are kept in {block} go by their age, with the deployment lethe-maintenance")


@contextmanager
def _opened(settings: "Settings") -> "Iterator[GraphStore]":
    from flows.commands.stored import existing_store
    from lethe_core.errors import UsageError

    opened = existing_store(settings)
    if opened is None:
        raise UsageError(f"there is no store at {settings.store_url} (name another --store)")
    try:
        yield opened
    finally:
        opened.close()
