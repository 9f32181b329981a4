"""What one DIN-Read text says, as data: made from the graph, serialised, and read back by ``din.read``.

No scores, percentages, budgets or distances stand in it, ever (architecture.md, "DIN").
"""

from dataclasses import dataclass
from typing import Final, Literal

from lethe_core.graph.nodes import ShortId, TaskStatus

DIN_VERSION: Final = 1

CoverageWord = Literal["none", "thin", "partial", "good"]
WarnKind = Literal["searched", "avoid", "dead_end", "sibling", "zero_yield", "note"]


@dataclass(frozen=True, slots=True)
class Warn:
    """One ``!`` line: what a model or a page wrote (``quoted``), and the system's own words."""

    kind: WarnKind
    quoted: str  # the query of a search, the description of a sibling, the antifocus; empty for none
    detail: str  # "new" | "nothing" | "failed" of a search, the reason of a dead end, the note's text


@dataclass(frozen=True, slots=True)
class SubtaskLine:
    """One ``>SUB``, ``>DEP``, ``>PARENT`` or ``>REL`` line."""

    short_id: ShortId
    status: TaskStatus
    coverage: CoverageWord
    description: str
    result: str  # the result, or why it failed; shortened to 200 characters at a word


@dataclass(frozen=True, slots=True)
class EvidenceBlock:
    """One piece of evidence; every line of its content is quoted."""

    short_id: ShortId
    title: str
    source: str
    date: str
    older_than: ShortId | None  # the newest edition's evidence in the context, if any; needs ``older``
    older: bool  # an older edition, also when no evidence of the newest is in the context
    period: str  # of a periodic issue
    synthesis: bool
    place: str  # the headings that it stands under
    content: str


@dataclass(frozen=True, slots=True)
class DinRead:
    """Everything that a model is told in one turn, beside the system prompt."""

    task: ShortId
    goal: str  # the selected task's description; of the root the question
    parent_goal: str  # the root's question, for a subtask; empty for the root
    hint: str  # the task's prepared prompt
    warns: tuple[Warn, ...]
    subtasks: tuple[SubtaskLine, ...]
    dependencies: tuple[SubtaskLine, ...]
    evidence: tuple[EvidenceBlock, ...]
    tools: tuple[str, ...]
    parent: SubtaskLine | None = None  # the task that it is a part of, when that is not the root
    related: tuple[SubtaskLine, ...] = ()  # other packed tasks: what has been found elsewhere

    @property
    def is_root(self) -> bool:
        return not self.parent_goal
