"""The command line ``lethe``: what each command does is in ``flows.commands``, errors end here.

``lethe --help`` and every command that runs no flow answer at once: Prefect, numpy and pydantic are
imported where they are needed.
"""

import os
import sys
import traceback
from contextlib import suppress
from typing import Any, Final

import click

from flows.commands.diff import diff
from flows.commands.doctor import doctor
from flows.commands.evaluate import evaluate
from flows.commands.report import report
from flows.commands.research import research
from flows.commands.resume import resume
from flows.commands.server import server
from flows.commands.sessions import sessions
from flows.commands.store import delete, prune, store
from flows.interrupts import EXIT_INTERRUPTED, Interrupted, leave_quietly
from flows.server_loss import ServerLostError, leave_at_once
from lethe_core import __version__
from lethe_core.errors import LetheError

EXIT_BROKEN_PIPE: Final = 141  # 128 + SIGPIPE, as of every program whose reader has left


class ReaderLeft(Exception):
    """Nobody reads standard output any more."""


class Commands(click.Group):
    """Keeps click from answering a broken pipe with exit code 1, which would look like an error."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            code = super().invoke(ctx)
            sys.stdout.flush()
        except BrokenPipeError:
            raise ReaderLeft from None
        return code


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="lethe", message="%(prog)s %(version)s")
def cli() -> None:
    """Research a question by itself and write a report in which every claim is cited.

    \b
    Begin with:
      lethe research "QUESTION" --corpus DIR
    """


for command in (research, resume, report, diff, sessions, store, delete, prune, evaluate, doctor, server):
    cli.add_command(command)


def main() -> None:
    """The console script: run a command and exit with its code."""
    # Two BLAS threads on two busy cores wait for each other: packing took 30 times as long with them. Not
    # OMP_NUM_THREADS: numpy and scipy do without, and a model run by torch would be left with one thread.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    _open_closed_streams()
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    code = run(sys.argv[1:])
    leave_quietly(code)
    sys.exit(code)


def run(arguments: list[str]) -> int:
    """Run one command; every error becomes a line on standard error and an exit code."""
    try:
        code: Any = cli.main(arguments, prog_name="lethe", standalone_mode=False)
        return code if isinstance(code, int) else 0
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message())
        return 2
    except click.ClickException as error:
        return _complain(_of_click(error), error.exit_code)
    except ReaderLeft:
        _drop_output()
        return EXIT_BROKEN_PIPE
    except (KeyboardInterrupt, click.Abort):
        return _complain("interrupted", EXIT_INTERRUPTED)
    except Interrupted as error:
        return _complain(str(error), EXIT_INTERRUPTED)
    except LetheError as error:
        _trace(arguments)
        failure = _complain(str(error), error.exit_code)
        if isinstance(error, ServerLostError):
            leave_at_once(failure)
        return failure
    except OSError as error:
        if not _is_of_output(error):
            return _unexpected(error, arguments)
        _drop_output()
        return _complain(f"standard output cannot be written to: {error.strerror or error}", 1)
    except Exception as error:  # noqa: BLE001 - the last line of defence: a line instead of a trace
        return _unexpected(error, arguments)


def _open_closed_streams() -> None:
    """Give a process that was started without some of its streams ones that take everything.

    The next file opened, a database perhaps, would otherwise get the number of standard output.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest free number, which is this one
    if sys.stdout is None:
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115


def _is_of_output(error: OSError) -> bool:
    """Whether it came of printing: click's, or the last flush of a command."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None or error.filename is not None:
        return False
    return trace.tb_frame.f_globals.get("__name__") in ("click.utils", __name__)


def _drop_output() -> None:
    """Python would complain once more when it closes a stream that cannot be written to."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _unexpected(error: Exception, arguments: list[str]) -> int:
    _trace(arguments)
    hint = "" if "--debug" in arguments else " (run with --debug for the trace)"
    return _complain(f"{type(error).__name__}: {error}{hint}", 1)


def _of_click(error: click.ClickException) -> str:
    where = error.ctx.command_path if isinstance(error, click.UsageError) and error.ctx else "lethe"
    return f"{error.format_message().rstrip('.')} (see {where} --help)"


def _trace(arguments: list[str]) -> None:
    if "--debug" in arguments:
        traceback.print_exc()


def _complain(message: str, code: int) -> int:
    try:
        click.echo(f"lethe: {' '.join(message.split())}", err=True)
    except OSError:
        return code  # nobody listens any more
    return code
