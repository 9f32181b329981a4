"""A session that has nothing left to do: its report, and the exit code of then."""

from typing import TYPE_CHECKING, Final

from flows.commands.stored import stored_report
from flows.commands.summary import print_json, print_summary
from flows.wording import STOPPED

if TYPE_CHECKING:
    from flows.commands.running import Request

# The option that raises what stopped a session.
RAISES: Final = {
    "token_cap": "--max-tokens N",
    "cost_cap": "--max-cost AMOUNT",
    "wall_clock_cap": "--time-budget SECONDS",
}


def show_finished(request: "Request") -> int:
    """Write the report again from the graph and print it as when it was new; returns the exit code."""
    from flows.commands.running import exit_code, read_report
    from flows.terminal import write_line
    from flows.writable import check_folder
    from lethe_core.adapters.reports import write_report
    from lethe_core.graph.nodes import SessionId

    check_folder(request.out)
    report = stored_report(request.settings, SessionId(request.session))
    write_report(report, request.out)
    written = read_report(request.out)
    assert written is not None
    if request.as_json:
        print_json(written)
    elif not request.quiet:
        higher = RAISES.get(written.stop_reason, "--max-iterations N")
        reason = STOPPED.get(written.stop_reason, written.stop_reason)
        write_line(
            f"session {request.session} is finished ({reason}): this is its report. Higher limits "
            f"(lethe resume {request.session} {higher}) would go on with it"
            if written.stop_reason != "goal_complete"
            else f"session {request.session} is finished ({reason}): this is its report"
        )
        print_summary(written)
    return exit_code(written)
