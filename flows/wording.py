"""How figures and foreign text are put into words on a terminal."""

import unicodedata
from typing import Final

STOPPED: Final = {
    "": "not finished yet",
    "goal_complete": "every part of the question was worked through",
    "converged": "further searching changed nothing any more",
    "budget": "the budget was used up",
    "no_ready_tasks": "no task was left to work on",
    "blocked": "the remaining tasks wait for others that failed",
    "wall_clock_cap": "the limit on time was reached",
    "iteration_cap": "the limit on iterations was reached",
    "token_cap": "the limit on tokens was reached",
    "cost_cap": "the limit on cost was reached",
    "model_unavailable": "the language model gave no usable answer",
    "search_unavailable": "no search could be made",
    "cancelled": "it was cancelled",
    "error": "an error ended it",
}


def count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def duration(seconds: float) -> str:
    """``4.2 s``, ``3:05 min``, ``1:02:03 h``."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d} h" if hours else f"{minutes}:{rest:02d} min"


def shown(text: str, limit: int) -> str:
    """Foreign text on one line, without control and direction characters, cut to a length."""
    spaced = "".join(" " if character.isspace() else character for character in text)
    plain = "".join(c for c in spaced if unicodedata.category(c) not in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp"))
    words = " ".join(plain.split())
    return words if len(words) <= limit else words[: limit - 1].rstrip() + "…"
