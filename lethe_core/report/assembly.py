"""Assembles the report from the graph, whatever the stop reason (architecture.md, "The report").

Pure but for the embedder. The same graph and state give the same report: claims and sources are
numbered in order of appearance, everything else stands in order of creation.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from lethe_core.control.embedding import Embedder
from lethe_core.errors import ConfigError
from lethe_core.graph.nodes import EvidenceKind, NodeId, TaskNode, TaskStatus
from lethe_core.graph.session_state import SessionState
from lethe_core.graph.snapshot import GraphSnapshot
from lethe_core.reasoning.division import parts_left
from lethe_core.reasoning.relevance import split_lead
from lethe_core.report.citations import DEFAULT_SUPPORT, Entailment, SupportConfig
from lethe_core.report.claims import Draft, DraftHeading, DraftList, DraftParagraph, drafts_of
from lethe_core.report.conflicts import Made, gather_disagreements, gather_older
from lethe_core.report.diff import compare
from lethe_core.report.document import (
    Block,
    Claim,
    ClaimList,
    ClaimTable,
    Closing,
    Heading,
    Note,
    NotFound,
    Paragraph,
    Report,
    SearchMade,
    Section,
    TableRow,
)
from lethe_core.report.editions import newest_wording, standing
from lethe_core.report.findings import Asked
from lethe_core.report.gathering import Gathered, Gathering, searches_of
from lethe_core.report.making import ClaimMaker
from lethe_core.report.nearness import Nearness
from lethe_core.report.outcome import FINISHED
from lethe_core.report.outlining import outline_before, outline_of
from lethe_core.report.resolution import Resolved, in_order, resolve
from lethe_core.report.shaping import Shape, joined, kept, limited, merged, shorten, titles, told_once
from lethe_core.report.wording import Rarity

ANSWER = "Answer"


@dataclass(frozen=True, slots=True)
class ReportSettings:
    """What a user decides about the report."""

    unsupported: Literal["mark", "drop"] = "mark"  # of a claim that its sources do not support
    max_answer_quotes: int = 8
    max_section_quotes: int = 8

    def __post_init__(self) -> None:
        if self.unsupported not in ("mark", "drop"):
            raise ConfigError(f"report.unsupported is {self.unsupported!r}; it must be 'mark' or 'drop'")
        for name in ("max_answer_quotes", "max_section_quotes"):
            if getattr(self, name) < 1:
                raise ConfigError(f"report.{name} is {getattr(self, name)}; it must be at least 1")


DEFAULT_SETTINGS = ReportSettings()


def assemble(
    snapshot: GraphSnapshot,
    state: SessionState,
    *,
    embedder: Embedder,
    entail: Entailment | None = None,
    settings: ReportSettings = DEFAULT_SETTINGS,
    support: SupportConfig = DEFAULT_SUPPORT,
    stop_reason: str | None = None,
    seconds: float | None = None,
    message: str | None = None,
) -> Report:
    """Make the report of a session as it stands, finished or not.

    embedder: the session's own. entail: batch entailment probabilities, or None while NLI is off.
    stop_reason, seconds (at work), message: instead of the state's, for a session whose end is not
    committed before its report is written.
    Calls no reasoner; what a language model wrote for sections lies in ``state.sections``.
    """
    state = replace(
        state,
        stop_reason=state.stop_reason if stop_reason is None else stop_reason,
        seconds=state.seconds if seconds is None else seconds,
        message=state.message if message is None else message,
    )
    report = _Assembly(snapshot, state, embedder, entail, settings, support).report()
    before = outline_before(state, snapshot)
    return (
        report if before is None else replace(report, changes=compare(before, outline_of(report, snapshot)))
    )


class _Assembly:
    def __init__(
        self,
        snapshot: GraphSnapshot,
        state: SessionState,
        embedder: Embedder,
        entail: Entailment | None,
        settings: ReportSettings,
        support: SupportConfig,
    ) -> None:
        self._snapshot, self._state, self._settings = snapshot, state, settings
        self._embedder, self._entail, self._support = embedder, entail, support
        self._rarity = Rarity.of(
            f"{node.title}\n{node.content}"
            for node in snapshot.evidence.values()
            if node.kind is EvidenceKind.CHUNK
        )
        self._maker = ClaimMaker(snapshot, self._rarity, Nearness(snapshot, embedder))
        self._resolved: dict[Draft, Resolved] = {}
        self._made: list[Made] = []
        self._moved: list[tuple[Resolved, Asked]] = []
        self._about: dict[NodeId, str] = {}  # tasks of sections, without their shared lead-in
        self._dropped = self._shortened = 0

    def report(self) -> Report:
        root = self._snapshot.root
        gathering = Gathering(
            self._snapshot,
            self._state,
            embedder=self._embedder,
            rarity=self._rarity,
            max_quotes=self._settings.max_answer_quotes,
        )
        answer, parts = gathering.answer(), gathering.sections()
        self._resolve([answer, *parts])
        answer_section = self._section(answer, ANSWER, root.description, self._settings.max_answer_quotes)
        tasks = [part.task for part in parts]
        self._about = dict(zip((task.id for task in tasks), titles(tasks), strict=True))
        sections = tuple(self._part(part) for part in parts)
        disagreements = gather_disagreements(self._made, self._snapshot, self._maker)
        older = gather_older(self._moved, self._snapshot, self._maker)
        claims = tuple(self._maker.claims)
        report = Report(
            title=shorten(root.description),
            question=" ".join(root.description.split()),
            answer=answer_section,
            sections=sections,
            disagreements=disagreements,
            older=older,
            not_found=self._not_found(),
            sources=self._maker.sources(),
            claims=claims,
            skipped=self._state.skipped,
            closing=self._closing(claims),
        )
        return report if report.findings or not claims else self._without_findings(report)

    def _without_findings(self, report: Report) -> Report:
        """A report that is finished and quotes, but nothing that answers: it says so first."""
        root = self._snapshot.root
        if self._state.stop_reason not in FINISHED or root.status is not TaskStatus.DONE:
            return report
        note = Note("Nothing was found that answers the question. What comes nearest:")
        report = replace(report, answer=replace(report.answer, blocks=(note, *report.answer.blocks)))
        if self._snapshot.children(root.id):
            return report
        missing = NotFound(shorten(root.description), False, "", self._searches(root))
        return replace(report, not_found=(missing, *report.not_found))

    def _resolve(self, gathered: Sequence[Gathered]) -> None:
        drafts = list(
            dict.fromkeys(
                draft
                for part in gathered
                for block in part.blocks
                if not isinstance(block, Note)
                for draft in drafts_of(block)
            )
        )
        found = resolve(
            drafts,
            self._snapshot,
            embedder=self._embedder,
            rarity=self._rarity,
            entail=self._entail,
            config=self._support,
        )
        for draft, resolved in zip(drafts, found, strict=True):
            self._resolved[draft] = newest_wording(resolved, self._snapshot)

    def _part(self, gathered: Gathered) -> Section:
        about = self._about[gathered.task.id]
        return self._section(gathered, shorten(about), about, self._settings.max_section_quotes)

    def _section(self, gathered: Gathered, title: str, about: str, most: int) -> Section:
        asked = Asked.of(about, self._rarity)
        moved_before = len(self._moved)
        stays = kept(gathered.blocks, lambda draft: self._stays(draft, asked))
        shapes, left_out = limited(merged(told_once(stays)), most)
        self._shortened += left_out
        blocks = [self._block(shape, title, asked) for shape in joined(shapes)]
        if len(self._moved) > moved_before and not any(not isinstance(s, Note) for s in shapes):
            blocks.append(Note("Only older editions speak of this; they are quoted under “Older editions”."))
        if left_out:
            quotations = "quotation is" if left_out == 1 else "quotations are"
            blocks.append(Note(f"{left_out} further {quotations} left out for length."))
        return Section(title, tuple(blocks))

    def _stays(self, draft: Draft, asked: Asked) -> bool:
        """Whether a claim stands in its section; notes those that move to the older editions."""
        resolved = self._resolved[draft]
        if not resolved.support.supported and self._settings.unsupported == "drop":
            self._dropped += 1
            self._maker.removed += resolved.removed
            return False
        if standing(resolved, self._snapshot).moves:
            self._moved.append((resolved, asked))
            return False
        return True

    def _block(self, shape: Shape, section: str, asked: Asked) -> Block:
        if isinstance(shape, Note):
            return shape
        if isinstance(shape, DraftHeading):
            return Heading(shorten(shape.text))
        if isinstance(shape, DraftParagraph):
            return Paragraph(tuple(self._claim(draft, section, asked) for draft in shape.claims))
        if isinstance(shape, DraftList):
            items = tuple(tuple(self._claim(draft, section, asked) for draft in item) for item in shape.items)
            return ClaimList(shape.lead, items)
        rows = tuple(
            TableRow(self._resolved[row].draft.cells, self._claim(row, section, asked))
            for row in in_order(shape.rows, self._resolved)
        )
        return ClaimTable(shape.lead, shape.header, rows)

    def _claim(self, draft: Draft, section: str, asked: Asked) -> Claim:
        resolved = self._resolved[draft]
        claim = self._maker.make(resolved, section, asked)
        self._made.append(Made(claim, resolved, asked))
        return claim

    def _not_found(self) -> tuple[NotFound, ...]:
        found: list[NotFound] = []
        for task in self._snapshot.tasks.values():
            if task.status is TaskStatus.DONE:
                continue
            searches = self._searches(task)
            if self._is_root_with_parts(task) and not searches and not task.failure_reason:
                continue
            about = self._about.get(task.id, task.description)
            left_open = not task.status.terminal
            found.append(NotFound(shorten(about), left_open, task.failure_reason, searches))
        return (*found, *self._not_begun())

    def _searches(self, task: TaskNode) -> tuple[SearchMade, ...]:
        return tuple(SearchMade(query, outcome) for query, outcome in searches_of(self._state, [task]))

    def _not_begun(self) -> Iterator[NotFound]:
        """Parts of the question that never became a task, since the session ended before."""
        root = self._snapshot.root
        subtasks = [task.description for task in self._snapshot.children(root.id)]
        if subtasks and not root.status.terminal:
            for part in parts_left(root.description, subtasks, self._embedder):
                yield NotFound(shorten(split_lead(part.description)[1]), True, "", ())

    def _is_root_with_parts(self, task: TaskNode) -> bool:
        return task is self._snapshot.root and bool(self._snapshot.children(task.id))

    def _closing(self, claims: Sequence[Claim]) -> Closing:
        state = self._state
        written = any(text.strip() for text in state.sections.values())
        return Closing(
            session=state.session_id,
            stop_reason=state.stop_reason,
            message=state.message,
            iterations=state.iterations,
            seconds=state.seconds,
            tokens=state.tokens,
            models=tuple(dict.fromkeys((*state.models, self._embedder.profile.name))),
            nli=self._entail is not None,
            quotations=bool(claims) and not written and all(claim.quotation for claim in claims),
            dropped=self._dropped,
            removed_citations=state.removed_citations + self._maker.removed,
            shortened=self._shortened,
        )
