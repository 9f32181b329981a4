"""What a text is about, as words: content words and names.

Stems are light (plural, -ed, -ing, -age, -est, -ful, -ly): they join "hauling" with "haulage" and "emptied"
with "empty", and nothing that means two things in a report. Question words and verbs that fit every
question carry no content.
"""

import re
import unicodedata
from functools import lru_cache

from lethe_core.evidence.names import WEEKDAYS

# A form of address, not a verb: "Miss Veale" misses nothing.
_ADDRESS = re.compile(r"\b(?:Miss|Mister|Mr|Mrs|Ms|Sir|Dame)\.? (?=[A-ZÀ-ÖØ-Þ])")
# A way of saying "is", not something that turned, proved or happened.
_BEING = re.compile(r"\b(?:turn(?:s|ed)?|came|prove[sd]?|happen(?:s|ed)?) (?:out )?to be\b", re.IGNORECASE)
_WORD = re.compile(r"[^\W_]+(?:['’.\-/][^\W_]+)*", re.UNICODE)
MONTHS = frozenset(
    "january february march april may june july august september october november december".split()  # noqa: SIM905
)
_DAYS = WEEKDAYS | {f"{day}s" for day in WEEKDAYS}

# Function words, question words, and verbs that say nothing about a subject.
STOP = frozenset(
    """
    a about above after again against all also although am among an and any anyone anything are around
    as ask asked at away be became because become becomes been before being below between both but by
    came can cannot come comes could did do does doing done down during each either else ever every few
    happen happened happens
    first for from further gave get gets give given gives go goes going got had has have having he her
    here hers herself him himself his how however i if in into is it its itself just kind know known
    last later latest least less let like made make makes many may me might mine more most much must my
    myself name named need neither no nor not now of off often on once one only or other others our out
    over own part per please put rather really respective respectively said same say says see seem seen
    several shall she should show since so some someone something sort soon still such take taken takes
    tell than that the their theirs them themselves then there these they thing this those though
    through thus to together too took type under until up upon us use used uses using very was we well
    went were what whatever when where whether which while who whoever whom whose why will with within
    without would yes yet you your whom's what's who's it's currently current present presently force
    far badly i'm i'd i'll i've we're we'd we've putting together preparing writing looking
    find explain describe list briefing report question following regarding concerning called way
    """.split()  # noqa: SIM905 - a column of two hundred strings is harder to read
)


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """The form under which a word is compared; numbers and words with digits stay whole."""
    word = fold(word).replace("’", "'")
    word = word[:-2] if word.endswith("'s") else word.rstrip("'")
    if len(word) <= 3 or any(character.isdigit() for character in word):
        return word
    for ending, replacement, shortest in (
        ("ies", "y", 5),
        ("ied", "y", 5),
        ("sses", "ss", 5),
        ("ches", "ch", 6),
        ("shes", "sh", 6),
        ("xes", "x", 5),
    ):
        if word.endswith(ending) and len(word) >= shortest:
            return word[: -len(ending)] + replacement
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    for ending in ("ing", "age", "est", "ed", "ful", "ly"):
        bare = word[: -len(ending)]
        if (
            word.endswith(ending)
            and len(bare) >= (5 if ending == "ly" else 4)
            and re.search("[aeiouy]", bare)
        ):
            word = bare[:-1] if len(bare) > 4 and bare[-1] == bare[-2] and bare[-1] not in "lsz" else bare
            break
    return word[:-1] if len(word) > 4 and word.endswith("e") else word


def fold(text: str) -> str:
    """Lower case without accents, so that "Géza" and "Geza" are the same name."""
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    return "".join(character for character in decomposed if not unicodedata.combining(character))


def words(text: str) -> list[str]:
    """The words of a text as written, in order."""
    found: list[str] = []
    for match in _WORD.finditer(text):
        word = match.group()
        if "/" in word or ("-" in word and not any(c.isdigit() for c in word)):
            found.extend(piece for piece in re.split(r"[/-]", word) if piece)
        else:
            acronym = "." in word and re.fullmatch(r"(?:[^\W\d_]\.)+[^\W\d_]", word)
            found.append(word.replace(".", "") if acronym else word)
    return found


def content(text: str) -> list[str]:
    """Stems of the content words, in order, each as often as it occurs."""
    return [
        stem(word)
        for word in words(_BEING.sub(" ", _ADDRESS.sub("", text)))
        if fold(word).replace("’", "'") not in STOP
        and (len(word) > 1 or word.isdigit() or not word.isascii())
    ]


@lru_cache(maxsize=16384)  # the same sentences are read in every iteration
def content_set(text: str) -> frozenset[str]:
    return frozenset(content(text))


PRONOUN = re.compile(r"\b(?:it|its|they|them|their|he|she|his|her)\b", re.IGNORECASE)
# May stand before a question word: "and since when …", "under which rules …".
PREPOSITION = "after|at|before|by|during|for|from|in|of|on|since|through|till|to|under|until|with|within"

_JOIN = r"(?:of|the|de|von|van|der|du|la|le|for|del|da|di|al|bin|ap)"
_CAPITAL = r"(?:[A-ZÀ-ÖØ-Þ][\w’'.\-]*|[A-Z]\.)"
_NAME = re.compile(
    rf"{_CAPITAL}(?:(?:[ \u00a0]|, (?=[A-Z]{{2,}}\b)){_CAPITAL}|[ ]\d+(?![.,]?\d)"
    rf"|(?:[ ]{_JOIN}){{1,2}}[ ]{_CAPITAL})*"
)
_PART_OF = re.compile(r"(?<=[a-z]) (?:of|in|on|for) the (?=[A-Z]\S+ [A-Z]\S+ [A-Z])")
_OPENERS = (".", "?", "!", ":", "\n", "|", "-")
_TAIL = ".,'’-"
_QUOTED = re.compile(r"[\"“]([^\"”“]{2,80})[\"”]")


def names(text: str) -> list[str]:
    """Capitalised phrases and quoted titles, each once, in order; words that only open a sentence are cut."""
    found: list[str] = [match.group(1).strip(" .,;:") for match in _QUOTED.finditer(text)]
    for match in _NAME.finditer(text):
        phrase = match.group().rstrip(_TAIL)
        opens = match.start() == 0 or text[: match.start()].rstrip(' "“(*_').endswith(_OPENERS)
        # "Abbey Line of the Marrowick Cliff Railway" is two names, "President of the Republic" is one.
        for piece in _PART_OF.split(phrase):
            name = _trimmed(piece)
            lone = opens and piece == phrase and " " not in name and name[1:].islower() and name == phrase
            if len(name) > 1 and not lone and fold(name) not in MONTHS | _DAYS:
                found.append(name)
    return list(dict.fromkeys(found))


def _trimmed(phrase: str) -> str:
    pieces = phrase.split()
    while pieces and fold(pieces[0]).rstrip(".,") in STOP:
        pieces = pieces[1:]
    while pieces and fold(pieces[-1]) in STOP:
        pieces = pieces[:-1]
    name = " ".join(pieces)
    return name[:-2] if name.endswith(("'s", "’s")) else name


def name_key(name: str) -> tuple[str, ...]:
    """A name as the stems of its content words: how it is compared and counted."""
    return tuple(content(name))


def name_stems(text: str) -> frozenset[str]:
    """The stems of all names of a text."""
    return frozenset(word for name in names(text) for word in name_key(name))
