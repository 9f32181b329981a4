"""Asking again after an answer that could not be used (architecture.md, "Repair")."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from lethe_core.din.grammar import REPAIR_MARK
from lethe_core.din.quoting import escape, quote_lines


@dataclass(frozen=True, slots=True)
class RepairConfig:
    """How much of a failed round is shown again."""

    answer_head: int = 3_000  # characters of the answer's beginning; what was wrong stands mostly there
    answer_tail: int = 500  # characters of its end: an answer that was cut off shows it there
    max_errors: int = 20
    error_length: int = 600


DEFAULT: Final = RepairConfig()

_AGAIN: Final = (
    "Answer again, whole: one JSON object with all operations that you want, these faults put right."
)
_AGAIN_SINGLE: Final = (
    "Answer again: one JSON object with one operation, the most useful one now, without optional fields."
)


def repair_prompt(
    prompt: str,
    answer: str,
    errors: Sequence[str],
    config: RepairConfig = DEFAULT,
    *,
    single: bool = False,
) -> str:
    """The iteration's prompt with a section that quotes the last answer and names what was wrong with it.

    The prompt is the first round's: sections do not add up over rounds, and a prompt that has one already
    gets it replaced. `din.read.parse_din` reads the result like the prompt alone.

    single: ask for one operation alone, which is harder to get wrong.
    """
    shown = [escape(" ".join(error.split()))[: config.error_length] for error in errors[: config.max_errors]]
    if len(errors) > config.max_errors:
        shown.append(f"and {len(errors) - config.max_errors} more")
    lines = [
        REPAIR_MARK,
        "Your last answer was not applied; nothing of it took effect. It said:",
        *quote_lines(_bounded(answer, config)),
        "What was wrong with it:",
        *(f"- {error}" for error in shown),
        _AGAIN_SINGLE if single else _AGAIN,
    ]
    return _without_repair(prompt).rstrip("\n") + "\n\n" + "\n".join(lines) + "\n"


def _without_repair(prompt: str) -> str:
    lines = prompt.split("\n")
    return "\n".join(lines[: lines.index(REPAIR_MARK)]) if REPAIR_MARK in lines else prompt


def _bounded(answer: str, config: RepairConfig) -> str:
    left_out = len(answer) - config.answer_head - config.answer_tail
    if left_out <= 0:
        return answer.strip("\n")
    tail = answer[len(answer) - config.answer_tail :]
    return f"{answer[: config.answer_head]}\n[… {left_out} characters …]\n{tail}".strip("\n")
