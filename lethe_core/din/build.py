"""What a task is told, as data, from the graph and the session's state (architecture.md, "DIN"). Pure."""

from collections.abc import Mapping, Sequence

from lethe_core.din.document import CoverageWord, DinRead, EvidenceBlock, SubtaskLine, Warn
from lethe_core.din.operations import AnswerContext
from lethe_core.din.quoting import shorten, token_text
from lethe_core.din.write import evidence_lines, task_line
from lethe_core.graph.nodes import EvidenceKind, EvidenceNode, NodeId, TaskNode, TaskStatus
from lethe_core.graph.session_state import SessionState
from lethe_core.graph.snapshot import GraphSnapshot

__all__ = ["answer_context", "build_din", "coverage_word", "render_block", "token_text"]


def build_din(
    snapshot: GraphSnapshot,
    task: NodeId,
    packed: Sequence[NodeId],
    state: SessionState,
    coverage: Mapping[NodeId, float],
    tools: Sequence[str],
) -> DinRead:
    """Say what the selected task is told.

    packed: evidence in the order in which it is to stand; a task among them that is not told of anyway gets
    a line of its own (``related``).
    coverage: how well the evidence covers a task, [0, 1]; a task that is missing counts as 0.
    tools: names of the tools that are on.
    """
    selected = snapshot.tasks[task]
    above = snapshot.parent(task)
    is_root = task == snapshot.root.id
    subtasks, dependencies = snapshot.children(task), snapshot.dependencies(task)
    told = _told(snapshot, task)

    def line(node: TaskNode) -> SubtaskLine:
        return _task_line(node, coverage)

    packed_evidence = [snapshot.evidence[node] for node in packed if node in snapshot.evidence]
    newest = _newest_packed(snapshot, packed_evidence)
    return DinRead(
        task=selected.short_id,
        goal=selected.description,
        parent_goal="" if is_root else snapshot.root.description,
        hint=selected.prepared_prompt,
        warns=_warns(snapshot, selected, state),
        subtasks=tuple(line(node) for node in subtasks),
        dependencies=tuple(line(node) for node in dependencies),
        evidence=tuple(_block(snapshot, node, newest) for node in packed_evidence),
        tools=tuple(tools),
        parent=None if above is None or above == snapshot.root.id else line(snapshot.tasks[above]),
        related=tuple(
            line(snapshot.tasks[node]) for node in packed if node in snapshot.tasks and node not in told
        ),
    )


def answer_context(
    snapshot: GraphSnapshot, task: NodeId, packed: Sequence[NodeId], tools: Sequence[str]
) -> AnswerContext:
    """Say what an answer may refer to, given what the task was told.

    A new subtask may wait for a task that it was told of, unless that has failed or itself waits, through
    dependencies or open subtasks, for the selected task: both would then wait for ever.
    """
    children = snapshot.children(task)
    shown = [
        *children,
        *snapshot.dependencies(task),
        *(snapshot.tasks[node] for node in packed if node in snapshot.tasks),
    ]
    return AnswerContext(
        task=snapshot.tasks[task].short_id,
        is_root=task == snapshot.root.id,
        live_subtasks=tuple(child.short_id for child in children if not child.status.terminal),
        evidence=tuple(snapshot.evidence[node].short_id for node in packed if node in snapshot.evidence),
        tasks=tuple(
            dict.fromkeys(
                node.short_id
                for node in shown
                if node.status is not TaskStatus.FAILED and not _waits_for(snapshot, node.id, task)
            )
        ),
        tools=tuple(tools),
    )


def coverage_word(coverage: float) -> CoverageWord:
    """A coverage in [0, 1] in a word: none (0), thin (< .25), partial (< .6), good."""
    if not coverage > 0.0:  # NaN too
        return "none"
    if coverage < 0.25:
        return "thin"
    return "partial" if coverage < 0.6 else "good"


