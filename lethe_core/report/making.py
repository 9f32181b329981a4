"""Makes claims of resolved drafts: their numbers, dates, labels, and whether they are findings."""

from lethe_core.evidence.tables import row_text
from lethe_core.graph.snapshot import GraphSnapshot
from lethe_core.report.document import Claim, Passage, Source
from lethe_core.report.editions import standing
from lethe_core.report.findings import Asked, is_finding
from lethe_core.report.nearness import Nearness
from lethe_core.report.resolution import Resolved
from lethe_core.report.sources import SourceBook, newest_dates
from lethe_core.report.wording import Rarity


class ClaimMaker:
    """Numbers claims and sources in the order in which it is asked."""

    def __init__(self, snapshot: GraphSnapshot, rarity: Rarity, nearness: Nearness) -> None:
        self._snapshot = snapshot
        self._nearness = nearness
        self._rarity = rarity
        self._question = Asked.of(snapshot.root.description, rarity)
        self.book = SourceBook(snapshot)
        self.claims: list[Claim] = []
        self.removed = 0  # ids of the claims made that name nothing

    def make(self, resolved: Resolved, section: str, asked: Asked) -> Claim:
        """The next claim of the report; asked: the task of its section."""
        draft, chunks, support = resolved.draft, resolved.chunks, resolved.support
        numbers = [self.book.number(chunk) for chunk in chunks]
        place = standing(resolved, self._snapshot)
        claim = Claim(
            id=f"c{len(self.claims) + 1}",
            section=section,
            text=row_text(draft.header, draft.cells) if draft.cells else draft.text,
            quotation=draft.is_quotation,
            citations=tuple(dict.fromkeys(numbers)),
            support=support.score,
            supported=support.supported,
            how=support.how,
            edition=place.edition,
            label=place.label,
            finding=support.supported and self._is_finding(resolved, asked),
            date=newest_dates(chunks),
            passages=tuple(
                Passage(number, chunk.content, chunk.place)
                for number, chunk in zip(numbers, chunks, strict=True)
            ),
        )
        self.claims.append(claim)
        self.removed += resolved.removed
        return claim

    def _is_finding(self, resolved: Resolved, asked: Asked) -> bool:
        page = self.book.page_words(resolved.chunks)
        return is_finding(
            resolved.cited_text, self._question, asked, self._rarity, page
        ) or self._nearness.near(asked.text, resolved.draft.text, resolved.chunks)

    def sources(self) -> tuple[Source, ...]:
        """Every source that a claim cites, in order."""
        return self.book.sources()
