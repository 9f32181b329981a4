"""Step 9, first half: the answer's operations change the graph in one transaction (phase ``ops``).

Embeddings are made in one batch before the transaction begins. An answer that cannot be applied as a
whole is dropped as a whole, and the task goes back to PENDING.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from lethe_core.din.cited import keep_citations
from lethe_core.din.operations import (
    Complete,
    Continue,
    Create,
    Fail,
    FetchUrl,
    Operation,
    Synthesize,
    WebSearch,
)
from lethe_core.errors import CycleError
from lethe_core.evidence.facts import may_be_dropped
from lethe_core.graph.arrays import Vector
from lethe_core.graph.nodes import Edge, EdgeType, EvidenceKind, EvidenceNode, NodeId, TaskNode, TaskStatus
from lethe_core.graph.patches import EvidencePatch, TaskPatch
from lethe_core.graph.session_state import Outcome, SessionPatch, TaskNote, ToolCall
from lethe_core.graph.store import Transaction
from lethe_core.session.answering import NOT_ASKED, citable_ids, valid_answer
from lethe_core.session.handle import SessionHandle
from lethe_core.session.record import Step, next_step


def apply_answer(session: SessionHandle) -> str:
    """Commit the phase ``ops``; returns what became of the answer, in a word or two for the log."""
    if next_step(session.state.phase) is not Step.OPS:
        return "applied before"
    parsed = valid_answer(session)
    if parsed is None:
        return _drop(session)
    application = _Application(session, parsed.operations)
    try:
        with session.write() as tx:
            application.run(tx)
    except CycleError as error:
        return _drop(session, note=f"the operations were discarded: {error}")
    return application.summary


def _drop(session: SessionHandle, note: str = "") -> str:
    """Put the task back; an answer that is no use counts as none."""
    record, state = session.record, session.state
    failure = record.answers[-1].failure if record.answers else ""
    capped = failure.removeprefix(NOT_ASKED) if failure.startswith(NOT_ASKED) else ""
    outcome = Outcome.UNANSWERED if failure else Outcome.DROPPED
    notes = (*state.notes, TaskNote(record.task, note, record.iteration)) if note else state.notes
    with session.write() as tx:
        tx.update_node(record.task, TaskPatch(status=TaskStatus.PENDING))
        tx.update_session(
            SessionPatch(
                phase=replace(record, outcome=outcome),
                n_unanswered=state.n_unanswered + (not capped),
                capped=capped or state.capped,
                notes=notes,
            )
        )
    return f"{outcome.value}: {failure.removeprefix(NOT_ASKED) or note or 'no valid operations'}"


class _Application:
    """One answer's operations, applied in order to one transaction."""

    def __init__(self, session: SessionHandle, operations: Sequence[Operation]) -> None:
        self._session = session
        self._operations = operations
        self._task = session.snapshot.tasks[session.record.task]
        self._refs: dict[str, NodeId] = {}
        self._created: list[TaskNode] = []
        self._notes: list[TaskNote] = []
        self._citable = citable_ids(session)
        self._removed = 0
        self._counts: dict[str, int] = {}
        texts = [_embed_text(operation) for operation in operations]
        self._vectors: list[Vector] = list(session.deps.embedder.embed_documents(texts))

    @property
    def summary(self) -> str:
        return ", ".join(f"{count} {name}" for name, count in self._counts.items()) or "nothing to apply"

    def run(self, tx: Transaction) -> None:
        patch = TaskPatch()
        for operation, vector in zip(self._operations, self._vectors, strict=True):
            match operation:
                case Create():
                    self._create(tx, operation, vector)
                case Synthesize():
                    self._synthesize(tx, operation, vector)
                case Complete():
                    self._count("complete")
                    patch = TaskPatch(
                        status=TaskStatus.DONE,
                        result_summary=self._cited(operation.result_summary),
                        result_embedding=vector,
                    )
                case Fail():
                    self._count("fail")
                    patch = TaskPatch(status=TaskStatus.FAILED, failure_reason=operation.reason)
                case Continue() | WebSearch() | FetchUrl():
                    pass
        self._settle(tx, patch)

    def _settle(self, tx: Transaction, patch: TaskPatch) -> None:
        """Give the selected task its status, last: nothing can be added to a terminal one."""
        state, record = self._session.state, self._session.record
        calls = tuple(_tool_call(op) for op in self._operations if isinstance(op, WebSearch | FetchUrl))
        again = any(isinstance(op, Continue) for op in self._operations)
        # What was found must be seen: a task that called tools comes back as if it had said `continue`.
        if patch.status is None and (calls or again):
            patch = replace(patch, status=TaskStatus.PENDING)
        if self._counts:
            patch = replace(patch, n_productive=self._task.n_productive + 1)
        tx.update_node(self._task.id, patch)
        tx.update_session(
            SessionPatch(
                phase=replace(record, outcome=Outcome.APPLIED, calls=calls),
                # An answer that changed nothing is none: a model that repeats itself must not go on for ever.
                n_unanswered=0 if self._counts or calls or again else state.n_unanswered + 1,
                notes=(*state.notes, *self._notes),
                removed_citations=state.removed_citations + self._removed,
            )
        )

    def _create(self, tx: Transaction, operation: Create, vector: Vector) -> None:
        same = self._like(operation.description, vector, failed=False)
        if same is not None:
            self._refs[operation.ref] = same.id
            return
        task = tx.create_node(
            TaskNode(
                description=operation.description,
                embed_text=operation.embed_text,
                embedding=vector,
                prepared_prompt=operation.prepared_prompt,
                antifocus=operation.antifocus,
            )
        )
        self._refs[operation.ref] = task.id
        self._created.append(task)
        self._count("create")
        tx.create_edge(Edge(EdgeType.SUBTASK_OF, task.id, self._parent(operation.parent)))
        for name in dict.fromkeys(operation.depends_on):
            tx.create_edge(Edge(EdgeType.DEPENDS_ON, task.id, self._resolve(name)))
        failed = self._like(operation.description, vector, failed=True)
        if failed is not None:
            note = f"{task.short_id} is like {failed.short_id}, which failed: {failed.failure_reason}"
            self._notes.append(TaskNote(task.id, note, self._session.record.iteration))

    def _synthesize(self, tx: Transaction, operation: Synthesize, vector: Vector) -> None:
        snapshot = self._session.snapshot
        sources = [snapshot.evidence[self._resolve(name)] for name in dict.fromkeys(operation.sources)]
        strength = max(source.base_strength for source in sources)
        domains = {domain for source in sources for domain in source.domain.split("\n") if domain}
        synthesis = tx.create_node(
            EvidenceNode(
                content=self._cited(operation.content),
                embed_text=operation.embed_text,
                embedding=vector,
                strength=strength,
                base_strength=strength,
                kind=EvidenceKind.SYNTHESIS,
                source_description=f"synthesis of {len(sources)} for {self._task.short_id}",
                title=self._task.description,
                domain="\n".join(sorted(domains)),
            )
        )
        self._count("synthesize")
        tx.create_edge(Edge(EdgeType.PRODUCED, self._task.id, synthesis.id))
        for source in sources:
            tx.create_edge(Edge(EdgeType.SUPERSEDES, synthesis.id, source.id))
            if not source.superseded:
                tx.update_node(source.id, EvidencePatch(superseded=True))

    def _parent(self, name: str) -> NodeId:
        """The parent of a new task; a ref that stood for a finished task is no place to put work under."""
        if not name:
            return self._task.id
        parent = self._resolve(name)
        known = self._session.snapshot.tasks.get(parent)
        return self._task.id if known is not None and known.status.terminal else parent

    def _resolve(self, name: str) -> NodeId:
        if name in self._refs:
            return self._refs[name]
        node = self._session.snapshot.by_short_id(name)
        if node is None:
            raise RuntimeError(f"{name} passed validation but is not in the graph")
        return node.id

    def _like(self, description: str, vector: Vector, *, failed: bool) -> TaskNode | None:
        """A task that says the same: cosine above the threshold and the same facts in the same order."""
        threshold = self._session.deps.embedder.profile.duplicate_threshold
        for task in (*self._session.snapshot.tasks.values(), *self._created):
            if (task.status is TaskStatus.FAILED) is not failed:
                continue
            alike = float(np.dot(task.embedding, vector)) > threshold
            if alike and may_be_dropped(description, task.description):
                return task
        return None

    def _cited(self, text: str) -> str:
        text, removed = keep_citations(text, self._citable)
        self._removed += removed
        return text

    def _count(self, name: str) -> None:
        self._counts[name] = self._counts.get(name, 0) + 1


def _embed_text(operation: Operation) -> str:
    return operation.embed_text if isinstance(operation, Create | Synthesize | Complete) else ""


def _tool_call(operation: WebSearch | FetchUrl) -> ToolCall:
    if isinstance(operation, WebSearch):
        return ToolCall("web_search", operation.query)
    return ToolCall("fetch_url", operation.url)
