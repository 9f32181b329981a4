"""Which parts of a question become subtasks, and which of them have none yet (algorithms.md 9.1).

An answer has a bounded number of operations, so a question of many parts is divided over several: what
has been created is told by the subtasks alone, and the rest follows in order. A part that would be taken
for a duplicate of an earlier one, or of the question itself, is left out here already: it would never be
created, and would be asked for again and again.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from lethe_core.control.embedding import Embedder
from lethe_core.din.quoting import shorten
from lethe_core.evidence.facts import may_be_dropped
from lethe_core.reasoning.parts import PartsConfig, parts
from lethe_core.reasoning.relevance import split_lead
from lethe_core.reasoning.terms import STOP, fold, words

_LINE: Final = 1_000  # characters of a description
_EMBED_WORDS: Final = 12


@dataclass(frozen=True, slots=True)
class Part:
    """A part as it is created."""

    description: str
    embed_text: str


def parts_left(
    question: str, subtasks: Sequence[str], embedder: Embedder, config: PartsConfig | None = None
) -> tuple[Part, ...]:
    """The parts that no subtask stands for, in order; empty for one question, or one divided otherwise.

    subtasks: descriptions of the question's subtasks in order of creation, whole or shortened.
    """
    asked = divided(question, embedder, config)
    begun = 0
    for subtask in subtasks:
        told = shorten(subtask)
        place = next(
            (n for n, part in enumerate(asked) if n >= begun and shorten(part.description) == told), None
        )
        if place is not None:
            begun = place + 1
    # Subtasks of which none is a part are another reasoner's division, which stands.
    return asked[begun:] if begun or not subtasks else ()


def divided(question: str, embedder: Embedder, config: PartsConfig | None = None) -> tuple[Part, ...]:
    """All parts of a question, each different from the others; empty when it is one question."""
    asked = [_part(text) for text in parts(question, config)]
    if not asked:
        return ()
    vectors = embedder.embed_documents([question, *(part.embed_text for part in asked)])
    threshold = embedder.profile.duplicate_threshold
    kept: list[tuple[int, str]] = [(0, question)]
    different: list[Part] = []
    for row, part in enumerate(asked, start=1):
        alike = any(
            float(np.dot(vectors[row], vectors[other])) > threshold
            and may_be_dropped(part.description, description)
            for other, description in kept
        )
        if not alike:
            kept.append((row, part.description))
            different.append(part)
    return tuple(different) if len(different) >= 2 else ()


def embed_text(text: str) -> str:
    """A text's content words, as many as an embedding of a task needs."""
    told = words(text)
    kept = [word for word in told if fold(word) not in STOP] or told
    return " ".join(dict.fromkeys(kept[:_EMBED_WORDS])) or text.strip()[:80] or "task"


def _part(text: str) -> Part:
    description = text[:_LINE].strip()
    # Without the shared lead-in, or all parts would look alike to whatever compares them.
    return Part(description, embed_text(split_lead(description)[1]))
