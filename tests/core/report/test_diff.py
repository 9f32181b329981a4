"""What changed: nothing against itself, mirrored when the two change places, and the same in any order."""

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from lethe_core.graph.outline import Outline, OutlinedClaim, OutlinedSource
from lethe_core.report.diff import Changes, compare

SOURCES = tuple(OutlinedSource(f"Title {n}", f"papers/{n}.md", f"202{n}", f"f{n}") for n in range(4))
TEXTS = (
    "“The Tarn bridge is 412 metres long.”",
    "“The Tarn bridge is 415 metres long.”",
    "“The Tarn bridge is 415 metres long”.",
    "“A ticket for the ferry costs 3 euros on weekdays.”",
    "“A ticket for the ferry costs 4 euros on weekdays.”",
    "“The ferry at Lisk carries 40 cars.”",
    "“The ferry at Lisk carries no cars.”",
    "Line: A; Speed: 80",
    "Line: A; Speed: 90",
    "“Rye is ground by two wheels.”",
    "",
)

few = settings(max_examples=50, deadline=None)  # an outline takes long to draw


@st.composite
def outlines(draw: st.DrawFn) -> Outline:
    marks = st.lists(st.sampled_from("abcdef"), max_size=3, unique=True).map(tuple)
    claims = draw(
        st.lists(
            st.builds(
                OutlinedClaim,
                text=st.sampled_from(TEXTS),
                sources=st.lists(st.integers(0, 3), max_size=2, unique=True).map(tuple),
                passages=marks,
                wording=marks,
                finding=st.booleans(),
                id=st.sampled_from(["c1", "c2", "c3"]),
            ),
            max_size=6,
        )
    )
    group = st.lists(st.integers(0, max(0, len(claims) - 1)), min_size=2, max_size=3, unique=True)
    groups = draw(st.lists(group, max_size=2)) if len(claims) >= 3 else []
    return Outline(
        session="s-a",
        sources=SOURCES,
        claims=tuple(claims),
        contradictions=tuple(map(tuple, groups)),
        held=tuple(draw(st.lists(st.sampled_from("abcdef"), unique=True))),
        pages=tuple(draw(st.lists(st.sampled_from(["papers/0.md", "papers/1.md", "f2", "f3"])))),
    )


def plain(changes: Changes) -> dict[str, set[object]]:
    """The changes without their order."""

    def words(statement: object) -> object:
        return (statement.text, statement.sources, frozenset(statement.ids))  # type: ignore[attr-defined]

    return {
        "new": {words(item) for item in changes.new_findings},
        "dropped": {words(item.statement) for item in changes.dropped},
        "old to new": {(words(item.old), words(item.new)) for item in changes.changed_figures},
        "sources": set(changes.new_sources),
        "vanished": set(changes.vanished_sources),
        "appeared": {frozenset(map(words, group)) for group in changes.appeared},
        "settled": {frozenset(map(words, group)) for group in changes.settled},
    }


@few
@given(outlines())
def test_nothing_changed_against_itself(outline: Outline) -> None:
    # A source that was cited was read.
    read = replace(outline, pages=tuple(source.address for source in outline.sources))
    assert not compare(read, read)


@few
@given(outlines(), outlines())
def test_the_other_way_round_new_is_dropped_and_old_is_new(a: Outline, b: Outline) -> None:
    there, back = plain(compare(a, b)), plain(compare(b, a))
    assert there["new"] == back["dropped"]
    assert there["dropped"] == back["new"]
    assert there["old to new"] == {(old, new) for new, old in back["old to new"]}
    assert there["sources"] == back["vanished"]
    assert there["appeared"] == back["settled"]
    assert there["settled"] == back["appeared"]


def shuffled(outline: Outline, random: object) -> Outline:
    """The same with its sources and claims in another order."""
    sources, claims = list(range(len(outline.sources))), list(range(len(outline.claims)))
    random.shuffle(sources)  # type: ignore[attr-defined]
    random.shuffle(claims)  # type: ignore[attr-defined]
    moved = tuple(
        replace(outline.claims[old], sources=tuple(sources.index(n) for n in outline.claims[old].sources))
        for old in claims
    )
    return replace(
        outline,
        sources=tuple(outline.sources[old] for old in sources),
        claims=moved,
        contradictions=tuple(tuple(claims.index(n) for n in group) for group in outline.contradictions),
        held=outline.held[::-1],
    )


@few
@given(outlines(), outlines(), st.randoms(use_true_random=False))
def test_the_order_of_statements_and_sources_decides_nothing(a: Outline, b: Outline, random: object) -> None:
    assert plain(compare(a, b)) == plain(compare(shuffled(a, random), shuffled(b, random)))


