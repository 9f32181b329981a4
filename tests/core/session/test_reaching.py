"""What a task reaches, and how far up."""

from typing import Any

from lethe_core.evidence.tables import render_row, row_text
from lethe_core.graph.nodes import EvidenceNode, NodeId, ShortId, TaskNode
from lethe_core.graph.snapshot import GraphSnapshot
from lethe_core.session.lexicon import SessionLexicon
from lethe_core.session.reaching import reach

HEADER = ("span_no", "name", "length_m")
QUESTION = "Which span of the bridge is cracked, and how long is it?"


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
    task = TaskNode(
        description=QUESTION,
        embed_text=QUESTION,
        embedding=world.embedder.embed_documents([QUESTION])[0],
        id=NodeId("task"),
        short_id=ShortId("t-0000"),
        sequence=0,
    )
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
