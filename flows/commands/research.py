"""``lethe research``: a question and folders of documents in, a cited report out."""

import os
import secrets
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from flows.commands.common import effective_settings
from flows.commands.options import NamedPath, NamedText, common_options, run_options

if TYPE_CHECKING:
    from lethe_core.config import Settings


@click.command(short_help="Research a question and write a cited report.")
@click.argument("question")
@click.option(
    "--corpus",
    multiple=True,
    type=NamedPath(),
    metavar="DIR",
    help="A folder of documents to search; may be given several times.",
)
@click.option(
    "--session", type=NamedText(), metavar="NAME", help="The session's name; one that exists is gone on with."
)
@click.option(
    "--series",
    type=NamedText(),
    metavar="NAME",
    help="A run of this series: it starts from what the last good one knew, and says what changed.",
)
@click.option(
    "--if-running",
    type=click.Choice(["wait", "skip"]),
    help="While another run of the series is at work: wait for it (default), or do nothing (exit code 6).",
)
@click.option("--min-iterations", type=int, metavar="N", help="Iterations before convergence may end it.")
@run_options
@click.option(
    "--model",
    type=NamedText(),
    metavar="NAME",
    help="The model's name on the configured server (LETHE_LLM_MODEL).",
)
@common_options
def research(
    question: str,
    corpus: tuple[Path, ...],
    session: str | None,
    as_json: bool,
    quiet: bool,
    debug: bool,
    config: Path | None,
    home: Path | None,
    **flags: Any,
) -> int:
    """Research QUESTION in the documents of one or several folders and write a report that cites them.

    Every iteration is committed: an interrupted session goes on with `lethe resume`. Without a language
    model configured (LETHE_LLM_BASE_URL, LETHE_LLM_MODEL) the report is made of quotations.

    \b
    Example:
      lethe research "When was the funicular built, and by whom?" --corpus ./documents

    \b
    Exit codes: 0 report written, 1 error, 2 usage or configuration, 3 nothing found, 4 model or search
    unavailable, 5 stopped at a limit (partial report), 6 session busy, 130 cancelled.
    """
    from flows.commands.finished import show_finished
    from flows.commands.lease import refuse_if_held
    from flows.commands.running import Request, report_folder, run_session
    from flows.commands.stored import check_same_session, find_session, recalled_settings
    from flows.terminal import write_line
    from flows.unknown_variables import warning_of
    from flows.writable import check_folder
    from lethe_core.session.opening import checked_question, checked_series, checked_session_id, may_go_on

    question = checked_question(question)
    checked_series(flags["series"] or "")
    name = checked_session_id(session) if session else f"s-{secrets.token_hex(4)}"
    flags["llm_model"] = flags.pop("model")
    flags["corpus"] = corpus or None
    settings = effective_settings(flags, config=config, home=home).settings
    state = find_session(settings, name) if session else None
    if state is not None:
        check_same_session(settings, state, question, flags["series"], settings.corpus if corpus else ())
        settings = recalled_settings(state, flags, config=config, home=home)
    request = Request(
        question=question,
        session=name,
        settings=settings,
        out=report_folder(settings, name),
        config=config,
        as_json=as_json,
        quiet=quiet,
        debug=debug,
    )
    if state is not None and not may_go_on(state, settings.model_dump(mode="json")):
        return show_finished(request)
    _check(settings)
    if not quiet and (warning := warning_of(os.environ)):
        write_line(warning)
    if state is not None:
        refuse_if_held(settings, state.session_id)
    check_folder(request.out)
    return run_session(request)


def _check(settings: "Settings") -> None:
    """Everything that can be seen to fail before anything is started."""
    from lethe_core.adapters.bootstrap import check_corpus
    from lethe_core.adapters.models.embedders import profile_of
    from lethe_core.adapters.sources.folder import walk
    from lethe_core.adapters.stores import open_store

    check_corpus(settings.corpus)
    profile_of(settings)
    walk(settings.corpus)
    open_store(settings.store_url).close()