@few
@given(outlines(), outlines())
def test_what_is_held_on_both_sides_is_no_change_however_it_is_quoted(a: Outline, b: Outline) -> None:
    everything = tuple("abcdef")
    claims = tuple(replace(claim, passages=claim.passages or ("a",)) for claim in (*a.claims, *b.claims))
    one = replace(a, claims=claims[: len(a.claims)], held=everything, pages=tuple(s.address for s in SOURCES))
    two = replace(b, claims=claims[len(a.claims) :], held=everything)
    assert not compare(one, replace(two, pages=tuple(s.address for s in SOURCES), sources=one.sources))


def claim(text: str, *, source: int = 0, passage: str, **more: object) -> OutlinedClaim:
    return OutlinedClaim(text, (source,), (passage,), (), finding=True, **more)  # type: ignore[arg-type]


def outline(*claims: OutlinedClaim, pages: str = "0123", groups: tuple[tuple[int, ...], ...] = ()) -> Outline:
    return Outline(
        session="s-before",
        sources=SOURCES,
        claims=claims,
        contradictions=groups,
        held=tuple(mark for one in claims for mark in one.passages),
        pages=tuple(f"papers/{n}.md" for n in pages),
    )


def test_a_changed_figure_is_told_with_both_sources_and_is_neither_new_nor_dropped() -> None:
    changes = compare(outline(claim(TEXTS[0], passage="a")), outline(claim(TEXTS[1], source=1, passage="b")))
    (figure,) = changes.changed_figures
    assert (figure.old.text, figure.old.sources) == (TEXTS[0], (SOURCES[0],))
    assert (figure.new.text, figure.new.sources, figure.new.numbers) == (TEXTS[1], (SOURCES[1],), (2,))
    assert not changes.new_findings
    assert not changes.dropped


def test_of_two_statements_with_other_figures_that_of_the_same_source_is_the_changed_one() -> None:
    before = outline(claim(TEXTS[3], source=2, passage="a"))
    other = "“A ticket for the ferry costs 5 euros on weekdays.”"
    now = outline(claim(other, source=1, passage="b"), claim(TEXTS[4], source=2, passage="c"))
    changes = compare(before, now)
    assert [figure.new.text for figure in changes.changed_figures] == [TEXTS[4]]
    assert [new.text for new in changes.new_findings] == [other]


def test_in_one_source_a_year_may_change_with_the_figure() -> None:
    old = claim("“From 2024 on the crossing fee is 20 euros.”", passage="a")
    new = claim("“From 2025 on the crossing fee is 25 euros.”", passage="b")
    assert len(compare(outline(old), outline(new)).changed_figures) == 1


def test_a_reversed_statement_is_new_and_the_old_one_dropped() -> None:
    changes = compare(outline(claim(TEXTS[5], passage="a")), outline(claim(TEXTS[6], passage="b")))
    assert [new.text for new in changes.new_findings] == [TEXTS[6]]
    assert [(gone.statement.text, gone.vanished) for gone in changes.dropped] == [(TEXTS[5], False)]


def test_a_dropped_statement_says_whether_its_source_vanished() -> None:
    before = outline(claim(TEXTS[9], source=3, passage="a"))
    (gone,) = compare(before, outline(pages="012")).dropped
    assert gone.vanished
    (source,) = compare(before, outline(pages="012")).vanished_sources
    assert source == SOURCES[3]
    # The same content under another name is there.
    moved = replace(outline(pages="012"), pages=("f3",))
    assert not compare(before, moved).dropped[0].vanished


def test_a_statement_in_other_words_on_other_passages_is_no_change() -> None:
    before = outline(claim("The ferry at Lisk carries 40 cars.", passage="a"))
    now = outline(claim("“The ferry at Lisk carries 40 cars”", source=1, passage="b"))
    assert not compare(before, now)


def test_contradictions_appear_and_are_settled() -> None:
    one, other = claim(TEXTS[0], passage="a"), claim(TEXTS[1], source=1, passage="b")
    apart, together = outline(one), outline(one, other, groups=((0, 1),))
    assert [[s.text for s in group] for group in compare(apart, together).appeared] == [list(TEXTS[:2])]
    assert [[s.text for s in group] for group in compare(together, apart).settled] == [list(TEXTS[:2])]
    # Not reported any more, though both sides stand: that is the report's choice.
    unsaid = replace(apart, held=together.held)
    assert not compare(together, unsaid).settled
