"""The start of a session in a series: its number, its predecessor, and what is known from there
(architecture.md, "A series of sessions").

Done once, under the session's lease, of which a series has one at a time; committed in one transaction, so
that a kill leaves it wholly undone or wholly done. What the predecessor said lies on the session from then
on: neither its deletion nor its going on changes anything here.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from lethe_core.din.cited import CITATION, keep_citations
from lethe_core.errors import SessionMismatchError
from lethe_core.graph.nodes import Edge, EdgeType, EvidenceKind, EvidenceNode, NodeId, TaskNode, TaskStatus
from lethe_core.graph.outline import Outline
from lethe_core.graph.patches import TaskPatch
from lethe_core.graph.session_state import (
    CallOutcome,
    KnownSearch,
    SessionPatch,
    SessionState,
    SessionStatus,
    SimilarMark,
)
from lethe_core.graph.snapshot import GraphSnapshot
from lethe_core.graph.store import Transaction
from lethe_core.report.outcome import CAPS
from lethe_core.report.outlining import holding, outline_of
from lethe_core.session.carrying import CarryPlan, plan_carry
from lethe_core.session.handle import SessionHandle
from lethe_core.session.reporting import stored_report
from lethe_core.session.syncing import commit_similar_sync
from lethe_core.similar.plan import SimilarPlan

KNOWN_BEFORE: Final = "known before"
_ID: Final = re.compile(r"e-[0-9a-f]{4,32}")


def follow(session: SessionHandle) -> None:
    """Give a session of a series its number and what is known; nothing for another, or for one that has it.

    Raises SessionMismatchError when the series asks another question.
    """
    state, store = session.state, session.deps.store
    if not state.series or state.n:
        return
    others = [one for one in store.list_sessions(state.series) if one.session_id != state.session_id]
    previous = last_good(others)
    patch = SessionPatch(
        n=1 + max((one.n for one in others), default=0),
        source_state=_source_state(session),
    )
    if previous is None:
        with session.write() as tx:
            tx.update_session(patch)
        return
    _check_question(state, previous)
    snapshot = store.load_snapshot(previous.session_id)
    report = stored_report(snapshot, replace(previous, before=None), session.deps.embedder)
    outline = outline_of(report, snapshot)
    known: tuple[KnownSearch, ...] = ()
    plan = CarryPlan()
    moved: Mapping[str, str] = {}
    if previous.profile == state.profile:
        # Vectors of two models cannot lie in one graph: then everything is found again.
        plan, moved = _plan(session, snapshot)
        if patch.source_state and patch.source_state == previous.source_state:
            known = _known_searches(previous, snapshot)
        outline = holding(replace(outline, held=(), pages=()), plan.withdrawn)
    patch = replace(
        patch,
        previous=previous.session_id,
        before=_moved(outline, moved),
        known_searches=known,
    )
    vector = session.deps.embedder.embed_documents([KNOWN_BEFORE])[0]
    with session.write() as tx:
        if plan.nodes or plan.fresh:
            take_over(tx, plan, TaskNode(KNOWN_BEFORE, KNOWN_BEFORE, vector))
            # All lie beneath one task: of a session's first evidence no pair is left to be compared.
            mark = SimilarMark(
                len(plan.nodes) + len(plan.fresh), session.deps.embedder.profile.similar_threshold
            )
            patch = replace(patch, similar=mark)
        tx.update_session(patch)


def last_good(states: Sequence[SessionState]) -> SessionState | None:
    """The latest run that ended with findings of its own accord or at a cap; None when there is none."""
    good = [
        state
        for state in states
        if state.status is SessionStatus.COMPLETE
        or (state.status is SessionStatus.PARTIAL and state.stop_reason in CAPS and state.n_findings)
    ]
    return max(good, key=lambda state: state.n, default=None)


def _check_question(state: SessionState, previous: SessionState) -> None:
    if state.goal != previous.goal:
        raise SessionMismatchError(
            f"series {state.series} asks another question: {previous.goal[:200]!r} (session "
            f"{previous.session_id}). Take another --series for this one"
        )


def _source_state(session: SessionHandle) -> str:
    states = [provider.state for provider in session.deps.search]
    return " ".join(states) if all(states) else ""


def _plan(session: SessionHandle, snapshot: GraphSnapshot) -> tuple[CarryPlan, Mapping[str, str]]:
    """What is taken over, and under which address a page lies now that lay under another then."""
    pages = {
        node.address: node.page_fingerprint
        for node in snapshot.evidence.values()
        if node.kind is EvidenceKind.CHUNK
    }
    revisited = [
        page for provider in session.deps.search for page in provider.revisit(pages, query=session.state.goal)
    ]
    plan = plan_carry(
        snapshot,
        revisited,
        embedder=session.deps.embedder,
        goal_query=session.query_vector(session.state.goal),
    )
    return plan, {page.known: page.address for page in revisited if page.address}


def _known_searches(previous: SessionState, snapshot: GraphSnapshot) -> tuple[KnownSearch, ...]:
    made = [
        KnownSearch(snapshot.tasks[search.task].description, search.query, search.outcome)
        for search in previous.searches
        if search.outcome is not CallOutcome.FAILED
    ]
    return tuple({(s.task, s.query): s for s in (*previous.known_searches, *made)}.values())


def _moved(outline: Outline, moved: Mapping[str, str]) -> Outline:
    return replace(
        outline,
        sources=tuple(
            replace(source, address=moved.get(source.address, source.address)) for source in outline.sources
        ),
        older=tuple(moved.get(address, address) for address in outline.older),
    )


def take_over(tx: Transaction, plan: CarryPlan, task: TaskNode) -> None:
    """Copy under new ids, beneath one finished task that is no part of the question."""
    home = tx.create_node(task).id
    tx.update_node(home, TaskPatch(status=TaskStatus.ACTIVE))
    ids: dict[NodeId, NodeId] = {}
    short: dict[str, str] = {}
    for node in plan.nodes:
        made = tx.create_node(
            replace(
                node,
                id=NodeId(""),
                origin_id=node.id,
                content=_cited_anew(node, short),
            )
        )
        ids[node.id] = made.id
        short[node.short_id] = made.short_id
        tx.create_edge(Edge(EdgeType.PRODUCED, home, made.id))
    for node in plan.fresh:
        tx.create_edge(Edge(EdgeType.PRODUCED, home, tx.create_node(node).id))
    edges = [replace(edge, source=ids[edge.source], target=ids[edge.target]) for edge in plan.edges]
    for edge in edges:
        if edge.type is EdgeType.SUPERSEDES:
            tx.create_edge(edge)
    similar = tuple(edge for edge in edges if edge.type is EdgeType.SIMILAR_TO)
    commit_similar_sync(tx, SimilarPlan(similar, ()))
    tx.update_node(home, TaskPatch(status=TaskStatus.DONE))


def _cited_anew(node: EvidenceNode, short: Mapping[str, str]) -> str:
    """A synthesis cites by short ids, which are others here; what it cites was made before it."""
    if node.kind is EvidenceKind.CHUNK:
        return node.content
    kept, _ = keep_citations(node.content, short.keys())
    return CITATION.sub(lambda cited: _ID.sub(lambda found: short[found[0]], cited[0]), kept)
