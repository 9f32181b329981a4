"""What is quoted: about the task, few, the current state before the older, each thing named."""

from collections.abc import Sequence
from dataclasses import replace

from lethe_core.control.embedding import Embedder
from lethe_core.din.document import EvidenceBlock
from lethe_core.graph.nodes import ShortId
from lethe_core.reasoning.hops import second_searches
from lethe_core.reasoning.reading import read
from lethe_core.reasoning.relevance import understand

ROPES = "| Rope | Line | Duty | Diameter |\n|---|---|---|---|\n"


def block(
    number: int, title: str, content: str, *, date: str = "", older: bool = False, period: str = ""
) -> EvidenceBlock:
    return EvidenceBlock(
        ShortId(f"e-{number:04x}"),
        title,
        f"{title}-{date or period}.md",
        date,
        None,
        older,
        period,
        False,
        "",
        content,
    )


def quoted(task: str, evidence: Sequence[EvidenceBlock], embedder: Embedder) -> list[str]:
    reading = read(task, evidence, embedder)
    assert reading.about
    return [reading.pieces[index].text for index in reading.quoted]


def test_a_comparison_quotes_both_that_it_names(embedder: Embedder) -> None:
    evidence = [
        block(1, "Anna Berg", "Anna Berg (born 1950) is a Danish judge and writer. She lives in Aarhus."),
        block(2, "Courts", "The courts of Denmark sit in three instances."),
        block(3, "Carl Dahl", "Carl Dahl is a Norwegian film director. He was a judge of dog shows."),
    ]
    text = " ".join(quoted("Are Anna Berg and Carl Dahl both film directors?", evidence, embedder))
    assert "Anna Berg (born 1950)" in text
    assert "Carl Dahl is a Norwegian film director." in text


def test_of_a_table_the_row_that_has_all_of_the_task_is_quoted(embedder: Embedder) -> None:
    rows = [
        "| H-16 | Harbour Line | Haulage | 32 mm |",
        "| A-17 | Abbey Line | Haulage | 36 mm |",
        "| A-18 | Abbey Line | Balance | 26 mm |",
    ]
    evidence = [block(n, "Rope register", ROPES + row, date="2025") for n, row in enumerate(rows, start=1)]
    got = quoted("What is the diameter of the hauling rope of the Abbey Line?", evidence, embedder)
    assert got == [rows[1]]


def test_rows_that_say_as_much_are_quoted_together(embedder: Embedder) -> None:
    header = "| date | line | cause | minutes_lost |\n|---|---|---|---|\n"
    rows = [
        "| 2024-06-27 | Abbey Line | lightning | 143 |",
        "| 2024-07-03 | Harbour Line | door fault | 24 |",
        "| 2024-08-14 | Harbour Line | lightning | 87 |",
    ]
    evidence = [block(n, "Stoppages", header + row, date="2024") for n, row in enumerate(rows, start=1)]
    got = quoted(
        "Which stoppages were put down to lightning, and how long did each last?", evidence, embedder
    )
    assert got == [rows[0], rows[2]]


def test_contradicting_editions_stand_side_by_side_newest_first(embedder: Embedder) -> None:
    text = "The last passenger must be off a Harbour Line car within {} minutes of the stop."
    evidence = [
        block(1, "Plan 1", text.format(35), date="2021-03-29", older=True),
        block(2, "Plan 2", text.format(25), date="2024-05-20"),
    ]
    got = quoted("How soon must the last passenger be off a Harbour Line car?", evidence, embedder)
    assert got[0] == text.format(25)
    assert got[1:] in ([], [text.format(35)])


def test_the_newest_period_is_quoted_when_the_latest_is_asked_for(embedder: Embedder) -> None:
    text = "The ferry carried {} passengers in the quarter from {} 2024."
    evidence = [
        block(
            1,
            "Quarterly report, January to March 2024",
            text.format("33,418", "January to March"),
            period="2024-Q1",
        ),
        block(
            2,
            "Quarterly report, April to June 2024",
            text.format("58,902", "April to June"),
            period="2024-Q2",
        ),
    ]
    got = quoted(
        "How many passengers did the ferry carry in the latest quarter reported?", evidence, embedder
    )
    assert got == [text.format("58,902", "April to June")]


def test_never_more_than_eight_quotations(embedder: Embedder) -> None:
    evidence = [
        block(n, f"Keeper {n}", f"The lighthouse keeper number {n} lit lamp {n} on island {n}.")
        for n in range(40)
    ]
    assert 1 <= len(quoted("Which lighthouse keeper lit the lamp on each island?", evidence, embedder)) <= 8


def test_noise_is_no_answer(embedder: Embedder) -> None:
    evidence = [
        block(1, "Ferries", "The point of departure is the harbour. Tickets are sold on board."),
        block(2, "Harbour", "The harbour was deepened in 1961 by the borough."),
    ]
    assert not read("What is the boiling point of tungsten hexafluoride?", evidence, embedder).about
    assert not read("Who chairs the Zyrax Institute?", evidence, embedder).about


