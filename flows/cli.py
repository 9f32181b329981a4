"""The command line ``lethe``: what each command does is in ``flows.commands``, errors end here.

``lethe --help`` and every command that runs no flow answer at once: Prefect, numpy and pydantic are
imported where they are needed.
"""

import os
import sys
import traceback
from typing import Any, Final

import click

from flows.commands.doctor import doctor
from flows.commands.report import report
from flows.commands.research import research
from flows.commands.resume import resume
from flows.commands.server import server
from flows.commands.sessions import sessions
from flows.commands.store import delete, prune, store
from flows.server_loss import ServerLostError, leave_at_once
from lethe_core import __version__
from lethe_core.errors import LetheError

EXIT_BROKEN_PIPE: Final = 141  # 128 + SIGPIPE, as of every program whose reader has left
EXIT_INTERRUPTED: Final = 130


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


for command in (research, resume, report, sessions, store, delete, prune, doctor, server):
    cli.add_command(command)


def main() -> None:
    """The console script: run a command and exit with its code."""
    # Two BLAS threads on two busy cores wait for each other: packing took 30 times as long with them. Not
    # OMP_NUM_THREADS: numpy and scipy do without, and a model run by torch would be left with one thread.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    sys.exit(run(sys.argv[1:]))


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
        # Python would complain once more when it closes the stream.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_BROKEN_PIPE
    except (KeyboardInterrupt, click.Abort):
        return _complain("interrupted", EXIT_INTERRUPTED)
    except LetheError as error:
        _trace(arguments)
        failure = _complain(str(error), error.exit_code)
        if isinstance(error, ServerLostError):
            leave_at_once(failure)
        return failure
    except Exception as error:  # noqa: BLE001 - the last line of defence: a line instead of a trace
        return _unexpected(error, arguments)


def _unexpected(error: Exception, arguments: list[str]) -> int:
    from flows.commands.running import Interrupted

    if isinstance(error, Interrupted):
        return _complain(str(error), EXIT_INTERRUPTED)
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
