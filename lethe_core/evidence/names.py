"""The names that a text mentions, as phrases (algorithms.md 8 and 9).

A name is a run of capitalised words, small connectors inside it included ("University of Leeds",
"J. R. R. Tolkien"). A single capitalised word at the head of a sentence may be any word: it counts only
if the text has it capitalised elsewhere, or if its capitals are not at its head alone. For the fact
guard, which must rather see too many, facts.py takes every capitalised word.
"""

import re

from lethe_core.evidence.lexicon import FUNCTION_WORDS, NUMBER_WORDS, POLARITY
from lethe_core.evidence.written_dates import MONTHS

_WORD = re.compile(r"[^\W\d_](?:\w|['’.&-](?=[^\W_]))*+")
_CONNECTORS = frozenset(
    {"of", "de", "da", "di", "du", "del", "della", "van", "von", "der", "den", "la", "le", "al"}
    | {"bin", "ibn", "&", "the", "for"}
)
_TITLES = frozenset({"dr", "mr", "mrs", "ms", "prof", "st", "sr", "jr", "gen", "col", "lt", "capt", "rev"})
WEEKDAYS = frozenset({"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"})
_POSSESSIVE = re.compile(r"['’]s?$")
_LONGEST = 8  # words of one name; a line all in capitals is a heading, not a name


def names(text: str) -> tuple[str, ...]:
    """The names in a text, each once, in the order in which they first appear."""
    words = list(_WORD.finditer(text))
    phrases: list[tuple[str, bool]] = []  # and whether it is one plain word at a sentence's head
    index = 0
    while index < len(words):
        if not _capital(words[index][0]):
            index += 1
            continue
        last = _end_of_name(text, words, index)
        doubtful = (
            last == index and heads_sentence(text, words[index].start()) and words[index][0][1:].islower()
        )
        phrase = _POSSESSIVE.sub("", text[words[index].start() : words[last].end()])
        if last - index < _LONGEST:
            phrases.append((phrase, doubtful))
        index = last + 1
    certain = {part for phrase, doubtful in phrases if not doubtful for part in (phrase, *phrase.split())}
    kept = (phrase for phrase, doubtful in phrases if not doubtful or phrase in certain)
    return tuple(dict.fromkeys(kept))


def _end_of_name(text: str, words: list[re.Match[str]], first: int) -> int:
    last = first
    while last + 1 < len(words) and _joined(text, words[last], words[last + 1]):
        following = last + 1
        if words[following][0].lower() in _CONNECTORS:
            # At most two connectors, and a capital behind them: "Bank of the West".
            behind = following + 1
            if behind < len(words) and words[behind][0].lower() in _CONNECTORS:
                behind += 1
            if behind >= len(words) or not _capital(words[behind][0]):
                break
            if any(not _joined(text, words[i], words[i + 1]) for i in range(following, behind)):
                break
            following = behind
        elif not _capital(words[following][0]) and not _letter(words[following][0]):
            break
        last = following
    return last


def _joined(text: str, left: re.Match[str], right: re.Match[str]) -> bool:
    gap = text[left.end() : right.start()]
    if gap in (". ", ".") and (len(left[0]) == 1 or left[0].lower() in _TITLES):
        return True
    return gap in (" ", "\u00a0", " & ")


def _capital(word: str) -> bool:
    if word == word.lower():
        return False
    lowered = _POSSESSIVE.sub("", word).lower()
    if lowered in FUNCTION_WORDS or lowered in POLARITY or lowered in NUMBER_WORDS:
        return len(word) > 1 and word.isupper()
    return lowered not in WEEKDAYS and not (lowered in MONTHS and len(lowered) > 2)


def _letter(word: str) -> bool:
    """A capital letter behind a name belongs to it: "Zone A"; "I" is somebody else."""
    return len(word) == 1 and word.isupper() and word != "I"


def heads_sentence(text: str, start: int) -> bool:
    """Whether the word at ``start`` begins a sentence or a line, so that its capital says nothing."""
    before = text[max(0, start - 12) : start]
    shown = before.rstrip(" \t\"'“‘«(*_")
    return not shown or shown[-1] in ".!?:;|#>\n•-–—"
