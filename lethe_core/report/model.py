"""The JSON object that ``--json`` prints and ``report.json`` holds (architecture.md, "Command line").

Versioned: a field is never renamed or dropped without a new ``schema``.
"""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

Edition = Literal["current", "older"]
Check = Literal["unsupported", "contradiction", "stale", "no-evidence", "partial"]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


class SourceJson(_Part):
    """One numbered source."""

    n: int = Field(ge=1, description="The number that the report cites it by.")
    title: str
    url: str = Field(description="A web address, or folder/relative/path of a local file.")
    date: str = Field(description="ISO 8601, possibly shortened; empty when unknown.")
    edition: str = Field(description="Version, period or 'older edition'; empty when it stands alone.")


class ClaimJson(_Part):
    """One sentence or table row of the report."""

    id: str = Field(description="c1, c2, … in order of appearance.")
    section: str = Field(description="The heading that it stands under.")
    text: str
    citations: tuple[int, ...] = Field(description="Numbers of sources.")
    edition: Edition = Field(description="older: it rests on an edition that a newer one replaced.")
    support: float = Field(ge=0, le=1)
    supported: bool


class ContradictionJson(_Part):
    """Claims that state different figures for the same thing."""

    claims: tuple[str, ...]
    sources: tuple[int, ...]


class SkippedJson(_Part):
    """A source that could not be read."""

    source: str
    reason: str


class UnansweredJson(_Part):
    """A part of the question, or a task, that has no result: what stands under "Not found"."""

    part: str = Field(description="In the question's words, or the task's.")
    reason: Literal["open", "nothing_found"] = Field(
        description="open: the session ended before it was done; nothing_found: it was worked on in vain."
    )


class ChangedSourceJson(_Part):
    """A source of one of two reports that are compared."""

    title: str
    url: str
    date: str


class StatementJson(_Part):
    """What one of two reports states."""

    text: str
    claims: tuple[str, ...] = Field(description="Ids in that report.")
    sources: tuple[ChangedSourceJson, ...]


class ChangedFigureJson(_Part):
    """A statement before, and with other figures now."""

    old: StatementJson
    new: StatementJson


class DroppedJson(_Part):
    """A statement that no source bears out any more."""

    statement: StatementJson
    reason: Literal["vanished", "changed"] = Field(
        description="vanished: its sources are gone; changed: they are there and no longer say it."
    )


class ChangesJson(_Part):
    """What changed since the run that this one follows."""

    since: str = Field(description="The session that is compared with.")
    changed: bool
    new_findings: tuple[StatementJson, ...]
    changed_figures: tuple[ChangedFigureJson, ...]
    dropped: tuple[DroppedJson, ...]
    new_sources: tuple[ChangedSourceJson, ...]
    vanished_sources: tuple[ChangedSourceJson, ...]
    contradictions_appeared: tuple[tuple[StatementJson, ...], ...]
    contradictions_settled: tuple[tuple[StatementJson, ...], ...]


class DiffJson(_Part):
    """What ``lethe diff --json`` prints."""

    schema_version: Literal[1] = Field(default=1, alias="schema")
    session: str
    changes: ChangesJson

    def dumps(self) -> str:
        """The object as JSON text, as the report's."""
        return self.model_dump_json(by_alias=True, indent=2)


class GateJson(_Part):
    """A check that the run was to fail on, and that the report does not pass."""

    check: Check
    message: str
    claims: tuple[str, ...] = Field(description="Ids of the claims that it is about.")


class ReportJson(_Part):
    """The whole object."""

    # pydantic's own `schema` is deprecated and must not be shadowed: the key is an alias.
    schema_version: Literal[1] = Field(default=1, alias="schema")
    session: str
    status: str
    stop_reason: str
    iterations: int = Field(ge=0)
    seconds: float = Field(ge=0)
    tokens: int = Field(ge=0)
    report: str = Field(description="Path of the Markdown file; empty when none was written.")
    sources: tuple[SourceJson, ...]
    claims: tuple[ClaimJson, ...]
    findings: tuple[str, ...] = Field(description="Ids of claims that answer something of what was asked.")
    unsupported: tuple[str, ...] = Field(description="Ids of claims that their sources do not support.")
    contradictions: tuple[ContradictionJson, ...]
    skipped: tuple[SkippedJson, ...]
    unanswered: tuple[UnansweredJson, ...] = Field(
        default=(), description="Parts of the question that were left open, or that nothing was found for."
    )
    changes: ChangesJson | None = Field(
        default=None, description="What changed since the last good run of the series; null without one."
    )
    gate: tuple[GateJson, ...] = Field(
        default=(), description="What the report does not pass of the checks that the run was given."
    )

    def dumps(self) -> str:
        """The object as JSON text, two spaces of indent, keys as documented."""
        return self.model_dump_json(by_alias=True, indent=2)
