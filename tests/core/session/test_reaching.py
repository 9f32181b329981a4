"""What a task reaches, and how far up."""

from dataclasses import replace
from typing import Any

from lethe_core.evidence.tables import render_row, row_text
from lethe_core.graph.nodes import EvidenceNode, NodeId, ShortId, TaskNode
from lethe_core.graph.snapshot import GraphSnapshot
from lethe_core.session.lexicon import SessionLexicon
from lethe_core.session.reaching import reach

HEADER = ("span_no", "name", "length_m")
QUESTION = "Which span of the bridge is cracked, and how long is it?"


def question(embedder: Any) -> TaskNode:
    return TaskNode(
        description=QUESTION,
        embed_text=QUESTION,
        embedding=embedder.embed_documents([QUESTION])[0],
        id=NodeId("task"),
        short_id=ShortId("t-0000"),
        sequence=0,
    )


def evidence(texts: list[tuple[str, str, str]], embedder: Any) -> list[EvidenceNode]:
    """Nodes of (address, content, embed_text)."""
    vectors = embedder.embed_documents([embed_text for _, _, embed_text in texts])
    return [
        EvidenceNode(
            content=content,
            embed_text=embed_text,
            embedding=vector,
            strength=0.6,
            base_strength=0.6,
            address=address,
            title=address,
            id=NodeId(f"n-{number}"),
            short_id=ShortId(f"e-{number:04x}"),
            sequence=number + 1,
        )
        for number, ((address, content, embed_text), vector) in enumerate(zip(texts, vectors, strict=True))
    ]


def test_what_a_task_went_on_to_search_for_is_reached_first(world: Any) -> None:
    """Of a register's many rows the one of a number that a passage says and the question does not."""
    rows = [(str(n), f"Span {n}", str(300 - 7 * n)) for n in range(1, 31)]
    notes = [f"How the length of a span of the bridge {n} was taken by the crew." for n in range(6)]
    inspection = "At the inspection in June a fault was seen in No. 17."
    nodes = evidence(
        [
            *(("register.csv", render_row(HEADER, row), row_text(HEADER, row)) for row in rows),
            *((f"note-{n}.md", note, note) for n, note in enumerate(notes)),
            ("inspection.md", inspection, inspection),
        ],
        world.embedder,
    )
    task = question(world.embedder)
    snapshot = GraphSnapshot.build([task, *nodes], [])
    asked = world.embedder.embed_queries([QUESTION])[0]

    register = {node.id for node in nodes if node.address == "register.csv"}

    def mass(followed: list[str]) -> dict[NodeId, float]:
        reached = reach(snapshot, task.id, asked, SessionLexicon(), followed=followed)
        found = zip(reached.nodes, reached.pagerank.tolist(), strict=True)
        return {node: mass for node, mass in found if node in register}

    row = nodes[16].id
    before, after = mass([]), mass(["span length No. 17"])
    assert max(after, key=after.__getitem__) == row
    assert max(before, key=before.__getitem__) != row
    assert mass(["span length"]) == before  # a query that says nothing new leads nowhere


def test_a_walk_ends_alike_in_a_process_that_has_read_all_from_the_start_and_in_one_that_has_not(
    world: Any,
) -> None:
    """Two texts mention a source by its title, of which nothing is shown any more: they stay joined."""
    texts = [
        ("old-mill.md", "It grinds rye.", "rye mill"),
        ("bridge.md", "The span is beside the old mill.", "span beside the mill"),
        ("ferry.md", "The ferry lands below the old mill.", "ferry below the mill"),
        ("tower.md", "The tower has four bells.", "tower bells"),
        ("quay.md", "The quay was paved.", "quay paved"),
    ]
    nodes = evidence(texts, world.embedder)
    nodes[0] = replace(nodes[0], title="Old mill")
    task = question(world.embedder)
    lived = SessionLexicon()

    def mass(snapshot: GraphSnapshot, lexicon: SessionLexicon) -> list[float]:
        reached = reach(snapshot, task.id, task.embedding, lexicon)
        return [float(mass) for mass in reached.pagerank]

    mass(GraphSnapshot.build([task, *nodes], []), lived)
    later = GraphSnapshot.build([task, replace(nodes[0], superseded=True), *nodes[1:]], [])
    assert mass(later, lived) == mass(later, SessionLexicon())
