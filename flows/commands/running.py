"""One run of the session flow in this process: server, flow, progress, and what the end is called."""

import logging
import os
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from flows.commands.common import absolute
from flows.commands.stored import find_session
from flows.commands.summary import print_json, print_summary, resume_line
from flows.interrupts import Interrupted, Interruption, interruptible
from flows.local_server import starting_server
from flows.notes import Notes
from flows.prefect_environment import (
    ConfiguredServer,
    configured_server,
    page_of,
    point_prefect_at,
    silence_of,
    without_password,
)
from flows.server_loss import ServerLostError, is_server_loss
from flows.server_watch import watched_server
from flows.terminal import Display, open_display, write_line
from flows.wording import STOPPED
from lethe_core.errors import ConfigError, SeriesBusyError
from lethe_core.report.outcome import EXIT_CANCELLED, UNAVAILABLE, outcome_of

if TYPE_CHECKING:
    from lethe_core.config import Settings
    from lethe_core.report.model import ReportJson

SKIPPED: Final = "Skipped"  # flows.series names the state, and would import Prefect here


@dataclass(frozen=True, slots=True)
class Request:
    """What is to be run, every path absolute."""

    question: str
    session: str
    settings: "Settings"
    out: Path
    config: Path | None = None
    force: bool = False
    as_json: bool = False
    quiet: bool = False
    debug: bool = False


def run_session(request: Request) -> int:
    """Run the session flow, print what came of it, return the exit code. Raises what ended it in error."""
    display = open_display(request.settings.max_iterations, quiet=request.quiet)

    def last_words() -> None:
        write_line(f"lethe: ended at once; what was committed is safe: {resume_line(request.session)}")

    with interruptible(last_words) as interruption:
        run = _Run(request, display, interruption)
        try:
            error = run.run()
        except Exception as failure:
            if not (run.began and is_server_loss(failure)):
                raise
            error = failure
        except KeyboardInterrupt:
            error = None
            run.interrupted = True
        finally:
            display.close()
        return _conclude(request, run, error)


class _Run:
    """The run, and the little that is known about it from outside."""

    def __init__(self, request: Request, display: Display, interruption: Interruption) -> None:
        self._request = request
        self.interruption = interruption
        self._display = display
        self.notes = Notes(display)
        self.page = ""
        self.server = ""  # its address, once one was found
        self.own_server = False
        self.began = False  # the flow was called
        self.interrupted = False

    def run(self) -> BaseException | None:
        """Returns the error that ended the flow; None when it ended with a report."""
        settings = self._request.settings
        configured = configured_server()
        if configured is not None:
            if silence := silence_of(configured):
                raise ConfigError(silence)
            point_prefect_at(configured.url, settings.home, own=False, debug=self._request.debug)
            page = page_of(without_password(configured.url))
            flow = _import_flow()
            _check_answers(configured)
        else:
            self.own_server = True
            with starting_server(settings.home, self._display.say) as server:
                point_prefect_at(server.state.api_url, settings.home, own=True, debug=self._request.debug)
                page = server.state.page
                flow = _import_flow()  # while the server does the same
                server.wait(self._display.say)
        return self._call(flow, page)

    def _call(self, flow: Any, page: str) -> BaseException | None:
        from flows.watching import watched_by

        request, settings = self._request, self._request.settings
        self.server = page
        if not request.debug:
            # Prefect's log worker writes its own failures to the terminal past every handler.
            logging.raiseExceptions = False
        with (
            watched_by(_Watcher(self, page)),
            nullcontext() if request.debug else self.notes.taken(),
            watched_server(os.environ["PREFECT_API_URL"], self._display.say),
        ):
            self.began = True
            try:
                state = flow(
                    request.question,
                    corpus=tuple(str(folder) for folder in settings.corpus),
                    session=request.session,
                    series=settings.series,
                    if_running=settings.if_running,
                    max_iterations=settings.max_iterations,
                    min_iterations=settings.min_iterations,
                    time_budget=settings.time_budget,
                    max_tokens=settings.max_tokens or 0,
                    max_cost=settings.max_cost or 0,
                    store=settings.store_url,
                    model=settings.llm_model,
                    out=str(request.out),
                    config_file=str(request.config) if request.config else "",
                    force=request.force,
                    return_state=True,
                )
            except BaseException as error:
                if not _is_termination(error):
                    raise
                raise KeyboardInterrupt from error
        if run_id := state.state_details.flow_run_id:
            self.page = f"{page}/runs/flow-run/{run_id}"
        if state.name == SKIPPED:
            raise SeriesBusyError(state.message)
        return _error_of(state)

    @property
    def display(self) -> Display:
        return self._display


