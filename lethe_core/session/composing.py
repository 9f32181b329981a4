"""Steps 4 to 6: what the model is shown (algorithms.md 5; architecture.md, "DIN").

Expansion by Personalized PageRank from the selected task, scoring, packing under a token budget, and the
DIN-Read text, which is committed with the packed ids as the phase ``begin``.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Final

import numpy as np

from lethe_core.context.anchors import DEFAULT_ANCHORS, anchored, anchored_seeds, find_anchors, relevance
from lethe_core.context.packing import pack
from lethe_core.context.ppr import PageRank, personalized_pagerank
from lethe_core.context.scoring import alternating_order, novelty_term, score_candidates
from lethe_core.context.weights import EdgeArrays, WeightMatrix, adjacency, end_cosines, seed_vector
from lethe_core.control.basis import coverage
from lethe_core.control.vectors import alignments, control_vectors, cosines
from lethe_core.din.build import build_din, render_block, token_text
from lethe_core.din.document import DIN_VERSION, DinRead
from lethe_core.din.fitting import fit_frame
from lethe_core.din.read import serialize_din
from lethe_core.din.system_prompt import system_prompt
from lethe_core.graph.arrays import FloatArray, IntArray, Matrix
from lethe_core.graph.nodes import EdgeType, EvidenceNode, Node, NodeId, TaskNode, TaskStatus
from lethe_core.graph.session_state import SessionPatch
from lethe_core.graph.snapshot import stack
from lethe_core.session.handle import SessionHandle
from lethe_core.session.record import Step, next_step
from lethe_core.session.selecting import current_basis

RESERVE: Final = 2048  # tokens of the model's window kept for system prompt, schema and answer
# Of the room for evidence, filled by score alone before information gain fills the rest: gain is so flat in
# the score, and so steep in the tokens, that it left the best-scored row of a table out for its length.
BEST_SHARE: Final = 0.75
MIN_EVIDENCE_SHARE: Final = 0.5  # of the context that dependencies' and subtasks' results must leave


def expand(session: SessionHandle, task: NodeId) -> int:
    """Step 4: rank every node by a random walk from the task; returns how many it could show."""
    if next_step(session.state.phase) is not Step.BEGIN:
        return 0
    snapshot = session.snapshot
    tasks = list(snapshot.tasks.values())
    evidence = [node for node in snapshot.evidence.values() if snapshot.visible_to(task, node)]
    nodes: list[Node] = [*tasks, *evidence]
    at = {node.id: index for index, node in enumerate(nodes)}
    edges = [edge for edge in snapshot.edges.values() if edge.source in at and edge.target in at]
    source = np.array([at[edge.source] for edge in edges], dtype=np.int64)
    target = np.array([at[edge.target] for edge in edges], dtype=np.int64)
    vectors = represent(nodes, session.deps.embedder.profile.dimension)
    similar = [edge.similarity for edge in edges]
    cosine = end_cosines(vectors, source, target) if edges else np.zeros(0)

    def score(name: str) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        values = [None if one is None else getattr(one, name) for one in similar]
        return np.array([np.nan if value is None else value for value in values], dtype=np.float64)

    weights = adjacency(
        len(nodes),
        EdgeArrays(
            source=source,
            target=target,
            kind=np.array([edge.type.value for edge in edges], dtype=np.str_),
            cosine=cosine,
            confidence=score("confidence"),
            support=score("support"),
            contradiction=score("contradiction"),
        ),
    )
    above = snapshot.parent(task)
    structure = seed_vector(
        len(nodes),
        at[task],
        parents=[] if above is None else [at[above]],
        children=[at[child.id] for child in snapshot.children(task)],
        dependencies=[at[other.id] for other in snapshot.dependencies(task)],
        evidence=[at[node.id] for node in snapshot.produced(task) if node.id in at],
    )
    relevant = _relevance(session, task, nodes)
    rank = _anchored_walk(session, task, nodes, weights, structure, relevant)
    told = {task, above, *(child.id for child in snapshot.children(task))}
    told |= {other.id for other in snapshot.dependencies(task)}
    reached = [
        index
        for index, node in enumerate(nodes)
        if rank.scores[index] > 0.0
        and (isinstance(node, EvidenceNode) or (node.status is TaskStatus.DONE and node.id not in told))
    ]
    session.scratch = replace(
        session.scratch,
        candidates=tuple(nodes[index].id for index in reached),
        pagerank=rank.scores[reached],
        relevance=relevant[reached],
    )
    return len(reached)


def pack_evidence(session: SessionHandle, task: NodeId) -> int:
    """Step 5: score what was reached and pack it into the token budget; returns how many were packed."""
    if next_step(session.state.phase) is not Step.BEGIN:
        return len(session.record.packed)
    deps, snapshot, record = session.deps, session.snapshot, session.record
    dimension = deps.embedder.profile.dimension
    nodes = [snapshot.node(node) for node in session.scratch.candidates]
    selected = snapshot.tasks[task]
    above = snapshot.parent(task)
    frame: list[Node] = [selected]
    frame += [] if above is None else [snapshot.tasks[above]]
    frame += snapshot.dependencies(task)
    vectors = represent(nodes, dimension)
    required = represent(frame, dimension)
    # A subtask's evidence serves the goal through its task: what is near a goal of many parts is near none.
    aligned = alignments(vectors, session.query_vector(selected.embed_text))
    scores = score_candidates(
        aligned,
        session.scratch.pagerank,
        # A task's result is as strong as it gets.
        np.array(
            [node.strength if isinstance(node, EvidenceNode) else 1.0 for node in nodes], dtype=np.float64
        ),
        novelty_term(vectors, required),
        record.pressure,
    )
    room = context_budget(session)
    frame_tokens = min(_tokens(session, _document(session, task, ())), room - 1)
    # The frame stands as one required item a task, so that the packed evidence adds to what is said anyway.
    share = _shares(frame_tokens, len(frame))
    sizes = [_block_tokens(session, task, node) for node in nodes]
    order = alternating_order(scores, session.scratch.relevance)
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


def represent(nodes: Sequence[Node], dimension: int) -> Matrix:
    """Vectors that stand for nodes, (n, d): a DONE task is represented by its result."""
    matrix = stack(nodes, dimension)
    for index, node in enumerate(nodes):
        if isinstance(node, TaskNode) and node.status is TaskStatus.DONE and node.result_embedding.size:
            matrix[index] = node.result_embedding
    return matrix


def _relevance(session: SessionHandle, task: NodeId, nodes: Sequence[Node]) -> FloatArray:
    """How near each piece of evidence is to the task by meaning and by words: (n,) in [0, 1], 0 for tasks."""
    asked = session.snapshot.tasks[task].embed_text
    evidence = [node for node in nodes if isinstance(node, EvidenceNode)]
    vectors = stack(evidence, session.deps.embedder.profile.dimension)
    relevant = np.zeros(len(nodes))
    relevant[len(nodes) - len(evidence) :] = relevance(
        cosines(vectors, session.query_vector(asked)), session.caches.lexicon.bm25(asked, evidence)
    )
    return relevant


def _anchored_walk(
    session: SessionHandle,
    task: NodeId,
    nodes: Sequence[Node],
    weights: WeightMatrix,
    structure: FloatArray,
    relevant: FloatArray,
) -> PageRank:
    """The walk on the graph and its lexical anchors; only what stands in evidence anchors (5.1b)."""
    lexicon = session.caches.lexicon
    evidence = [node for node in nodes if isinstance(node, EvidenceNode)]
    anchors = find_anchors(lexicon.anchor_nodes(evidence))
    anchors = replace(anchors, node=anchors.node + len(nodes) - len(evidence))
    terms = lexicon.terms_of(session.snapshot.tasks[task].description)
    seeds = anchored_seeds(structure, relevant, terms, anchors)
    rank = personalized_pagerank(anchored(weights, anchors), seeds, damping=DEFAULT_ANCHORS.damping)
    return replace(rank, scores=rank.scores[: len(nodes)])


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
