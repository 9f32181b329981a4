"""Which of several documents is the newest edition of the same one (algorithms.md 8, "Editions").

Documents belong together when name or title leave the same stem once their markers are cut out, their
folders agree or one of them lies in an archive, and their page embeddings are alike. Among versions
all but the newest are older. Issues of different periods are a series in which none is older: each is
right for its period. What is the only one of its kind is never older, whatever its folder is called;
nor does an archive that holds everything make anything old.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from lethe_core.evidence.markers import Markers, is_generic, read_markers
from lethe_core.evidence.page import Edition

_WINDOW = 32  # of many documents with one stem each is compared with so many before it, not with all
_ALL_PAIRS = 4096  # up to here every archived one is compared with every other
_UNNUMBERED = (1, 9999)  # an unnumbered document stands between version 1 and version 2

_KINDS = (
    "document|page|version|edition|policy|file|report|plan|guide|manual|procedure|tariff|table|list|rules?|"
    "article|text|standard|notice|dokument|seite|fassung|ausgabe"
)
_NO_LONGER = "no longer (?:valid|current|in force|in effect|maintained)"
_SPEAKS_OF_ITSELF = re.compile(
    rf"\b(?:this|the present|dieses?|diese) (?:\w+ ){{0,2}}?(?:{_KINDS})s? "
    r"(?:is|are|was|has been|have been|ist|wurde) (?:now |since |therefore |durch \S{1,40} )?"
    r"(?:superseded|replaced|withdrawn|obsolete|outdated|out of date|deprecated|archived|not current|"
    rf"veraltet|ersetzt|überholt|nicht mehr gültig|{_NO_LONGER})",
    re.IGNORECASE,
)
_BANNER = re.compile(
    r"^[ \t>#*_!\[({|-]{0,12}"
    r"(?:(?:status|note|notice|warning|attention|important|hinweis|achtung)[*_]{0,2}[:\s|*_-]{1,6})?"
    r"(?:superseded|obsolete|withdrawn|outdated|deprecated|archived (?:version|copy|edition|document)|"
    rf"replaced by|veraltet|ersetzt durch|außer kraft|{_NO_LONGER})\b"
    r"[*_]{0,2}(?=[ \t]*(?:[:.,;!)\]|–—-]|$|by |since |on |from |as of |seit |am |durch |version|edition))",
    re.IGNORECASE | re.MULTILINE,
)
_HEAD = 3000  # characters in which a document says such a thing of itself


@dataclass(frozen=True, slots=True)
class EditionCandidate:
    """What of a page decides its place among editions."""

    address: str
    title: str
    date: str  # ISO 8601, possibly shortened; empty when only the time of modification is known
    superseded: bool  # says of itself that it is


@dataclass(frozen=True, slots=True)
class _Member:
    index: int
    candidate: EditionCandidate
    markers: Markers

    @property
    def aside(self) -> bool:
        return self.markers.aside or self.candidate.superseded


def says_superseded(text: str) -> bool:
    """Whether a text says of itself, near its beginning, that it has been superseded or withdrawn."""
    head = text[:_HEAD]
    return _BANNER.search(head) is not None or _SPEAKS_OF_ITSELF.search(head) is not None


def editions(members: Sequence[EditionCandidate], alike: Callable[[int, int], bool]) -> dict[str, Edition]:
    """Place each page among the editions of its document, by address.

    alike: whether two members (indexes) have page embeddings with a cosine of at least .80; asked only
    for pairs that share a stem. An address that occurs twice counts once. The result does not depend
    on the members' order.
    """
    unique = {member.address: index for index, member in reversed(list(enumerate(members)))}
    read = [
        _Member(index, members[index], read_markers(address, members[index].title))
        for address, index in sorted(unique.items())
    ]
    found: dict[str, Edition] = {}
    names: set[str] = set()
    for group in _groups(read, alike):
        series = _series_name(group, names) if len(group) > 1 else ""
        for member, issued, older, newest in _ranked(group):
            # A year in a lone title is what it is about; in those of versions, when each was made.
            period = member.markers.period if issued or member.markers.periodical else ""
            found[member.candidate.address] = Edition(
                series, member.markers.label, period, older, newest if series else ""
            )
    return found


def _groups(read: Sequence[_Member], alike: Callable[[int, int], bool]) -> Iterator[list[_Member]]:
    buckets: dict[tuple[str, str], list[int]] = defaultdict(list)
    for position, member in enumerate(read):
        if member.markers.stem:
            buckets["name", member.markers.stem].append(position)
        if not is_generic(member.markers.title):
            buckets["title", member.markers.title].append(position)
    root = list(range(len(read)))

    def find(position: int) -> int:
        while root[position] != position:
            root[position] = root[root[position]]
            position = root[position]
        return position

    for bucket in buckets.values():
        for one, other in _pairs(read, bucket):
            if find(one) == find(other) or not _same_document(read[one], read[other]):
                continue
            if alike(read[one].index, read[other].index):
                root[find(other)] = find(one)
    together: dict[int, list[_Member]] = defaultdict(list)
    for position, member in enumerate(read):
        together[find(position)].append(member)
    yield from together.values()


def _pairs(read: Sequence[_Member], bucket: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Pairs of a bucket worth asking about: of the same folders, and each archived one with the others."""
    by_folder: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for position in bucket:
        by_folder[read[position].markers.folder_stems].append(position)
    for beside in by_folder.values():
        for place, position in enumerate(beside):
            for other in beside[max(0, place - _WINDOW) : place]:
                yield other, position
    aside = [position for position in bucket if read[position].aside]
    present = [position for position in bucket if not read[position].aside]
    reach = len(present) if len(aside) * len(present) <= _ALL_PAIRS else _WINDOW
    for position in aside:
        for other in present[:reach]:
            yield other, position


