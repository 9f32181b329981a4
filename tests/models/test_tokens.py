"""Token counts: those of the tokenizer, short text or long."""

from hypothesis import given, settings
from hypothesis import strategies as st

from lethe_core.adapters.models.tokens import WordLlamaTokenCounter

COUNTER = WordLlamaTokenCounter()


def test_counts_are_those_of_the_tokenizer() -> None:
    assert COUNTER.count("") == 0
    assert COUNTER.count("hello") == 1
    assert COUNTER.count("three short words") == 3


def test_a_long_text_counts_like_a_short_one() -> None:
    remembering_nothing = WordLlamaTokenCounter(short=0)
    text = "The bridge was closed on 4 May 2021. " * 20
    assert remembering_nothing.count(text) == COUNTER.count(text)


@settings(max_examples=100, deadline=None)
@given(text=st.text(alphabet=st.characters(exclude_categories=()), max_size=80))
def test_every_text_has_a_count_and_only_the_empty_one_has_none(text: str) -> None:
    assert (COUNTER.count(text) == 0) == (text == "")
    assert COUNTER.count(text) == COUNTER.count(text)
