"""Whether a session's graph is sound: the promises of architecture.md, "The graph", looked at from outside.

A store that was only written by Lethe has nothing to report; a hand at the file, a damaged disk or a restored
half of a backup has.
"""

from collections import Counter
from collections.abc import Iterable, Mapping

import numpy as np

from lethe_core.graph.cycles import detect_cycles
from lethe_core.graph.dump import SessionDump
from lethe_core.graph.ids import SHORT_ID
from lethe_core.graph.nodes import DAG_EDGES, Edge, EdgeType, Node, NodeId, TaskNode
from lethe_core.graph.rules import ENDS, EVIDENCE, TASK


def problems_of(dump: SessionDump) -> list[str]:
    """What is wrong with a session, a sentence each; empty for a sound one."""
    nodes = {node.id: node for node in dump.nodes}
    found = [
        *_identities(dump),
        *_embeddings(dump),
        *_edges(dump.edges, nodes),
        *_degrees(dump, nodes),
        *_counters(dump),
    ]
    return [f"session {dump.state.session_id}: {problem}" for problem in found]


def _identities(dump: SessionDump) -> Iterable[str]:
    root = dump.state.root
    if not any(node.id == root and isinstance(node, TaskNode) and node.sequence == 1 for node in dump.nodes):
        yield f"its root task {root} is missing"
    for what, values in (
        ("id", [node.id for node in dump.nodes]),
        ("short id", [node.short_id for node in dump.nodes]),
        ("sequence", [f"{_letter(node)}{node.sequence}" for node in dump.nodes]),
    ):
        for value, times in Counter(values).items():
            if times > 1:
                yield f"the {what} {value} was given {times} times"
    for node in dump.nodes:
        fits = node.id.replace("-", "").startswith(node.short_id[2:]) and node.short_id[:1] == _letter(node)
        if SHORT_ID.fullmatch(node.short_id) is None or not fits:
            yield f"the short id {node.short_id} does not belong to node {node.id}"


def _embeddings(dump: SessionDump) -> Iterable[str]:
    for node in dump.nodes:
        vectors = [("embedding", node.embedding, (dump.dimension,))]
        if isinstance(node, TaskNode) and node.result_embedding.size:
            vectors.append(("result embedding", node.result_embedding, (dump.dimension,)))
        for what, vector, shape in vectors:
            if vector.shape != shape:
                yield f"{node.short_id} has an {what} of {vector.size} numbers instead of {dump.dimension}"
            elif not np.isfinite(vector).all():
                yield f"{node.short_id} has an {what} with NaN or infinity"


def _edges(edges: Iterable[tuple[int, Edge]], nodes: Mapping[NodeId, Node]) -> Iterable[str]:
    for _, edge in edges:
        source, target = nodes.get(edge.source), nodes.get(edge.target)
        if source is None or target is None:
            missing = edge.source if source is None else edge.target
            yield f"a {edge.type} edge dangles: there is no node {missing}"
            continue
        name = f"the {edge.type} edge from {source.short_id} to {target.short_id}"
        letters = (_letter(source), _letter(target))
        if edge.type is EdgeType.SIMILAR_TO:
            if letters[0] != letters[1] or source.sequence >= target.sequence:
                yield f"{name} joins what it must not"
            if edge.similarity is None:
                yield f"{name} has no cosine"
        elif letters != ENDS[edge.type]:
            yield f"{name} joins what it must not"
    cycle = detect_cycles((edge.source, edge.target) for _, edge in edges if edge.type in DAG_EDGES)
    if cycle:
        yield "SUBTASK_OF and DEPENDS_ON close a cycle: " + " → ".join(
            nodes[node].short_id if node in nodes else node for node in cycle
        )


def _degrees(dump: SessionDump, nodes: Mapping[NodeId, Node]) -> Iterable[str]:
    parents = Counter(edge.source for _, edge in dump.edges if edge.type is EdgeType.SUBTASK_OF)
    for task, number in parents.items():
        if number > 1 and task in nodes:
            yield f"{nodes[task].short_id} has {number} parents"
    if parents[dump.state.root]:
        yield "the root task has a parent"
    for key, times in Counter(edge.key for _, edge in dump.edges).items():
        if times > 1:
            yield f"a {key[0]} edge from {key[1]} to {key[2]} exists {times} times"


def _counters(dump: SessionDump) -> Iterable[str]:
    highest = {
        TASK: max((node.sequence for node in dump.nodes if _letter(node) == TASK), default=0),
        EVIDENCE: max((node.sequence for node in dump.nodes if _letter(node) == EVIDENCE), default=0),
    }
    edge = max((number for number, _ in dump.edges), default=0)
    given = dump.counters
    for what, last, most in (
        ("task", given.task, highest[TASK]),
        ("evidence", given.evidence, highest[EVIDENCE]),
        ("edge", given.edge, edge),
    ):
        if most > last:
            yield f"the count of its {what} numbers stands at {last}, below the {most} that is given out"


def _letter(node: Node) -> str:
    return TASK if isinstance(node, TaskNode) else EVIDENCE
