"""Markdown and plain text to canonical Markdown.

Front matter gives title and date, and stays readable as a list (it may say that a page is superseded).
Underlined headings become ``#``, bullets ``-``; comments go, of links and images the words stay.
Fenced code is left as it is.
"""

import re
from itertools import takewhile

from lethe_core.adapters.sources.readers.charset import decode
from lethe_core.adapters.sources.readers.document import Document
from lethe_core.evidence.dates import parse_date

_FRONT = re.compile(r"\A(---|\+\+\+)[ \t]*\n(.{0,20000}?)\n(?:\1|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_FRONT_LINE = re.compile(r"([A-Za-z][\w -]{0,40}?)[ \t]*[:=][ \t]*(.*)")
_FENCE = re.compile(r" {0,3}(```+|~~~+)")
_UNDERLINE = re.compile(r" {0,3}(=+|-+)[ \t]*")
_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*")
_BULLET = re.compile(r"([ \t]*)[*+•·◦‣▪–][ \t]+(?=\S)")
_NUMBERED = re.compile(r"\d{1,2}(?:\.\d{1,2}){0,3}\.?[ \t]+[^\W\d_]")
_ABBREVIATION = re.compile(r"\S*\d\S*|[^AEIOUYÄÖÜÀ-Ý\W\d]{3,5}\W?")  # no word is without a vowel
_SMALL = frozenset(("a", "an", "and", "at", "by", "for", "from", "in", "of", "on", "or", "the", "to", "with"))
_IMAGE = re.compile(r"!\[([^\[\]\n]{0,300})\](?:\([^()\n]{0,2000}\)|\[[^\[\]\n]{0,200}\])")
_LINK = re.compile(r"(?<!\!)\[([^\[\]\n]{1,300})\]\((?:[^()\n]|\([^()\n]{0,300}\)){0,2000}\)")
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_DATE_KEYS = (
    "date",
    "published",
    "updated",
    "last updated",
    "last_updated",
    "lastmod",
    "modified",
    "created",
)
_NOT_SHOWN = ("title", "layout", "permalink", "slug", "draft")


def read_markdown(data: bytes) -> Document:
    """Read a Markdown file. Raises SourceError when the bytes are no text."""
    text = decode(data)
    front, body = _split_front_matter(text)
    body = _canonical(_COMMENT.sub("", body), links=True)
    title = front.get("title", "")
    date = next((found for key in _DATE_KEYS if (found := parse_date(front.get(key, "")))), "")
    shown = [f"- {key}: {value}" for key, value in front.items() if key.lower() not in _NOT_SHOWN and value]
    if shown:
        body = "\n".join(shown) + "\n\n" + body.lstrip("\n")
    return Document(text=body, title=title or first_heading(body), date=date, date_in_text=bool(date))


def read_text(data: bytes) -> Document:
    """Read a plain text file; a short first line with a blank one below it is the title.

    Raises SourceError when the bytes are no text.
    """
    body = _canonical(decode(data), links=False)
    title = first_heading(body) or _title_line(body)
    return Document(text=_with_headings(body), title=title)


def first_heading(text: str) -> str:
    """Of the first three headings of canonical Markdown the highest; empty without one."""
    found: list[tuple[int, int, str]] = []
    fenced = False
    for line in text.split("\n"):
        if _FENCE.match(line):
            fenced = not fenced
        match = None if fenced else _HEADING.fullmatch(line)
        if match and match[2]:
            found.append((len(match[1]), len(found), plain(match[2])))
            if len(found) == 3:
                break
    return min(found)[2] if found else ""


def plain(text: str) -> str:
    """A line without emphasis and code marks."""
    text = re.sub(r"(\*\*|__|`)(?=\S)(.{1,300}?)(?<=\S)\1", r"\2", text)
    return re.sub(r"(?<!\w)([*_])(?=\S)(.{1,300}?)(?<=\S)\1(?!\w)", r"\2", text).strip()


def _split_front_matter(text: str) -> tuple[dict[str, str], str]:
    match = _FRONT.match(text.lstrip("\n"))
    if match is None:
        return {}, text
    fields: dict[str, str] = {}
    last = ""
    for line in match[2].split("\n"):
        field = _FRONT_LINE.fullmatch(line)
        if field and not line[0].isspace():
            last = (
                field[1].strip().lower()
                if field[1].strip().lower() in (*_DATE_KEYS, "title")
                else field[1].strip()
            )
            fields[last] = _unquote(field[2])
        elif last and line.strip() and not line.lstrip().startswith("#"):
            item = _unquote(line.strip().removeprefix("- "))
            fields[last] = f"{fields[last].removeprefix('>').removeprefix('|').strip()}, {item}".removeprefix(
                ", "
            )
    if not fields:  # two rules with prose between them
        return {}, text
    return fields, text.lstrip("\n")[match.end() :]


def _unquote(value: str) -> str:
    value = value.strip()
    if len(value) >= 2 and value[0] == value[-1] and value[0] in "\"'":
        return value[1:-1].strip()
    return value.strip("[]").strip() if value.startswith("[") and value.endswith("]") else value


def _canonical(text: str, *, links: bool) -> str:
    lines: list[str] = []
    fence = ""
    for line in text.expandtabs(4).split("\n"):
        line = line.rstrip()
        marker = _FENCE.match(line)
        if marker and (not fence or line.strip().startswith(fence)):
            fence = "" if fence else marker[1]
            lines.append(line)
            continue
        if fence:
            lines.append(line)
            continue
        if _is_underline(line, lines):
            lines[-1] = f"{'#' if '=' in line else '##'} {lines[-1].strip()}"
            lines.append("")
            continue
        heading = _HEADING.fullmatch(line)
        if heading and heading[2]:
            line = f"{heading[1]} {heading[2]}"
        elif not _UNDERLINE.fullmatch(line):
            line = _BULLET.sub(r"\1- ", line, count=1) if _BULLET.match(line) else line
        if links and "](" in line:
            line = _LINK.sub(r"\1", _IMAGE.sub(r"\1", line))
        lines.append(line)
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip("\n")


def _is_underline(line: str, above: list[str]) -> bool:
    """Whether a line of = or - makes the single line above it a heading (and is no rule, table or list)."""
    if not _UNDERLINE.fullmatch(line) or len(line.strip()) < 3 or not above:
        return False
    title = above[-1].strip()
    if not title or len(title) > 120 or title[0] in "#|>-" or "|" in title:
        return False
    return len(above) < 2 or not above[-2].strip()


def _with_headings(text: str) -> str:
    """Mark the headings of plain text: lines of their own in capitals, or numbered, with text below them."""
    paragraphs = text.split("\n\n")
    marked: list[str] = []
    for index, paragraph in enumerate(paragraphs):
        below = paragraphs[index + 1] if index + 1 < len(paragraphs) else ""
        heading = _is_heading_line(paragraph) and below and not _is_heading_line(below)
        marked.append(f"## {paragraph.strip()}" if heading else paragraph)
    return "\n\n".join(marked)


def _is_heading_line(paragraph: str) -> bool:
    line = paragraph.strip()
    if (
        "\n" in line
        or not 3 <= len(line) <= 80
        or line.endswith((".", ",", ";", ":", "!", "?"))
        or "|" in line
    ):
        return False
    return (_in_capitals(line) and not line.startswith(("#", "- "))) or _NUMBERED.match(line) is not None


def _in_capitals(line: str) -> bool:
    return line.upper() == line and len(line) <= 100 and sum(map(str.isalpha, line)) >= 3


def _lowered(line: str) -> str:
    """A line in capitals as a title: embedded or compared, capitals are other words. "NHS" stays."""
    words = [word if _ABBREVIATION.fullmatch(word) else word.capitalize() for word in line.split()]
    return " ".join(word.lower() if at and word.lower() in _SMALL else word for at, word in enumerate(words))


def _title_line(text: str) -> str:
    capitals = list(takewhile(_in_capitals, text.split("\n\n", 1)[0].split("\n")[:4]))
    if 1 <= len(capitals) <= 3:
        return ": ".join(_lowered(line.strip(" -=*#:")) for line in capitals)
    first, _, rest = text.partition("\n")
    short = 0 < len(first) <= 100 and not first.rstrip().endswith((".", ",", ";", ":", "!"))
    return first.strip(" -=*#") if short and rest.startswith("\n") else ""
