"""The session flow: the loop of ten tasks, the budget check above it, the report below (architecture.md)."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from prefect import flow, get_run_logger
from prefect.client.schemas.objects import State
from prefect.exceptions import TerminationSignal

from flows.answer_storage import bound_waiting
from flows.artifacts import ProgressBar, publish_report
from flows.commands.stored import with_own_corpus
from flows.naming import flow_run_name, session_name
from flows.parameters import (
    Cost,
    Folder,
    IfRunning,
    Iterations,
    Name,
    PathOrNone,
    Question,
    Seconds,
    StoreUrl,
    Tokens,
    given,
)
from flows.restarts import await_former_process
from flows.run_log import core_logged
from flows.series import await_turn, overtaken, tell_changes
from flows.states import asked_to_stop, cancel_requested, final_state
from flows.watching import on_assembly, on_check, on_index, on_progress, watched
from lethe_core.adapters.bootstrap import session_deps
from lethe_core.adapters.reports import write_report
from lethe_core.adapters.stores.owner import make_owner
from lethe_core.config import Settings, load_settings
from lethe_core.errors import (
    CredentialsError,
    LetheError,
    ModelError,
    SeriesBusyError,
    SessionError,
)
from lethe_core.graph.nodes import SessionId
from lethe_core.reasoning.protocol import Answer
from lethe_core.report.gate import failures
from lethe_core.report.model import Check
from lethe_core.report.outcome import CANCELLED, MODEL_UNAVAILABLE
from lethe_core.session.answering import CapReachedError, due_round
from lethe_core.session.deps import SessionDeps
from lethe_core.session.finishing import check_stop, close_session, draft_report, record_failure
from lethe_core.session.handle import SessionHandle
from lethe_core.session.opening import checked_question, checked_series, checked_session_id, open_session
from lethe_core.session.writing import due_sections, keep_section
from tasks.apply import apply_operations, compute_signals
from tasks.compose import expand_context, pack_context, serialize_context
from tasks.reason import call_llm, parse_response, write_section
from tasks.select import ready_set, select_task, sync_similar


@flow(name="lethe", flow_run_name=flow_run_name, persist_result=False)
def research(
    question: Question,
    corpus: tuple[Folder, ...] = (),
    max_iterations: Iterations = 0,
    time_budget: Seconds = 0,
    min_iterations: Iterations = 0,
    max_tokens: Tokens = 0,
    max_cost: Cost = 0,
    model: str = "",
    out: PathOrNone = "",
    session: Name = "",
    series: Name = "",
    if_running: IfRunning = "as configured",
    fail_on: tuple[Check, ...] = (),
    store: StoreUrl = "",
    config_file: PathOrNone = "",
    force: bool = False,
) -> State[Any]:
    """Research a question in folders of documents and write a report in which every claim is cited.

    Args:
        question: What to find out, in a sentence or a few; 8,000 characters at most.
        corpus: Folders of documents, absolute paths as the worker sees them. Empty: as configured.
        max_iterations: Iterations to aim at, 100 at most; twice as many are the limit. 0: as configured.
        time_budget: Seconds at work to aim at, a week at most; twice as many are the limit. 0: as configured.
        min_iterations: Iterations before convergence may end it, 100 at most. 0: as configured.
        max_tokens: Limit on the language model's tokens, never exceeded. 0: as configured.
        max_cost: Limit on the language model's cost, never exceeded; prices must be configured.
            0: as configured.
        model: Name of the language model on the configured server. Empty: as configured.
        out: Folder for the report, an absolute path as the worker sees it. Empty: one of the session's own.
        session: A name for this research: a letter, then letters, digits, dots, dashes or underscores, 64 at
            most. One that exists is gone on with, in its own folders. Empty: a new one.
        series: Name of a series of runs, made like a session's; each run starts from what the last good one
            knew and says what changed. Empty: none.
        if_running: While another run of the same series is at work: wait for it, or skip this one.
        fail_on: For pipelines: what in the report makes this a failed run.
        store: URL of the graph store, without a password. Empty: as configured.
        config_file: A lethe.toml, an absolute path as the worker sees it. Empty: the worker's own.
        force: Start also where three starts of this session came to nothing.
    """
    question, session_id = checked_question(question), checked_session_id(session_name(session))
    flags = given(
        {
            "corpus": corpus,
            "max_iterations": max_iterations,
            "time_budget": time_budget,
            "min_iterations": min_iterations,
            "max_tokens": max_tokens,
            "max_cost": max_cost,
            "llm_model": model,
            "out": out,
            "series": series,
            "if_running": if_running,
            "store": store,
        }
    )
    settings = load_settings(flags, config_file=Path(config_file) if config_file else None).settings
    checked_series(settings.series)
    if not corpus:
        settings = with_own_corpus(settings, session_id)
    if (ended := overtaken(settings)) is not None:
        return ended
    await_former_process(settings, session_id)
    bound_waiting()
    while True:
        try:
            with core_logged():
                return _research(settings, question, session_id, checks=fail_on, force=force)
        except SeriesBusyError as busy:
            if (ended := await_turn(settings, busy, cancel_requested)) is not None:
                return ended


def _research(
    settings: Settings, question: str, session_id: SessionId, *, checks: Sequence[Check], force: bool
) -> State[Any]:
    """One session from its opening to its report. Raises SeriesBusyError when it is not its turn."""
    with session_deps(settings, progress=on_index) as deps:
        silent = _check_model(deps)
        handle = open_session(
            deps,
            question,
            session_id,
            owner=make_owner(),
            force=force,
            listener=on_progress,
        )
        handle.cancelled = partial(asked_to_stop, handle)
        try:
            return _run(handle, silent, checks)
        finally:
            handle.close()


def _run(session: SessionHandle, silent: str, checks: Sequence[Check]) -> State[Any]:
    """Iterate until there is a reason to stop; whatever it is, a report comes of it.

    silent: why the model cannot be asked at all; empty when it can.
    checks: of the report, any of which fails the run.
    """
    progress = ProgressBar(session)
    reason = MODEL_UNAVAILABLE if silent else ""
    try:
        while not (reason := reason or check_stop(session)):
            progress.show()
            iterate(session)
        on_assembly()
        sync_similar.with_options(task_run_name="end, sync similar")(session, final=True)
        _write_sections(session, reason)
        return _end(session, progress, reason, silent, checks=checks)
    except (KeyboardInterrupt, TerminationSignal) as interruption:
        return _cancelled(session, progress, interruption)
    except SessionError:
        raise
    except Exception as error:
        if (signalled := _interruption_behind(error)) is not None:
            return _cancelled(session, progress, signalled)
        _note_failure(session, error)
        raise


def _cancelled(session: SessionHandle, progress: ProgressBar, interruption: BaseException) -> State[Any]:
    state = _end(session, progress, CANCELLED)
    # A worker waits for its signal to come back; a directly called run says itself what it is.
    if isinstance(interruption, TerminationSignal) and not watched():
        raise interruption from None
    return state


def _interruption_behind(error: BaseException | None) -> BaseException | None:
    """The signal that an error comes of: one that reaches Prefect while it makes a task run ends there as
    "Task run is not set"."""
    while error is not None and not isinstance(error, KeyboardInterrupt | TerminationSignal):
        error = error.__cause__ or error.__context__
    return error


def _note_failure(session: SessionHandle, error: Exception) -> None:
    """Leave a word in the session where that is possible; the error itself is what the run ends with."""
    try:
        record_failure(session, error)
    except LetheError as second:
        get_run_logger().error("the failure could not be noted in the session: %s", second)


def iterate(session: SessionHandle) -> None:
    """One iteration: the seed's ten steps, each skipping what its record says is done."""
    ready = ready_set(session)
    chosen = select_task(session, ready)
    sync_similar(session)
    expand_context(session, chosen)
    pack_context(session, chosen)
    serialize_context(session, chosen)
    while (round_number := due_round(session)) is not None:
        answer, failure = _ask(session, round_number)
        parse_response(session, round_number, answer, failure)
    apply_operations(session)
    compute_signals(session)


