"""Steps 4 to 6: what the model is shown (algorithms.md 5; architecture.md, "DIN").

Expansion by Personalized PageRank from the selected task, scoring, packing under a token budget, and the
DIN-Read text, which is committed with the packed ids as the phase ``begin``.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Final

import numpy as np

from lethe_core.context.packing import pack
from lethe_core.control.basis import coverage
from lethe_core.control.vectors import control_vectors
from lethe_core.din.build import build_din, render_block, token_text
from lethe_core.din.document import DIN_VERSION, DinRead
from lethe_core.din.fitting import fit_frame
from lethe_core.din.read import serialize_din
from lethe_core.din.system_prompt import system_prompt
from lethe_core.graph.arrays import IntArray
from lethe_core.graph.nodes import EdgeType, Node, NodeId
from lethe_core.graph.session_state import SearchRecord, SessionPatch
from lethe_core.graph.snapshot import stack
from lethe_core.session.handle import SessionHandle
from lethe_core.session.reaching import Reached, reach, required_tasks, weigh
from lethe_core.session.record import Step, next_step
from lethe_core.session.selecting import current_basis

RESERVE: Final = 2048  # tokens of the model's window kept for system prompt, schema and answer
# Of the room for evidence, filled by score alone before information gain fills the rest: gain is so flat in
# the score, and so steep in the tokens, that it left the best-scored row of a table out for its length.
BEST_SHARE: Final = 0.75
FOLLOWED: Final = 3  # queries of a task whose finds are looked for in the graph as a second hop's are
MIN_EVIDENCE_SHARE: Final = 0.5  # of the context that dependencies' and subtasks' results must leave


def expand(session: SessionHandle, task: NodeId) -> int:
    """Step 4: rank every node by a random walk from the task; returns how many it could show."""
    if next_step(session.state.phase) is not Step.BEGIN:
        return 0
    asked = session.query_vector(session.snapshot.tasks[task].embed_text)
    caches = session.caches
    reached = reach(
        session.snapshot,
        task,
        asked,
        caches.lexicon,
        graph=caches.graph,
        last=caches.last_walk,
        followed=_followed(session.state.searches, task),
    )
    session.scratch = replace(
        session.scratch,
        candidates=reached.nodes,
        pagerank=reached.pagerank,
        relevance=reached.relevance,
    )
    return len(reached.nodes)


def _followed(searches: Sequence[SearchRecord], task: NodeId) -> list[str]:
    """The latest queries of a task behind those of its first search."""
    made = [search for search in searches if search.task == task]
    return [search.query for search in made if search.iteration > made[0].iteration][-FOLLOWED:]


def pack_evidence(session: SessionHandle, task: NodeId) -> int:
    """Step 5: score what was reached and pack it into the token budget; returns how many were packed."""
    if next_step(session.state.phase) is not Step.BEGIN:
        return len(session.record.packed)
    snapshot, record, scratch = session.snapshot, session.record, session.scratch
    nodes = [snapshot.node(node) for node in scratch.candidates]
    asked = session.query_vector(snapshot.tasks[task].embed_text)
    reached = Reached(scratch.candidates, scratch.pagerank, scratch.relevance)
    weighed = weigh(snapshot, task, asked, reached, record.pressure)
    vectors, required, scores, order = weighed.vectors, weighed.required, weighed.scores, weighed.order
    frame = required_tasks(snapshot, task)
    room = context_budget(session)
    frame_tokens = min(_tokens(session, _document(session, task, ())), room - 1)
    # The frame stands as one required item a task, so that the packed evidence adds to what is said anyway.
    share = _shares(frame_tokens, len(frame))
    sizes = [_block_tokens(session, task, node) for node in nodes]
    packing = pack(
        np.concatenate([required, vectors]),
        np.concatenate([np.ones(len(frame)), scores]),
        [*share, *sizes],
        room,
        required=[
            *range(len(frame)),
            *(len(frame) + index for index in _best(order, sizes, int((room - frame_tokens) * BEST_SHARE))),
        ],
    )
    kept = {index - len(frame) for index in packing.selected}
    packed = tuple(nodes[index].id for index in order if int(index) in kept)
    session.scratch = replace(session.scratch, packed=packed)
    return len(packed)


def serialize(session: SessionHandle, task: NodeId) -> int:
    """Step 6: write the DIN-Read text and commit it as the phase ``begin``; returns its characters."""
    if next_step(session.state.phase) is not Step.BEGIN:
        return len(session.record.prompt)
    document = _document(session, task, session.scratch.packed)
    prompt = serialize_din(document)
    record = replace(
        session.record,
        begun=True,
        din_version=DIN_VERSION,
        packed=session.scratch.packed,
        system=system_prompt(session.deps.tools),
        prompt=prompt,
    )
    with session.write() as tx:
        tx.update_session(SessionPatch(phase=record))
    return len(prompt)


def context_budget(session: SessionHandle) -> int:
    """Tokens that the DIN-Read text may take: min(8,192, window − thinking − 2,048)."""
    deps = session.deps
    window = deps.reasoner.context_window - session.record.thinking_tokens - RESERVE
    return min(deps.settings.context_tokens, max(RESERVE // 2, window))


def _document(session: SessionHandle, task: NodeId, packed: tuple[NodeId, ...]) -> DinRead:
    profile = session.deps.embedder.profile
    children = session.snapshot.children(task)
    shown = [*children, *session.snapshot.dependencies(task)]
    covered = coverage(current_basis(session), control_vectors(stack(shown, profile.dimension), profile))
    # Coverage says how much of the evidence speaks to a task; one that never searched has none of its own.
    words = {
        node.id: float(value) if session.snapshot.targets(EdgeType.PRODUCED, node.id) else 0.0
        for node, value in zip(shown, covered, strict=True)
    }
    document = build_din(session.snapshot, task, packed, session.state, words, session.deps.tools)
    room = int(context_budget(session) * (1.0 - MIN_EVIDENCE_SHARE))
    return fit_frame(document, room, partial(_tokens, session))


def _tokens(session: SessionHandle, document: DinRead) -> int:
    return session.deps.tokens.count(token_text(serialize_din(document)))


def _block_tokens(session: SessionHandle, task: NodeId, node: Node) -> int:
    counted = session.caches.block_tokens
    if node.id not in counted:
        block = token_text(render_block(session.snapshot, task, node))
        counted[node.id] = max(1, session.deps.tokens.count(block))
    return counted[node.id]


def _best(order: IntArray, sizes: Sequence[int], room: int) -> list[int]:
    """The first items of an order that fit into a room."""
    best: list[int] = []
    for index in order:
        if sizes[index] > room:
            break
        best.append(int(index))
        room -= sizes[index]
    return best


def _shares(total: int, parts: int) -> list[int]:
    """Split a count into near-equal parts of at least 1."""
    share, rest = divmod(max(total, parts), parts)
    return [share + (index < rest) for index in range(parts)]
