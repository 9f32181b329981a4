"""How far something has come is told by the latest day."""

from dataclasses import replace
from datetime import date

from lethe_core.control.embedding import Embedder
from lethe_core.din.document import EvidenceBlock
from lethe_core.graph.nodes import ShortId
from lethe_core.reasoning.asof import by_day
from lethe_core.reasoning.reading import read


def block(number: int, title: str, content: str) -> EvidenceBlock:
    return EvidenceBlock(
        ShortId(f"e-{number:04x}"), title, f"{number}.md", "", None, False, "", False, "", content
    )


def test_the_day_by_which_something_was_so_is_read() -> None:
    assert by_day("It had brought in £90 by 31 December 2024.") == date(2024, 12, 31)
    assert by_day("The meeting was on 3 May 2024.") is None
    assert by_day("It is due by 31 June 2024.") is None


def test_of_two_days_the_later_answers_what_came_in_so_far(embedder: Embedder) -> None:
    earlier = "The roof fund had brought in £20,400 of gifts by 31 December 2024."
    later = "Gifts of £31,750 had been received for the roof fund by 30 June 2025."
    evidence = [block(1, "Yearly report", earlier), block(2, "Letter to friends", later)]

    def quoted(question: str) -> list[str]:
        reading = read(question, evidence, embedder)
        return [reading.pieces[index].text for index in reading.quoted]

    assert quoted("How much money in gifts for the roof fund has been received so far?") == [later]
    assert earlier in quoted("How much money in gifts was the roof fund brought in by which day?")


def test_what_once_was_does_not_answer_what_is(embedder: Embedder) -> None:
    once = "The first ferries of 1893 carried 16 persons each, with a guard on the roof."
    now = "Each ferry may carry 34 persons."
    evidence = [
        dated(1, "The early years", once, "2019-08-05"),
        dated(2, "About the ferries", now, "2025-01-20"),
    ]

    def quoted(question: str, shown: list[EvidenceBlock]) -> list[str]:
        reading = read(question, shown, embedder)
        return [reading.pieces[index].text for index in reading.quoted]

    assert quoted("How many persons may each ferry carry?", evidence) == [now]
    assert once in quoted("How many persons did each of the first ferries carry?", evidence)
    assert once in quoted("How many persons may each ferry carry?", evidence[:1])


def dated(number: int, title: str, content: str, date_: str) -> EvidenceBlock:
    return replace(block(number, title, content), date=date_)
