"""What is searched for, and that no search is made twice."""

from hypothesis import given, settings
from hypothesis import strategies as st

from lethe_core.din.document import Warn
from lethe_core.reasoning.queries import (
    first_queries,
    query_key,
    reworded,
    searched,
    signature,
    unused,
)

TASK = "Which company published the first novel of Grace Krilanovich, and where is it based?"


def test_the_first_query_has_the_content_words_and_no_question_words() -> None:
    (query,) = first_queries(TASK)
    assert query.split() == ["company", "published", "novel", "Grace", "Krilanovich", "based"]


def test_several_names_are_each_searched_alone_too() -> None:
    assert first_queries("Are Anna Berg and Carl Dahl both judges?")[1:] == ["Anna Berg", "Carl Dahl"]


def test_siblings_with_a_shared_lead_in_have_different_marks() -> None:
    lead = "For the Otter Trust on the River Wend: "
    assert signature(lead + "how many wardens work there?") != signature(lead + "how long is the river?")


def test_a_failed_search_may_be_made_again_and_an_answered_one_not() -> None:
    made = searched([Warn("searched", "red kites", "failed"), Warn("searched", "blue tits", "nothing")])
    assert unused(["red kites", "the blue tits"], made) == ["red kites"]


_words = st.lists(
    st.sampled_from(["Otter", "river", "Wend", "fee", "warden", "1893", "what", "of", "A-17"]), max_size=8
)


@settings(max_examples=100, deadline=None)
@given(_words, st.lists(_words, max_size=4))
def test_no_query_is_ever_made_that_a_warn_line_shows(task: list[str], made: list[list[str]]) -> None:
    text = " ".join(task)
    known = searched([Warn("searched", " ".join(query), "new") for query in made])
    for queries in (first_queries(text), reworded(text)):
        fresh = [query_key(query) for query in unused(queries, known)]
        assert not set(fresh) & known.answered
        assert len(set(fresh)) == len(fresh)
