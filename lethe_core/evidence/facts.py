"""The facts of a text in their order, and the guard that rests on them (algorithms.md 8, "Fact guard").

Facts are numbers, units, dates, names and polarity words, each in a normal form ("1,200", "1 200" and
"1.2 thousand" are one number). A text may be dropped as a repetition of another only when its ordered
facts are contained, in order, in the other's, and both have the same polarity words: order alone would
let "is allowed" go as a copy of "is not allowed". What the other holds word for word is no news.
Where it is unsure a word counts as a fact, since keeping a repetition costs little and losing a
correction costs the report.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from lethe_core.evidence.lexicon import (
    CURRENCIES,
    FUNCTION_WORDS,
    NUMBER_WORDS,
    POLARITY,
    SCALES,
    SHORT_SCALES,
    UNITS,
)
from lethe_core.evidence.names import heads_sentence
from lethe_core.evidence.written_dates import WrittenDate, find_dates

FactKind = Literal["number", "unit", "date", "name", "polarity"]

_SCALE = "|".join(sorted(SCALES, key=len, reverse=True))
# Every repetition is bounded or possessive: hostile digits must not make it quadratic.
_TOKEN = re.compile(
    r"(?P<skip>\b[Nn][or]s?\.[ ]?(?=\d))"
    # Before the numbers, which begin otherwise: most of a text is words.
    r"|(?P<word>[^\W\d_](?:\w|['’.-](?=[^\W_]))*+)"
    r"|(?P<sign>(?<![\w)\]%])[-−–](?=\.?\d))?(?P<number>"
    r"\d{1,3}(?:,\d{3}){1,9}(?!\d)(?:\.\d+)?"  # 1,234.5
    r"|\d{1,2}(?:,\d\d){1,6},\d{3}(?!\d)"  # 12,34,567
    r"|\d{1,3}(?:\.\d{3}){2,9}(?![.\d])(?:,\d+)?|\d{1,3}(?:\.\d{3}){1,9},\d+"  # 1.234.567  1.234,5
    r"|\d{1,3}(?:[ '’]\d{3}){1,9}(?!\d)(?:[.,]\d+)?"  # 1 234,5
    r"|\d{1,2}:\d\d(?::\d\d)?(?![\d:])"  # 10:30
    r"|\d++(?:\.\d++){2,}+"  # 1.2.3
    r"|\d++[.,]\d++|\d++|(?<![\w.])\.\d++)"
    rf"(?:[ -]?(?P<scale>(?i:{_SCALE}))(?![^\W_]))?"
    r"(?:[ ]?(?P<unit>[Pp]er[ ]cent|°?[^\W\d_]{1,40}+(?:/[^\W\d_]{1,9})?[23]?|[%‰°$€£¥₹₩])(?!\w|['’]\w))?"
    r"|(?P<symbol>[%‰°$€£¥₹₩])"
)
_CONTRACTION = re.compile(r"n['’]t$|^cant$|^wont$", re.IGNORECASE)
_POSSESSIVE = re.compile(r"['’]s?$")
_ORDINAL_ENDINGS = frozenset({"st", "nd", "rd", "th", "er", "ème", "º"})
_BEHIND = re.compile(r"[ ]?([^\W\d_]{3,40})")
_SYLLABIC = r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"  # written without spaces
_DIGIT_BESIDE = re.compile(rf"(?<={_SYLLABIC})(?=\d)|(?<=\d)(?={_SYLLABIC})")
_DIGIT = re.compile(r"\d")
_FOREIGN_DIGIT = re.compile(r"(?![0-9])\d")


@dataclass(frozen=True, slots=True)
class Fact:
    """One fact in its normal form."""

    kind: FactKind
    value: str
    written: bool = True  # False of a number that stands as a word


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number and what it counts: a unit, else the word behind it, else empty."""

    number: str
    unit: str


def scan(text: str) -> tuple[Fact, ...]:
    """Every fact of a text, in order."""
    return tuple(_scan(_normal(text)))


def facts(text: str) -> tuple[str, ...]:
    """The ordered facts of a text as comparable strings, such as "number:1200", "polarity:not"."""
    return tuple(f"{fact.kind}:{fact.value}" for fact in scan(text))


