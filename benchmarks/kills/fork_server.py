"""Runs sessions in processes of their own, forked from one that has paid for the imports.

``python -m benchmarks.kills.fork_server flow|loop DESCRIPTOR`` reads an object of parameters a line from its
standard input, runs a session with them in a child, and writes marks to the inherited descriptor. The
environment says which servers and folders. ``flow`` is the real one under Prefect, ``loop`` its steps alone,
which start and run several times as fast. Either works with a clock that goes on by the same step for each
transaction, and says what it does at the edges: store, model, search.
"""

import ctypes
import json
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable, Collection, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final, cast

from benchmarks.loop import iterate
from lethe_core.adapters.bootstrap import session_deps
from lethe_core.adapters.reports import write_report
from lethe_core.adapters.stores.owner import make_owner
from lethe_core.config import Settings, load_settings
from lethe_core.context import lexical
from lethe_core.errors import StoreError
from lethe_core.evidence.page import SearchOutcome
from lethe_core.evidence.provider import SearchProvider
from lethe_core.graph.nodes import SessionId
from lethe_core.graph.session_state import Lease, SessionState
from lethe_core.graph.store import GraphStore, Transaction
from lethe_core.reasoning.protocol import Answer
from lethe_core.session.answering import as_record, ask
from lethe_core.session.deps import SessionDeps
from lethe_core.session.finishing import check_stop, close_session, draft_report
from lethe_core.session.handle import SessionHandle
from lethe_core.session.opening import open_session
from lethe_core.session.record import next_step
from lethe_core.session.syncing import sync_similar
from lethe_core.session.writing import ask_section, due_sections, keep_section

from .marks import write_mark

STEP_SECONDS: Final = 2.0  # of the injected clock, for each transaction

Say = Callable[..., None]


class StepClock:
    """A clock that goes on by one step a transaction.

    The first reading is when the session was opened; all that is done then takes a step: a run that was
    killed and started again has worked as long as one that was not, to the bit.
    """

    def __init__(self) -> None:
        # Whole seconds, so that sums and differences are exact; near the real clock, which deadlines are for.
        self._now = float(int(time.monotonic()))
        self._opened = False

    def monotonic(self) -> float:
        now = self._now
        if not self._opened:
            self._opened = True
            self.step()
        return now

    def now(self) -> float:
        return time.time()

    def step(self) -> None:
        self._now += STEP_SECONDS


class MarkedStore:
    """A store that says when a lease is taken and what is committed."""

    def __init__(self, store: GraphStore, clock: StepClock, say: Say) -> None:
        self._store = store
        self._clock = clock
        self._say = say

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def acquire_lease(self, *given: Any, **named: Any) -> Lease:
        lease = self._store.acquire_lease(*given, **named)
        self._say("leased", epoch=lease.epoch)
        return lease

    @contextmanager
    def transaction(self, lease: Lease) -> Iterator[Transaction]:
        self._say("writing")
        with self._store.transaction(lease) as tx:
            before = tx.state
            yield tx
            self._say("committing")
        after = tx.state
        progressed = (before.phase, before.sections) != (after.phase, after.sections)
        self._clock.step()
        self._say("committed", at=position(after), progressed=progressed)


class MarkedSearch:
    """A search provider that says when it is asked and when it has found."""

    def __init__(self, provider: SearchProvider, say: Say) -> None:
        self._provider = provider
        self._say = say

    def __getattr__(self, name: str) -> Any:
        return getattr(self._provider, name)

    def search(self, query: str, *, known: Collection[str], deadline: float) -> SearchOutcome:
        self._say("searching", query=query)
        found = self._provider.search(query, known=known, deadline=deadline)
        self._say("found", query=query)
        return found


def position(state: SessionState) -> list[Any]:
    """How far a session is: each commit of a phase goes on from the one before."""
    phase = state.phase
    step = next_step(phase).value if phase else "none"
    answers, results = (len(phase.answers), len(phase.results)) if phase else (0, 0)
    return [state.iterations, step, answers, results, len(state.sections)]


def run_flow(parameters: dict[str, Any], say: Say) -> None:
    """The real flow, with marks at its edges; Prefect keeps the answers."""
    import flows.session
    import tasks.reason

    clock = StepClock()
    flows.session.session_deps = partial(marked_deps, clock=clock, say=say)
    tasks.reason.ask = _marked_call(ask, answer_key, say)
    tasks.reason.ask_section = _marked_call(ask_section, section_key, say)
    state = flows.session.research(**parameters, return_state=True)
    say("ended", type=state.type.value, name=state.name, message=str(state.message)[:500])


