from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lethe_core.evidence.chunk import DEFAULT_CHUNKING, ChunkConfig, chunk_page
from lethe_core.evidence.page import Chunk, Page

SENTENCE = "The railway carries some people up the cliff and brings most of them down again. "
LINES = [
    "# Head",
    "## Sub",
    "### Deep",
    SENTENCE,
    SENTENCE * 8,
    "- item",
    "1. item",
    "  more",
    "",
    "",
    "Lead-in:",
]
LINES += [
    "| a | b |",
    "|---|---|",
    "| 1 | 2 |",
    "| | |",
    "```",
    "---",
    "\x00\x01",
    "x" * 700,
    "Table 1: Fares",
    "é。",
]
markdown = st.lists(st.sampled_from(LINES) | st.text(max_size=30), max_size=40).map("\n".join)


def page(text: str, title: str = "Fares", page_starts: tuple[int, ...] = ()) -> Page:
    return Page("corpus/a.md", title, text, "", "", page_starts=page_starts)


def cut(text: str) -> tuple[Chunk, ...]:
    return chunk_page(page(text))


@settings(max_examples=50, deadline=None)
@given(markdown)
def test_spans_partition_the_page(text: str) -> None:
    chunks = cut(text)
    assert "".join(text[slice(*chunk.span)] for chunk in chunks) == (text if text.strip() else "")
    for chunk in chunks:
        assert chunk.text.strip()
        if chunk.kind != "row":
            assert text[slice(*chunk.span)].strip() == chunk.text


@settings(max_examples=50, deadline=None)
@given(markdown)
def test_only_a_row_exceeds_the_cap(text: str) -> None:
    assert all(len(chunk.text) <= DEFAULT_CHUNKING.max_chars for chunk in cut(text) if chunk.kind != "row")


@settings(max_examples=50, deadline=None)
@given(markdown)
def test_neighbours_that_are_both_short_are_merged(text: str) -> None:
    chunks = cut(text)
    for one, two in pairwise(chunks):
        if "row" not in (one.kind, two.kind):
            both = len(text[one.span[0] : two.span[1]].strip())
            short = DEFAULT_CHUNKING.min_chars
            assert len(one.text) >= short or len(two.text) >= short or both > DEFAULT_CHUNKING.max_chars


@settings(max_examples=60, deadline=None)
@given(markdown.filter(lambda text: 0 < len(text.strip()) < 400))
def test_a_short_page_without_a_table_is_one_chunk(text: str) -> None:
    chunks = cut(text)
    assert len(chunks) == 1 or any(chunk.kind == "row" for chunk in chunks)


def test_a_blank_page_has_no_chunks() -> None:
    assert cut("") == cut(" \n\t\n") == ()


def test_long_prose_is_split_at_sentence_ends() -> None:
    chunks = cut(SENTENCE * 20)
    assert len(chunks) > 2
    assert all(chunk.text.endswith("again.") for chunk in chunks)
    assert all(100 <= len(chunk.text) <= 500 for chunk in chunks)


def test_text_without_sentences_is_cut_at_white_space_and_else_at_the_cap() -> None:
    assert all(chunk.text.endswith("word") for chunk in cut("word " * 300))
    assert [len(chunk.text) for chunk in cut("x" * 1200)] == [500, 500, 200]


def test_each_row_repeats_its_header_outside_its_span() -> None:
    text = "# Fares\n\n## Adults\n\n| Zone | Fare |\n|------|------|\n| A | 3.10 |\n| B | 4.20 |\n"
    first, second = cut(text)
    assert [first.kind, second.kind] == ["row", "row"]
    assert second.text == "| Zone | Fare |\n| --- | --- |\n| B | 4.20 |"
    assert text[slice(*second.span)] == "| B | 4.20 |\n"
    assert second.place == "Fares › Adults"
    assert second.embed_text == "Fares. Adults. Zone: B; Fare: 4.20"