def numbers(text: str, *, words: bool = False) -> tuple[str, ...]:
    """The numbers of a text in their normal form, in order; those written as words only if asked.

    A date gives its year, its month and its day, each whole ("2024", "2024-03", "2024-03-11"), so that
    a text that has the day also has the year.
    """
    found: list[str] = []
    for fact in scan(text):
        if fact.kind == "number" and (words or fact.written):
            found.append(fact.value)
        elif fact.kind == "date":
            found += _date_numbers(fact.value)
    return tuple(found)


def quantities(text: str) -> tuple[Quantity, ...]:
    """The numbers of a text with what they count, in order; dates are none."""
    text = _normal(text)
    if not _DIGIT.search(text):
        return ()
    found: list[Quantity] = []
    prefix, edge = "", 0
    for token in _tokens(text):
        if isinstance(token, WrittenDate):
            prefix = ""
            continue
        if token["number"]:
            prefix = prefix if token.start() - edge <= 1 else ""
            number, unit, behind = _measure(token, prefix)
            found.append(Quantity(number, unit or prefix or _counted(text, token.end(), behind)))
            prefix = ""
        else:
            prefix, edge = _currency(token), token.end()
    return tuple(found)


def contains_in_order(old: Sequence[str], new: Sequence[str]) -> bool:
    """Whether ``new`` is a subsequence of ``old``: all of it, in its order, others in between allowed."""
    remaining = iter(old)
    return all(fact in remaining for fact in new)


def adds_nothing(new: Sequence[str], old: Sequence[str]) -> bool:
    """The guard on fact sequences (of ``facts``): new is contained in old, polarity words are the same."""
    if not contains_in_order(old, new):
        return False
    return [fact for fact in new if fact.startswith("polarity:")] == [
        fact for fact in old if fact.startswith("polarity:")
    ]


def stands_in(new: str, old: str) -> bool:
    """Whether ``old`` holds ``new`` word for word, white space aside."""
    return f" {' '.join(new.split())} " in f" {' '.join(old.split())} "


def may_be_dropped(new: str, old: str) -> bool:
    """Whether the guard lets ``new`` be dropped as a repetition of ``old``; likeness is not its matter."""
    return stands_in(new, old) or adds_nothing(facts(new), facts(old))


def _date_numbers(form: str) -> list[str]:
    if form[:4].isdigit() and "Q" not in form and "H" not in form and "/" not in form:
        return [form[:end] for end in (4, 7, 10) if len(form) >= end]
    year = re.search(r"\d{4}", form)
    return [year[0], form] if year else [form]


def _normal(text: str) -> str:
    if text.isascii():
        return text
    text = _FOREIGN_DIGIT.sub(_ascii_digit, unicodedata.normalize("NFKC", text))
    return _DIGIT_BESIDE.sub(" ", text)


def _ascii_digit(match: re.Match[str]) -> str:
    return str(unicodedata.decimal(match[0]))


def _tokens(text: str) -> Iterator[re.Match[str] | WrittenDate]:
    """Dates, and between them the tokens that may be facts."""
    position = 0
    for written in find_dates(text):
        yield from _TOKEN.finditer(text, position, written.span[0])
        yield written
        position = written.span[1]
    yield from _TOKEN.finditer(text, position)


def _scan(text: str) -> Iterator[Fact]:
    prefix, edge = "", 0  # a currency that may belong to the number behind it, and where it ended
    for token in _tokens(text):
        start = token.span[0] if isinstance(token, WrittenDate) else token.start()
        if prefix and (start - edge > 1 or isinstance(token, WrittenDate) or not token["number"]):
            yield Fact("unit", prefix)
            prefix = ""
        if isinstance(token, WrittenDate):
            yield Fact("date", token.form)
        elif token["number"]:
            number, unit, behind = _measure(token, prefix)
            yield Fact("number", number)
            if unit or prefix:
                yield Fact("unit", unit or prefix)
            prefix = ""
            yield from _word(behind, False)
        else:
            prefix, edge = _currency(token), token.end()
            if token["word"] and not prefix:
                yield from _word(token["word"], _is_article(text, token))
            elif token["symbol"] and not prefix:
                yield Fact("unit", UNITS[token["symbol"]])
    if prefix:
        yield Fact("unit", prefix)


