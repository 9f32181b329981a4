"""Which claims answer something of what was asked (architecture.md, "Command line").

An exact quotation alone proves nothing about the question: with the passages that answer it taken out
of a collection, nearly every question still has a passage above the alignment floor.

A question of several clauses ("which drive was kept, how powerful is it, and how soon must …") is
answered clause by clause, so half of one clause's words is enough: no passage has half of all of them.
A name that stands elsewhere on the passage's page counts among those words: a register of an
organisation's ropes does not repeat the organisation's name in every row.
"""

import re
from dataclasses import dataclass

from lethe_core.reasoning.terms import PREPOSITION, content_set
from lethe_core.report.wording import Rarity, name_words, numbers

ENOUGH = 0.5  # of the idf-weighted content words of the task, or of one of its clauses
CLAUSE_WORDS = 3  # content words that a clause must have to be judged alone

_PART = re.compile(r"(?:^|\s)\(?\d{1,2}[.)](?=\s)")  # the numbers of a question's parts are no figures
_CLAUSE = re.compile(
    r"(?:[,;?]\s+(?:and\s+)?|\s+and\s+)"
    rf"(?=(?:(?:{PREPOSITION})\s+)?(?:what|which|when|where|who|whom|whose|how)\b)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Asked:
    """A question or task, as the finding rule sees it."""

    text: str
    clauses: tuple[frozenset[str], ...]  # stems of content words: of the whole, then of each clause
    names: frozenset[str]  # stems of the words of its names
    rarest: frozenset[str]  # its rarest names and numbers, those equally rare together

    @classmethod
    def of(cls, text: str, rarity: Rarity) -> "Asked":
        text = _PART.sub(" ", text)
        named = name_words(text)
        facts = named | numbers(text)
        top = max((rarity.weight(fact) for fact in facts), default=0.0)
        parts = [words for part in _CLAUSE.split(text) if len(words := content_set(part)) >= CLAUSE_WORDS]
        whole = content_set(text)
        return cls(
            text,
            tuple(dict.fromkeys(words for words in (whole, *parts) if words)),
            named,
            frozenset(fact for fact in facts if rarity.weight(fact) >= top),
        )


def is_finding(
    cited: str, question: Asked, task: Asked, rarity: Rarity, page: frozenset[str] = frozenset()
) -> bool:
    """Whether the text that a supported claim cites has to do with what was asked.

    page: stems of the content words of the whole page that the text stands on.

    True when it has the rarest name or number of the question or of the task, or at least half of the
    idf-weighted content words of the task or of one of its clauses.
    """
    present = content_set(cited) | numbers(cited)
    if (question.rarest | task.rarest) & present:
        return True
    present |= task.names & page
    return any(rarity.share(words, present) >= ENOUGH for words in task.clauses)
