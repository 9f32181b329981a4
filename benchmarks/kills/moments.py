"""When a kill falls: drawn over the time that a run takes, and within what must not be cut in two."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Final, Literal, TypeAlias

from .marks import Mark, What

Aim: TypeAlias = Literal["any time", "a commit", "a call", "an ingestion"]

SHARE: Final = 0.15  # of a run's time at most until a kill at any time: several fall into one session
WEIGHTS: Final[dict[Aim, int]] = {"any time": 40, "a commit": 25, "a call": 20, "an ingestion": 15}


@dataclass(frozen=True, slots=True)
class Moment:
    """So many seconds behind the nth mark of a kind from now on, or from now where none is named.

    at_last: seconds from now after which the mark is waited for no more: there may be none left to come.
    """

    aim: Aim
    mark: What | None
    nth: int
    seconds: float
    at_last: float


@dataclass(frozen=True, slots=True)
class Durations:
    """How long things took in a run that was left alone."""

    run: float  # from the lease to the end
    commit: float
    call: float
    ingestion: float  # from a search to the next commit

    @staticmethod
    def of(marks: Sequence[tuple[float, Mark]]) -> "Durations":
        at = {mark.what: seconds for seconds, mark in reversed(marks)}
        return Durations(
            run=at["ended"] - at["leased"],
            commit=_between(marks, "committing", "committed"),
            call=_between(marks, "asking", "writing"),
            ingestion=_between(marks, "searching", "committed"),
        )


def draw(rng: random.Random, durations: Durations) -> Moment:
    aim = rng.choices(list(WEIGHTS), list(WEIGHTS.values()))[0]
    at_last = rng.uniform(0.0, 2 * SHARE) * durations.run
    match aim:
        case "any time":
            return Moment(aim, None, 0, rng.uniform(0.0, SHARE * durations.run), at_last)
        case "a commit":
            return Moment(aim, "committing", rng.randint(1, 6), rng.uniform(0.0, durations.commit), at_last)
        case "a call":
            return Moment(aim, "asking", rng.randint(1, 2), rng.uniform(0.0, durations.call), at_last)
        case "an ingestion":
            return Moment(aim, "searching", rng.randint(1, 2), rng.uniform(0.0, durations.ingestion), at_last)


def _between(marks: Sequence[tuple[float, Mark]], begin: What, end: What) -> float:
    lasted: list[float] = []
    begun: float | None = None
    for seconds, mark in marks:
        if mark.what == begin and begun is None:
            begun = seconds
        elif mark.what == end and begun is not None:
            lasted.append(seconds - begun)
            begun = None
    return median(lasted)