def render_block(
    snapshot: GraphSnapshot,
    task: NodeId,
    node: EvidenceNode | TaskNode,
    coverage: Mapping[NodeId, float] | None = None,
) -> str:
    """What one packed item adds to the text of a task, for counting its tokens.

    An older edition is counted as naming its newest, packed or not. A task that is told of anyway adds
    nothing: what `build_din` says without any packed item is counted once, as the frame.
    """
    if isinstance(node, TaskNode):
        told = node.id in _told(snapshot, task)
        return "" if told else task_line("REL", _task_line(node, coverage or {})) + "\n"
    newest = {node.series: node} if snapshot.is_older(node) else {}
    return "\n".join(["", *evidence_lines(_block(snapshot, node, newest)), ""])


def _told(snapshot: GraphSnapshot, task: NodeId) -> set[NodeId]:
    """Tasks that are told of whether they are packed or not: itself, all above it, subtasks, dependencies."""
    told = {task, *(node.id for node in (*snapshot.children(task), *snapshot.dependencies(task)))}
    above = snapshot.parent(task)
    while above is not None:
        told.add(above)
        above = snapshot.parent(above)
    return told


def _task_line(node: TaskNode, coverage: Mapping[NodeId, float]) -> SubtaskLine:
    result = node.failure_reason if node.status is TaskStatus.FAILED else node.result_summary
    return SubtaskLine(
        short_id=node.short_id,
        status=node.status,
        coverage=coverage_word(coverage.get(node.id, 0.0)),
        description=shorten(node.description),
        result=shorten(result),
    )


def _warns(snapshot: GraphSnapshot, task: TaskNode, state: SessionState) -> tuple[Warn, ...]:
    # A query made twice is said once, with what came of it last.
    # So is one that a former session made for the same task over the same sources: it would find the same.
    known = {s.query: s.outcome for s in state.known_searches if s.task == task.description}
    searches = known | {search.query: search.outcome for search in state.searches if search.task == task.id}
    warns = [Warn("searched", query, outcome.value) for query, outcome in searches.items()]
    if searches and state.n_zero_yield > 0:
        warns.append(Warn("zero_yield", "", ""))
    if task.antifocus:
        warns.append(Warn("avoid", task.antifocus, ""))
    above = snapshot.parent(task.id)
    siblings = [] if above is None else [node for node in snapshot.children(above) if node.id != task.id]
    for node in siblings:
        if node.status is TaskStatus.FAILED:
            warns.append(Warn("dead_end", shorten(node.description), shorten(node.failure_reason)))
        elif not node.status.terminal:
            warns.append(Warn("sibling", shorten(node.description), ""))
    notes = dict.fromkeys(note.text for note in state.notes if note.task == task.id)
    return (*warns, *(Warn("note", "", shorten(text, 400)) for text in notes))


def _newest_packed(snapshot: GraphSnapshot, packed: Sequence[EvidenceNode]) -> dict[str, EvidenceNode]:
    """By series, the first packed evidence of its newest edition."""
    newest: dict[str, EvidenceNode] = {}
    for node in packed:
        if node.series and node.address == snapshot.newest_of(node.series):
            newest.setdefault(node.series, node)
    return newest


def _block(snapshot: GraphSnapshot, node: EvidenceNode, newest: Mapping[str, EvidenceNode]) -> EvidenceBlock:
    older = snapshot.is_older(node)
    newer = newest.get(node.series) if older else None
    return EvidenceBlock(
        short_id=node.short_id,
        title=node.title,
        source=node.address or node.source_description,
        date=node.stated_date or (f"file of {node.date}" if node.date else ""),
        older_than=None if newer is None else newer.short_id,
        older=older,
        period=node.period,
        synthesis=node.kind is EvidenceKind.SYNTHESIS,
        place=node.place,
        content=node.content,
    )


def _waits_for(snapshot: GraphSnapshot, waiting: NodeId, awaited: NodeId) -> bool:
    """Whether a task cannot be done before another, by dependencies and open subtasks; or is the other."""
    pending, seen = [waiting], set[NodeId]()
    while pending:
        current = pending.pop()
        if current == awaited:
            return True
        if current in seen or snapshot.tasks[current].status.terminal:
            continue
        seen.add(current)
        pending.extend(node.id for node in (*snapshot.dependencies(current), *snapshot.children(current)))
    return False
