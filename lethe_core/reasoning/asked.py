"""Numbers with their units, and the kind of answer that a question wants (algorithms.md 9.3).

A date question wants a sentence with a date; a how-many question a number, in the right unit when the
question says which.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from lethe_core.reasoning.terms import MONTHS, fold, names, words

AnswerKind = Literal["date", "when", "time", "number", "count", "who", "where", "which", "why", "other"]

_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_MONTH = "|".join(sorted(MONTHS))
YEAR = re.compile(r"\b(?:1[0-9]|20)\d\d\b")
_DATE = re.compile(
    rf"\b(?:1[0-9]|20)\d\d\b|\b\d{{1,2}} (?:{_MONTH})\b|\b(?:{_MONTH}) \d{{1,2}}\b"
    r"|\b\d{1,2}[./]\d{1,2}[./]\d{2,4}\b|\b(?:early|mid|late)?[ -]?(?:\w+teenth|twentieth|\d\dth) century\b",
    re.IGNORECASE,
)
_CLOCK = re.compile(
    r"\b\d{1,2}(?::\d\d| ?[ap]\.?m\b)|\b(?:noon|midnight|o['’]clock|dusk|dawn)\b", re.IGNORECASE
)
# When something is done again and again: a day of the week, a month, a time of day or of year.
_ROUTINE = re.compile(
    rf"\b(?:(?:mon|tues|wednes|thurs|fri|satur|sun)days?|weekdays?|weekends?|daily|(?!may\b)(?:{_MONTH})|May"
    r"|mornings?|afternoons?|evenings?|nights?|spring|summer|autumn|winter)\b",
    re.IGNORECASE,
)
_IN_WORDS = (
    "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen"
    "|eighteen|nineteen|dozen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|thousand|million"
    "|billion"
)
_NUMERAL = re.compile(rf"\b(?:{_IN_WORDS}|once|twice|half|third|quarter|tenth)\b", re.IGNORECASE)
_QUANTITY_IN_WORDS = re.compile(rf"\b(?:{_IN_WORDS})[\s-](?P<unit>per cent|[A-Za-z]+)\b", re.IGNORECASE)

_SPELLINGS = {
    "%": "% percent pct",
    "min": "min minute minutes",
    "h": "h hour hours",
    "s": "s second seconds",
    "d": "day days",
    "week": "week weeks",
    "month": "month months",
    "year": "year years",
    "mm": "mm",
    "cm": "cm",
    "m": "m metre metres meter meters",
    "km": "km kilometre kilometres kilometer kilometers",
    "mile": "mile miles",
    "m/s": "m/s",
    "km/h": "km/h",
    "mph": "mph",
    "kn": "knot knots",
    "kN": "kn",
    "kW": "kw",
    "MW": "mw",
    "kWh": "kwh",
    "MWh": "mwh",
    "kg": "kg",
    "t": "t tonne tonnes",
    "l": "litre litres",
    "person": "person persons people passenger passengers",
    "visitor": "visitor visitors",
    "customer": "customer customers",
    "trip": "trip trips",
    "vote": "vote votes",
    "°C": "°c",
    "bar": "bar",
    "£": "pound pounds",
    "€": "euro euros",
    "$": "dollar dollars",
    "CHF": "franc francs chf",
    "million": "million",
    "billion": "billion",
}
_UNIT_WORDS = {word: unit for unit, spellings in _SPELLINGS.items() for word in spellings.split()}
_UNIT_WORDS["per cent"] = "%"
_QUANTITY = re.compile(
    r"(?P<money>[£€$¥])?\s?(?P<number>(?<![\w.,])-?\d+(?:,\d{3})*(?:\.\d+)?)"
    r"(?:[\s\u00a0\u202f-]?(?P<unit>per cent|%|°C|[A-Za-z]+(?:/[a-z]+)?)(?![A-Za-z]))?"
)


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number as it stands in a text, and what it counts or measures."""

    value: str  # without group separators
    unit: str  # canonical; empty when no known unit follows


@dataclass(frozen=True, slots=True)
class Wanted:
    """The kind of answer that a question or one of its clauses asks for."""

    kind: AnswerKind
    units: frozenset[str]  # of a number: any of these fits; empty when the question does not say


def quantities(text: str) -> list[Quantity]:
    """Numbers with their units, in order; a year or a day of a month has no unit."""
    found: list[Quantity] = []
    for match in _QUANTITY.finditer(text):
        unit = match.group("money") or _UNIT_WORDS.get(fold(match.group("unit") or ""), "")
        found.append(Quantity(match.group("number").replace(",", ""), unit))
    return found


