"""Different figures for the same thing are put side by side."""

from lethe_core.din.document import EvidenceBlock
from lethe_core.graph.nodes import ShortId
from lethe_core.reasoning.candidates import candidates
from lethe_core.reasoning.contradictions import contradict, newest_first, opponents


def block(
    short_id: str, content: str, date: str = "", *, older: bool = False, period: str = ""
) -> EvidenceBlock:
    return EvidenceBlock(
        ShortId(short_id), "Plan", f"{short_id}.md", date, None, older, period, False, "", content
    )


LIMIT = "The last passenger must be off a Harbour Line car within {} minutes of the stop."


def test_same_unit_different_number_same_words_contradict() -> None:
    assert contradict(LIMIT.format(25), LIMIT.format(35))


def test_same_number_other_unit_or_other_words_do_not() -> None:
    assert not contradict(LIMIT.format(25), LIMIT.format(25))
    assert not contradict("The rope is 36 mm thick.", "The rope is 36 m long.")
    assert not contradict(LIMIT.format(25), "The museum closes within 35 minutes of sunset.")


def test_opponents_come_newest_first_and_never_from_the_same_source_or_another_period() -> None:
    evidence = (
        block("e-0001", LIMIT.format(35), "2021-03-29", older=True),
        block("e-0002", LIMIT.format(25), "2024-05-20"),
        block("e-0003", LIMIT.format(30), "2023-01-01"),
    )
    pieces = candidates(evidence)
    assert opponents(pieces[1], pieces, evidence) == [2, 0]
    quarters = (
        block("e-0004", LIMIT.format(20), period="2024-Q1"),
        block("e-0005", LIMIT.format(22), period="2024-Q2"),
    )
    assert opponents(candidates(quarters)[0], candidates(quarters), quarters) == []


def test_undated_is_older_than_dated() -> None:
    dates = ["2024-05-20", "2024", "", "2023-12-31"]
    ordered = sorted(dates, key=lambda date: newest_first(block("e-0001", "x", date)))
    assert ordered[0].startswith("2024")
    assert ordered[-1] == ""