def _currency(token: re.Match[str]) -> str:
    return CURRENCIES.get((token["word"] or token["symbol"] or "").lower(), "")


def _measure(token: re.Match[str], prefix: str) -> tuple[str, str, str]:
    """Number, unit, and the word behind the number when it is neither unit nor scale."""
    number = ("-" if token["sign"] else "") + _normal_number(token["number"])
    if token["scale"]:
        number = _scaled(number, SCALES[token["scale"].lower()])
    written = token["unit"] or ""
    lowered = "".join(written.lower().split())  # "per cent"
    attached = bool(written) and not token["scale"] and token.start("unit") == token.end("number")
    if attached and lowered in SHORT_SCALES and (prefix or lowered == "k"):
        return _scaled(number, SHORT_SCALES[lowered]), "", ""
    if unit := UNITS.get(lowered):
        return number, unit, ""
    if attached:
        return number, "" if lowered in _ORDINAL_ENDINGS else lowered, ""
    return number, "", written


def _word(word: str, head: bool) -> Iterator[Fact]:
    if not word:
        return
    if _CONTRACTION.search(word):
        yield Fact("polarity", "not")
        return
    bare = _POSSESSIVE.sub("", word)
    lowered = bare.lower()
    if "-" in bare and not _is_name(bare, head):
        for part in lowered.split("-"):
            yield from _word(part, head)
    elif polarity := POLARITY.get(lowered, ""):
        yield Fact("polarity", polarity)
    elif number := NUMBER_WORDS.get(lowered, ""):
        yield Fact("number", number, written=False)
    elif scale := SCALES.get(lowered):
        yield Fact("unit", f"e{scale}")
    elif _is_name(bare, head):
        yield Fact("name", bare.casefold())


def _is_name(word: str, head: bool) -> bool:
    """Capitals, digits inside, or a script without case; no function word that only its place makes big."""
    if head and word.lower() in FUNCTION_WORDS and not (len(word) > 1 and word.isupper()):
        return False
    return word != word.lower() or any(c.isdigit() or unicodedata.category(c) == "Lo" for c in word)


def _is_article(text: str, token: re.Match[str]) -> bool:
    """Whether a word stands where any word has a capital; "A" there is a name if no small letter follows."""
    if not heads_sentence(text, token.start()):
        return False
    return token["word"] != "A" or text[token.end() : token.end() + 2].strip().islower()


def _counted(text: str, end: int, behind: str) -> str:
    if not behind and (match := _BEHIND.match(text, end)):
        behind = match[1]
    noun = behind.lower()
    if noun in FUNCTION_WORDS or noun in POLARITY:
        return ""
    return noun if "/" in noun else noun.removesuffix("s")  # "m/s" is no plural


def _normal_number(raw: str) -> str:
    if ":" in raw:
        return ":".join(part.lstrip("0") or "0" for part in raw.split(":"))
    raw = re.sub(r"[ '’]", "", raw)
    commas, dots = raw.count(","), raw.count(".")
    if commas and dots:
        thousands, decimal = (",", ".") if raw.rindex(".") > raw.rindex(",") else (".", ",")
        raw = raw.replace(thousands, "").replace(decimal, ".")
    elif commas:
        grouped = re.fullmatch(r"[1-9]\d{0,2}(?:,\d{2,3})*,\d{3}", raw)
        raw = raw.replace(",", "") if grouped else raw.replace(",", ".")
    elif dots > 1:
        if not re.fullmatch(r"[1-9]\d{0,2}(?:\.\d{3})+", raw):
            return raw
        raw = raw.replace(".", "")
    whole, _, fraction = raw.partition(".")
    fraction = fraction.rstrip("0")
    return (whole.lstrip("0") or "0") + (f".{fraction}" if fraction else "")


def _scaled(number: str, power: int) -> str:
    sign, digits = ("-", number[1:]) if number.startswith("-") else ("", number)
    whole, _, fraction = digits.partition(".")
    fraction = fraction.ljust(power, "0")
    return sign + _normal_number(f"{whole}{fraction[:power]}.{fraction[power:]}")
