"""The kind of answer that a question wants, and whether a text can hold it."""

import pytest

from lethe_core.reasoning.asked import fits, quantities, wanted


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("When was the bridge opened?", "date"),
        ("by what date does it have to be replaced", "date"),
        ("How many people may ride?", "count"),
        ("What is the diameter of the rope?", "number"),
        ("How late may they play?", "time"),
        ("What would a family have to pay?", "number"),
        ("Is the new one heavier or lighter?", "number"),
        ("Who leads the society?", "who"),
        ("until when must seed be returned", "when"),
        ("When does the café open?", "when"),
        ("What do I do when the alarm sounds?", "other"),
        ("Does it ring when the door opens?", "other"),
        ("and where is it based?", "where"),
        ("Which of the bells is cracked?", "which"),
        ("Which year was the bell cast in?", "date"),
        ("Are both of them directors?", "other"),
    ],
)
def test_kind_of_answer(question: str, kind: str) -> None:
    assert wanted(question).kind == kind


def test_a_date_question_wants_a_date() -> None:
    want = wanted("When was it opened?")
    assert fits("It opened in May 1893.", want)
    assert not fits("It opened with a speech.", want)


def test_one_of_several_is_told_by_a_name_or_a_number_of_its_own() -> None:
    want = wanted("Which of the bells is cracked?")
    assert fits("A hairline crack was confirmed in No. 17, running upwards.", want)
    assert not fits("Some of them are older than the tower.", want)


@pytest.mark.parametrize(
    ("question", "answer", "no_answer"),
    [
        ("When does the café open?", "The café opens at noon.", "The café sells bread."),
        ("When can I borrow tools?", "Tools are lent on Saturdays.", "Tools are lent to members."),
        (
            "Until when must seed be returned?",
            "Seed is brought back by 15 December.",
            "Seed is brought back.",
        ),
        ("How long does it stay cold?", "It stays cold for nine hours.", "It stays cold for nine jars."),
        ("How long is it valid?", "It holds for five years.", "It holds for five members."),
        ("How much silica gel is needed?", "A large jar takes 60 g.", "A large jar takes some."),
        ("How much does it cost?", "It costs fifteen pounds.", "It costs fifteen days of work."),
        ("How much is the fee?", "The fee is 1 euro.", "The fee is for 2 members."),
    ],
)
def test_what_can_hold_an_answer(question: str, answer: str, no_answer: str) -> None:
    want = wanted(question)
    assert fits(answer, want)
    assert not fits(no_answer, want)


def test_a_number_must_have_the_unit_that_is_asked_for() -> None:
    want = wanted("How powerful is it?")
    assert fits("It gives 54 kW.", want)
    assert not fits("It is 54 m long.", want)


def test_a_table_header_can_say_the_unit() -> None:
    want = wanted("How long did each last?")
    assert fits("| 2024-06-27 | lightning | 143 |", want, "| date | cause | minutes_lost |\n|---|---|---|")
    assert not fits("| 2024-06-27 | lightning | 143 |", want, "| date | cause | riders |\n|---|---|---|")


def test_quantities_keep_value_and_unit() -> None:
    found = [(q.value, q.unit) for q in quantities("£1,250 for 36 mm of rope, 94.8 per cent on time, 5 kN")]
    assert found == [("1250", "£"), ("36", "mm"), ("94.8", "%"), ("5", "kN")]


def test_a_time_of_day_is_no_number_of_minutes() -> None:
    want = wanted("How late in the evening may they play?")
    assert fits("The bells may be played until 19:45.", want)
    assert not fits("No player goes on for longer than 50 minutes.", want)


def test_money_and_days_count_nothing() -> None:
    want = wanted("How many people climbed the tower?")
    assert fits("Some 13,471 visitors climbed to the gallery.", want)
    assert not fits("Income was £97,205 on 4 May.", want)
