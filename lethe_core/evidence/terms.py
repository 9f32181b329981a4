"""The terms of a text that lexical anchors are made of (algorithms.md 5.1b).

Names, identifiers, numbers that name something and numbers with a unit, in one comparable form; of a text
whose script has no capitals its words.
"""

import re

from lethe_core.evidence.designations import designations
from lethe_core.evidence.facts import quantities
from lethe_core.evidence.lexicon import FUNCTION_WORDS
from lethe_core.evidence.names import names

_IDENTIFIER = re.compile(r"(?<!\w)(?=[\w.-]*\d)(?=[\w.-]*[^\W\d_])\w+(?:[.-]\w+)*")
_PARENTHESES = re.compile(r"\s*[(\[][^()\[\]]{0,200}[)\]]")
_WORDS = re.compile(r"\w+")
_POSSESSIVE = re.compile(r"['’]s?$")
MIN_TITLE = 3  # characters: a shorter title occurs in everything


def anchor_terms(text: str) -> frozenset[str]:
    """Every term of a text."""
    found = {_plain(name) for name in names(text)}
    found |= {match[0].casefold() for match in _IDENTIFIER.finditer(text) if len(match[0]) <= 40}
    found.update(designations(text))
    found |= {f"{quantity.number} {quantity.unit}" for quantity in quantities(text) if quantity.unit}
    if text.lower() == text.upper():
        found |= set(_WORDS.findall(text))
    return frozenset(term for term in found if len(term) > 1)


def title_term(title: str) -> str:
    """A source's title as a term: without parentheses, in lower case; empty when it is too short."""
    plain = spaced(_PARENTHESES.sub("", title)).strip()
    return plain if len(plain) >= MIN_TITLE else ""


def spaced(text: str) -> str:
    """A text as its words in lower case, a space around each: whole words are then found by ``in``."""
    return f" {' '.join(_WORDS.findall(text.casefold()))} "


def _plain(name: str) -> str:
    """A name as it is compared: leading function words and the possessive go."""
    words = _WORDS.findall(_POSSESSIVE.sub("", name).casefold())
    while words and words[0] in FUNCTION_WORDS:
        words.pop(0)
    return " ".join(words)
