"""A finished report as data: what the renderers (Markdown, JSON, later HTML, PDF, DOCX) are made from.

Nothing in it is escaped, and nothing in it decides anything any more. Every citation is the number of
a source in ``Report.sources``, and every source there is cited.
"""

from dataclasses import dataclass
from typing import TypeAlias

from lethe_core.graph.session_state import SkippedSource
from lethe_core.report.citations import How
from lethe_core.report.diff import Changes
from lethe_core.report.model import Edition


@dataclass(frozen=True, slots=True)
class Passage:
    """What of a source a claim rests on, and where it stands there."""

    source: int
    text: str  # of the chunk, whole
    place: str  # headings, joined by " › ", and "p. 3"; may be empty


@dataclass(frozen=True, slots=True)
class Claim:
    """One sentence or table row, measured against what it cites."""

    id: str  # c1, c2, … in order of appearance
    section: str
    text: str  # inline Markdown, one line; of a row "header: cell; header: cell"
    quotation: bool  # set in quotation marks, or a row of a source's table
    citations: tuple[int, ...]
    support: float  # [0, 1]
    supported: bool
    how: How
    edition: Edition
    label: str  # what a reader must know: "older edition", "2024-Q3, an earlier issue"; mostly empty
    finding: bool
    date: str  # of its sources, newest first, joined by ", "; empty when unknown
    passages: tuple[Passage, ...]


@dataclass(frozen=True, slots=True)
class Heading:
    text: str


@dataclass(frozen=True, slots=True)
class Note:
    """Words of the report itself: no claim, needs no source."""

    text: str


@dataclass(frozen=True, slots=True)
class Paragraph:
    claims: tuple[Claim, ...]


@dataclass(frozen=True, slots=True)
class ClaimList:
    lead: str  # the line that introduces it; may be empty
    items: tuple[tuple[Claim, ...], ...]


@dataclass(frozen=True, slots=True)
class TableRow:
    cells: tuple[str, ...]
    claim: Claim


@dataclass(frozen=True, slots=True)
class ClaimTable:
    lead: str
    header: tuple[str, ...]
    rows: tuple[TableRow, ...]


Block: TypeAlias = Heading | Note | Paragraph | ClaimList | ClaimTable


@dataclass(frozen=True, slots=True)
class Section:
    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Disagreement:
    """Sources that state different figures for the same thing, the newest first."""

    claims: tuple[Claim, ...]


@dataclass(frozen=True, slots=True)
class OlderStatement:
    """What an older edition says, and the newer one that replaced it."""

    claim: Claim
    superseded_by: int | None  # a source's number; None when the newest edition was not read
    newest: str  # the newest edition's address
    instead: tuple[Claim, ...]  # what the newest edition says about the same, where that was found


@dataclass(frozen=True, slots=True)
class SearchMade:
    query: str
    outcome: str  # "new" | "nothing" | "failed"


@dataclass(frozen=True, slots=True)
class NotFound:
    """A task without a result: what was looked for."""

    task: str
    left_open: bool  # else it failed
    reason: str
    searches: tuple[SearchMade, ...]


@dataclass(frozen=True, slots=True)
class Source:
    n: int
    title: str
    address: str
    date: str  # that the source gives itself
    modified: str  # of its file, where it gives none
    edition: str  # version, period; "older edition" when that is all that is known
    older: bool
    places: tuple[str, ...]  # of the passages that are cited, in order of appearance


@dataclass(frozen=True, slots=True)
class Closing:
    """How the session ended and what it took."""

    session: str
    stop_reason: str
    message: str
    iterations: int
    seconds: float  # at work
    tokens: int
    models: tuple[str, ...]
    nli: bool  # whether support was measured by inference
    quotations: bool  # a collection of quotations: no language model wrote it
    dropped: int  # unsupported claims left out
    removed_citations: int  # cited ids that were not in the model's context
    shortened: int  # quotations left out for length


@dataclass(frozen=True, slots=True)
class Report:
    title: str
    question: str
    answer: Section
    sections: tuple[Section, ...]
    disagreements: tuple[Disagreement, ...]
    older: tuple[OlderStatement, ...]
    not_found: tuple[NotFound, ...]
    sources: tuple[Source, ...]
    claims: tuple[Claim, ...]  # all of them, in order of appearance
    skipped: tuple[SkippedSource, ...]
    closing: Closing
    changes: Changes | None = None  # since the run that it follows; None when it follows none

    @property
    def findings(self) -> tuple[Claim, ...]:
        """Claims that answer something of what was asked."""
        return tuple(claim for claim in self.claims if claim.finding)

    @property
    def unsupported(self) -> tuple[Claim, ...]:
        return tuple(claim for claim in self.claims if not claim.supported)