def run_loop(parameters: dict[str, Any], say: Say) -> None:
    """The flow's steps in its order without Prefect; answers are kept under its keys, in its folder."""
    question, name = parameters.pop("question"), parameters.pop("session")
    settings = load_settings(parameters | {"corpus": tuple(map(Path, parameters["corpus"]))}).settings
    buy = Kept(settings.home / "results", _marked_call(ask, answer_key, say), answer_key)
    buy_section = Kept(settings.home / "results", _marked_call(ask_section, section_key, say), section_key)
    try:
        with (
            marked_deps(settings, clock=StepClock(), say=say) as deps,
            closing(open_session(deps, question, SessionId(name), owner=make_owner())) as session,
        ):
            deps.reasoner.check()
            while not (reason := check_stop(session)):
                iterate(session, buy)
            sync_similar(session, final=True)
            for n in due_sections(session, reason):
                keep_section(session, n, buy_section(session, n))
            ending = draft_report(session, reason)
            write_report(ending.report, settings.home / "reports" / name)
            close_session(session, ending)
    except StoreError as error:
        say("ended", type="FAILED", name=type(error).__name__, message=str(error)[:500])
    else:
        say("ended", type=ending.outcome.state_type, name=reason, message="")


class Kept:
    """A call to the model whose answer is kept in a file, and read from there when it is."""

    def __init__(self, folder: Path, call: Callable[..., Answer], key: Callable[..., str]) -> None:
        self._folder = folder
        self._call = call
        self._key = key
        folder.mkdir(parents=True, exist_ok=True)

    def __call__(self, session: SessionHandle, number: int) -> Answer:
        path = self._folder / self._key(session, number)
        if path.exists():
            return Answer(**json.loads(path.read_text(encoding="utf-8")))
        answer = self._call(session, number)
        beside = path.with_suffix(".part")
        beside.write_text(json.dumps(as_record(answer)), encoding="utf-8")
        beside.replace(path)
        return answer


@contextmanager
def marked_deps(
    settings: Settings, *, clock: StepClock, say: Say, progress: Any = None
) -> Iterator[SessionDeps]:
    """What a session works with, with marks at the edges."""

    def reading(done: int, total: int, name: str) -> None:
        if name:
            say("reading", name=name)
        if progress is not None:
            progress(done, total, name)

    with session_deps(settings, clock=clock, progress=reading) as deps:
        yield replace(
            deps,
            store=cast(GraphStore, MarkedStore(deps.store, clock, say)),
            search=tuple(cast(SearchProvider, MarkedSearch(provider, say)) for provider in deps.search),
        )


def _marked_call(
    call: Callable[[SessionHandle, int], Answer], key: Callable[[SessionHandle, int], str], say: Say
) -> Callable[[SessionHandle, int], Answer]:
    def marked(session: SessionHandle, number: int) -> Answer:
        said = key(session, number)
        say("asking", key=said)
        answer = call(session, number)
        say("answered", key=said)
        return answer

    return marked


def answer_key(session: SessionHandle, round_number: int) -> str:
    return f"llm-{session.state.uuid}-{session.record.iteration}-{round_number}"


def section_key(session: SessionHandle, n: int) -> str:
    return f"llm-{session.state.uuid}-report-{session.state.iterations}-{n}"


def end_with_parent() -> None:
    """Leave nothing running when the process that started this one is gone."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def main() -> None:
    end_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal's Ctrl-C goes to every process; one ends them
    run = run_flow if sys.argv[1] == "flow" else run_loop
    # Loaded at first use otherwise: here, so that no child pays for it.
    lexical.library()
    if run is run_flow:
        import flows.session  # noqa: F401
    say = partial(write_mark, int(sys.argv[2]))
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            end_with_parent()
            code = 1
            try:
                run(json.loads(line), say)
                code = 0
            except BaseException:  # noqa: BLE001 - whatever it was stands in the log; the fork ends here
                traceback.print_exc()
            finally:
                sys.stderr.flush()
                os._exit(code)
        say("started", pid=child)
        _, status = os.waitpid(child, 0)
        say("exited", code=os.waitstatus_to_exitcode(status))


if __name__ == "__main__":
    main()
