"""The second search goes by what was found, stays with its task, and ends."""

from hypothesis import given, settings
from hypothesis import strategies as st

from lethe_core.din.document import EvidenceBlock
from lethe_core.graph.nodes import ShortId
from lethe_core.reasoning.hops import HopQueryConfig, second_searches
from lethe_core.reasoning.queries import is_later, query_key

TASK = "Which company published the first novel of Grace Krilanovich, and where is it based?"


def shown(number: int, source: str, content: str) -> EvidenceBlock:
    return EvidenceBlock(
        short_id=ShortId(f"e-{number:04x}"),
        title=source,
        source=source,
        date="",
        older_than=None,
        older=False,
        period="",
        synthesis=False,
        place="",
        content=content,
    )


def test_each_of_the_best_sources_is_followed_by_the_names_that_the_task_lacks() -> None:
    evidence = [
        shown(1, "a.md", "Grace Krilanovich wrote it for Two Dollar Radio."),
        shown(2, "b.md", "The novel was praised by Steve Erickson."),
        shown(3, "a.md", "It was set in Oregon."),
    ]
    first, second = second_searches(TASK, evidence)
    assert "Dollar Radio" in first
    assert "Oregon" in first
    assert "Steve Erickson" in second
    assert "Oregon" not in second


def test_what_is_quoted_leads_first_and_only_by_what_it_says_itself() -> None:
    evidence = [
        shown(1, "a.md", "Then Anna Berg came."),
        shown(2, "b.md", "Dear Miss Orchard, we thank you from Tower Lane."),
        shown(3, "b.md", "The crack is in No. 17, near the lip."),
    ]
    first, second = second_searches(TASK, evidence, [evidence[2]])
    assert "No. 17" in first
    assert "Orchard" not in first
    assert "Anna Berg" in second


def test_what_only_one_source_mentions_comes_before_what_all_do() -> None:
    evidence = [shown(n, f"{n}.md", f"Maine Lumber met Person{n} Smith.") for n in range(3)]
    queries = second_searches(TASK, evidence, config=HopQueryConfig(names=1))
    assert all(f"Person{n}" in query and "Maine" not in query for n, query in enumerate(queries))


def test_a_second_search_is_told_from_the_searches_of_other_tasks() -> None:
    (query,) = second_searches(TASK, [shown(1, "a.md", "It was set by Two Dollar Radio.")])
    assert is_later(query_key(query), TASK)
    assert not is_later(query_key(query), "Which river runs through the town of Ashby?")


def test_a_task_longer_than_a_query_is_still_told_by_it() -> None:
    task = " ".join(f"word{chr(97 + n)}{chr(98 + n)}" for n in range(24)) + " and the harbour tower"
    (query,) = second_searches(task, [shown(1, "a.md", "Then Anna Berg came.")])
    assert is_later(query_key(query), task)


def test_where_nothing_new_is_named_there_is_nothing_to_follow() -> None:
    assert second_searches(TASK, []) == []
    assert second_searches(TASK, [shown(1, "a.md", "of Grace Krilanovich, nothing else")]) == []
    assert second_searches("?!", [shown(1, "a.md", "Then Anna Berg came.")]) == []


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.sampled_from("abcd"), st.text(max_size=80)), max_size=8))
def test_at_most_one_query_a_source_and_the_same_each_time(found: list[tuple[str, str]]) -> None:
    evidence = [shown(n, source, content) for n, (source, content) in enumerate(found)]
    queries = second_searches(TASK, evidence)
    assert len(queries) <= min(3, len({source for source, _ in found}))
    assert queries == second_searches(TASK, evidence)
