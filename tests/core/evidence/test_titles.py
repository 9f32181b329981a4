"""A text's titles are those that it contains as whole words, whatever the order they became known in."""

from hypothesis import given
from hypothesis import strategies as st

from lethe_core.evidence.terms import spaced
from lethe_core.evidence.titles import TitleIndex

words = st.lists(st.sampled_from(["a", "b", "ab", "c"]), min_size=1, max_size=4).map(" ".join)
texts = st.lists(st.sampled_from(["a", "b", "ab", "c", "d"]), max_size=12).map(" ".join)


@given(st.lists(words, max_size=8), texts)
def test_finds_what_looking_for_each_title_finds(titles: list[str], text: str) -> None:
    plain = spaced(text)
    assert TitleIndex(titles).in_text(plain) == {title for title in titles if f" {title} " in plain}


@given(st.lists(words, max_size=8), st.lists(words, max_size=8), texts)
def test_titles_added_later_count_as_those_given_at_once(
    early: list[str], late: list[str], text: str
) -> None:
    index = TitleIndex(early)
    added = index.add(late)
    assert set(added) == set(late) - set(early)
    assert index.in_text(spaced(text)) == TitleIndex([*early, *late]).in_text(spaced(text))


def test_a_title_inside_a_word_is_none() -> None:
    assert TitleIndex(["rain"]).in_text(spaced("Trains of rain, training")) == {"rain"}
    assert TitleIndex([""]).in_text(spaced("anything")) == set()
