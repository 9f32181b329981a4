"""What a task has had of its session, and what it is still owed (algorithms.md 3 and 4).

Coverage alone leaves a task for others as soon as its search has found something: the evidence covers it,
and nobody has read it. And it goes on with a task that finds nothing, whose deficit stays whole, while others
were never tried. With the extractive reasoner and a question of 20 parts over passages of HotpotQA, 33
iterations answered 6 parts that way, and 9 when what was found is worked on first (benchmarks/control.py).
"""

from collections import defaultdict
from collections.abc import Sequence
from typing import Final

import numpy as np

from lethe_core.graph.arrays import IntArray
from lethe_core.graph.nodes import EdgeType, EvidenceKind, NodeId, TaskNode
from lethe_core.graph.session_state import CallOutcome, SearchRecord, SessionState
from lethe_core.graph.snapshot import GraphSnapshot
from lethe_core.session.liveness import plan_revival

# A search and a second one with what it found; a task that goes on searching waits for its turn like others.
SEARCHES_FIRST: Final = 2


def holds_unused(snapshot: GraphSnapshot, task: NodeId) -> bool:
    """Whether a task found evidence that no synthesis of its own has used."""
    own = [snapshot.evidence[node] for node in snapshot.targets(EdgeType.PRODUCED, task)]
    return bool(own) and not any(node.kind is EvidenceKind.SYNTHESIS for node in own)


def owed_a_reading(snapshot: GraphSnapshot, searches: Sequence[SearchRecord]) -> frozenset[NodeId]:
    """The tasks whose finds are still to be worked on: what was found must be seen.

    Such as found something on topic, were not selected since they searched, and searched no more often than
    `SEARCHES_FIRST`; not those with subtasks at work, whose turn it is. Noise waits for its task's turn.
    """
    on_topic = {record.task for record in searches if _yielded(record)}
    return frozenset(
        task
        for task, iterations in _iterations(searches).items()
        if task in on_topic
        and len(iterations) <= SEARCHES_FIRST
        and snapshot.tasks[task].last_selected == max(iterations)
        and all(child.status.terminal for child in snapshot.children(task))
        and holds_unused(snapshot, task)
    )


def times_worked_on(tasks: Sequence[TaskNode], searches: Sequence[SearchRecord]) -> IntArray:
    """How often each task was worked on, as its score counts it: (m,) >= 0, no less than its n_productive.

    The productive iterations and the fruitless ones, whose searches were answered and brought nothing on
    topic; or all in which it searched, once these are more than `SEARCHES_FIRST`. Without the latter a task
    that only ever searches, and always finds something, has every turn: a reasoner that is never content
    tried 13 of 20 parts in 65 iterations, and one of them 19 times (benchmarks/control.py).
    """
    idle, made = fruitless(searches), _iterations(searches)

    def count(task: TaskNode) -> int:
        searched = len(made.get(task.id, ()))
        return max(task.n_productive + idle.get(task.id, 0), searched if searched > SEARCHES_FIRST else 0)

    return np.array([count(task) for task in tasks], dtype=np.int64)


def fruitless(searches: Sequence[SearchRecord]) -> dict[NodeId, int]:
    """By task the iterations whose searches were answered and brought nothing on topic; none that failed."""
    answered: dict[tuple[NodeId, int], bool] = defaultdict(bool)
    for record in searches:
        if record.outcome is not CallOutcome.FAILED:
            answered[record.task, record.iteration] |= _yielded(record)
    counts: dict[NodeId, int] = defaultdict(int)
    for (task, _), on_topic in answered.items():
        counts[task] += not on_topic
    return counts


def _yielded(record: SearchRecord) -> bool:
    return record.outcome is CallOutcome.NEW and record.yielded


def _iterations(searches: Sequence[SearchRecord]) -> dict[NodeId, set[int]]:
    """By task the iterations in which it searched."""
    made: dict[NodeId, set[int]] = defaultdict(set)
    for record in searches:
        made[record.task].add(record.iteration)
    return made


def all_had_theirs(state: SessionState, snapshot: GraphSnapshot) -> bool:
    """Whether every task that could be worked on now, or will be called back, has had its chance.

    What a task found first is read before that: it is looked at once or twice, so that none holds a session
    open for long. (Held open until all that was found is used, a session with nothing to find ran until its
    budget was used up: a chunk of noise is never wanted by any synthesis.)
    """
    if owed_a_reading(snapshot, state.searches):
        return False
    reopened = plan_revival(snapshot, frozenset(state.block_notices)).reopened
    due = [*snapshot.ready_set(), *(snapshot.tasks[task] for task in reopened)]
    return all(_had_its_chance(state, snapshot, task) for task in due)


def _had_its_chance(state: SessionState, snapshot: GraphSnapshot, task: TaskNode) -> bool:
    """Selected, and since its subtasks were: what they found is for it to conclude from.

    Of a session that follows another all that is to be known lies there from the first iteration on: signals
    stand still while its tasks are yet to be worked through. There something must have come of it, too.
    """
    if task.last_selected == 0:
        return False
    if state.previous and task.n_productive == 0:
        return False
    return all(child.last_selected < task.last_selected for child in snapshot.children(task.id))
