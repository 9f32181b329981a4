"""The session's words: read as evidence comes, the same as if it had all been there."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lethe_core.graph.nodes import EvidenceKind, EvidenceNode
from lethe_core.session.lexicon import SessionLexicon

NAMES = ["Old Mill", "Ada Bell", "Orle", "Tarn Bridge", "Bridge of Orle"]


def evidence(sequence: int, said: list[int], title: int | None) -> EvidenceNode:
    text = " and ".join(f"the {NAMES[name]} stands by {NAMES[name]}" for name in said) or "nothing is said"
    heading = "" if title is None else NAMES[title]
    name = f"n{sequence}"
    return EvidenceNode(
        f"It is known that {text}.", f"{heading}. {text}", np.zeros(2, dtype=np.float32), 0.5, 0.5,
        title=heading, address=f"{title}-{sequence % 3}.md", id=name, sequence=sequence,
    )  # fmt: skip


nodes = st.lists(
    st.tuples(st.lists(st.integers(0, 4), max_size=3), st.one_of(st.none(), st.integers(0, 4))),
    max_size=8,
).map(lambda drawn: [evidence(n + 1, *one) for n, one in enumerate(drawn)])


@settings(max_examples=40, deadline=None)
@given(nodes, st.data())
def test_evidence_that_came_one_by_one_has_the_terms_and_scores_of_the_whole(found, data):
    growing, whole = SessionLexicon(), SessionLexicon()
    for end in range(len(found) + 1):
        growing.anchors(found[:end])
    shown = [node for node in found if data.draw(st.booleans())]
    # Titles of all sources count, whether they are shown or not.
    whole.anchors(found)
    for asked in (found, shown):
        assert [set(one.terms) for one in growing.anchor_nodes(asked)] == [
            set(one.terms) for one in whole.anchor_nodes(asked)
        ]
        assert growing.anchors(asked).terms == whole.anchors(asked).terms
        assert growing.anchors(asked).weight.sum() == pytest.approx(whole.anchors(asked).weight.sum())
        query = "what is known of the old mill and the bridge of Orle"
        assert growing.bm25(query, asked).tolist() == whole.bm25(query, asked).tolist()
    assert growing.terms_of("of the old mill") == whole.terms_of("of the old mill")


def test_a_title_is_found_in_a_text_that_was_read_before_it_but_only_as_whole_words():
    lexicon = SessionLexicon()
    old = [evidence(1, [0], None), evidence(2, [2], None)]
    lexicon.anchors(old)
    mill = EvidenceNode("x", "x", old[0].embedding, 0.5, 0.5, title="Mill by Old", address="m.md", id="n3")
    stands = EvidenceNode("x", "x", old[0].embedding, 0.5, 0.5, title="Orle stands", address="s.md", id="n4")
    lexicon.anchors([*old, mill, stands])
    terms = [set(node.terms) for node in lexicon.anchor_nodes(old)]
    assert not any("mill by old" in own for own in terms)
    assert ["orle stands" in own for own in terms] == [False, True]


def test_the_ids_that_syntheses_cite_are_no_terms():
    """They are drawn anew in every run, some look like identifiers and some do not."""

    def terms(cited: str) -> list[tuple[str, ...]]:
        nodes = [
            replace(
                evidence(n, [n], None), content=f"The mill is old [{cited}].", kind=EvidenceKind.SYNTHESIS
            )
            for n in range(1, 4)
        ]
        lexicon = SessionLexicon()
        return [lexicon.anchors(nodes).terms, *(tuple(node.terms) for node in lexicon.anchor_nodes(nodes))]

    assert terms("e-12ab") == terms("e-abcd") == [(), (), (), ()]
