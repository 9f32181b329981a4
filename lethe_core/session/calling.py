"""Step 9, second half: the answer's tool calls, made in parallel, ingested in the order of the calls.

Each call is a phase of its own: its evidence, its result and its search record are committed together.
"""

from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace

from lethe_core.errors import SearchError
from lethe_core.evidence.ingest import IngestPlan, plan_ingest
from lethe_core.evidence.page import SearchOutcome
from lethe_core.graph.nodes import Edge, EdgeType, EvidenceKind
from lethe_core.graph.session_state import (
    CallOutcome,
    CallResult,
    SearchRecord,
    SessionPatch,
    SkippedSource,
    ToolCall,
)
from lethe_core.session.handle import SessionHandle

MAX_PARALLEL = 4


def execute_calls(session: SessionHandle) -> int:
    """Make the calls that have no result yet and ingest what they bring; returns how much was new."""
    record = session.record
    pending = list(enumerate(record.calls))[len(record.results) :]
    if not pending:
        return 0
    # As it was when the iteration began: a call finds the same whether those before it were made at the same
    # time or by a process that has ended since.
    known = frozenset(
        node.address
        for node in session.snapshot.evidence.values()
        if node.kind is EvidenceKind.CHUNK and node.sequence <= record.evidence_mark
    )
    pool = ThreadPoolExecutor(max_workers=min(MAX_PARALLEL, len(pending)), thread_name_prefix="lethe-search")
    try:
        futures = [pool.submit(_search, session, call, known) for _, call in pending]
        return sum(
            _ingest(session, index, call, future)
            for (index, call), future in zip(pending, futures, strict=True)
        )
    finally:
        # On an interruption nothing waits for searches whose results nobody will use.
        pool.shutdown(wait=False, cancel_futures=True)


def _search(session: SessionHandle, call: ToolCall, known: frozenset[str]) -> SearchOutcome:
    """Ask every provider; those that do not answer are left out as long as one does."""
    outcomes: list[SearchOutcome] = []
    failures: list[SearchError] = []
    for provider in session.deps.search:
        try:
            outcomes.append(provider.search(call.argument, known=known, deadline=session.deadline))
        except SearchError as error:
            failures.append(error)
    if not outcomes:
        raise failures[0]
    return SearchOutcome(
        new=tuple(page for outcome in outcomes for page in outcome.new),
        known=tuple(page for outcome in outcomes for page in outcome.known),
        skipped=tuple(skip for outcome in outcomes for skip in outcome.skipped),
    )


def _ingest(session: SessionHandle, index: int, call: ToolCall, future: Future[SearchOutcome]) -> int:
    try:
        outcome = future.result()
    except SearchError as error:
        _commit(session, call, CallResult(index, CallOutcome.FAILED, False, 0, str(error)), None, None)
        return 0
    task = session.snapshot.tasks[session.record.task]
    plan = plan_ingest(
        outcome,
        snapshot=session.snapshot,
        task=task.id,
        embedder=session.deps.embedder,
        goal_query=session.query_vector(session.state.goal),
        task_query=session.query_vector(task.embed_text),
    )
    found = CallOutcome.NEW if plan.n_new else CallOutcome.NOTHING
    _commit(session, call, CallResult(index, found, plan.yielded, plan.n_new), plan, outcome)
    return plan.n_new


def _commit(
    session: SessionHandle,
    call: ToolCall,
    result: CallResult,
    plan: IngestPlan | None,
    outcome: SearchOutcome | None,
) -> None:
    state, record = session.state, session.record
    task = session.snapshot.tasks[record.task]
    search = SearchRecord(
        task.id, call.argument, record.iteration, result.outcome, result.n_new, result.yielded
    )
    skipped = dict.fromkeys(state.skipped)
    if outcome is not None:
        skipped |= dict.fromkeys(SkippedSource(skip.source, skip.reason) for skip in outcome.skipped)
    with session.write() as tx:
        if plan is not None and not task.status.terminal:
            for node in plan.nodes:
                created = tx.create_node(node)
                tx.create_edge(Edge(EdgeType.PRODUCED, task.id, created.id))
            for existing in plan.links:
                tx.create_edge(Edge(EdgeType.PRODUCED, task.id, existing))
        tx.update_session(
            SessionPatch(
                phase=replace(record, results=(*record.results, result)),
                searches=(*state.searches, search),
                skipped=tuple(skipped),
            )
        )
