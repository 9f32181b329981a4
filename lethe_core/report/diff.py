"""What changed between two reports of a series (architecture.md, "The report"). Pure.

Compared is what the sources say, not what the reports chose to quote: a statement is news when it rests on a
passage that the earlier session did not hold, and dropped when the later one holds its passage no more. A
statement that is only worded, placed or selected otherwise is no change. So a report by a language model,
which words everything anew each time, says "nothing new" when nothing is.

Exchanging the two exchanges new and dropped, old and new; the order of statements and sources decides
nothing.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from lethe_core.evidence.facts import facts
from lethe_core.graph.outline import Outline, OutlinedClaim, OutlinedSource
from lethe_core.report.disagreements import alikeness, figures_disagree
from lethe_core.report.quoting import normalise
from lethe_core.report.wording import numbers


@dataclass(frozen=True, slots=True)
class DiffConfig:
    """When two statements are about the same thing, by their alikeness in [0, 1]."""

    same: float = 0.8  # and the same facts in the same order: one statement in two wordings
    alike: float = 0.6  # and other figures, of one source: the statement before and after


DEFAULT_DIFF = DiffConfig()


@dataclass(frozen=True, slots=True)
class Statement:
    """What one of the two reports states, once, with every source that it names for it."""

    text: str
    sources: tuple[OutlinedSource, ...]
    numbers: tuple[int, ...]  # of the sources, in its report
    ids: tuple[str, ...]  # of the claims, in its report


@dataclass(frozen=True, slots=True)
class ChangedFigure:
    """A statement whose figures are others now."""

    old: Statement
    new: Statement


@dataclass(frozen=True, slots=True)
class Dropped:
    """A statement that no source bears out any more."""

    statement: Statement
    vanished: bool  # its sources are gone; else they are there and no longer say it


@dataclass(frozen=True, slots=True)
class Changes:
    """What one report has that the other has not."""

    since: str  # the earlier session
    new_findings: tuple[Statement, ...] = ()
    changed_figures: tuple[ChangedFigure, ...] = ()
    dropped: tuple[Dropped, ...] = ()
    new_sources: tuple[OutlinedSource, ...] = ()
    vanished_sources: tuple[OutlinedSource, ...] = ()
    appeared: tuple[tuple[Statement, ...], ...] = ()  # contradictions
    settled: tuple[tuple[Statement, ...], ...] = ()

    def __bool__(self) -> bool:
        return bool(
            self.new_findings
            or self.changed_figures
            or self.dropped
            or self.new_sources
            or self.vanished_sources
            or self.appeared
            or self.settled
        )


def compare(before: Outline, now: Outline, config: DiffConfig = DEFAULT_DIFF) -> Changes:
    """What changed from one report to another."""
    old, new = _Side(before), _Side(now)
    gone = [item for item in old.findings if not new.stands(item) and not _told(item, new, config)]
    fresh = [item for item in new.findings if not old.stands(item) and not _told(item, old, config)]
    pairs = _pairs(gone, fresh, config)
    matched = {id(item) for pair in pairs for item in pair}
    return Changes(
        since=before.session,
        new_findings=tuple(item.statement for item in fresh if id(item) not in matched),
        changed_figures=tuple(ChangedFigure(a.statement, b.statement) for a, b in pairs),
        dropped=tuple(
            Dropped(item.statement, not any(map(new.knows, item.statement.sources)))
            for item in gone
            if id(item) not in matched
        ),
        new_sources=tuple(source for source in _distinct(now.sources) if not old.knows(source)),
        vanished_sources=tuple(source for source in _distinct(before.sources) if not new.knows(source)),
        appeared=_contradictions(new, old),
        settled=_contradictions(old, new),
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Item:
    """A statement, and how it is recognised."""

    key: str  # its words, normalised
    statement: Statement
    marks: tuple[frozenset[str], ...]  # it stands where one of these is held whole


class _Side:
    """One of the two reports, its claims of the same words taken together."""

    def __init__(self, outline: Outline) -> None:
        self._held = frozenset(outline.held)
        self._pages = frozenset(outline.pages)
        claims: dict[str, list[OutlinedClaim]] = {}
        for claim in outline.claims:
            claims.setdefault(_key(claim.text), []).append(claim)
        self.items = {key: _item(key, same, outline) for key, same in claims.items()}
        self.findings = [self.items[key] for key, same in claims.items() if any(c.finding for c in same)]
        self.contradictions: dict[frozenset[str], tuple[_Item, ...]] = {}
        for group in outline.contradictions:
            keys = dict.fromkeys(_key(outline.claims[index].text) for index in group)
            self.contradictions.setdefault(frozenset(keys), tuple(self.items[key] for key in keys))

    def stands(self, item: _Item) -> bool:
        """Whether what the statement rests on is held here, too."""
        return any(marks and marks <= self._held for marks in item.marks)

    def knows(self, source: OutlinedSource) -> bool:
        """Whether the page, or another of the same content, was read here."""
        return source.address in self._pages or (
            bool(source.fingerprint) and source.fingerprint in self._pages
        )


def _item(key: str, claims: Sequence[OutlinedClaim], outline: Outline) -> _Item:
    numbers_ = sorted({index for claim in claims for index in claim.sources})
    sources = _distinct(outline.sources[index] for index in numbers_)
    statement = Statement(
        text=min(claim.text for claim in claims),
        sources=tuple(sorted(sources, key=lambda s: (s.address, s.date, s.title, s.fingerprint))),
        numbers=tuple(index + 1 for index in numbers_),
        ids=tuple(dict.fromkeys(claim.id for claim in claims if claim.id)),
    )
    marks = [frozenset(m) for claim in claims for m in (claim.passages, claim.wording)]
    return _Item(key, statement, tuple(marks))


def _key(text: str) -> str:
    return normalise(text).rstrip(" .,;:")


def _told(item: _Item, other: _Side, config: DiffConfig) -> bool:
    """Whether the other report states the same, whatever it rests on there."""
    if item.key in other.items:
        return True
    told = facts(item.key)
    return any(
        alikeness(item.statement.text, theirs.statement.text) >= config.same and facts(theirs.key) == told
        for theirs in other.items.values()
    )


def _pairs(gone: Sequence[_Item], fresh: Sequence[_Item], config: DiffConfig) -> list[tuple[_Item, _Item]]:
    """Statements before and after, each in one pair at most, the most alike first."""
    found: list[tuple[bool, float, list[str], _Item, _Item]] = []
    for old in gone:
        for new in fresh:
            a, b = old.statement, new.statement
            alike = alikeness(a.text, b.text)
            same = not {s.address for s in a.sources}.isdisjoint(s.address for s in b.sources)
            # What one source said and says is about the same thing more surely than what two of them say.
            changed = same and alike >= config.alike and _other_figures(a.text, b.text)
            if changed or figures_disagree(a.text, b.text):
                found.append((not same, -alike, sorted((old.key, new.key)), old, new))
    found.sort(key=lambda pair: pair[:3])
    pairs: list[tuple[_Item, _Item]] = []
    taken: set[int] = set()
    for _, _, _, old, new in found:
        if id(old) not in taken and id(new) not in taken:
            taken |= {id(old), id(new)}
            pairs.append((old, new))
    return pairs


def _other_figures(a: str, b: str) -> bool:
    figures, others = numbers(a), numbers(b)
    return bool(figures) and bool(others) and figures != others


def _contradictions(here: _Side, there: _Side) -> tuple[tuple[Statement, ...], ...]:
    """Those of one report that the other has not, and could not have: a side of it does not stand there."""
    return tuple(
        tuple(item.statement for item in items)
        for keys, items in here.contradictions.items()
        if keys not in there.contradictions and not all(there.stands(item) for item in items)
    )


def _distinct(sources: Iterable[OutlinedSource]) -> tuple[OutlinedSource, ...]:
    return tuple(dict.fromkeys(sources))
