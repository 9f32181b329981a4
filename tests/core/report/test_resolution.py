"""Claims rest on original chunks, never on a synthesis."""

from lethe_core.graph.nodes import EvidenceKind
from lethe_core.report.claims import drafts_of, read_cited
from lethe_core.report.resolution import resolve
from lethe_core.report.wording import Rarity

ROPE = "The hauling rope of the Abbey Line is 36 mm thick."
CAR = "Each car of the Harbour Line carries 26 people."


def resolved(session, text):
    drafts = [draft for block in read_cited(text) for draft in drafts_of(block)]
    rarity = Rarity.of([ROPE, CAR])
    return resolve(drafts, session.snapshot(), embedder=session.embedder, rarity=rarity)


def test_a_cited_synthesis_gives_way_to_the_chunk_that_says_it(session):
    session.task("q")
    rope, car = session.chunk(ROPE, "a.md"), session.chunk(CAR, "b.md")
    below = session.synthesis("Ropes and cars.", [rope, car])
    above = session.synthesis("All of it.", [below])
    first, second = resolved(session, f"“{ROPE}” [{above.short_id}]\n“{CAR}” [{below.short_id}]")
    assert [c.content for c in first.chunks] == [ROPE]
    assert [c.content for c in second.chunks] == [CAR]
    assert all(c.kind is EvidenceKind.CHUNK for r in (first, second) for c in r.chunks)


def test_a_claim_over_all_of_a_synthesis_keeps_all_of_its_chunks(session):
    session.task("q")
    rope, car = session.chunk(ROPE, "a.md"), session.chunk(CAR, "b.md")
    synthesis = session.synthesis("Ropes and cars.", [rope, car])
    claim_text = "The Abbey Line rope is 36 mm thick and a Harbour Line car carries 26 people"
    (claim,) = resolved(session, f"{claim_text} [{synthesis.short_id}].")
    assert [c.content for c in claim.chunks] == [ROPE, CAR]
    assert claim.support.supported


def test_unknown_ids_are_removed_and_counted(session):
    task = session.task("q")
    rope = session.chunk(ROPE, "a.md")
    known, unknown, wrong = resolved(
        session, f"“{ROPE}” [{rope.short_id}; e-9999]\n“{CAR}” [e-8888]\nThe task [e-{task.short_id[2:]}ff]."
    )
    assert (len(known.chunks), known.removed, known.support.supported) == (1, 1, True)
    assert (unknown.chunks, unknown.removed, unknown.support.supported) == ((), 1, False)
    assert wrong.removed == 1


def test_a_borrowed_bracket_is_kept_only_when_it_bears_the_sentence_out(session):
    session.task("q")
    rope = session.chunk(ROPE, "a.md")
    borne, own = resolved(session, f"The Abbey Line has a hauling rope. It is 36 mm thick [{rope.short_id}].")
    assert borne.chunks == own.chunks
    stray, _ = resolved(
        session, f"Whales sing at dawn. The Abbey Line rope is 36 mm thick [{rope.short_id}]."
    )
    assert stray.chunks == ()
    assert stray.support.how == "none"