def _ask(session: SessionHandle, round_number: int) -> tuple[dict[str, Any] | None, LetheError | None]:
    """A failed call is part of the iteration: its task goes back, and the iteration counts."""
    try:
        return call_llm(session, round_number), None
    except CredentialsError:
        raise
    except (ModelError, CapReachedError) as failure:
        return None, failure


def _write_sections(session: SessionHandle, reason: str) -> None:
    """Prose where a language model is there to write it; a section whose call fails stays quotations."""
    for n in due_sections(session, reason):
        try:
            keep_section(session, n, Answer(**write_section(session, n)))
        except (ModelError, CredentialsError, CapReachedError) as failure:
            get_run_logger().warning("section %d stays quotations: %s", n, failure)
            keep_section(session, n, failure)


def _check_model(deps: SessionDeps) -> str:
    """One request before anything is spent; a refused key ends the run, a server that is silent or answers
    what is no completion only its iterations. Returns what is wrong.
    """
    if not deps.reasoner.extractive:  # which has nobody to ask
        on_check(deps.reasoner.name)
        get_run_logger().info("asking the model server whether it answers")
    try:
        deps.reasoner.check()
    except ModelError as error:
        get_run_logger().error("%s", error)
        return str(error)
    return ""


def _end(
    session: SessionHandle,
    progress: ProgressBar,
    reason: str,
    message: str = "",
    *,
    checks: Sequence[Check] = (),
) -> State[Any]:
    ending = draft_report(session, reason, message)
    gate = failures(ending.report, checks)
    written = write_report(ending.report, _report_folder(session), gate)
    close_session(session, ending)
    progress.finish(reason)
    publish_report(session, written)
    tell_changes(session, ending.report, reason)
    state = final_state(ending, written.path, gate)
    get_run_logger().info("%s", state.message)  # of a run that a worker ends, the only place where it stands
    return state


def _report_folder(session: SessionHandle) -> Path:
    """The folder that was asked for; on a worker, where none was, one of the session's own under home."""
    settings = session.deps.settings
    return settings.out or settings.home / "reports" / session.state.session_id
