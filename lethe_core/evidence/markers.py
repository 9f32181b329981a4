"""What a document's name, folders and title say of its version and period (algorithms.md 8, "Editions").

Markers (version, date, period, draft, final, old, copy) are read and cut out; what is left is the stem
that the editions of one document share. A stem that many unrelated documents have ("index", "report")
is generic and proves nothing across folders.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import unquote, urlsplit

from lethe_core.evidence.written_dates import MONTHS, find_dates

_SUFFIX = re.compile(
    r"\.(?:md|markdown|txt|text|rst|html?|xhtml|pdf|docx?|odt|rtf|csv|tsv|xlsx?|ods|pptx?|odp|json|xml)"
    r"(?=$|~$|\.(?:bak|old|orig)~?$)"
)
_YEAR = r"(?:19|20)\d\d"
_MONTH_NAMES = "|".join(sorted((name for name in MONTHS if len(name) > 2), key=len, reverse=True))
_QUARTERS = "first|second|third|fourth"
_NOT_IN_WORD = r"(?<![^\W_])"
_WORD_ENDS = r"(?![^\W_])"

_DAY = re.compile(rf"(?<!\d)({_YEAR})([-_. ]?)(0[1-9]|1[0-2])\2(0[1-9]|[12]\d|3[01])(?!\d)")
_DAY_FIRST = re.compile(rf"(?<!\d)(0?[1-9]|[12]\d|3[01])[-_.](0?[1-9]|1[0-2])[-_.]({_YEAR})(?!\d)")
_PERIODS = (
    ("Q", re.compile(rf"(?<!\d)(?P<y>{_YEAR})[-_. /]*q(?P<n>[1-4])(?!\d)")),
    ("Q", re.compile(rf"{_NOT_IN_WORD}q(?P<n>[1-4])[-_. /]*(?:fy)?(?P<y>{_YEAR})(?!\d)")),
    (
        "Q",
        re.compile(
            rf"(?P<n>[1-4]|{_QUARTERS})(?:st|nd|rd|th|\.)?[-_ ]*quart(?:er|al)[-_ ,of]*(?P<y>{_YEAR})"
        ),
    ),
    ("H", re.compile(rf"(?<!\d)(?P<y>{_YEAR})[-_. /]*h(?P<n>[12])(?!\d)")),
    ("H", re.compile(rf"{_NOT_IN_WORD}h(?P<n>[12])[-_. /]*(?P<y>{_YEAR})(?!\d)")),
    ("W", re.compile(rf"(?<!\d)(?P<y>{_YEAR})[-_. ]*(?:w|kw|week)[-_. ]?(?P<n>\d\d?)(?!\d)")),
    ("W", re.compile(rf"{_NOT_IN_WORD}(?:kw|week)[-_. ]?(?P<n>\d\d?)[-_. ,/]*(?P<y>{_YEAR})(?!\d)")),
    ("M", re.compile(rf"{_NOT_IN_WORD}(?P<n>{_MONTH_NAMES})[-_. ,]*(?P<y>{_YEAR})(?!\d)")),
    ("M", re.compile(rf"(?<!\d)(?P<y>{_YEAR})[-_. ,/]*(?P<n>{_MONTH_NAMES}){_WORD_ENDS}")),
    ("M", re.compile(rf"(?<!\d)(?P<y>{_YEAR})[-_./]?(?P<n>0[1-9]|1[0-2])(?!\d)")),
    ("Y", re.compile(rf"(?<!\d)(?P<y>{_YEAR})(?:[-/_](?:{_YEAR}|\d\d))?(?!\d)(?P<n>)")),
)
_YEAR_WORDS = re.compile(rf"{_NOT_IN_WORD}(?:fy|fiscal year|financial year|year)[-_ ]?(?={_YEAR})")
_ORDINAL = {"first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "sixth": 6}

_VERSION = re.compile(
    rf"{_NOT_IN_WORD}(?:v|ver|vers|version|rev|revision|release|edition|ausgabe|fassung|draft|entwurf)"
    rf"[-_. ]{{0,2}}(?P<n>\d{{1,3}}(?:[._]\d{{1,4}}){{0,3}}){_WORD_ENDS}"
)
_EDITION = re.compile(
    rf"{_NOT_IN_WORD}(?:(?P<n>\d{{1,2}})(?:st|nd|rd|th|\.)|(?P<w>{'|'.join(_ORDINAL)}))[-_ ]"
    rf"(?:edition|version|revision|ausgabe|auflage|draft){_WORD_ENDS}"
)
_DRAFT = re.compile(
    rf"{_NOT_IN_WORD}(?:drafts?|entwurf|preliminary|provisional|proposed|proposal|wip|rc\d?){_WORD_ENDS}"
)
_FINAL = re.compile(rf"{_NOT_IN_WORD}(?:final|endfassung){_WORD_ENDS}[-_ )\]]*$")
_ASIDE = re.compile(
    rf"{_NOT_IN_WORD}(?:superseded|obsolete|outdated|deprecated|withdrawn|archived?|backup|veraltet|überholt){_WORD_ENDS}"
)
# "old" and the like count only at a name's end: "policy-old", never "old-town".
_ASIDE_AT_END = re.compile(r"(?<=[-_. (\[])(?:old|bak|orig|previous|legacy)[-_ )\]~]*$|~$")
_PRESENT_AT_END = re.compile(
    r"(?<=[-_. (\[])(?:new|current|latest|revised|updated|corrected|signed)[-_ )\]]*$"
)
_COPY = re.compile(
    r"^(?:copy|kopie|copie) (?:\(\d+\) )?(?:of|von|de) "
    r"|[-_ ]+(?:copy|kopie)(?:[-_ ]?\(?\d{1,2}\)?)?$|[ _]?\(\d{1,2}\)$"
)
_LONGEST = 300  # characters of a name, a folder or a title that are looked at
_DIGIT = re.compile(r"\d")
_LOOSE_ENDS = frozenset(
    {"of", "for", "from", "the", "as", "on", "in", "vom", "der", "des", "für", "im", "am"}
)

_ASIDE_FOLDER = frozenset(
    {"archive", "archives", "archived", "archiv", "old", "superseded", "obsolete", "deprecated", "outdated"}
    | {"legacy", "previous", "backup", "backups", "veraltet", "former", "attic"}
)
_MARKER_FOLDER = frozenset(
    {"current", "latest", "live", "published", "final", "draft", "drafts", "versions", "version", "editions"}
    | {"edition", "files", "copies", "issues", "releases"}
)
_GENERIC = frozenset(
    {"index", "readme", "report", "reports", "document", "doc", "docs", "page", "main", "default", "untitled"}
    | {"home", "file", "notes", "note", "scan", "text", "data", "content", "contents", "overview", "summary"}
    | {"introduction", "intro", "about", "minutes", "agenda", "newsletter", "memo", "letter", "presentation"}
    | {"slides", "table", "figure", "appendix", "annex", "license", "changelog", "welcome", "start", "faq"}
    | {"info", "information", "attachment", "image", "export", "output", "news", "bericht", "protokoll"}
)
_PERIODICAL = frozenset(
    {
        "report",
        "reports",
        "minutes",
        "newsletter",
        "bulletin",
        "statistics",
        "accounts",
        "statement",
        "results",
    }
    | {"review", "survey", "agenda", "journal", "gazette", "log", "diary", "digest", "meeting", "quarterly"}
    | {"monthly", "weekly", "annual", "yearly", "daily", "bericht", "protokoll", "rundbrief", "jahresbericht"}
)
_WORDS = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class Markers:
    """What address and title say; ``stem`` and ``title`` are what is left of name and title."""

    stem: str
    title: str
    folders: tuple[str, ...]  # as they are, lower case
    folder_stems: tuple[str, ...]  # without archive, version and period folders
    version: tuple[int, ...]  # empty when none
    draft: bool
    final: bool
    aside: bool  # an archive folder, or a name or title that says it is old
    day: str  # a full date in the name, else in the title
    period: str
    periodical: bool  # a period finer than a year, or a word such as "report" or "minutes"

    @property
    def label(self) -> str:
        """The version in a word: "v2", "draft", "2024-03-11", "archive"; empty when unmarked."""
        if self.version:
            return "v" + ".".join(str(part) for part in self.version)
        if self.draft or self.final:
            return "draft" if self.draft else "final"
        if self.day and self.day != self.period:
            return self.day
        return "archive" if self.aside else ""


def is_generic(stem: str) -> bool:
    """Whether a stem says nothing of what the document is: empty, very short, or only such words."""
    return len(stem) < 3 or all(word in _GENERIC for word in stem.split())


def stem(address: str, title: str) -> str:
    """What the editions of one document share of name or title; empty when nothing tells it apart."""
    markers = read_markers(address, title)
    return next((part for part in (markers.stem, markers.title) if not is_generic(part)), "")


def read_markers(address: str, title: str) -> Markers:
    """Read and cut out what marks an edition."""
    *folders, name = _path(address)
    name = _SUFFIX.sub("", name[-_LONGEST:])
    heading = " ".join(title[: 4 * _LONGEST].lower().split())[:_LONGEST]
    name_cut, name_found = _cut(name)
    title_cut, title_found = _cut(heading)
    read = [_folder(folder[:_LONGEST]) for folder in folders]
    kept = [folder for folder, found in zip(folders, read, strict=True) if not found.marker]
    folder_version = next((found.version for found in reversed(read) if found.version), ())
    genre = bool(_PERIODICAL & {*_WORDS.split(name), *_WORDS.split(heading)})
    day = name_found.day or title_found.day
    period = "" if name_found.day else name_found.period or ("" if day else title_found.period)
    if not period and not day:
        period = _period("/".join(folders[-2:]))
    if not period and day and genre:
        period = day
    return Markers(
        stem=name_cut,
        title=title_cut,
        folders=tuple(folders),
        folder_stems=tuple(kept),
        version=name_found.version or title_found.version or folder_version,
        draft=name_found.draft or title_found.draft or any(found.draft for found in read),
        final=name_found.final or title_found.final,
        aside=any(found.aside for found in read) or name_found.aside or title_found.aside,
        day=day,
        period=period,
        periodical=genre or len(period) > 4,
    )


@dataclass(frozen=True, slots=True)
class _Found:
    version: tuple[int, ...]
    draft: bool
    final: bool
    aside: bool
    day: str
    period: str


@dataclass(frozen=True, slots=True)
class _Folder:
    marker: bool  # says nothing but where in the course of editions its documents stand
    aside: bool
    draft: bool
    version: tuple[int, ...]


@lru_cache(maxsize=4096)
def _folder(name: str) -> _Folder:
    words = set(_WORDS.sub(" ", _without_dates(name)).split())
    marker = words <= _ASIDE_FOLDER | _MARKER_FOLDER
    return _Folder(
        marker=marker,
        aside=marker and bool(words & _ASIDE_FOLDER),
        draft=marker and bool(words & {"draft", "drafts"}),
        version=_version(name),
    )


def _path(address: str) -> list[str]:
    if "://" in address:
        try:
            parts = urlsplit(address)
        except ValueError:
            return [address.lower()]
        address = f"{parts.netloc}{parts.path.rstrip('/')}"
    parts_of = [part for part in unquote(address).lower().replace("\\", "/").split("/") if part]
    return parts_of or [""]


def _cut(text: str) -> tuple[str, _Found]:
    text = _COPY.sub(" ", text)
    day = ""
    if match := _DAY.search(text):
        day = f"{match[1]}-{match[3]}-{match[4]}"
    elif match := _DAY_FIRST.search(text):
        day = f"{match[3]}-{int(match[2]):02d}-{int(match[1]):02d}"
    text = _DAY_FIRST.sub(" ", _DAY.sub(" ", text))
    for written in reversed(find_dates(text)):
        if len(written.form) == 10 and written.form == written.iso:
            day = day or written.iso
            text = text[: written.span[0]] + " " + text[written.span[1] :]
    version = _version(text)
    found = _Found(
        version=version,
        draft=_DRAFT.search(text) is not None,
        final=_FINAL.search(text) is not None,
        aside=(_ASIDE.search(text) or _ASIDE_AT_END.search(text)) is not None,
        day=day,
        period=_period(_EDITION.sub(" ", _VERSION.sub(" ", text))),
    )
    text = _EDITION.sub(" ", _VERSION.sub(" ", text))
    for pattern in (_DRAFT, _FINAL, _ASIDE, _ASIDE_AT_END, _PRESENT_AT_END):
        text = pattern.sub(" ", text).rstrip()
    words = _WORDS.sub(" ", _without_dates(text)).split()
    while words and words[-1] in _LOOSE_ENDS:
        words.pop()
    return " ".join(words), found


def _without_dates(text: str) -> str:
    if _DIGIT.search(text):
        text = _DAY_FIRST.sub(" ", _DAY.sub(" ", _YEAR_WORDS.sub(" ", text)))
        for _, pattern in _PERIODS:
            text = pattern.sub(" ", text)
    return _EDITION.sub(" ", _VERSION.sub(" ", text))


def _version(text: str) -> tuple[int, ...]:
    if match := _VERSION.search(text):
        return tuple(int(part) for part in re.split(r"[._]", match["n"]))
    if match := _EDITION.search(text):
        return (int(match["n"]) if match["n"] else _ORDINAL[match["w"]],)
    return ()


def _period(text: str) -> str:
    if not _DIGIT.search(text):
        return ""
    text = _DAY_FIRST.sub(" ", _DAY.sub(" ", text))
    for unit, pattern in _PERIODS:
        if (match := pattern.search(text)) is None:
            continue
        year, number = match["y"], match["n"]
        if unit == "Y":
            return year
        if unit == "M":
            return f"{year}-{MONTHS.get(number) or int(number):02d}"
        value = _ORDINAL.get(number) or int(number)
        return f"{year}-{unit}{value:02d}" if unit == "W" else f"{year}-{unit}{value}"
    return ""
