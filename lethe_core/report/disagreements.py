"""Where sources disagree: different figures for the same thing (algorithms.md 9.3, 10).

Two statements disagree when they give different numbers of the same unit and otherwise say the same:
their content words without numbers are alike (Jaccard at least .6). Three guards keep apart what only
looks alike: the names must agree ("Harbour Line" is not "Abbey Line"), so must years, days and periods
("in 2023" is not "in 2024"), and one source does not contradict itself. Where NLI has been run, its
contradicting pairs count too.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from lethe_core.evidence.facts import quantities
from lethe_core.graph.nodes import EdgeType, EvidenceNode
from lethe_core.graph.snapshot import GraphSnapshot
from lethe_core.reasoning.terms import content_set
from lethe_core.report.wording import is_year, name_words, numbers

_ADDED = re.compile(
    r",\s+(?=(?:of (?:whom|which|these)|including|which|who|whose|where|with|among (?:them|these)"
    r"|(?:up|down) from|compared (?:with|to))\b)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class DisagreementConfig:
    """When two statements are about the same thing."""

    alike: float = 0.6  # Jaccard of content words without numbers
    alike_years: float = 0.8  # the same where nothing but a year differs
    contradiction: float = 0.5  # of an NLI edge


DEFAULT_DISAGREEMENT = DisagreementConfig()


@dataclass(frozen=True, slots=True, eq=False)
class Stated:
    """A sentence, and the chunk that it rests on."""

    text: str
    chunk: EvidenceNode

    @property
    def order(self) -> tuple[str, int]:
        return (self.chunk.stated_date or self.chunk.period, -self.chunk.sequence)


@dataclass(frozen=True, slots=True)
class _Profile:
    words: frozenset[str]  # content words without numbers
    names: frozenset[str]
    measures: dict[str, frozenset[str]]  # values by unit
    years: frozenset[str]
    days: frozenset[str]
    loose: frozenset[str]  # numbers that are neither


def figures_disagree(first: str, second: str, config: DisagreementConfig = DEFAULT_DISAGREEMENT) -> bool:
    """Whether two sentences state different figures for the same thing.

    What one of them adds behind a comma ("…, of whom 612 were doctors") may be left out on both sides.
    """
    pairs = zip(_profiles(first), _profiles(second), strict=True)
    return any(_disagree(one, other, config) for one, other in pairs)


def alikeness(first: str, second: str) -> float:
    """Jaccard of the content words without numbers, in [0, 1]; 0 when the names differ."""
    a, b = _profile(first), _profile(second)
    return _jaccard(a, b) if _subset(a.names, b.names) else 0.0


def disagreements(
    stated: Sequence[Stated],
    evidence: Sequence[Stated],
    snapshot: GraphSnapshot,
    same_source: Callable[[EvidenceNode, EvidenceNode], bool],
    config: DisagreementConfig = DEFAULT_DISAGREEMENT,
) -> list[tuple[Stated, ...]]:
    """Groups of statements of different sources that disagree, each newest first, in order of appearance.

    stated: what the report says. evidence: further sentences of the sources that it cites.
    """
    items = [*stated, *evidence]
    profiles = [_profile(item.text) for item in items]
    groups: list[list[int]] = []
    for i in range(len(stated)):
        if not profiles[i].measures and not profiles[i].years:
            continue
        for j in range(i + 1, len(items)):
            a, b = items[i].chunk, items[j].chunk
            if _comparable(a, b, same_source) and figures_disagree(items[i].text, items[j].text, config):
                _join(groups, i, j)
    found: list[tuple[Stated, ...]] = []
    for group in groups:
        # Of one source that says the same figure twice, the report's own words stand for both.
        told = [
            i
            for i in sorted(group)
            if not any(
                j < i
                and same_source(items[j].chunk, items[i].chunk)
                and not figures_disagree(items[j].text, items[i].text, config)
                for j in group
            )
        ]
        found.append(tuple(items[i] for i in told))
    found.extend(_inferred(stated, snapshot, same_source, config))
    seen: set[frozenset[str]] = set()
    distinct: list[tuple[Stated, ...]] = []
    for statements in found:
        once = {item.text: item for item in reversed(statements)}
        if len(once) > 1 and (key := frozenset(once)) not in seen:
            seen.add(key)
            distinct.append(tuple(sorted(once.values(), key=lambda item: item.order, reverse=True)))
    return distinct


def _inferred(
    stated: Sequence[Stated],
    snapshot: GraphSnapshot,
    same_source: Callable[[EvidenceNode, EvidenceNode], bool],
    config: DisagreementConfig,
) -> list[tuple[Stated, ...]]:
    """Pairs that NLI called contradicting, one of them stated in the report."""
    by_chunk: dict[str, Stated] = {}
    for item in stated:
        by_chunk.setdefault(item.chunk.id, item)
    found: list[tuple[Stated, ...]] = []
    for edge in snapshot.edges.values():
        if edge.type is not EdgeType.SIMILAR_TO or edge.similarity is None:
            continue
        if (edge.similarity.contradiction or 0.0) < config.contradiction:
            continue
        ends = [snapshot.evidence.get(edge.source), snapshot.evidence.get(edge.target)]
        sides = [by_chunk.get(end.id) or Stated(end.content, end) for end in ends if end is not None]
        if len(sides) == 2 and any(side.chunk.id in by_chunk for side in sides):
            first, second = sides
            if _comparable(first.chunk, second.chunk, same_source):
                found.append((first, second))
    return found


def _comparable(
    a: EvidenceNode, b: EvidenceNode, same_source: Callable[[EvidenceNode, EvidenceNode], bool]
) -> bool:
    return not same_source(a, b) and (not a.period or not b.period or a.period == b.period)


@lru_cache(maxsize=16384)
def _profiles(text: str) -> tuple[_Profile, _Profile]:
    """Of a sentence, and of it without what it adds behind a comma."""
    return _profile(text), _profile(_ADDED.split(text, maxsplit=1)[0])


@lru_cache(maxsize=16384)
def _profile(text: str) -> _Profile:
    values = numbers(text)
    years = frozenset(value for value in values if is_year(value))
    days = frozenset(value for value in values if "/" in value)
    measures: dict[str, frozenset[str]] = {}
    for quantity in quantities(text):
        if quantity.unit:
            measures[quantity.unit] = measures.get(quantity.unit, frozenset()) | {quantity.number}
    measured = frozenset(value for group in measures.values() for value in group)
    return _Profile(
        words=frozenset(w for w in content_set(text) if not any(c.isdigit() for c in w)),
        names=name_words(text),
        measures=measures,
        years=years,
        days=days,
        loose=frozenset(v for v in values if not v.endswith("%")) - years - days - measured,
    )


def _disagree(a: _Profile, b: _Profile, config: DisagreementConfig) -> bool:
    if not (a.measures.keys() & b.measures.keys() or (a.years and b.years)) or not _subset(a.names, b.names):
        return False
    alike = _jaccard(a, b)
    if alike < config.alike:
        return False
    only_years = not (a.measures or b.measures or a.loose or b.loose or a.days or b.days)
    if only_years:
        return len(a.years) == 1 == len(b.years) and a.years != b.years and alike >= config.alike_years
    if not (_subset(a.years, b.years) and _subset(a.days, b.days)):
        return False
    return any(
        not _subset(a.measures[unit], b.measures[unit]) for unit in a.measures.keys() & b.measures.keys()
    )


def _jaccard(a: _Profile, b: _Profile) -> float:
    union = a.words | b.words
    return len(a.words & b.words) / len(union) if union else 0.0


def _subset(a: frozenset[str], b: frozenset[str]) -> bool:
    return a <= b or b <= a


def _join(groups: list[list[int]], i: int, j: int) -> None:
    for group in groups:
        if i in group or j in group:
            group.extend(k for k in (i, j) if k not in group)
            return
    groups.append([i, j])
