"""Kills, session after session, until there were enough; then what must hold is checked of each."""

import random
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from lethe_core.adapters.stores import open_store
from lethe_core.graph.dump import SessionDump
from lethe_core.graph.nodes import SessionId

from .audit import Figures, faults, figures
from .canonical import canonical
from .history import History, Kill
from .marks import Mark
from .model_server import Served, read_log
from .moments import Durations, Moment, draw
from .servers import Model
from .session_process import Place, SessionProcess

Told = Callable[[Kill], None]

MOST_IN_A_ROW: Final = 2  # kills without a commit in between; the third start refused is tested apart


@dataclass(frozen=True, slots=True)
class Setting:
    """What is killed, and where it works."""

    name: str
    through: Literal["flow", "loop"]
    victim: Literal["session", "server"]
    folder: Path
    corpus: Path
    model: Model
    prefect_url: str  # empty: none is needed
    store_url: Callable[[Path], str]  # by the session's home
    database: Any = None  # a server with kill() and start()

    def session_name(self, which: object) -> str:
        """Of a session that no other campaign has, in the same database or in the model server's log."""
        store = re.sub(r"[^a-z0-9]+", "-", self.name.lower())
        return f"s-{store}-{self.victim}-{self.through}-{which}"


@dataclass(frozen=True, slots=True)
class Outcome:
    """One session, ended and checked."""

    name: str
    starts: int
    kills: tuple[Kill, ...]
    clean_ends: int
    counted: Figures
    faults: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Undisturbed:
    """The session that was left alone."""

    graph: dict[str, Any]
    positions: tuple[tuple[Any, ...], ...]
    durations: Durations
    iterations: int


class FailedSessionError(Exception):
    """A session ended where it should not have."""


def run_undisturbed(setting: Setting) -> Undisturbed:
    """One run that nobody kills, in a process of its own with a hash seed of its own."""
    with _Session(setting, setting.session_name("undisturbed")) as session:
        told = session.alone()
        dump = session.dump()
        counted = figures(session.history, dump, session.served())
        graph = canonical(dump, session.place.report)
        found = faults(session.history, dump, counted, graph, graph, session.history.positions)
        if found or counted.extra:
            raise FailedSessionError(f"the undisturbed session is at fault: {found or counted}")
        return Undisturbed(graph, tuple(session.history.positions), Durations.of(told), dump.state.iterations)


def run_killed(
    setting: Setting,
    name: str,
    most: int,
    rng: random.Random,
    undisturbed: Undisturbed,
    told: Told = lambda _: None,
) -> Outcome:
    """One session that is killed, at most so many times, until a run of it reaches its end.

    told: of each kill.
    """
    with _Session(setting, name, told) as session:
        session.killed_until_the_end(most, rng, undisturbed)
        dump, history = session.dump(), session.history
        counted = figures(history, dump, session.served())
        graph = canonical(dump, session.place.report)
        found = faults(history, dump, counted, graph, undisturbed.graph, undisturbed.positions)
        return Outcome(name, history.starts, tuple(history.kills), history.clean_ends, counted, tuple(found))


class _Session:
    """A session with its process."""

    def __init__(self, setting: Setting, name: str, told: Told = lambda _: None) -> None:
        self._setting = setting
        self._told = told
        home = setting.folder / name
        home.mkdir(parents=True)
        self.place = Place(
            name=name,
            through=setting.through,
            home=home,
            store=setting.store_url(home),
            corpus=setting.corpus,
            model_url=f"{setting.model.address}/{name}/v1",
            prefect_url=setting.prefect_url,
        )
        self.history = History(home / "results")
        self._process = SessionProcess(self.place)

    def __enter__(self) -> "_Session":
        return self

    def __exit__(self, *_: object) -> None:
        self._process.close()

    def alone(self) -> list[tuple[float, Mark]]:
        """Run to the end; all that it says, with when."""
        self._start()
        told: list[tuple[float, Mark]] = []
        while not told or told[-1][1].what != "exited":
            told.append((time.monotonic(), self._next()))
        self._expect_the_end(told[-1][1])
        return told

    def killed_until_the_end(self, most: int, rng: random.Random, undisturbed: Undisturbed) -> None:
        while True:
            self._start()
            ended = self._follow(lambda mark: mark.what == "leased")
            while ended is None and len(self.history.kills) < most:
                ended = self._reach(rng, undisturbed)
                if ended is None and self._setting.victim == "session":
                    self._process.kill()
                    break
                if ended is None:
                    self._kill_database(undisturbed)
            ended = ended or self._follow(lambda _: False)
            assert ended is not None
            if ended.values["code"] < 0:
                self._told(self.history.killed("session", undisturbed.iterations))
            elif self._expect_the_end(ended):
                return

    def served(self) -> list[Served]:
        """What the model server says that it was asked."""
        return read_log(self._setting.model.log, self.place.name)

    def dump(self) -> SessionDump:
        store = open_store(self.place.store)
        try:
            return store.dump_session(SessionId(self.place.name))
        finally:
            store.close()

    # -- private --------------------------------------------------------------------------------

    def _start(self) -> None:
        self.history.begin()
        self._process.start()

    def _next(self, seconds: float | None = None) -> Mark:
        mark = self._process.next_mark() if seconds is None else self._process.next_mark(seconds)
        self.history.add(mark)
        return mark

    def _follow(self, reached: Callable[[Mark], bool]) -> Mark | None:
        """Listen until something is reached; its exit when that came before."""
        while True:
            mark = self._next()
            if mark.what == "exited":
                return mark
            if reached(mark):
                return None

    def _reach(self, rng: random.Random, undisturbed: Undisturbed) -> Mark | None:
        """Listen until a moment that is drawn; its exit when that came before."""
        if self.history.fruitless > MOST_IN_A_ROW:
            ended = self._follow(lambda mark: mark.what == "committed" and mark.values["progressed"])
            if ended is not None:
                return ended
        moment: Moment = draw(rng, undisturbed.durations)
        left_to_come = moment.nth if moment.mark else 0
        until = time.monotonic() + (moment.at_last if left_to_come else moment.seconds)
        while (left := until - time.monotonic()) > 0:
            try:
                mark = self._next(left)
            except TimeoutError:
                break
            if mark.what == "exited":
                return mark
            if mark.what == moment.mark and left_to_come:
                left_to_come -= 1
                until = until if left_to_come else time.monotonic() + moment.seconds
        return None

    def _kill_database(self, undisturbed: Undisturbed) -> None:
        """Kill the database's server under the session and start it again."""
        self._told(self.history.killed("server", undisturbed.iterations))
        self._setting.database.kill()
        self._setting.database.start()

    def _expect_the_end(self, exited: Mark) -> bool:
        """Whether the session is finished; an error that a database's end explains is a reason to resume."""
        ended = self.history.ended
        if ended is not None and ended.values["type"] == "COMPLETED" and exited.values["code"] == 0:
            return True
        if self._setting.victim == "server" and ended is not None:
            self.history.clean_ends += 1
            return False
        raise FailedSessionError(
            f"session {self.place.name} ended with {ended.values if ended else exited.values}: "
            f"see {self._process.log}"
        )
