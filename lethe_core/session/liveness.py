"""Keeping the loop alive: which waiting task comes back, and who hears of a block (algorithms.md 4.2)."""

from dataclasses import dataclass

from lethe_core.graph.nodes import NodeId, TaskNode, TaskStatus
from lethe_core.graph.snapshot import GraphSnapshot


@dataclass(frozen=True, slots=True)
class Revival:
    """ACTIVE tasks that go back to PENDING, and what they are told."""

    reopened: tuple[NodeId, ...] = ()
    notes: tuple[tuple[NodeId, str], ...] = ()
    noticed: tuple[NodeId, ...] = ()  # blocked tasks that somebody has been told of now

    def __bool__(self) -> bool:
        return bool(self.reopened or self.notes)


def selectable(snapshot: GraphSnapshot) -> list[TaskNode]:
    """Live tasks whose ancestors are all alive: what the session may still work on."""
    return [
        task
        for task in snapshot.tasks.values()
        if not task.status.terminal and not snapshot.live_descendant_of_terminal(task.id)
    ]


def blocked_tasks(snapshot: GraphSnapshot) -> dict[NodeId, TaskNode]:
    """PENDING tasks that can never become ready, with the FAILED task that is to blame.

    That is one that they need, one whose live parts they need, or what another blocked task waits for.
    """
    live = [task for task in selectable(snapshot) if task.status is TaskStatus.PENDING]
    blame: dict[NodeId, TaskNode] = {}
    grown = True
    while grown:
        grown = False
        for task in live:
            if task.id in blame:
                continue
            for other in snapshot.dependencies(task.id):
                culprit = _failed(snapshot, other) or blame.get(other.id)
                if culprit is not None:
                    blame[task.id] = culprit
                    grown = True
                    break
    return blame


def _failed(snapshot: GraphSnapshot, task: TaskNode) -> TaskNode | None:
    """The task itself when it FAILED; of a live one a FAILED ancestor: nobody works on its parts any more."""
    if task.status is TaskStatus.FAILED:
        return task
    above = None if task.status.terminal else snapshot.parent(task.id)
    while above is not None:
        if snapshot.tasks[above].status is TaskStatus.FAILED:
            return snapshot.tasks[above]
        above = snapshot.parent(above)
    return None


def plan_revival(snapshot: GraphSnapshot, told: frozenset[NodeId]) -> Revival:
    """What must happen so that something can be selected, if anything can.

    told: blocked tasks whose parents were told before; each is told of once.
    """
    notice = _block_notices(snapshot, told)
    if notice:
        return notice
    if snapshot.ready_set():
        return Revival()
    active = [task for task in selectable(snapshot) if task.status is TaskStatus.ACTIVE]
    waiting = [task for task in active if snapshot.children(task.id)]
    finished = [
        task for task in waiting if all(child.status.terminal for child in snapshot.children(task.id))
    ]
    childless = [task for task in active if not snapshot.children(task.id)]
    for candidates in (finished, childless):
        if candidates:
            return Revival(reopened=(_deepest(snapshot, candidates).id,))
    return Revival()


def _block_notices(snapshot: GraphSnapshot, told: frozenset[NodeId]) -> Revival:
    reopened: dict[NodeId, None] = {}
    notes: list[tuple[NodeId, str]] = []
    noticed: list[NodeId] = []
    for blocked, culprit in blocked_tasks(snapshot).items():
        if blocked in told:
            continue
        task = snapshot.tasks[blocked]
        parent = snapshot.parent(blocked)
        active_parent = parent is not None and snapshot.tasks[parent].status is TaskStatus.ACTIVE
        listener = parent if parent is not None and active_parent else snapshot.root.id
        if snapshot.tasks[listener].status is TaskStatus.ACTIVE:
            reopened[listener] = None
        reason = f": {culprit.failure_reason}" if culprit.failure_reason else ""
        notes.append(
            (
                listener,
                f"{task.short_id} is blocked, since {culprit.short_id}, which it needs, failed{reason}",
            )
        )
        noticed.append(blocked)
    return Revival(tuple(reopened), tuple(notes), tuple(noticed))


def _deepest(snapshot: GraphSnapshot, tasks: list[TaskNode]) -> TaskNode:
    depths = snapshot.depths()
    return max(tasks, key=lambda task: (depths[task.id], -task.sequence))
