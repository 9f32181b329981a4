"""What the words of a claim weigh: numbers, names, content words, and their rarity in the session.

Numbers are compared as values ("1,234" is 1234, "three" is 3, "05" is 5), so that a reworded figure is
the same figure and a changed one is not; a percentage and a day of a month are figures of their own, so
that "2 March" is not found in a text that has "1 March" and "2 people". Rarity (idf) is counted over the
session's chunks.
"""

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from lethe_core.reasoning.terms import content_set, name_stems

_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_GROUPED = re.compile(r"\d{1,3}(?:[.,]\d{3})+")
_SPACED = re.compile(r"(?<=\d)[\u00a0\u2009\u202f](?=\d{3}\b)")
# "one" is left out: it is a pronoun more often than a figure.
_SPELLED_FROM_TWO = (
    "two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen twenty"
)
_SPELLED = {word: str(value) for value, word in enumerate(_SPELLED_FROM_TWO.split(), start=2)}
_SPELLED_WORD = re.compile(rf"\b(?:{'|'.join(_SPELLED)})\b", re.IGNORECASE)
_PERCENT = re.compile(r"(\d+(?:[.,]\d+)*)\s?(?:%|per ?cent\b)", re.IGNORECASE)
_MONTH_NAMES = "jan feb mar apr may jun jul aug sep oct nov dec"
_MONTHS = {name: month for month, name in enumerate(_MONTH_NAMES.split(), start=1)}
_MONTH = (
    r"(?P<month>jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)"
    r"(?:uary|ruary|ch|il|e|y|ust|t|tember|ober|ember)?\b\.?"
)
_DAY = r"(?P<day>[0-3]?\d)(?:st|nd|rd|th)?"
_DAYS = (
    re.compile(rf"\b{_DAY}(?: of)? {_MONTH}", re.IGNORECASE),
    re.compile(rf"\b{_MONTH} {_DAY}\b(?![.,]?\d)", re.IGNORECASE),
    re.compile(r"\b\d{4}-(?P<month>[01]\d)-(?P<day>[0-3]\d)\b"),
)


def numbers(text: str) -> frozenset[str]:
    """The values of the numbers in a text, digits and small number words alike.

    Percentages stand there a second time as "88%", days as "3/2" (the second of March).
    """
    text = _SPACED.sub("", text)  # before NFKC, which makes a plain space of every space
    text = text if text.isascii() else unicodedata.normalize("NFKC", text)
    found = {_value(match.group()) for match in _NUMBER.finditer(text)}
    found.update(_SPELLED[match.group().lower()] for match in _SPELLED_WORD.finditer(text))
    found.update(_value(match.group(1)) + "%" for match in _PERCENT.finditer(text))
    for pattern in _DAYS:
        for match in pattern.finditer(text):
            month = match.group("month").lower()
            found.add(f"{_MONTHS.get(month) or int(month)}/{int(match.group('day'))}")
    return frozenset(found)


def name_words(text: str) -> frozenset[str]:
    """Stems of the words of the names in a text, without numbers."""
    return frozenset(word for word in name_stems(text) if not word.isdigit())


def is_year(value: str) -> bool:
    """Whether a value of ``numbers`` reads as a year."""
    return len(value) == 4 and value.isdigit() and 1000 <= int(value) < 2100


def _value(number: str) -> str:
    if _GROUPED.fullmatch(number) and number[-4] == ",":
        number = number.replace(",", "")
    number = number.replace(",", ".")
    whole, point, fraction = number.partition(".")
    return (whole.lstrip("0") or "0") + point + fraction


@dataclass(frozen=True, slots=True)
class Rarity:
    """How rare words are in the session's evidence."""

    n_texts: int
    counts: Mapping[str, int]  # of each stem: in how many texts it occurs

    @classmethod
    def of(cls, texts: Iterable[str]) -> "Rarity":
        counts = Counter[str]()
        n_texts = 0
        for text in texts:
            counts.update(content_set(text) | numbers(text))
            n_texts += 1
        return cls(n_texts, counts)

    def weight(self, word: str) -> float:
        """Positive; the largest for a word that no text has."""
        return math.log((self.n_texts + 1) / (self.counts.get(word, 0) + 0.5)) + 0.5

    def share(self, wanted: frozenset[str], present: frozenset[str]) -> float:
        """The weighted share of the wanted words that are present, in [0, 1]; 1 when none is wanted."""
        # In a fixed order: the sum of floats depends on it, and sets have none.
        total = sum(self.weight(word) for word in sorted(wanted))
        found = sum(self.weight(word) for word in sorted(wanted & present))
        return found / total if total > 0 else 1.0
