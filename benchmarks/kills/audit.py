"""What must hold of a session that was killed and went on, each number from a source of its own.

How many answers were bought stands in the model server's log; how many were committed, in the graph; which
calls a kill cut off, in the session's marks and the folder of kept answers.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from lethe_core.graph.dump import SessionDump

from .canonical import differences
from .history import History
from .model_server import COMPLETION_TOKENS, PROMPT_TOKENS, Served

MOST_NAMED = 5  # differences


@dataclass(frozen=True, slots=True)
class Figures:
    """The numbers of one session."""

    bought: int  # answers that the model server began, by its log
    finished: int  # of them to the last byte
    probes: int
    committed: int  # answers, by the graph's tokens
    lost_calls: int  # kills within a call whose answer was not kept

    @property
    def extra(self) -> int:
        return self.bought - self.committed


def figures(history: History, dump: SessionDump, served: Sequence[Served]) -> Figures:
    answers, rest = divmod(dump.state.tokens, PROMPT_TOKENS + COMPLETION_TOKENS)
    assert rest == 0, f"{dump.state.tokens} tokens are no whole number of answers"
    bought = [line for line in served if line.bought]
    return Figures(
        bought=sum(line.what == "began" for line in bought),
        finished=sum(line.what == "finished" for line in bought),
        probes=sum(line.what == "began" for line in served if not line.bought),
        committed=answers,
        lost_calls=sum(kill.victim == "session" and bool(kill.lost_call) for kill in history.kills),
    )


def faults(
    history: History,
    dump: SessionDump,
    counted: Figures,
    graph: dict[str, Any],
    undisturbed: dict[str, Any],
    positions: Sequence[tuple[Any, ...]],
) -> list[str]:
    """What does not hold; empty when all does.

    graph, undisturbed: canonical values of this session and of the one that was left alone.
    positions: that one's committed phases in order.
    """
    found = list(differences(graph, undisturbed))
    if len(found) > MOST_NAMED:
        found[MOST_NAMED:] = [f"and {len(found) - MOST_NAMED} more differences"]
    if counted.extra > counted.lost_calls:
        found.append(
            f"{counted.bought} answers were bought and {counted.committed} committed, but only "
            f"{counted.lost_calls} kills fell within a call"
        )
    if not counted.committed <= counted.finished <= counted.bought <= sum(history.asked.values()):
        found.append(f"the counts of calls contradict each other: {counted}, asked {history.asked.total()}")
    allowed = Counter(kill.lost_call for kill in history.kills if kill.victim == "session" and kill.lost_call)
    for key, count in history.asked.items():
        if count > 1 + allowed[key]:
            found.append(f"{key} was asked for {count} times, {allowed[key]} of them cut off")
    found += [f"{name} was read {count} times" for name, count in history.read.items() if count != 1]
    again = history.searched - len(dump.state.searches)
    if again > sum(kill.open_searches for kill in history.kills):
        found.append(f"{again} searches were made again without a kill that had cut them off")
    order = {position: at for at, position in enumerate(positions)}
    places = [order.get(position, -1) for position in history.positions]
    for at, (before, place) in enumerate(pairwise([-1, *places])):
        if place <= before:
            found.append(f"a phase was committed out of its order, or twice: {history.positions[at]}")
            break
    return found
