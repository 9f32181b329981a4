"""The outline of a report: what it states as current, and what its session holds."""

from dataclasses import replace

from lethe_core.graph.nodes import EvidenceNode
from lethe_core.report.assembly import assemble
from lethe_core.report.diff import compare
from lethe_core.report.outlining import MARK, outline_before, outline_of

QUESTION = "How long is the Tarn bridge, and what does a crossing cost?"
LENGTH = "The Tarn bridge is 412 metres long."
TABLE = "| Vehicle | Crossing |\n| --- | --- |\n| Car | 7 euros |\n| Lorry | 21 euros |"


def made(session, embedder, *chunks, **state):
    """A finished session whose answer quotes the first sentence, or the first row, of some chunks."""
    root = session.task(QUESTION)
    nodes = [session.chunk(task=root, **chunk) for chunk in chunks]
    lines = []
    for node in nodes:
        if node.content.startswith("|"):
            head, rule, row, *_ = node.content.splitlines()
            lines.append(f"{head}\n{rule}\n{row} [{node.short_id}]")
        else:
            lines.append(f"“{node.content.splitlines()[0]}” [{node.short_id}]")
    session.result(root, "\n\n".join(lines))
    snapshot = session.snapshot()
    report = assemble(snapshot, session.state(**state), embedder=embedder)
    return report, snapshot


def chunk(content, address="papers/bridge.md", **more):
    return {"content": content, "address": address, "title": "Bridge", "page_fingerprint": "f" * 64, **more}


def test_a_report_holds_what_it_states(session, embedder):
    report, snapshot = made(session, embedder, chunk(LENGTH), chunk(TABLE, "papers/fares.md"))
    outline = outline_of(report, snapshot)
    assert [claim.id for claim in outline.claims] == [claim.id for claim in report.findings]
    held = set(outline.held)
    assert {len(mark) for mark in held} == {MARK}
    for claim in outline.claims:
        assert claim.wording, claim.text
        assert set(claim.passages) | set(claim.wording) <= held
    # Two chunks, a sentence, two rows.
    assert len(held) == 5
    assert {"papers/bridge.md", "papers/fares.md", "f" * MARK} == set(outline.pages)
    assert not compare(outline, outline)


def test_a_sentence_is_known_again_in_another_passage_and_another_dress(session, new_session, embedder):
    one = outline_of(*made(session, embedder, chunk(LENGTH)))
    other = new_session()
    moved = chunk(f"Some more about the bridge.\n\n- **{LENGTH}**\n\nAnd more.", "papers/else.md")
    report, snapshot = made(other, embedder, moved)
    two = outline_of(report, snapshot)
    assert set(one.claims[0].wording) <= set(two.held)
    assert not set(one.claims[0].passages) <= set(two.held)
    assert not compare(one, two).dropped


def test_what_only_an_older_edition_says_is_not_held(session, embedder):
    old = chunk(LENGTH, "papers/v1.md", series="s", newest="papers/v2.md")
    new = chunk("The Tarn bridge is 415 metres long.", "papers/v2.md", series="s", newest="papers/v2.md")
    outline = outline_of(*made(session, embedder, old, new))
    assert outline.older == ("papers/v1.md",)
    assert "papers/v1.md" in outline.pages
    assert len(outline.held) == 2
    assert not any("412" in claim.text for claim in outline.claims)


def test_what_was_before_lies_partly_on_the_session_and_partly_in_its_graph(session, embedder):
    report, snapshot = made(
        session, embedder, chunk(LENGTH, origin_id="x"), chunk("A new sentence about it.", "papers/new.md")
    )
    assert outline_before(session.state(), snapshot) is None
    outline = outline_of(report, snapshot)
    stored = replace(outline, held=("gone",), pages=("papers/gone.md",))
    before = outline_before(session.state(before=stored), snapshot)
    assert before is not None
    (taken_over,) = [n for n in snapshot.evidence.values() if isinstance(n, EvidenceNode) and n.origin_id]
    assert "gone" in before.held
    assert set(before.pages) == {"papers/gone.md", taken_over.address, taken_over.page_fingerprint[:MARK]}
    assert len(before.held) == 3  # what is gone, the chunk, its sentence
