"""The session as the ten steps see it: current dependencies, graph and state, and the one way to write."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from lethe_core.control.gram import EvidenceSubspace
from lethe_core.control.vectors import control_vectors
from lethe_core.graph.arrays import FloatArray, Vector
from lethe_core.graph.nodes import EvidenceKind, NodeId
from lethe_core.graph.session_state import PhaseRecord, SessionPatch, SessionState
from lethe_core.graph.snapshot import GraphSnapshot
from lethe_core.graph.store import Transaction
from lethe_core.session.deps import SessionDeps
from lethe_core.session.kept_graph import KeptGraph
from lethe_core.session.lease_keeper import LeaseKeeper
from lethe_core.session.lexicon import SessionLexicon
from lethe_core.session.walking import LastWalk
from lethe_core.similar.plan import Compared


@dataclass(slots=True)
class Scratch:
    """What one step of an iteration leaves for the next in memory; gone with the process, made again."""

    candidates: tuple[NodeId, ...] = ()  # evidence and other tasks' results that the walk reaches
    pagerank: FloatArray = field(default_factory=lambda: np.zeros(0))  # (n,) of the candidates
    relevance: FloatArray = field(default_factory=lambda: np.zeros(0))  # (n,) likewise, to the task itself
    packed: tuple[NodeId, ...] = ()


@dataclass(slots=True)
class Caches:
    """What is derived from the graph and kept current with it; made anew, it would be the same."""

    subspace: EvidenceSubspace
    compared: Compared | None = None  # None: nothing yet in this process; the state says what others did
    block_tokens: dict[NodeId, int] = field(default_factory=dict)
    query_vectors: dict[str, Vector] = field(default_factory=dict)
    lexicon: SessionLexicon = field(default_factory=SessionLexicon)
    graph: KeptGraph = field(default_factory=KeptGraph)
    last_walk: LastWalk = field(default_factory=LastWalk)


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a session stands, for a person who watches."""

    iteration: int
    task: str  # the description of the task that is worked on
    searches: tuple[tuple[str, int], ...]  # this iteration's queries and how much each brought
    n_evidence: int
    n_sources: int
    n_tasks: int
    n_done: int
    applied: bool  # the iteration's operations have been applied


# A plain class, no dataclass: Prefect walks the fields of dataclasses that a task is given.
class SessionHandle:
    """One open session under its lease."""

    def __init__(
        self,
        deps: SessionDeps,
        keeper: LeaseKeeper,
        state: SessionState,
        snapshot: GraphSnapshot,
        *,
        cancelled: Callable[[], bool] = lambda: False,
        listener: Callable[[Progress], None] | None = None,
    ) -> None:
        self.deps = deps
        self.state = state
        self.snapshot = snapshot
        self.cancelled = cancelled
        self.scratch = Scratch()
        self.caches = Caches(EvidenceSubspace(partial(control_vectors, profile=deps.embedder.profile)))
        self._listener = listener
        self._keeper = keeper
        self._mark = deps.clock.monotonic()

    @property
    def record(self) -> PhaseRecord:
        """The open iteration's record; an error of the caller's when none is open."""
        if self.state.phase is None:
            raise RuntimeError("no iteration is open")
        return self.state.phase

    @property
    def label(self) -> str:
        """What runs of the open or the next iteration are called: its number."""
        return f"{self._iteration:02d}"

    @property
    def _iteration(self) -> int:
        return self.state.phase.iteration if self.state.phase else self.state.iterations + 1

    def announce(self) -> None:
        """Tell whoever watches where the session stands."""
        if self._listener is None:
            return
        phase = self.state.phase
        task = self.snapshot.tasks[phase.task] if phase else self.snapshot.root
        chunks = [node for node in self.snapshot.evidence.values() if node.kind is EvidenceKind.CHUNK]
        self._listener(
            Progress(
                iteration=self._iteration,
                task=task.description,
                searches=tuple(
                    (record.query, record.n_new)
                    for record in self.state.searches
                    if record.iteration == self._iteration
                ),
                n_evidence=len(chunks),
                n_sources=len({node.address for node in chunks}),
                n_tasks=len(self.snapshot.tasks),
                n_done=sum(node.status.terminal for node in self.snapshot.tasks.values()),
                applied=phase is not None and phase.outcome is not None,
            )
        )

    @property
    def seconds(self) -> float:
        """Time at work, summed over runs."""
        return self.state.seconds + (self.deps.clock.monotonic() - self._mark)

    @contextmanager
    def resting(self) -> Iterator[None]:
        """Time that is no time at work; nothing is written meanwhile."""
        begun = self.deps.clock.monotonic()
        try:
            yield
        finally:
            self._mark += self.deps.clock.monotonic() - begun

    @property
    def deadline(self) -> float:
        """When the hard cap on time is reached, on the monotonic clock."""
        budget = self.deps.budget
        return self.deps.clock.monotonic() + budget.hard_factor * budget.time_budget - self.seconds

    @contextmanager
    def write(self) -> Iterator[Transaction]:
        """One transaction; the time at work goes with it, graph and state follow it."""
        seconds = self.seconds
        mark = self.deps.clock.monotonic()
        with self.deps.store.transaction(self._keeper.lease) as tx:
            yield tx
            tx.update_session(SessionPatch(seconds=seconds))
        self._mark = mark
        self.snapshot.apply(tx.delta)
        self.state = tx.state

    def query_vector(self, text: str) -> Vector:
        """A text's embedding in query mode: (d,)."""
        if text not in self.caches.query_vectors:
            self.caches.query_vectors[text] = self.deps.embedder.embed_queries([text])[0]
        return self.caches.query_vectors[text]

    def set_pressure(self, pressure: float) -> None:
        """Hand the open iteration's pressure and the time left to what it calls."""
        left = max(0.0, self.deadline - self.deps.clock.monotonic())
        self.deps = replace(self.deps, session_pressure=pressure, time_budget_s=left)

    def close(self) -> None:
        """Give the lease back."""
        self._keeper.release()
