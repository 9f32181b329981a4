"""The parts of a question that is several questions (algorithms.md 9.1).

Numbered or lettered items, list lines, several questions, a semicolon list. What stands before the first
part is shared by all of them, so it opens each part's description, and each can be read alone. Numbers
that are no markers (3.5 m, dates, "No. 4") never split: markers must count up from the first.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, takewhile

from lethe_core.reasoning.terms import PRONOUN, STOP, content, fold, names, words

_ROMAN = ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x", "xi", "xii")
_MARKER_FORMS: Sequence[tuple[re.Pattern[str], Sequence[str]]] = tuple(
    (re.compile(pattern), series)
    for pattern, series in (
        (r"(?:^|(?<=\s))\((\d{1,2})\)\s*", [str(n) for n in range(1, 100)]),
        (r"(?:^|(?<=\s))(\d{1,2})\)\s+", [str(n) for n in range(1, 100)]),
        (r"(?:^|(?<=[:;.?!,\n] )|(?<=\n))(\d{1,2})\.\s+(?=[^\d\s])", [str(n) for n in range(1, 100)]),
        (r"(?:^|(?<=\s))\(([ivx]{1,4})\)\s*", _ROMAN),
        (r"(?:^|(?<=\s))([ivx]{1,4})\)\s+", _ROMAN),
        (r"(?:^|(?<=\s))\(([a-z])\)\s*", [chr(c) for c in range(97, 123)]),
        (r"(?:^|(?<=\s))([a-z])\)\s+", [chr(c) for c in range(97, 123)]),
        (r"(?:^|(?<=\s))\(([A-Z])\)\s*", [chr(c) for c in range(65, 91)]),
        (r"(?:^|(?<=\s))([A-Z])\)\s+", [chr(c) for c in range(65, 91)]),
    )
)
_BULLET = re.compile(r"^[ \t]*[-*•‣▪–][ \t]+", re.MULTILINE)
_PROTECTED = re.compile(r"\([^()]*\)|\[[^\[\]]*\]|“[^”]*”|\"[^\"]*\"|«[^»]*»")
_EXAMPLES = re.compile(r"\b(?:e\.\s?g\.|i\.\s?e\.|such as|for example|for instance|z\. ?B\.)", re.IGNORECASE)
_QUESTION_END = re.compile(r"\?+[\"”’')\]]*\s+(?=[\"“‘(\[]?(?:and |or )?[^\W\d_a-z]|and\b|or\b)")
_SENTENCE_END = re.compile(r"(?<=[^\s.][.!])\s+(?=[A-ZÀ-Þ])")


@dataclass(frozen=True, slots=True)
class PartsConfig:
    """How many parts a question has at most, and how much a part must say."""

    most: int = 100  # as many as a session's iterations can be; what is beyond stands together in the last
    words: int = 2  # content words of a semicolon's part that has no lead-in to lean on
    longest_lead: int = 400  # characters; a longer lead-in is a text, not a lead-in


def parts(question: str, config: PartsConfig | None = None) -> tuple[str, ...]:
    """The parts of a question in order, each a description of its own; empty when it is one question."""
    config = config or PartsConfig()
    text = question.strip()
    for split in (_numbered, _bulleted, _questions, _semicolons):
        lead, pieces = split(text, config)
        cleaned = list(dict.fromkeys(piece for piece in map(_clean, pieces) if content(piece)))
        if len(cleaned) >= 2:
            if not lead:
                cleaned = list(_with_what_is_meant(cleaned))
            return tuple(_with_lead(lead, piece) for piece in _at_most(cleaned, config.most))
    return ()


def _numbered(text: str, config: PartsConfig) -> tuple[str, list[str]]:
    shield = _shield(text, brackets=False)
    for pattern, series in _MARKER_FORMS:
        marks: list[re.Match[str]] = []
        for match in pattern.finditer(shield):
            if len(marks) < len(series) and match.group(1) == series[len(marks)]:
                marks.append(match)
        if len(marks) >= 2:
            ends = [mark.start() for mark in marks[1:]] + [len(text)]
            pieces = [text[mark.end() : end] for mark, end in zip(marks, ends, strict=True)]
            if all(content(piece) for piece in pieces):
                return _lead(text[: marks[0].start()], config), pieces
    return "", []


def _bulleted(text: str, config: PartsConfig) -> tuple[str, list[str]]:
    marks = list(_BULLET.finditer(text))
    if len(marks) < 2:
        return "", []
    ends = [mark.start() for mark in marks[1:]] + [len(text)]
    return _lead(text[: marks[0].start()], config), [
        text[mark.end() : end] for mark, end in zip(marks, ends, strict=True)
    ]


def _questions(text: str, config: PartsConfig) -> tuple[str, list[str]]:
    cuts = [match.end() for match in _QUESTION_END.finditer(_shield(text))]
    edges = [0, *cuts, len(text)]
    pieces = [text[start:end].strip() for start, end in pairwise(edges)]
    asked = [piece for piece in pieces if "?" in piece]
    if len(asked) < 2 or any(not content(piece) for piece in asked):
        return "", []
    lead, first = _statements(asked[0])
    # What follows on a question that names something is about the same, said or not.
    subject = "" if lead else ", ".join(names(first)[:2])
    told = [
        first,
        *(piece if lead or names(piece) or not subject else f"{subject}: {piece}" for piece in asked[1:]),
    ]
    return _lead(lead, config), told


def _semicolons(text: str, config: PartsConfig) -> tuple[str, list[str]]:
    shield = _shield(text)
    lead, body = "", 0
    colon = re.search(r":\s+", shield)
    if colon and ";" not in shield[: colon.start()]:
        lead, body = _lead(text[: colon.end()], config), colon.end()
    pieces = list(_at_semicolons(text, shield, body))
    least = 1 if lead else config.words
    if len(pieces) < 2 or any(len(content(piece)) < least for piece in pieces):
        return "", []
    return lead, pieces


def _at_semicolons(text: str, shield: str, start: int) -> Iterator[str]:
    for match in re.finditer(r";\s+", shield):
        # What follows "e.g." belongs to the example.
        if match.start() > start and not _EXAMPLES.search(shield, start, match.start()):
            yield text[start : match.start()]
            start = match.end()
    yield text[start:]


def _statements(text: str) -> tuple[str, str]:
    """The sentences before a question, and the question."""
    cuts = list(_SENTENCE_END.finditer(_shield(text)))
    cuts = [
        cut
        for cut in cuts
        if not re.search(
            r"(?:\b[A-Z]|\b(?:No|Mr|Mrs|Ms|Dr|St|Prof|vs|Inc|Ltd|Jr|Sr|Vol))\.$", text[: cut.start()]
        )
    ]
    return (text[: cuts[-1].start()], text[cuts[-1].end() :]) if cuts else ("", text)


def _shield(text: str, *, brackets: bool = True) -> str:
    """The text with quotations (and what stands in brackets) blanked, at the same offsets."""

    def blank(match: re.Match[str]) -> str:
        if not brackets and match.group()[0] in "([":
            return match.group()
        return "\x00" * len(match.group())

    return _PROTECTED.sub(blank, text)


def _with_what_is_meant(pieces: Sequence[str]) -> Iterator[str]:
    """What "it" is has to be told ("Where is it housed?"): what the nearest part before it is about."""
    subject = ""
    for piece in pieces:
        meant = PRONOUN.search(piece) and not names(piece) and ": " not in piece
        if meant and subject:
            yield f"{subject}: {piece}"
        else:
            yield piece
            subject = _subject(piece) or subject


def _subject(question: str) -> str:
    """Its first two names, or else its first "the …"; empty when it has neither."""
    named = names(question)
    if named:
        return ", ".join(named[:2])
    told = words(question)
    for place, word in enumerate(told):
        if fold(word) == "the":
            phrase = list(takewhile(lambda one: fold(one) not in STOP, told[place + 1 : place + 5]))
            if phrase:
                return f"The {' '.join(phrase)}"
    return ""


def _lead(text: str, config: PartsConfig) -> str:
    lead = " ".join(text.split()).rstrip(" :;,.-–—")
    return lead if len(lead) <= config.longest_lead and content(lead) else ""


def _clean(piece: str) -> str:
    piece = " ".join(piece.split())
    piece = re.sub(r"^(?:and|or|also|then)\s+|[\s;,]+(?:and|or)?$", "", piece, flags=re.IGNORECASE)
    return piece.strip(" ;,")


def _with_lead(lead: str, piece: str) -> str:
    return f"{lead}: {piece}" if lead else piece


def _at_most(pieces: list[str], most: int) -> list[str]:
    """As they are, or the last ones together when there are more."""
    return pieces if len(pieces) <= most else [*pieces[: most - 1], "; ".join(pieces[most - 1 :])]
