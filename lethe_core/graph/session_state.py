"""The session's own state: properties of the root task, written only by ``tx.update_session``.

They are no part of the task: they stay writable when the root is terminal, and every write is fenced by
the lease's epoch.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum, StrEnum
from typing import Any, Final

from lethe_core.graph.nodes import NodeId, SessionId
from lethe_core.graph.outline import Outline


class SessionStatus(StrEnum):
    RUNNING = "running"
    COMPLETE = "complete"
    NOTHING_FOUND = "nothing_found"
    PARTIAL = "partial"
    FAILED = "failed"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool that the answer calls."""

    tool: str  # "web_search" | "fetch_url"
    argument: str


class CallOutcome(StrEnum):
    NEW = "new"  # something that the graph, or the task, did not have
    NOTHING = "nothing"
    FAILED = "failed"  # network, provider: says nothing about what there is to find


@dataclass(frozen=True, slots=True)
class CallResult:
    """What came of one tool call; ``index`` is its place among the answer's calls."""

    index: int
    outcome: CallOutcome
    yielded: bool  # at least one new item aligned with the goal or the task (algorithms.md 2)
    n_new: int
    reason: str = ""  # of a failed one


@dataclass(frozen=True, slots=True)
class AnswerRecord:
    """One bought answer of the model, or the record that none came."""

    round: int  # 0, then the repair rounds 1 and 2
    text: str
    model: str
    tokens: int
    cost: float = 0.0
    failure: str = ""  # why there is no text
    errors: tuple[str, ...] = ()  # what is wrong with its operations; empty for a valid answer


class Outcome(StrEnum):
    """What became of an iteration's answers."""

    APPLIED = "applied"
    DROPPED = "dropped"  # no round gave valid operations
    UNANSWERED = "unanswered"  # the model call failed


@dataclass(frozen=True, slots=True)
class PhaseRecord:
    """The open iteration: what has been decided and committed so far (architecture.md, "Phases").

    Written in order: ``select`` (task, pressure, thinking budget), ``begin`` (packed ids, prompt), an
    ``answer`` a round, ``ops``, one ``call`` a tool call, and ``end``, which closes the record. A rerun reads
    it and never recomputes what stands in it.
    """

    iteration: int  # from 1
    task: NodeId
    pressure: float
    thinking_tokens: int
    evidence_mark: int = 0  # the highest evidence sequence when the iteration began
    task_mark: int = 0  # the highest task sequence then
    reweighted: tuple[tuple[NodeId, float], ...] = ()  # strengths before the iteration's sync changed them
    synced: bool = False
    begun: bool = False
    din_version: int = 0
    packed: tuple[NodeId, ...] = ()
    system: str = ""
    prompt: str = ""
    answers: tuple[AnswerRecord, ...] = ()
    outcome: Outcome | None = None  # set by ops
    calls: tuple[ToolCall, ...] = ()
    results: tuple[CallResult, ...] = ()


@dataclass(frozen=True, slots=True)
class SearchRecord:
    """A search that a task made."""

    task: NodeId
    query: str
    iteration: int
    outcome: CallOutcome
    n_new: int
    yielded: bool = True  # whether anything new was on the goal's or the task's topic


@dataclass(frozen=True, slots=True)
class KnownSearch:
    """A search that a former session of the series made, over the same sources as they are now."""

    task: str  # the description of the task that made it
    query: str
    outcome: CallOutcome


@dataclass(frozen=True, slots=True)
class TaskNote:
    """A warn line to be shown to a task: a block, a subtask like a failed one."""

    task: NodeId
    text: str
    iteration: int


@dataclass(frozen=True, slots=True)
class SkippedSource:
    source: str
    reason: str


@dataclass(frozen=True, slots=True)
class SimilarMark:
    """How far SIMILAR_TO has been compared: written with the edges that came of it."""

    sequence: int  # of evidence: every pair up to here
    threshold: float  # cosine


