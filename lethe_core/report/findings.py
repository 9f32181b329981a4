"""Which claims answer something of what was asked (architecture.md, "Command line").

An exact quotation alone proves nothing about the question: with the passages that answer it taken out
of a collection, nearly every question still has a passage above the alignment floor.
"""

import re
from dataclasses import dataclass

from lethe_core.reasoning.terms import content_set
from lethe_core.report.wording import Rarity, name_words, numbers

ENOUGH = 0.5  # of the idf-weighted content words of the task

_PART = re.compile(r"(?:^|\s)\(?\d{1,2}[.)](?=\s)")  # the numbers of a question's parts are no figures


@dataclass(frozen=True, slots=True)
class Asked:
    """A question or task, as the finding rule sees it."""

    words: frozenset[str]  # stems of its content words
    rarest: frozenset[str]  # its rarest names and numbers, those equally rare together

    @classmethod
    def of(cls, text: str, rarity: Rarity) -> "Asked":
        text = _PART.sub(" ", text)
        facts = name_words(text) | numbers(text)
        top = max((rarity.weight(fact) for fact in facts), default=0.0)
        return cls(content_set(text), frozenset(fact for fact in facts if rarity.weight(fact) >= top))


def is_finding(cited: str, question: Asked, task: Asked, rarity: Rarity) -> bool:
    """Whether the text that a supported claim cites has to do with what was asked.

    True when it has the rarest name or number of the question or of the task, or at least half of the
    idf-weighted content words of the task.
    """
    present = content_set(cited) | numbers(cited)
    if (question.rarest | task.rarest) & present:
        return True
    return bool(task.words) and rarity.share(task.words, present) >= ENOUGH