def test_a_second_hop_has_the_names_that_the_best_evidence_mentions(embedder: Embedder) -> None:
    evidence = [block(1, "Grace Krilanovich", "Her first novel was published by Two Dollar Radio in 2010.")]
    task = "Which company published the first novel of Grace Krilanovich, and where is it based?"
    assert any("Dollar Radio" in query for query in second_searches(task, evidence))
    both = [
        *evidence,
        block(2, "Two Dollar Radio", "It is a family press that keeps an office in Columbus, Ohio."),
    ]
    assert any("Columbus" in text for text in quoted(task, both, embedder))


def test_how_powerful_is_it_is_answered_about_what_the_first_clause_found(embedder: Embedder) -> None:
    rated = "The Calder set has been rated at 54 kW since it was overhauled."
    evidence = [
        block(1, "Minutes", "Members voted to keep the Calder standby drive of the ferry line."),
        block(2, "Handbook", f"The main drive of the ferry line is a 90 kW machine. {rated}"),
    ]
    task = "Which standby drive did members vote to keep for the ferry line, and how powerful is it?"
    assert rated in quoted(task, evidence, embedder)


def test_the_price_of_another_thing_is_not_the_price_asked_for(embedder: Embedder) -> None:
    evidence = [
        block(1, "Climb the tower", "| Ticket | To pay |\n|---|---|\n| Family | £26.50 |"),
        block(2, "Recitals", "What a family will pay in the garden is £24.00."),
    ]
    task = "A briefing on the tower: What would a family have to pay?"
    assert quoted(task, evidence, embedder) == ["| Family | £26.50 |"]


def test_an_opening_that_only_says_of_what_asks_nothing_by_itself(embedder: Embedder) -> None:
    question = understand(
        "Under the rules now in force, at what wind speed must the ferry stop?", [], embedder
    )
    assert [clause.wanted.kind for clause in question.clauses] == ["number"]
    both = understand("In what year was it built, and by whom?", [], embedder)
    assert [clause.wanted.kind for clause in both.clauses] == ["date", "who"]


def test_what_can_answer_is_quoted_first(embedder: Embedder) -> None:
    evidence = [
        block(
            1, "Ferry rules", "These rules on wind bind every master of the Orle ferry when the wind rises."
        ),
        block(2, "Limits", "The Orle ferry stops when the wind reaches 17 m/s."),
    ]
    got = quoted("At what wind speed must the Orle ferry stop under the rules?", evidence, embedder)
    assert got[0] == "The Orle ferry stops when the wind reaches 17 m/s."


def test_what_cannot_answer_is_not_quoted_beside_what_can(embedder: Embedder) -> None:
    idle = "The hauling rope of the ferry is greased with tallow by its keeper."
    evidence = [
        block(1, "Rope register", "The hauling rope of the ferry has a diameter of 36 mm."),
        block(2, "Care", idle),
    ]
    assert idle not in quoted("What is the diameter of the hauling rope of the ferry?", evidence, embedder)
    assert idle in quoted("With what is the hauling rope of the ferry greased?", evidence, embedder)


def test_of_several_the_one_with_a_name_of_its_own_is_quoted_and_what_is_asked_of_it(
    embedder: Embedder,
) -> None:
    evidence = [
        block(
            1, "Bell inspection, June 2025", "A crack was confirmed in No. 17. There is a crack in the sill."
        ),
        block(2, "Quotation", "The bell to take the place of No. 17 would weigh 291.2 kg.", date="2025"),
        block(3, "Pulley", "The pulley of the clock weight, a block of 288.0 kg, wants grease.", date="2025"),
    ]
    task = "Which of the bells was cracked this summer, and is the new one heavier or lighter than it?"
    got = quoted(task, evidence, embedder)
    assert set(got) == {
        "A crack was confirmed in No. 17.",
        "The bell to take the place of No. 17 would weigh 291.2 kg.",
    }


def test_what_is_near_is_quoted_where_words_shared_by_chance_chose_something_else(embedder: Embedder) -> None:
    evidence = [
        block(
            1,
            "Evacuation plan",
            "The attendant applies the hand brake and counts. It was drilled on 3 May 2024.",
        ),
        block(
            2,
            "Wind and weather rules",
            "The track brushes are fitted from 1 December to 15 March. "
            "Harbour Line cars are restricted to half speed once gusts reach 15 m/s.",
        ),
    ]
    got = quoted("Which limits apply to wind, and since when?", evidence, embedder)
    assert "Harbour Line cars are restricted to half speed once gusts reach 15 m/s." in got
    assert not any("hand brake" in text for text in got)


def test_a_title_of_one_ordinary_word_leads_nowhere(embedder: Embedder) -> None:
    table = "| Number | Variety | Donor |\n|---|---|---|\n| 14 | Widow Tregear | Agnes Tregear |\n"
    evidence = [
        block(
            1,
            "About us",
            "Treasurer: Colm Devaney keeps the accounts. The librarian looks after the catalogue.",
        ),
        block(2, "catalogue", table),
    ]
    assert quoted("Who is the treasurer?", evidence, embedder) == [
        "Treasurer: Colm Devaney keeps the accounts."
    ]


