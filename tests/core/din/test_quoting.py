"""Quoted text reads back exactly, stays on its lines and can be counted."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lethe_core.din.quoting import (
    escape,
    plain_or_quoted,
    quote,
    quote_lines,
    read_quoted,
    shorten,
    token_text,
    unescape,
    unquote_line,
)
from lethe_core.errors import DinSyntaxError


@settings(max_examples=100, deadline=None)
@given(st.text())
def test_a_quoted_string_is_one_line_and_exact(text: str) -> None:
    written = quote(text)
    assert len(written.splitlines()) == 1
    assert read_quoted(written, 0) == (text, len(written))


@settings(max_examples=100, deadline=None)
@given(st.text() | st.text(alphabet="⟨⟩U+02E\u2028\r8"))
def test_escaped_text_is_exact(text: str) -> None:
    assert unescape(escape(text)) == text
    assert escape(text).splitlines() == escape(text).removesuffix("\n").split("\n") or not text
    assert "\n".join(unquote_line(line) or "" for line in quote_lines(text)) == text


@pytest.mark.parametrize("text", ["", " x", 'say "x"\n', '"x', "a · b", "untitled", "a\u202eb"])
def test_text_that_could_be_misread_is_quoted(text: str) -> None:
    assert plain_or_quoted(text, never=("·",), empty="" if not text else "untitled").startswith('"')


@pytest.mark.parametrize("text", ["Annual report", 'The "Great" Pier', "C:\\papers", "été (2024)"])
def test_ordinary_text_stands_as_it_is(text: str) -> None:
    assert plain_or_quoted(text, never=("·",)) == text


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=400), st.integers(20, 200))
def test_shortened_text_is_one_line_within_its_limit(text: str, limit: int) -> None:
    short = shorten(text, limit)
    assert len(short) <= limit
    assert len(short.splitlines()) <= 1


def test_shortening_cuts_at_a_word() -> None:
    assert shorten("one three fifteen", 10) == "one three…"
    assert shorten("one three fifteen", 14) == "one three…"
    assert shorten("short  and\nplain") == "short and plain"
    assert shorten("字" * 300) == "字" * 199 + "…"


def test_every_short_id_counts_the_same() -> None:
    one = 'e-0001 · A · b · c\n| as [e-91aa 2024-01-01; e-7c0b12] says\n>SUB t-ffff · DONE · "t-1234"'
    other = 'e-abcd · A · b · c\n| as [e-1111 2024-01-01; e-2222] says\n>SUB t-0000 · DONE · "t-9999"'
    assert token_text(one) == token_text(other)
    assert token_text("post-1234 and re-abcd are words") == "post-1234 and re-abcd are words"


@pytest.mark.parametrize("line", ["x", '"open', "12", "[]", '"\\x"'])
def test_no_quoted_text_is_named(line: str) -> None:
    with pytest.raises(DinSyntaxError, match="no quoted text at column 1"):
        read_quoted(line, 0)
    with pytest.raises(DinSyntaxError, match="no such character"):
        unescape("⟨U+FFFFFF⟩")
