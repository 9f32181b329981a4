"""How text that a page, a model or a person wrote stands in a DIN-Read text (architecture.md, "DIN").

Two forms, both exact to read back. Within a line: as it is where it cannot be mistaken for anything else,
otherwise a JSON string. As lines of its own: each behind ``| ``, with what would break or reorder a line
written ``⟨U+2028⟩``, so that backslashes in formulas and paths stay as their source has them.
"""

import json
import re
from collections.abc import Sequence
from typing import Final

from lethe_core.errors import DinSyntaxError
from lethe_core.graph.ids import SHORT_ID

_ANY_SHORT_ID: Final = re.compile(r"(?<![\w-])([te])-[0-9a-f]{4,32}(?![\w-])")

# Control characters but tab and line feed, what Unicode calls a line or paragraph separator, embeddings,
# overrides and isolates of writing direction, and tag characters (invisible to a person, read by a model).
# Direction marks (U+200E, U+200F) stay: right-to-left prose is full of them and they reorder no letters.
_HOSTILE: Final = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff\U000e0000-\U000e007f"
)
_IN_STRING: Final = re.compile(f"[{_HOSTILE}]")
_IN_LINE: Final = re.compile(rf"[{_HOSTILE}]|⟨(?=U\+)")
_ESCAPED: Final = re.compile(r"⟨U\+([0-9A-F]{4,6})⟩")
_DECODER: Final = json.JSONDecoder()

PLACEHOLDERS: Final = {"t": "t-a3f1", "e": "e-7c0b"}


def quote(text: str) -> str:
    """A JSON string on one line, readable in any script. Exact for text without surrogates."""
    written = json.dumps(text, ensure_ascii=False)
    return _IN_STRING.sub(lambda match: json.dumps(match.group())[1:-1], written)


def plain_or_quoted(text: str, *, never: Sequence[str] = (), empty: str = "") -> str:
    """The text as it is, or quoted when it could be read as something else.

    never: what may not occur in a plain text, such as the line's separator.
    empty: the word that stands for no text; without one, no text is an empty JSON string.
    """
    if not text and empty:
        return empty
    plain = (
        text
        and text == text.strip()
        and text != empty
        and not text.startswith('"')
        and not any(mark in text for mark in ("\n", "\t", *never))
        and not _IN_STRING.search(text)
    )
    return text if plain else quote(text)


def read_quoted(line: str, start: int) -> tuple[str, int]:
    """The JSON string that starts at an offset of a line, and the offset behind it."""
    try:
        value, end = _DECODER.raw_decode(line, start)
    except (ValueError, RecursionError) as error:
        raise DinSyntaxError(f"no quoted text at column {start + 1} of {line[:120]!r}") from error
    if not isinstance(value, str):
        raise DinSyntaxError(f"no quoted text at column {start + 1} of {line[:120]!r}")
    return value, end


def quote_lines(text: str) -> list[str]:
    """Every line of a text behind ``| ``; none of them is anything but data."""
    return [f"| {line}" if line else "|" for line in escape(text).split("\n")]


def unquote_line(line: str) -> str | None:
    """One line of a quoted text; None for a line that is not quoted."""
    if line == "|":
        return ""
    return unescape(line[2:]) if line.startswith("| ") else None


def escape(text: str) -> str:
    """The text with nothing in it that breaks or reorders a line, line feeds and tabs excepted."""
    return _IN_LINE.sub(lambda match: f"⟨U+{ord(match.group()):04X}⟩", text)


def unescape(text: str) -> str:
    """What `escape` was given. Raises DinSyntaxError for a code point that does not exist."""
    try:
        return _ESCAPED.sub(lambda match: chr(int(match.group(1), 16)), text)
    except ValueError as error:
        raise DinSyntaxError(f"no such character in {text[:120]!r}") from error


def shorten(text: str, limit: int = 200) -> str:
    """The text on one line, cut at a word with an ellipsis so that it has at most ``limit`` characters."""
    line = " ".join(text.split())
    if len(line) <= limit:
        return line
    cut = line.rfind(" ", 0, limit)
    # Scripts without spaces, and single very long words, are cut where they are.
    return (line[:cut] if cut > limit // 2 else line[: limit - 1]).rstrip() + "…"


def token_text(text: str) -> str:
    """The text with every short id replaced by one of fixed form: random ids change no token count."""
    return _ANY_SHORT_ID.sub(lambda match: PLACEHOLDERS[match.group(1)], text)


def checked_id(short_id: str, letter: str) -> str:
    """The short id itself. Raises DinSyntaxError when it is none of a task ("t") or of evidence ("e")."""
    if not SHORT_ID.fullmatch(short_id) or not short_id.startswith(letter):
        raise DinSyntaxError(f"{short_id[:60]!r} is no short id like {PLACEHOLDERS[letter]}")
    return short_id