def test_where_all_are_asked_for_all_rows_of_a_table_are_quoted(embedder: Embedder) -> None:
    header = "| Number | Variety | Germination (%) |\n|---|---|---|\n"
    rows = [f"| HM-0{n} | Variety {n} | {70 + n} |" for n in range(10, 19)]
    evidence = [block(n, "catalogue", header + row, date="2024") for n, row in enumerate(rows, start=1)]
    assert set(rows) <= set(quoted("List all varieties with their germination.", evidence, embedder))
    assert len(quoted("What is the germination of the varieties?", evidence, embedder)) == 6


POLICY = "Visiting policy"


def rule(number: int, edition: str, content: str, *, older_than: str = "") -> EvidenceBlock:
    shown = block(number, f"{POLICY} (edition {edition})", content, date=edition, older=bool(older_than))
    older = ShortId(older_than) if older_than else None
    return replace(shown, older_than=older, place=f"{POLICY} (edition {edition}) › 5. Infection control")


def test_beside_what_an_older_edition_says_stands_what_the_newest_says_of_it(embedder: Embedder) -> None:
    """Though the old rule has more of the question's words."""
    old = "All visitors to a ward must wear a paper mask in clinical areas at all times."
    new = "A mask is no longer required except where a sign on the door says so."
    evidence = [
        rule(1, "2", old, older_than="e-0002"),
        rule(2, "3", f"{new} Hands are to be cleaned on arriving."),
    ]
    found = quoted("Must visitors to a clinical ward wear a paper mask?", evidence, embedder)
    assert new in found
    assert old not in found or found.index(new) < found.index(old)
    assert old in quoted("What did edition 2 say: must visitors wear a paper mask?", evidence, embedder)


def test_what_is_said_of_another_thing_later_replaces_nothing(embedder: Embedder) -> None:
    evidence = [
        block(1, "Wyre news", "Patients at Wyre now wait 31 weeks on average for a hip.", period="2024-03"),
        block(2, "Dale news", "Patients at Dale now wait 24 weeks on average for a hip.", period="2024-05"),
    ]
    found = quoted("How many weeks do patients at Wyre wait for a hip?", evidence, embedder)
    assert "Patients at Wyre now wait 31 weeks on average for a hip." in found


def test_a_reason_stands_behind_what_it_is_given_for(embedder: Embedder) -> None:
    asked = "Mrs Bright asked about the closure of the injuries unit at Fernhill."
    reason = "Ms Okafor answered that it could not be staffed safely."
    evidence = [block(1, "Minutes", f"{asked} {reason} The meeting rose at noon.")]
    found = quoted("Why was the injuries unit at Fernhill closed? ", evidence, embedder)
    assert found[:2] == [asked, reason]
    assert asked in quoted("Who asked about the closure of the injuries unit?", evidence, embedder)
    assert reason not in quoted("Who asked about the closure of the injuries unit?", evidence, embedder)


def test_whether_something_is_so_may_be_told_by_the_sentence_that_goes_on(embedder: Embedder) -> None:
    runs = "A shuttle bus runs between Carrick and Elm on weekdays."
    evidence = [block(1, "Getting here", f"{runs} It does not run at weekends. Bicycles are free.")]
    found = quoted("Does the shuttle bus between Carrick and Elm run on Sundays?", evidence, embedder)
    assert found == [runs, "It does not run at weekends."]


def test_all_steps_of_a_procedure_are_quoted_in_their_order(embedder: Embedder) -> None:
    """Whatever the order in which the context has its pieces, and also where none has a word of it."""
    steps = [
        "Let the wound bleed gently.",
        "Wash it with soap for five minutes.",
        "Tell the person in charge.",
        "Report it before the shift ends.",
    ]
    numbered = [f"{n}. {step}" for n, step in enumerate(steps, start=1)]
    evidence = [
        block(1, "Needle injuries", "\n".join(numbered[2:])),
        block(2, "Needle injuries", "A needle injury is any puncture of the skin by a used needle."),
        block(3, "Needle injuries", "\n".join(numbered[:2])),
    ]
    found = quoted("What do I have to do after a puncture by a used needle?", evidence, embedder)
    assert found[:4] == steps
    other = quoted("Is a puncture by a used needle an injury?", evidence, embedder)
    assert not set(steps) <= set(other)
    two_lists = [*evidence, block(4, "Needle injuries", "1. Order new needles.\n2. Count them once a week.")]
    mixed = quoted("What do I have to do after a puncture by a used needle?", two_lists, embedder)
    assert not set(steps) <= set(mixed)


def test_the_place_of_a_thing_is_told_whatever_else_it_is_called(embedder: Embedder) -> None:
    evidence = [
        block(1, "Questions", "The PALS is on the ground floor."),
        block(2, "Parking", "Parking at Fernhill is free."),
    ]
    assert understand("Where is the PALS office?", evidence, embedder).terms == ("pal",)
    named = [block(3, "Desks", "The office of the registrar is in the east wing."), *evidence]
    assert understand("Where is the PALS office?", named, embedder).terms == ("pal", "offic")