def _same_document(a: _Member, b: _Member) -> bool:
    """Whether names, titles and folders allow two pages to be editions of one document."""
    one, two = a.markers, b.markers
    same_title = one.title == two.title and not is_generic(one.title)
    if one.folder_stems != two.folder_stems and a.aside == b.aside:
        return False
    if one.stem == two.stem and not is_generic(one.stem):
        return True
    if one.stem == two.stem and one.folders == two.folders and one.stem:
        # "report-v1", "report-v2" beside each other: titles must not tell them apart.
        return same_title or is_generic(one.title) or is_generic(two.title)
    # Only one of them set aside is a sign of its own; otherwise a title alone may be a site's.
    return same_title and (is_generic(one.stem) or is_generic(two.stem) or a.aside != b.aside)


def _series_name(group: Sequence[_Member], taken: set[str]) -> str:
    first = min(group, key=lambda member: (member.aside, member.candidate.address))
    stem = next(
        (s for s in (first.markers.stem, first.markers.title) if not is_generic(s)), first.markers.stem
    )
    base = "/".join((*first.markers.folder_stems, stem))
    name, count = base, 1
    while name in taken:
        count += 1
        name = f"{base} #{count}"
    taken.add(name)
    return name


def _ranked(group: Sequence[_Member]) -> Iterator[tuple[_Member, bool, bool, str]]:
    """Each member, whether it is an issue for a period, whether it is older, and the address of the newest
    that it is to be measured by."""
    # An archive that holds the whole series says nothing.
    told = any(member.aside for member in group) and not all(member.aside for member in group)
    # "Visiting policy (edition 2)" of 2021 and "(edition 3)" of 2024 are no yearbooks.
    versioned = len({m.markers.version for m in group if m.markers.version}) > 1
    issues: dict[str, list[_Member]] = defaultdict(list)
    for member in group:
        is_version = (told and member.aside) or (versioned and member.markers.version)
        if member.markers.period and (member.markers.periodical or not is_version):
            issues[member.markers.period].append(member)
    if len(issues) < 2:
        newest = _newest(group, told)
        for member in group:
            yield member, False, _order(newest, member, told) > 0, newest.candidate.address
        return
    present = _newest(issues[max(issues, key=_period_end)], told)
    issued = {member.index for issue in issues.values() for member in issue}
    for issue in issues.values():
        newest = _newest(issue, told)
        for member in issue:
            older = _order(newest, member, told) > 0
            yield member, True, older, (newest if older else present).candidate.address
    for member in group:
        if member.index not in issued:
            yield member, False, told and member.aside, present.candidate.address


def _newest(members: Sequence[_Member], told: bool) -> _Member:
    best = max(members, key=lambda member: (not member.aside, member.candidate.date, member.markers.version))
    # Twice: the order is not total, and the first found may be beaten by one that came before.
    for member in (*members, *members):
        if _order(member, best, told) > 0:
            best = member
    return best


def _order(a: _Member, b: _Member, told: bool) -> int:
    """1 when a is newer than b, -1 when older, 0 when nothing tells."""
    if told and a.aside != b.aside:
        return -1 if a.aside else 1
    one, two = a.markers, b.markers
    if one.version and two.version and one.version != two.version:
        return 1 if one.version > two.version else -1
    if one.draft != two.draft:
        return -1 if one.draft else 1
    dated = _later(a.candidate.date, b.candidate.date) or _later(one.day, two.day)
    if dated or bool(one.version) == bool(two.version):
        return dated
    return 1 if (one.version or _UNNUMBERED) > (two.version or _UNNUMBERED) else -1


def _later(one: str, two: str) -> int:
    """Compare two dates as far as both go: a year says nothing against a month of the same year."""
    length = min(len(one), len(two))
    return (one[:length] > two[:length]) - (one[:length] < two[:length])


def _period_end(period: str) -> tuple[str, int]:
    """A sort key by the period's end: a year ends after its quarters, a quarter after its months."""
    year, rest = period[:4], period[5:]
    if not rest:
        return year, 1232
    if rest[0] in "QH":
        return year, int(rest[1:]) * (300 if rest[0] == "Q" else 600) + 31
    if rest[0] == "W":
        return year, int(rest[1:]) * 23
    month, _, day = rest.partition("-")
    return year, int(month) * 100 + (int(day) if day else 30)
