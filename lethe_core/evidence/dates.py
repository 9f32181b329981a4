"""The date of a page (algorithms.md 8; architecture.md, "A folder as a source").

From its text, where a date is labelled ("Updated 3 May 2024"), in front matter or in its first heading;
else from the file's metadata; else from its name; else the time of modification, which is shown and
never decides. A date somewhere in a sentence is what the page speaks of, not when it speaks.
"""

import re
from collections.abc import Iterator
from datetime import UTC, date, datetime
from urllib.parse import unquote

from lethe_core.evidence.page import DateSource
from lethe_core.evidence.written_dates import MONTHS, find_dates

_CHANGED = (
    r"(?:last |letzte )?(?:updated?|modified|revised|reviewed|changed|amended|änderung)(?: on| at)?",
    r"(?:zuletzt )?(?:aktualisiert|geändert)(?: am)?",
    r"last (?:update|revision)|lastmod|revision(?: date)?|version (?:of|from|vom)|as of|stand",
    r"mis à jour(?: le)?|date de mise à jour|actualizado(?: el)?",
)
_MADE = (
    r"(?:publication |release |issue |document |report |meeting |effective )?date|dated|datum|fecha|data",
    r"pubdate|(?:first )?published(?: on| at)?|(?:posted|issued|released|created|written)(?: on)?",
    r"(?:approved|adopted)(?: on)?|effective(?: from| as of)?|valid from|in force (?:from|since)",
    r"gültig ab|veröffentlicht(?: am)?|erstellt(?: am)?|publié(?: le)?|publicado(?: el)?",
    r"(?:reporting )?period|quarter|berichtszeitraum",
)
_LABEL = re.compile(
    r"[ \t>|*_#•·–-]{0,12}"
    rf"(?:(?P<changed>{'|'.join(_CHANGED)})|(?P<made>{'|'.join(_MADE)}))"
    r"[ \t]{0,3}[*_]{0,2}[ \t]{0,3}[:|=–-]?[ \t]{0,3}[*_|'\"]{0,3}[ \t]{0,3}"
    r"(?:(?:on|the|am|le|vom|mon|tue|wed|thu|fri|sat|sun)[a-z]*,? )?",
    re.IGNORECASE,
)
_HEADING = re.compile(r"[ ]{0,3}#{1,6}[ \t]+\S")
_BARE_YEAR = re.compile(r"(?<![\w.,/-])((?:19|20)\d\d)(?![\w/]|[.,-]\w)")
_ISO = re.compile(r"((?:1[89]|20)\d\d)(?:-?(\d\d)(?:-?(\d\d))?)?(?![\d])")
_DIVIDED = re.compile(r"[|·•;(][ \t]*(?=([^|·•;(]+))")
_SHORT_LINE = 120  # characters
_LABEL_REACH = 200

_NAME_DAY = re.compile(r"(?<!\d)((?:19|20)\d\d)([-_. ]?)(0[1-9]|1[0-2])\2(0[1-9]|[12]\d|3[01])(?!\d)")
_NAME_DAY_FIRST = re.compile(r"(?<!\d)(\d{1,2})[-_. ](\d{1,2})[-_. ]((?:19|20)\d\d)(?!\d)")
_NAME_MONTH = re.compile(r"(?<!\d)((?:19|20)\d\d)[-_. /]?(0[1-9]|1[0-2])(?![\d])")
_NAME_YEAR = re.compile(r"(?<!\d)((?:19|20)\d\d)(?!\d)")
_WORDS = re.compile(r"[_\-.+ ]+")


def page_date(text: str, metadata: str, name: str, modified: float) -> tuple[str, DateSource]:
    """The date of a page, ISO 8601 possibly shortened, and what it rests on; both empty when nothing says.

    text: its Markdown; metadata: a date of the file's own fields in any written form, or empty; name:
    its address; modified: seconds since the epoch, 0 or less when unknown.
    """
    if found := labelled_date(text):
        return found, "text"
    if found := parse_date(metadata):
        return found, "metadata"
    if found := date_in_name(name):
        return found, "name"
    if modified > 0:
        try:
            return datetime.fromtimestamp(modified, tz=UTC).date().isoformat(), "modified"
        except (OverflowError, OSError, ValueError):
            return "", ""
    return "", ""


