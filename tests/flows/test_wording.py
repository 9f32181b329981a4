"""Foreign text moves no cursor; figures read well."""

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flows.wording import STOPPED, count, duration, shown
from lethe_core.report.outcome import STOP_REASONS


@given(st.text(), st.integers(1, 50))
@settings(max_examples=100, deadline=None)
def test_shown_text_is_one_line_without_control_characters_and_no_longer_than_asked(text, limit):
    line = shown(text, limit)
    assert len(line) <= limit
    assert not any(unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp") for c in line)


def test_escape_sequences_and_direction_marks_lose_their_power():
    assert shown("a\x1b[2Jb\u202ec\nd", 80) == "a[2Jbc d"


@pytest.mark.parametrize(
    ("seconds", "text"), [(4.24, "4.2 s"), (59.9, "59.9 s"), (185, "3:05 min"), (3723, "1:02:03 h")]
)
def test_duration(seconds, text):
    assert duration(seconds) == text


def test_count():
    assert [count(n, "source") for n in (0, 1, 1200)] == ["0 sources", "1 source", "1,200 sources"]


def test_every_stop_reason_has_words():
    assert set(STOP_REASONS) <= STOPPED.keys()
