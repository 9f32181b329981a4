"""BM25 with words weighted by how few sources have them."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from lethe_core.context.lexical import LexicalIndex, words

WORDS = st.lists(st.sampled_from(["rope", "line", "wind", "lift", "gear"]), min_size=0, max_size=6)


def test_the_name_that_every_source_says_once_does_not_outweigh_the_word_that_only_one_has() -> None:
    chunks = [
        words("The Marrow Railway Society reports"),
        words("Fares rose by a tenth"),
        words("About the Marrow Railway and its members"),
        words("Tickets are sold at the lower station"),
        words("The Marrow Railway keeps a file"),
        words("2024-08-14 lightning 87 minutes"),
        words("Wind stopped the cars on four days"),
        words("The controller writes down each stop"),
    ]
    sources = ["report", "report", "about", "about", "file", "file", "file", "file"]
    query = words("Marrow Railway lightning")
    assert LexicalIndex(chunks, sources).scores(query).argmax() == 5
    # Counted over chunks the name wins: that is what the sources are for.
    assert LexicalIndex(chunks).scores(query).argmax() != 5


@given(chunks=st.lists(WORDS, max_size=8), query=WORDS)
def test_scores_are_finite_and_zero_where_no_word_of_the_query_occurs(
    chunks: list[list[str]], query: list[str]
) -> None:
    index = LexicalIndex(chunks)
    scores, coverage = index.scores(query), index.coverage(query)
    assert scores.shape == coverage.shape == (len(chunks),)
    assert np.isfinite(scores).all()
    assert (scores >= 0).all()
    assert ((coverage >= 0) & (coverage <= 1)).all()
    for chunk, score in zip(chunks, scores, strict=True):
        assert (score > 0) == bool(set(chunk) & set(query))


def test_plurals_case_accents_and_thousands_are_one_word() -> None:
    assert words("Cafés 1,250") == words("café 1250")
    assert words("the of and") == []


def test_other_forms_of_a_word_are_the_same_word() -> None:
    assert words("cracked founders offering") == words("crack founder offers")
    assert words("No. 17 and 19") != words("No. 17 and 18")