def labelled_date(text: str) -> str:
    """The date that a text gives for itself, or empty.

    The latest that is labelled as a change ("Updated …"); else the first that is labelled otherwise
    ("Date: …", "Published on …"); else the one in the page's first heading, a year alone included.
    Front matter counts as labels. A label stands at the beginning of a line.
    """
    changed: list[str] = []
    made: list[str] = []
    heading = ""
    seen_heading = False
    for line in text.splitlines():
        if not seen_heading and _HEADING.match(line):
            seen_heading = True
            heading = _first(line) or _year(line)
        for field in _fields(line):
            match = _LABEL.match(field)
            # "As of 1990 the line had …" begins a paragraph; a label without a colon stands in a short line.
            if match is None or (len(line) > _SHORT_LINE and not set(":|=") & set(match[0])):
                continue
            if found := _at_start(field[match.end() :]):
                (changed if match["changed"] else made).append(found)
    if changed:
        return max(changed)
    return made[0] if made else heading


def parse_date(written: str) -> str:
    """One date in any written form, a PDF's ``D:20240311…`` included; empty when it is none."""
    stripped = written.strip().removeprefix("D:")[:64]
    if match := _ISO.match(stripped):
        return _checked(match[1], match[2], match[3])
    if match := re.match(r"((?:19|20)\d\d)(\d\d)(\d\d)\d", stripped):
        return _checked(match[1], match[2], match[3])
    return _first(stripped)


def date_in_name(address: str) -> str:
    """The date that a name gives: of the file itself, else of its folders; empty when none does.

    ``minutes_20240311.md``, ``report-2024-q3.pdf``, ``march-2024.docx``, ``2023/07/notes.md``.
    """
    *folders, name = unquote(address).replace("\\", "/").split("/")
    return _in_name(name) or _in_name("/".join(folders[-3:]))


def _in_name(name: str) -> str:
    if match := _NAME_DAY.search(name):
        return _checked(match[1], match[3], match[4])
    if match := _NAME_DAY_FIRST.search(name):
        first, second = int(match[1]), int(match[2])
        day, month = (second, first) if second > 12 else (first, second)
        # 03-04-2024 may be either day: only the year is sure.
        if first > 12 or second > 12 or first == second or "." in match[0]:
            return _checked(match[3], f"{month:02d}", f"{day:02d}")
        return match[3]
    spaced = _WORDS.sub(" ", name)
    if found := _first(spaced):
        return found
    if match := _NAME_MONTH.search(name):
        return f"{match[1]}-{match[2]}"
    if (match := _NAME_YEAR.search(name)) is None:
        return ""
    months = [MONTHS[word] for word in spaced.lower().split() if word in MONTHS and len(word) > 3]
    return f"{match[1]}-{months[0]:02d}" if len(months) == 1 else match[1]


def _fields(line: str) -> Iterator[str]:
    """What of a line may begin with a label: its beginning, and what follows a divider in a short one."""
    yield line[:_LABEL_REACH]
    if len(line) <= _SHORT_LINE:
        yield from (match[1] for match in _DIVIDED.finditer(line))


def _at_start(rest: str) -> str:
    """The date at the beginning of what follows a label."""
    found = find_dates(rest[:80])
    if found and found[0].span[0] == 0:
        return found[0].iso
    match = _BARE_YEAR.match(rest)
    return match[1] if match else ""


def _first(text: str) -> str:
    found = find_dates(text)
    return found[0].iso if found else ""


def _year(text: str) -> str:
    years = set(_BARE_YEAR.findall(text))
    return years.pop() if len(years) == 1 else ""


def _checked(year: str, month: str | None, day: str | None) -> str:
    try:
        if month and day:
            return date(int(year), int(month), int(day)).isoformat()
        if month:
            return date(int(year), int(month), 1).isoformat()[:7]
    except ValueError:
        return ""
    return year
