import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lethe_core.evidence.blocks import blocks, plain

LINES = [
    "# Head",
    "## Sub ##",
    "Title\n=====",
    "Some words. More words here.",
    "- item",
    "2. item",
    "  continued",
    "",
    "| a | b |",
    "|---|---|",
    "| 1 | 2 |",
    "```",
    "```python",
    "~~~",
    "---",
    "> quoted",
    "a | b",
    "\x00\x01",
    "…",
    "   ",
    "#nohead",
    "\t- deep",
    "Lead-in:",
    "x" * 600,
]
markdown = st.lists(st.sampled_from(LINES) | st.text(max_size=20), max_size=25).map("\n".join)


@settings(max_examples=100, deadline=None)
@given(markdown)
def test_blocks_partition_the_text(text: str) -> None:
    found = blocks(text)
    assert "".join(text[block.start : block.end] for block in found) == (text if text.strip() else "")
    assert all(text[block.start : block.end].strip() for block in found)


def test_kinds_are_told_apart() -> None:
    text = "# H\nprose\nmore\n\n- a\n- b\n\n| x | y |\n|---|---|\n| 1 | 2 |\n\n```\n# no heading\n```\nend\n"
    assert [block.kind for block in blocks(text)] == ["heading", "prose", "list", "table", "code", "prose"]


def test_a_number_that_a_line_break_puts_first_makes_no_list() -> None:
    assert [
        block.kind for block in blocks("It was in the year\n1990. Then it went on\n1991. And so on.")
    ] == ["prose"]


def test_items_apart_by_blank_lines_are_one_list() -> None:
    (block,) = blocks("1. a\n\n   more\n\n2. b\n")
    assert block.kind == "list"
    assert len(block.items) == 2


def test_an_unclosed_fence_hides_nothing() -> None:
    assert [block.kind for block in blocks("```\n\n# Head\n\ntext")] == ["prose", "heading", "prose"]


def test_underlined_lines_are_headings() -> None:
    found = blocks("Title\n=====\n\nSub\n---\ntext\n")
    assert [(block.kind, block.level, block.heading) for block in found[:2]] == [
        ("heading", 1, "Title"),
        ("heading", 2, "Sub"),
    ]


@pytest.mark.parametrize(
    ("written", "read"), [("**Fares** and `code`", "Fares and code"), ("[Fares](http://x.org/a)", "Fares")]
)
def test_a_heading_is_read_without_its_markup(written: str, read: str) -> None:
    assert plain(written) == read