@dataclass(frozen=True, slots=True)
class SessionState:
    """All that a session knows beside its nodes and edges."""

    session_id: SessionId
    uuid: str  # internal: a name used again after a deletion finds nothing old
    root: NodeId
    goal: str
    profile: str  # the embedding profile that filled the graph
    config: Mapping[str, Any]  # effective settings that a resume takes over; no secrets
    status: SessionStatus = SessionStatus.RUNNING
    stop_reason: str = ""
    message: str = ""  # what a person should know about the stop
    iterations: int = 0  # completed
    seconds: float = 0.0  # at work, summed over runs
    tokens: int = 0
    cost: float = 0.0
    n_unanswered: int = 0  # iterations in a row without an answer that could be used
    capped: str = ""  # "token_cap" or "cost_cap" once a call was not made because it would break it
    reopened_at: int = -1  # iterations completed when raised targets reopened it: one more is due
    signals: tuple[Mapping[str, Any], ...] = ()  # an IterationSignals an iteration
    phase: PhaseRecord | None = None
    searches: tuple[SearchRecord, ...] = ()
    notes: tuple[TaskNote, ...] = ()
    skipped: tuple[SkippedSource, ...] = ()
    models: tuple[str, ...] = ()  # every reasoner that answered, in order of first use
    block_notices: tuple[NodeId, ...] = ()  # blocked tasks whose parents were reopened once
    removed_citations: int = 0  # cited ids that were not in the model's context
    sections: Mapping[str, str] = field(default_factory=dict)  # phase `report-n`: prose bought for a section
    series: str = ""
    n: int = 1  # which run of its series; 0 until it has had its turn and has taken over what is known
    previous: str = ""  # the run that it follows: the last good one
    before: Outline | None = None  # what that one's report said
    known_searches: tuple[KnownSearch, ...] = ()  # of former runs, as long as the sources are the same
    source_state: str = ""  # a digest of what there was to search; empty when nobody can tell
    n_findings: int = 0  # of its report, once it has ended
    similar: SimilarMark | None = None  # None: nothing was compared, or by a Lethe that kept no mark
    created_at: float = 0.0
    updated_at: float = 0.0

    @property
    def n_zero_yield(self) -> int:
        """Iterations in a row whose calls answered and yielded nothing."""
        return int(self.signals[-1]["n_zero_yield"]) if self.signals else 0

    @property
    def n_failed_search(self) -> int:
        """Iterations in a row in which every call failed."""
        return int(self.signals[-1]["n_failed_search"]) if self.signals else 0


class Keep(Enum):
    """Stands for "leave this field as it is", where None is a value."""

    KEEP = "keep"


KEEP: Final = Keep.KEEP


@dataclass(frozen=True, slots=True)
class SessionPatch:
    """Changes of the session's state; a field left at KEEP stays as it is. Sequences are replaced whole."""

    config: Mapping[str, Any] | Keep = KEEP
    status: SessionStatus | Keep = KEEP
    stop_reason: str | Keep = KEEP
    message: str | Keep = KEEP
    iterations: int | Keep = KEEP
    seconds: float | Keep = KEEP
    tokens: int | Keep = KEEP
    cost: float | Keep = KEEP
    n_unanswered: int | Keep = KEEP
    capped: str | Keep = KEEP
    reopened_at: int | Keep = KEEP
    signals: tuple[Mapping[str, Any], ...] | Keep = KEEP
    phase: PhaseRecord | Keep | None = KEEP
    searches: tuple[SearchRecord, ...] | Keep = KEEP
    notes: tuple[TaskNote, ...] | Keep = KEEP
    skipped: tuple[SkippedSource, ...] | Keep = KEEP
    models: tuple[str, ...] | Keep = KEEP
    block_notices: tuple[NodeId, ...] | Keep = KEEP
    removed_citations: int | Keep = KEEP
    sections: Mapping[str, str] | Keep = KEEP
    n: int | Keep = KEEP
    previous: str | Keep = KEEP
    before: Outline | Keep | None = KEEP
    known_searches: tuple[KnownSearch, ...] | Keep = KEEP
    source_state: str | Keep = KEEP
    n_findings: int | Keep = KEEP
    similar: SimilarMark | Keep | None = KEEP


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to write to a session; ``epoch`` fences every write."""

    session_id: SessionId
    owner: str  # host/pid/start/nonce
    until: float  # database clock, seconds since the epoch
    epoch: int