_TIME = frozenset({"min", "h", "s", "d", "week", "month", "year"})
_LENGTH = frozenset({"mm", "cm", "m", "km", "mile"})
_MONEY = frozenset({"£", "€", "$", "CHF", "million", "billion"})
_COUNTS = frozenset({"", "person", "visitor", "customer", "trip", "vote", "million", "billion"})
_COUNTED = frozenset(word for word, unit in _UNIT_WORDS.items() if unit in _COUNTS)
_VERBS = (
    "is|are|was|were|do|does|did|can|could|will|would|shall|should|may|might|must|has|have|had"
    "|it|they|we|i|you"
)
_ASK_UNITS: Sequence[tuple[str, frozenset[str]]] = (
    (r"percent|per cent|percentage|share|proportion|rate", frozenset({"%"})),
    (r"how (?:long|soon|quickly)|duration|time limit", _TIME),
    (r"how (?:powerful|strong)|power|rating", frozenset({"kW", "MW", "kN"})),
    (r"(?:wind|top|maximum) speeds?|how fast|speed", frozenset({"m/s", "km/h", "mph", "kn"})),
    (r"diameter|how (?:thick|wide|tall|high|deep|far)|height|width|length|distance", _LENGTH),
    (r"how heavy|heavier|lighter|weigh|weight|mass", frozenset({"kg", "t"})),
    (r"costs?|price|fares?|fee|pay|charged?|income|revenue|budget", _MONEY),
    # "How much sand": not money.
    (rf"how much(?= (?:money|{_VERBS})\b|\W*$)", _MONEY),
)
_ASKS_DATE = re.compile(
    r"\b(?:(?:what|which) (?:date|year|day|month|century|decade)|by what date|in what year|born on)\b",
    re.I,
)
_ASKS_TIME = re.compile(r"\b(?:how (?:late|early)|(?:what|which) (?:time|hour))\b", re.I)
_ASKS_WHEN = re.compile(r"\bwhen\b(?P<once>\s+(?:was|were|did|had)\b)?", re.I)
# What a question asks first, it asks: "what do I do when …" is not after a time.
_ASKED_BEFORE = re.compile(rf"\b(?:what|which|who|whom|whose|why|how|where)\b|^\W*(?:{_VERBS})\b", re.I)
_MEASURES = (
    "badly|many|much|long|soon|fast|far|often|powerful|strong|thick|wide|tall|high|deep|heavy|steep"
    "|old|large|big"
)
_FIGURES = (
    "number|share|percentage|diameter|population|speeds?|price|cost|height|length|weight|output|limit"
    "|capacity"
)
_ASKS_NUMBER = re.compile(
    rf"\bhow (?:{_MEASURES})\b"
    r"|\b(?:heavier|lighter|taller|shorter|faster|slower|cheaper|dearer) or\b"
    r"|\bwhat\b(?=[^?]*\b(?:pay|cost|costs|charged?|weigh)\b)"
    rf"|\bwhat (?:is |was |are |were )?(?:the )?(?:\w+ ){{0,3}}?(?:{_FIGURES})\b",
    re.I,
)
_ASKS_COUNT = re.compile(r"\bhow many (\w+)", re.I)
_ASKS_WHO = re.compile(r"\b(?:who|whom|whose)\b", re.I)
_ASKS_WHICH = re.compile(r"\bwhich (?:one )?of (?:the|these|those|its|their|our|your|his|her)\b", re.I)
_ASKS_WHY = re.compile(r"\b(?:why|for what reason|what (?:is|was|were|are) the (?:reason|cause)s?)\b", re.I)
_REASON = re.compile(
    r"\b(?:because|since|due to|owing to|thanks to|as a result|in order (?:to|that)|so (?:that|as)|therefore"
    r"|reasons?|caused?|causes|for fear|could not|cannot)\b",
    re.I,
)
_ASKS_WHERE = re.compile(
    r"\b(?:where|(?:what|which) (?:city|country|state|town|place|county|province|location))\b", re.I
)


def wanted(question: str) -> Wanted:
    """The kind of answer that one clause asks for; "other" when it does not tell."""
    if _ASKS_TIME.search(question):
        return Wanted("time", frozenset())
    when = _ASKS_WHEN.search(question)
    if when is not None and _ASKED_BEFORE.search(question[: when.start()]):
        when = None
    if _ASKS_DATE.search(question) or (when is not None and when.group("once")):
        return Wanted("date", frozenset())
    if when is not None:
        return Wanted("when", frozenset())
    if _ASKS_NUMBER.search(question) or re.search(r"\bwhat share\b", question, re.I):
        for pattern, units in _ASK_UNITS:
            if re.search(rf"\b(?:{pattern})\b", question, re.I):
                return Wanted("number", units)
        counted = _ASKS_COUNT.search(question)
        if counted and fold(counted.group(1)) not in _UNIT_WORDS.keys() - _COUNTED:
            return Wanted("count", frozenset())
        return Wanted("number", frozenset())
    if _ASKS_WHY.search(question):
        return Wanted("why", frozenset())
    if _ASKS_WHO.search(question):
        return Wanted("who", frozenset())
    if _ASKS_WHERE.search(question):
        return Wanted("where", frozenset())
    if _ASKS_WHICH.search(question):
        return Wanted("which", frozenset())
    return Wanted("other", frozenset())


def fits(text: str, want: Wanted, header: str = "") -> bool:
    """Whether a text can hold an answer of the kind wanted; True for "other".

    header: of a table row, which may say the unit of the numbers below it.
    """
    if want.kind == "date":
        return bool(_DATE.search(text))
    if want.kind == "when":
        return any(pattern.search(text) for pattern in (_DATE, _CLOCK, _ROUTINE))
    if want.kind == "time":
        return bool(_CLOCK.search(text))
    if want.kind == "number":
        if want.units:
            told = {quantity.unit for quantity in quantities(text)}
            told |= {_UNIT_WORDS.get(fold(unit), "") for unit in _QUANTITY_IN_WORDS.findall(text)}
            if header and _NUMBER.search(text):
                told |= {_UNIT_WORDS[word] for word in map(fold, words(header)) if word in _UNIT_WORDS}
            return bool(told & want.units)
        return bool(_NUMBER.search(YEAR.sub("", text)) or _NUMERAL.search(text))
    if want.kind == "count":
        # A sum of money or the day of a month counts nothing.
        told = {quantity.unit for quantity in quantities(_DATE.sub("", text))}
        return bool(told & _COUNTS) or bool(_NUMERAL.search(text))
    if want.kind == "why":
        return bool(_REASON.search(text))
    if want.kind in ("who", "where", "which"):
        return bool(names(text))
    return True
