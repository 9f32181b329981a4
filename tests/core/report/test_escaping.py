"""Hostile text is shown and never obeyed."""

import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from lethe_core.report.escaping import address, cell, inline, line, plain, readable

HOSTILE = [
    ("<script>alert(1)</script>", "&lt;script>alert(1)&lt;/script>"),
    ("![pixel](http://x/y.png)", "pixel"),
    ("[click](javascript:alert(1))", "click"),
    ("see [1] and [^2]", r"see \[1\] and \[^2\]"),
    ("`rm -rf`", r"\`rm -rf\`"),
    ("&lt;b&gt;", "&amp;lt;b&amp;gt;"),
    ("http://evil.example", r"http\://evil.example"),
    ("www.evil.example", r"www\.evil.example"),
    ("mail a@b.example", r"mail a\@b.example"),
    ("*x* and **y z**", r"\*x\* and **y z**"),
    ("snake_case and _x_", r"snake_case and \_x\_"),
    ("a\nb\r\n# c", "a b # c"),
    ("abc\u202edef\u200b", "abcdef"),
    ("~~gone~~", r"\~\~gone\~\~"),
]


@pytest.mark.parametrize(("text", "shown"), HOSTILE)
def test_markup_is_shown_as_text(text, shown):
    assert inline(text) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("# Forged", r"\# Forged"),
        ("- item", r"\- item"),
        ("+ item", r"\+ item"),
        ("1. item", r"1\. item"),
        ("2) item", r"2\) item"),
        ("> quote", r"\> quote"),
        ("---", r"\---"),
        ("===", r"\==="),
        ("12.5 mm", "12.5 mm"),
        ("#1 of all", "#1 of all"),
    ],
)
def test_text_at_the_beginning_of_a_line_forges_no_block(text, shown):
    assert line(text) == shown


def test_ordinary_prose_is_left_as_it_is():
    text = "Wind (mean of 10 minutes) < 15 m/s; cost £1,900 – “fine”, R&D, 5 > 3."
    assert line(text) == text


def test_a_pipe_makes_no_column():
    assert cell("a | b") == "a \\| b"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("https://example.org/a?b=1&c=2", "<https://example.org/a?b=1&c=2>"),
        ("corpus/a_b.md", "corpus/a_b.md"),
        ("javascript:alert(1)", r"javascript\:alert(1)"),
        ("https://x/ onload=<b>", r"https\://x/ onload=&lt;b>"),
        ("corpus/[x](http://y).md", "corpus/x.md"),
    ],
)
def test_only_a_web_address_becomes_a_link(text, shown):
    assert address(text) == shown


@settings(max_examples=100, deadline=None)
@given(st.text(alphabet="ab<>[]()!#|`*_\\&;~:/@.\n-+=1 “”\u202e\x00\ud800", max_size=40))
def test_no_text_opens_html_a_link_an_image_or_code(text):
    for escaped in (inline(text), line(text), cell(text)):
        assert "\n" not in escaped
        bare = re.sub(r"\\[!-/:-@\[-`{-~]", " ", escaped)
        assert not re.search(r"<[A-Za-z/!?]|[\[\]`]", bare)
        escaped.encode("utf-8")
    assert "|" not in re.sub(r"\\[!-/:-@\[-`{-~]", "", cell(text))


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=60))
def test_readable_text_is_one_clean_line(text):
    assert readable(readable(text)) == readable(text)
    assert "\n" not in plain(text)


HARMLESS = {
    "paragraph_open",
    "paragraph_close",
    "inline",
    "text",
    "strong_open",
    "strong_close",
    "text_special",
}
FRAGMENTS = (
    "<b>",
    "<!--",
    "](http://x)",
    "![",
    "[",
    "]",
    "#",
    "- ",
    "1. ",
    "> ",
    "`",
    "**",
    "*",
    "_",
    "|",
    "\\",
)
FRAGMENTS += (
    "&lt;",
    "&#60;",
    "~~",
    "---",
    "===",
    "\n",
    "\n\n",
    "    ",
    "\t",
    "a",
    "b c",
    "http://x.y",
    "<http://x>",
)


@settings(max_examples=100, deadline=None)
@example(["![", "\n", "](http://x)", "#"])
@given(st.lists(st.sampled_from(FRAGMENTS), max_size=10))
def test_a_markdown_parser_sees_nothing_but_a_paragraph_of_text(fragments):
    parser = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    tokens = parser.parse(line("".join(fragments)))
    kinds = {token.type for token in tokens} | {child.type for t in tokens for child in t.children or ()}
    assert kinds <= HARMLESS
    text = "".join(child.content for t in tokens for child in t.children or ())
    assert "&lt;" not in text or "&lt;" in "".join(fragments)