def test_a_tables_caption_goes_to_the_place_of_its_rows() -> None:
    (row,) = cut("Table 2: Fares in 2024\n\n| Zone | Fare |\n|---|---|\n| A | 3 |\n")
    assert row.place == "Table 2: Fares in 2024"
    assert row.span[0] == 0
    assert row.embed_text == "Fares. Table 2: Fares in 2024. Zone: A; Fare: 3"


def test_a_table_is_never_one_chunk_however_short_the_page() -> None:
    assert len(cut("| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |")) == 2


def test_a_row_may_exceed_the_cap_and_an_empty_row_makes_no_chunk() -> None:
    chunks = cut(f"| a | b |\n|---|---|\n| {'long ' * 200} | 2 |\n| | |\n| 3 | 4 |")
    assert len(chunks) == 2
    assert len(chunks[0].text) > 1000


def test_a_header_too_long_to_repeat_is_cut_as_prose() -> None:
    header = " | ".join(["column " * 10] * 40)
    chunks = cut(f"| {header} |\n|{'---|' * 40}\n" + "| 1 |\n" * 10)
    assert {chunk.kind for chunk in chunks} == {"prose"}


def test_a_hostile_table_does_not_multiply() -> None:
    text = f"| {'h' * 1900} |\n|---|\n" + "|1|\n" * 20000
    assert sum(len(chunk.text) for chunk in cut(text)) < 40 * len(text)


def test_a_list_stays_whole_with_its_heading_and_lead_in() -> None:
    items = "\n".join(f"- thing number {n} that is forbidden" for n in range(8))
    text = f"{SENTENCE * 3}\n\n## Rules\n\nForbidden are:\n\n{items}\n\n{SENTENCE * 3}"
    _, rules, _ = cut(text)
    assert rules.kind == "list"
    assert rules.text == f"## Rules\n\nForbidden are:\n\n{items}"
    assert rules.place == "Rules"


def test_a_list_too_long_is_split_between_items() -> None:
    items = "\n".join(f"- Thing {n} is forbidden. It always was and nobody minds it." for n in range(30))
    chunks = cut(items)
    assert all(chunk.kind == "list" and chunk.text.startswith("- ") for chunk in chunks)


def test_a_short_section_keeps_its_place_beside_long_ones() -> None:
    text = f"# A\n\n{SENTENCE * 3}\n\n# Fee\n\n40 euros.\n\n# B\n\n{SENTENCE * 3}"
    assert [chunk.place for chunk in cut(text)] == ["A", "Fee", "B"]


def test_short_sections_merge_under_the_headings_they_share() -> None:
    text = "# All\n\n" + "".join(
        f"## Part {n}\n\nSome forty characters of text stand here.\n\n" for n in range(12)
    )
    places = {chunk.place for chunk in cut(text)}
    assert places == {"All"}


def test_a_printed_page_is_named_in_the_place() -> None:
    text = f"# A\n\n{SENTENCE * 4}\n\n{SENTENCE * 4}"
    chunks = chunk_page(page(text, page_starts=(0, text.index(SENTENCE, 300))))
    assert [chunk.place for chunk in chunks] == ["A › p. 1", "A › p. 2"]


def test_what_is_embedded_begins_with_the_title() -> None:
    (chunk,) = chunk_page(page("Some text.", title="The   title"))
    assert chunk.embed_text == "The title. Some text."
    (untitled,) = chunk_page(page("Some text.", title=""))
    assert untitled.embed_text == "Some text."


def test_sizes_are_settings() -> None:
    chunks = chunk_page(page(SENTENCE * 10), ChunkConfig(min_chars=50, max_chars=200, page_chars=100))
    assert all(len(chunk.text) <= 200 for chunk in chunks)


@pytest.mark.parametrize(
    "junk", ["|" * 50000, "`" * 50000, "#\n" * 20000, "- x\n" * 10000, "\x00" * 50000, "a\n\n" * 10000]
)
def test_junk_is_cut_like_anything_else(junk: str) -> None:
    chunks = cut(junk)
    assert "".join(junk[slice(*chunk.span)] for chunk in chunks) == junk
