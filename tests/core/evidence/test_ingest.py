"""What of a search's outcome becomes a node, what a link, and what is nothing new."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from lethe_core.control.embedding import EmbeddingProfile
from lethe_core.evidence.ingest import IngestPlan, plan_ingest
from lethe_core.evidence.page import ALONE, Chunk, FoundPage, Page, SearchOutcome
from lethe_core.graph.arrays import Matrix
from lethe_core.graph.nodes import Edge, EdgeType, NodeId, ShortId, TaskNode
from lethe_core.graph.snapshot import GraphSnapshot

TEXTS = (
    "The rope is 412 metres long.",
    "The rope is 415 metres long.",  # as close as can be, and another fact
    "Long is the rope: 412 metres.",
    "A tearoom sells scones.",
    "",
)
GOAL = np.array([1, 0], np.float32)
TASKS = [
    TaskNode(name, name, GOAL, id=NodeId(name), short_id=ShortId(f"t-{name}"), sequence=n)
    for n, name in enumerate(("one", "two"), start=1)
]


class Ropes:
    """What speaks of a rope points one way, all else the other; an empty text nowhere."""

    profile = EmbeddingProfile("ropes", "1", 2, "", False, 0.5, 0.95, 0.65)

    def embed_documents(self, texts: Sequence[str]) -> Matrix:
        rows = [(0, 0) if not text else (1, 0) if "rope" in text else (0, 1) for text in texts]
        return np.array(rows, np.float32).reshape(-1, 2)

    def embed_queries(self, texts: Sequence[str]) -> Matrix:
        return self.embed_documents(texts)


def page(number: int, texts: Sequence[str], *, older: bool = False, hits: Sequence[int] = ()) -> FoundPage:
    chunks = tuple(Chunk(text, text, (0, len(text)), "", "prose") for text in texts)
    address = f"papers/{number}.md"
    edition = replace(ALONE, series="s", older=older) if older else ALONE
    return FoundPage(Page(address, "", "", "", ""), address, edition, chunks, tuple(hits))


def grown(snapshot: GraphSnapshot, task: NodeId, plan: IngestPlan) -> GraphSnapshot:
    """A snapshot with the plan carried out."""
    known = len(snapshot.evidence)
    new = [
        replace(node, id=NodeId(f"e{n}"), short_id=ShortId(f"e-{n}"), sequence=n)
        for n, node in enumerate(plan.nodes, start=known + 1)
    ]
    links = [Edge(EdgeType.PRODUCED, task, node) for node in (*(one.id for one in new), *plan.links)]
    return GraphSnapshot.build(
        [*TASKS, *snapshot.evidence.values(), *new], [*snapshot.edges.values(), *links]
    )


def ingest(
    snapshot: GraphSnapshot, task: str, *new: FoundPage, known: Sequence[FoundPage] = ()
) -> IngestPlan:
    return plan_ingest(
        SearchOutcome(new, tuple(known)),
        snapshot=snapshot,
        task=NodeId(task),
        embedder=Ropes(),
        goal_query=GOAL,
        task_query=GOAL,
    )


EMPTY = GraphSnapshot.build(TASKS, [])
outcomes = st.lists(st.lists(st.sampled_from(TEXTS), max_size=4), max_size=3)


@settings(max_examples=100, deadline=None)
@given(outcomes, outcomes)
def test_what_was_found_before_is_nothing_new_to_its_task_and_a_link_for_another(first, second):
    pages = [page(n, texts) for n, texts in enumerate(first)]
    plan = ingest(EMPTY, "one", *pages)
    assert len({node.content_hash for node in plan.nodes}) == len(plan.nodes)
    assert all(0.30 <= node.base_strength == node.strength <= 0.95 for node in plan.nodes)
    assert plan.links == ()
    graph = grown(EMPTY, NodeId("one"), plan)
    assert ingest(graph, "one", *pages) == IngestPlan((), (), False)
    other = ingest(graph, "two", *pages, *(page(9 + n, texts) for n, texts in enumerate(second)))
    assert set(other.links) == set(graph.evidence)
    assert other.n_new == len(other.nodes) + len(other.links)
    held = {node.content for node in graph.evidence.values()}
    assert held.isdisjoint(node.content for node in other.nodes)


@settings(max_examples=100, deadline=None)
@given(outcomes)
def test_nothing_is_lost_but_what_is_held_in_other_words(found):
    plan = ingest(EMPTY, "one", *(page(n, texts) for n, texts in enumerate(found)))
    kept = {node.content for node in plan.nodes}
    offered = {text for texts in found for text in texts}
    assert kept <= offered
    # The first and the third say the same; the second, as near to both, another figure.
    same = {TEXTS[0], TEXTS[2]}
    assert offered - kept <= same
    assert bool(kept & same) == bool(offered & same)
    assert plan.yielded == bool(offered & {TEXTS[0], TEXTS[1], TEXTS[2]})


def test_of_a_known_page_only_what_matched_counts():
    plan = ingest(EMPTY, "one", known=[page(1, [TEXTS[0], TEXTS[3]], hits=[1])])
    assert [node.content for node in plan.nodes] == [TEXTS[3]]
    assert not plan.yielded


def test_what_an_older_and_the_present_edition_share_is_the_present_ones():
    plan = ingest(EMPTY, "one", page(1, [TEXTS[0]], older=True), page(2, [TEXTS[0]]))
    assert [node.address for node in plan.nodes] == ["papers/2.md"]


def test_what_several_issues_share_is_the_newest_ones():
    issues = [
        replace(page(n, [TEXTS[0]]), edition=replace(ALONE, series="s", period=period))
        for n, period in enumerate(("2021", "2024", "2023"))
    ]
    assert [node.period for node in ingest(EMPTY, "one", *issues).nodes] == ["2024"]


def test_nothing_found_is_no_yield():
    assert ingest(EMPTY, "one") == IngestPlan((), (), False)