class _Watcher:
    """Hands on what the flow tells, and the run's page as soon as there is one."""

    def __init__(self, run: _Run, page: str) -> None:
        self._run = run
        self._page = page

    def checking(self, model: str) -> None:
        self._note_page()
        self._run.display.checking(model)

    def indexing(self, done: int, total: int, name: str) -> None:
        self._note_page()
        self._run.display.indexing(done, total, name)

    def iteration(self, progress: Any) -> None:
        self._note_page()
        self._run.display.iteration(progress)

    def assembling(self) -> None:
        self._run.display.assembling()

    def stop_asked(self) -> bool:
        return self._run.interruption.asked

    def _note_page(self) -> None:
        if self._run.page:
            return
        from prefect.runtime import flow_run

        if flow_run.id:
            self._run.page = f"{self._page}/runs/flow-run/{flow_run.id}"
            self._run.display.say(f"follow it at {self._run.page}")


def _import_flow() -> Any:
    from flows.session import research

    return research


def _is_termination(error: BaseException) -> bool:
    from prefect.exceptions import TerminationSignal

    return isinstance(error, TerminationSignal)


def _check_answers(server: ConfiguredServer) -> None:
    """Whether Prefect's client comes to terms with the server. Raises ConfigError."""
    from prefect.client.orchestration import get_client

    with get_client(sync_client=True) as client:
        error = client.api_healthcheck()
    if error is not None:
        said = without_password(str(error)) or type(error).__name__
        raise ConfigError(
            f"the Prefect server at {without_password(server.url)} cannot be used: {said} ({server.origin} "
            "names it; Prefect's own settings say how it is reached)"
        )


def _error_of(state: Any) -> BaseException | None:
    """The exception that a final state carries, if any: a state made by the flow itself has none."""
    data = state.data
    exception = getattr(data, "result", data)
    return exception if isinstance(exception, BaseException) else None


def _conclude(request: Request, run: _Run, error: BaseException | None) -> int:
    if error is not None:
        if run.began and is_server_loss(error):
            raise ServerLostError(_server_lost(request, run)) from error
        raise error
    report = read_report(request.out)
    ended = report is not None and _is_of(report, request, run)
    if not ended:
        if run.interrupted:
            raise Interrupted(_interrupted(request))
        raise RuntimeError(f"the run ended without a report in {request.out}")
    assert report is not None
    if request.as_json:
        print_json(report)
    elif not request.quiet:
        print_summary(report, page=run.page, own_server=run.own_server)
    elif report.stop_reason in UNAVAILABLE:
        # Elsewhere the notes have said it; what ends a run with an error code is no progress.
        write_line(f"lethe: {STOPPED[report.stop_reason]}{f': {run.notes.last}' if run.notes.last else ''}")
    code = EXIT_CANCELLED if run.interrupted else exit_code(report)
    if report.stop_reason == "cancelled":
        write_line(f"lethe: cancelled; go on with: {resume_line(request.session)}")
    return code


def _interrupted(request: Request) -> str:
    if find_session(request.settings, request.session) is None:
        return "interrupted before the session began; nothing was stored"
    return f"interrupted; what was committed is safe: {resume_line(request.session)}"


def _server_lost(request: Request, run: _Run) -> str:
    lost = f"the Prefect server at {run.server} went away"
    if find_session(request.settings, request.session) is None:
        return f"{lost} before the session began; nothing was stored: run the command again"
    return f"{lost}; what was committed is kept: {resume_line(request.session)}"


def _is_of(report: "ReportJson", request: Request, run: _Run) -> bool:
    """Whether it is this run's report, not one that lay there before."""
    state = find_session(request.settings, request.session)
    return (
        run.began
        and state is not None
        and (report.session, report.stop_reason)
        == (
            request.session,
            state.stop_reason,
        )
    )


def read_report(folder: Path) -> "ReportJson | None":
    """The report's JSON file in a folder; None when there is none that can be read."""
    from pydantic import ValidationError

    from lethe_core.report.model import ReportJson

    try:
        return ReportJson.model_validate_json((folder / "report.json").read_bytes())
    except (OSError, ValidationError):
        return None


def exit_code(report: "ReportJson") -> int:
    """The exit code that the end of the session has in the table of outcomes."""
    return outcome_of(report.stop_reason, len(report.findings)).exit_code if report.stop_reason else 0


def report_folder(settings: "Settings", session: str) -> Path:
    """Where the report goes: ``--out``, else a folder of the session's under the working folder."""
    return settings.out or absolute(Path("lethe-reports") / session)
