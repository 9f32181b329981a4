"""A session run to its end without Prefect, for benchmarks that run many: the flow's steps in its order."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from lethe_core.adapters.bootstrap import session_deps
from lethe_core.adapters.stores.owner import make_owner
from lethe_core.config import load_settings
from lethe_core.errors import LetheError
from lethe_core.graph.session_state import SessionState
from lethe_core.reasoning.protocol import Answer
from lethe_core.session.answering import ask, due_round, judge
from lethe_core.session.applying import apply_answer
from lethe_core.session.calling import execute_calls
from lethe_core.session.composing import expand, pack_evidence, serialize
from lethe_core.session.finishing import Ending, check_stop, close_session, draft_report
from lethe_core.session.handle import SessionHandle
from lethe_core.session.measuring import measure
from lethe_core.session.opening import checked_session_id, open_session
from lethe_core.session.selecting import ready_tasks, select
from lethe_core.session.syncing import sync_similar


def research(
    question: str, corpus: Path, home: Path, name: str, **settings: Any
) -> tuple[Ending, SessionState]:
    """Run one session and return how it ended."""
    loaded = load_settings({"corpus": (corpus,), "home": home, **settings}).settings
    with session_deps(loaded) as deps:
        session = open_session(deps, question, checked_session_id(name), owner=make_owner())
        try:
            while not (reason := check_stop(session)):
                iterate(session)
            sync_similar(session, final=True)
            ending = draft_report(session, reason)
            close_session(session, ending)
            return ending, session.state
        finally:
            session.close()


def iterate(session: SessionHandle, buy: Callable[[SessionHandle, int], Answer] = ask) -> None:
    """The seed's ten steps; buy: step 7, which may know the answer already."""
    task = select(session, ready_tasks(session))
    sync_similar(session)
    expand(session, task)
    pack_evidence(session, task)
    serialize(session, task)
    while (round_number := due_round(session)) is not None:
        try:
            answer: Answer | LetheError = buy(session, round_number)
        except LetheError as error:
            answer = error
        judge(session, round_number, answer)
    apply_answer(session)
    execute_calls(session)
    measure(session)
