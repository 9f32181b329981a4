"""Different figures for the same thing, and nothing that only looks like it."""

import pytest

from lethe_core.report.disagreements import Stated, disagreements, figures_disagree

DRIVE = "The last passenger must be off a Harbour Line car within {} of the stop."


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (DRIVE.format("25 minutes"), DRIVE.format("35 minutes")),
        ("The standby drive gives 54 kW at the shaft.", "At the shaft the standby drive gives 39 kW."),
        ("The railway opened to the public in 1894.", "The railway opened to the public in 1896."),
        ("In 2024 the fare was £1.90 for an adult.", "The fare was £2.10 for an adult."),
    ],
)
def test_other_figures_for_the_same_thing_disagree(first, second):
    assert figures_disagree(first, second)
    assert figures_disagree(second, first)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (DRIVE.format("25 minutes"), DRIVE.format("25 minutes")),
        (DRIVE.format("25 minutes"), DRIVE.format("35 minutes").replace("Harbour", "Abbey")),
        ("In 2023 it burned 318 litres of diesel.", "In 2024 it burned 290 litres of diesel."),
        ("On 3 May it rained 12 mm on the pier.", "On 4 May it rained 14 mm on the pier."),
        ("The rope is 36 mm thick.", "The rope is 120 m long."),
        ("It carried 26 people, 14 seated.", "It carried 26 people."),
        ("Tea is served from noon for £3.", "The rope costs £900 a year to keep."),
    ],
)
def test_what_is_about_something_else_does_not_disagree(first, second):
    assert not figures_disagree(first, second)


def groups(session, stated, evidence=()):
    def same(a, b):
        return a.address == b.address

    found = disagreements(stated, evidence, session.snapshot(), same)
    return [[item.chunk.address for item in group] for group in found]


def test_sources_that_disagree_are_grouped_newest_first(session):
    session.task("How soon?")
    texts = [DRIVE.format(f"{n} minutes") for n in (35, 25, 30)]
    dates = ("2021", "2024-03-11", "2023-05")
    chunks = [session.chunk(t, f"{d}.md", date=d) for t, d in zip(texts, dates, strict=True)]
    stated = [Stated(text, chunk) for text, chunk in zip(texts, chunks, strict=True)]
    assert groups(session, stated) == [["2024-03-11.md", "2023-05.md", "2021.md"]]
    assert groups(session, stated[:1], stated[1:2]) == [["2024-03-11.md", "2021.md"]]
    assert groups(session, (), stated) == []


def test_one_source_and_issues_of_different_periods_do_not_disagree(session):
    session.task("How soon?")
    a = session.chunk(DRIVE.format("25 minutes"), "a.md")
    b = session.chunk(DRIVE.format("35 minutes"), "a.md")
    assert groups(session, [Stated(a.content, a), Stated(b.content, b)]) == []
    c = session.chunk(a.content, "q3.md", period="2024-Q3")
    d = session.chunk(b.content, "q4.md", period="2024-Q4")
    assert groups(session, [Stated(c.content, c), Stated(d.content, d)]) == []


def test_pairs_that_inference_calls_contradicting_count(session):
    session.task("Is it open?")
    a = session.chunk("The tearoom is open on Mondays.", "a.md", date="2020")
    b = session.chunk("On Mondays nobody is served.", "b.md", date="2024")
    c = session.chunk("On Sundays nobody is served.", "c.md")
    session.contradiction(a, b, 0.8)
    session.contradiction(a, c, 0.2)
    assert groups(session, [Stated(a.content, a)]) == [["b.md", "a.md"]]


@pytest.mark.parametrize(
    ("first", "second", "disagree"),
    [
        (
            "At the end of March we employed 5,870 people, of whom 1,940 were nurses and 612 were doctors.",
            "At the end of March we employed 5,912 people.",
            True,
        ),
        (
            "The centre cost 22 million pounds, including 4 million for scanners.",
            "The centre cost 22 million pounds.",
            False,
        ),
        (
            "Patients wait 24 weeks for a hip, down from 37 weeks in 2022.",
            "Patients wait 31 weeks for a hip.",
            True,
        ),
        (
            "The trust owns 40 ambulances, of which 12 are electric.",
            "The trust owns 12 electric ambulances.",
            False,
        ),
    ],
)
def test_what_one_of_them_adds_behind_a_comma_does_not_hide_it(
    first: str, second: str, disagree: bool
) -> None:
    assert figures_disagree(first, second) is disagree
    assert figures_disagree(second, first) is disagree
