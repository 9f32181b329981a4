"""What a task has had of its session, and what it is still owed (algorithms.md 3 and 4).

Coverage alone leaves a task for others as soon as its search has found something: the evidence covers it,
and nobody has read it. And it goes on with a task that finds nothing, whose deficit stays whole, while others
were never tried. With the extractive reasoner and a question of 20 parts over passages of HotpotQA, 33
iterations answered 6 parts that way, and 9 when what was found is worked on first (benchmarks/control.py).
"""

from collections import defaultdict
from collections.abc import Sequence
from typing import Final

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

    Such as were not selected since they searched, and searched no more often than `SEARCHES_FIRST`; not those
    with subtasks at work, whose turn it is.
    """
    made: dict[NodeId, set[int]] = defaultdict(set)
    for record in searches:
        made[record.task].add(record.iteration)
    return frozenset(
        task
        for task, iterations in made.items()
        if len(iterations) <= SEARCHES_FIRST
        and snapshot.tasks[task].last_selected == max(iterations)
        and all(child.status.terminal for child in snapshot.children(task))
        and holds_unused(snapshot, task)
    )


def fruitless(searches: Sequence[SearchRecord]) -> dict[NodeId, int]:
    """By task the iterations whose searches were answered and brought nothing; none that failed."""
    outcomes: dict[tuple[NodeId, int], set[CallOutcome]] = defaultdict(set)
    for record in searches:
        outcomes[record.task, record.iteration].add(record.outcome)
    counts: dict[NodeId, int] = defaultdict(int)
    for (task, _), found in outcomes.items():
        counts[task] += CallOutcome.NOTHING in found and CallOutcome.NEW not in found
    return counts


def all_had_theirs(state: SessionState, snapshot: GraphSnapshot) -> bool:
    """Whether every task that could be worked on now, or will be called back, has had its chance."""
    reopened = plan_revival(snapshot, frozenset(state.block_notices)).reopened
    due = [*snapshot.ready_set(), *(snapshot.tasks[task] for task in reopened)]
    return all(_had_its_chance(state, snapshot, task) for task in due)


def _had_its_chance(state: SessionState, snapshot: GraphSnapshot, task: TaskNode) -> bool:
    """Selected, and since its subtasks were: what they found is for it to conclude from.

    Of a session that follows another all that is to be known lies there from the first iteration on: signals
    stand still while its tasks are yet to be worked through. There something must have come of it, too.
    """
    # Not "and used what it found", which was tried: it gave no more answers, and a chunk of noise that no
    # synthesis ever wants held a session with nothing to find open until its budget was used up.
    if task.last_selected == 0:
        return False
    if state.previous and task.n_productive == 0:
        return False
    return all(child.last_selected < task.last_selected for child in snapshot.children(task.id))
