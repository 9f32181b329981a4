"""The report as a whole: what it takes from the graph, and what always holds of it."""

import re
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lethe_core.errors import ConfigError
from lethe_core.graph.nodes import TaskStatus
from lethe_core.graph.session_state import CallOutcome
from lethe_core.report.assembly import ReportSettings, assemble
from lethe_core.report.claims import drafts_of, read_cited
from lethe_core.report.document import Note
from lethe_core.report.gathering import section_key
from lethe_core.report.markdown import render_markdown
from lethe_core.report.to_json import render_json

ROPE = "The hauling rope of the Abbey Line is 36 mm thick."
CAR = "Each car of the Harbour Line carries 26 people."
WIND = "The Harbour Line stops once the wind reaches 21 m/s."


def report(session, *, settings=None, **state):
    return assemble(
        session.snapshot(),
        session.state(**state),
        embedder=session.embedder,
        settings=settings or ReportSettings(),
    )


def notes(section):
    return [block.text for block in section.blocks if isinstance(block, Note)]


def test_an_empty_session_gives_a_report_that_says_nothing_was_found(session):
    session.task("Who was Ada?", status=TaskStatus.PENDING)
    found = report(session, stop_reason="iteration_cap")
    assert notes(found.answer) == ["Nothing was found that answers the question."]
    assert (found.sources, found.claims, found.findings) == ((), (), ())
    assert "## Sources" not in render_markdown(found)


def test_the_answer_is_the_roots_result(session):
    root = session.task("How thick is the Abbey Line rope?")
    rope = session.chunk(ROPE, "ropes.md", date="2024-05-02")
    session.result(root, f"“{ROPE}” [{rope.short_id}]")
    found = report(session)
    (claim,) = found.claims
    assert (claim.text, claim.citations, claim.supported, claim.finding) == (f"“{ROPE}”", (1,), True, True)
    assert (claim.date, claim.how, claim.passages[0].text) == ("2024-05-02", "quotation", ROPE)
    assert found.closing.quotations
    assert notes(found.answer) == []


def test_a_result_without_citations_gives_way_to_the_synthesis(session):
    root = session.task("How thick is the Abbey Line rope?")
    rope = session.chunk(ROPE, "ropes.md")
    session.synthesis(f"“{ROPE}” [{rope.short_id}]", [rope])
    session.result(root, "Done: the rope was measured.")
    assert [claim.citations for claim in report(session).claims] == [(1,)]


def test_a_synthesis_without_brackets_rests_on_what_it_supersedes(session):
    root = session.task("How thick is the Abbey Line rope?")
    rope = session.chunk(ROPE, "ropes.md")
    session.synthesis("The Abbey Line has a hauling rope 36 mm thick.", [rope])
    session.result(root, "")
    (claim,) = report(session).claims
    assert claim.citations == (1,)
    assert claim.supported


def test_each_top_level_subtask_has_its_section_with_nested_results_folded_in(session):
    root = session.task("Tell: how thick is the rope? how many people in a car?")
    first = session.task("Tell: how thick is the rope?", root)
    second = session.task("Tell: how many people in a car?", root)
    nested = session.task("Of the Harbour Line", second)
    rope, car = session.chunk(ROPE, "a.md", task=first), session.chunk(CAR, "b.md", task=nested)
    session.result(first, f"“{ROPE}” [{rope.short_id}]")
    session.result(second, "")
    session.result(nested, f"“{CAR}” [{car.short_id}]")
    session.result(root, f"“{ROPE}” [{rope.short_id}]")
    found = report(session)
    assert [section.title for section in found.sections] == [
        "how thick is the rope?",
        "how many people in a car?",
    ]
    assert [claim.section for claim in found.claims] == [
        "Answer",
        *(section.title for section in found.sections),
    ]
    assert "### Of the Harbour Line" in render_markdown(found)


def test_prose_that_was_written_for_a_section_is_used(session):
    root = session.task("Tell: ropes and cars")
    part = session.task("Tell: ropes", root)
    rope = session.chunk(ROPE, "a.md", task=part)
    session.result(part, f"“{ROPE}” [{rope.short_id}]")
    prose = {section_key(1): f"The Abbey Line rope is 36 mm thick [{rope.short_id}]."}
    found = report(session, sections=prose)
    assert found.claims[0].text == "The Abbey Line rope is 36 mm thick."
    assert not found.closing.quotations


def test_without_a_final_answer_the_parts_speak_first(session):
    root = session.task("Tell: ropes and cars", status=TaskStatus.ACTIVE)
    part = session.task("Tell: ropes", root)
    rope = session.chunk(ROPE, "a.md", task=part)
    session.result(part, f"“{ROPE}” [{rope.short_id}]")
    found = report(session, stop_reason="iteration_cap")
    assert notes(found.answer)[0].startswith("No final answer was written.")
    assert [claim.section for claim in found.claims] == ["Answer", found.sections[0].title]


def test_an_open_task_is_answered_by_the_passages_that_come_closest(session):
    root = session.task("How thick is the hauling rope of the Abbey Line?", status=TaskStatus.ACTIVE)
    session.chunk(f"{ROPE} It is new and was paid by the town.", "ropes.md")
    session.chunk("Bananas grow in warm places with much rain.", "fruit.md")
    session.search(root, "Abbey Line rope", CallOutcome.NEW)
    found = report(session, stop_reason="cancelled")
    assert found.claims[0].text == f"“{ROPE}”"
    assert [source.address for source in found.sources] == ["ropes.md"]
    assert found.not_found[0].left_open
    assert [search.query for search in found.not_found[0].searches] == ["Abbey Line rope"]


def test_a_failed_question_quotes_nothing_and_says_what_was_looked_for(session):
    root = session.task(
        "How thick is the Abbey Line rope?", status=TaskStatus.FAILED, reason="nothing about it"
    )
    session.chunk(ROPE, "ropes.md")
    session.search(root, "Abbey rope")
    found = report(session, stop_reason="no_ready_tasks")
    assert found.claims == ()
    assert found.not_found[0].reason == "nothing about it"
    assert "Searched for: “Abbey rope” (nothing new)" in render_markdown(found)


def test_failed_and_open_parts_are_listed_and_done_ones_are_not(session):
    root = session.task("Tell: all")
    session.task("Tell: done", root, result="It is done.")
    session.task("Tell: failed", root, status=TaskStatus.FAILED)
    session.task("Tell: open", root, status=TaskStatus.PENDING)
    found = report(session)
    assert [(item.task, item.left_open) for item in found.not_found] == [("failed", False), ("open", True)]


def test_parts_that_never_became_a_task_are_listed(session):
    question = "State: (1) the height of the Ash tower; (2) the owner of the Elm mill; (3) the fee in Oakby;"
    root = session.task(question, status=TaskStatus.PENDING)
    session.task("State: the height of the Ash tower", root, result="It is not known.")
    found = report(session, stop_reason="iteration_cap")
    assert [(item.task, item.left_open) for item in found.not_found] == [
        ("the owner of the Elm mill", True),
        ("the fee in Oakby", True),
    ]


@pytest.mark.parametrize(("choice", "marked", "dropped"), [("mark", 2, 0), ("drop", 0, 2)])
def test_unsupported_claims_are_marked_or_dropped_and_counted(session, choice, marked, dropped):
    root = session.task("How thick is the Abbey Line rope?")
    rope = session.chunk(ROPE, "ropes.md")
    session.result(
        root, f"“{ROPE}” [{rope.short_id}]\nThe rope is 99 mm thick [{rope.short_id}].\nIt is red."
    )
    found = report(session, settings=ReportSettings(unsupported=choice))
    text = render_markdown(found)
    assert (
        len(found.unsupported)
        == marked
        == text.count("*(not supported by the source)*") + text.count("*(no source)*")
    )
    assert found.closing.dropped == dropped
    assert ("2 unsupported statements were left out" in text) == bool(dropped)


def test_removed_citations_are_counted_with_those_removed_before(session):
    root = session.task("How thick is the Abbey Line rope?")
    session.result(root, "The rope is thick [e-9999].")
    assert report(session, removed_citations=2).closing.removed_citations == 3


def test_quotations_are_limited_in_the_answer_and_in_sections(session):
    root = session.task("Tell: all about ropes")
    part = session.task("Tell: ropes", root)
    chunks = [session.chunk(f"Rope number {i} is {i}0 mm thick.", f"{i}.md") for i in range(10)]
    text = "\n".join(f"“{chunk.content}” [{chunk.short_id}]" for chunk in chunks)
    session.result(root, text)
    session.result(part, text)
    found = report(session, settings=ReportSettings(max_answer_quotes=3, max_section_quotes=5))
    assert len([claim for claim in found.claims if claim.section == "Answer"]) == 3
    assert len([claim for claim in found.claims if claim.section != "Answer"]) == 5
    assert found.closing.shortened == 12
    assert notes(found.answer) == ["7 further quotations are left out for length."]


def test_an_end_that_is_not_committed_yet_can_be_given(session):
    session.task("Who was Ada?", status=TaskStatus.PENDING)
    found = assemble(
        session.snapshot(),
        session.state(stop_reason="", seconds=1.0),
        embedder=session.embedder,
        stop_reason="cancelled",
        seconds=75.0,
        message="by Ctrl-C",
    )
    assert "Cancelled: by Ctrl-C. 4 iterations, 1 min 15 s at work." in render_markdown(found)


def test_settings_out_of_range_are_refused():
    with pytest.raises(ConfigError, match="max_answer_quotes"):
        ReportSettings(max_answer_quotes=0)
    with pytest.raises(ConfigError, match="'hide'"):
        ReportSettings(unsupported="hide")


def test_a_written_list_and_every_row_are_claims_of_their_own(session):
    root = session.task("What are the limits?")
    rows = session.chunk("| Line | Limit |\n|---|---|\n| Harbour | 21 |\n| Abbey | 17 |", "limits.csv")
    table = "| Line | Limit |\n|---|---|\n| {} | {} | [{}]\n\n"
    session.result(
        root, table.format("Harbour", 21, rows.short_id) + table.format("Abbey", 17, rows.short_id)
    )
    found = report(session)
    assert [claim.text for claim in found.claims] == ["Line: Harbour; Limit: 21", "Line: Abbey; Limit: 17"]
    assert all(claim.how == "quotation" for claim in found.claims)
    assert render_markdown(found).count("| Line | Limit | Source |") == 1


# -- properties ---------------------------------------------------------------------------------------

PIECES = (
    *("“{0}” [{a}]", "{0} [{a}; {b}] {1} [{c}]", "{1}", "It is 99 mm [{c}]. Also red [{a}].", "# {0}", ""),
    *("| Line | Limit |\n|---|---|\n| {2} | 3 | [{a}]", "- {0} [{b}]\n- {1}", "{2} [e-9999]", "“{2}” [{c}]"),
)
TEXTS = (
    ROPE,
    CAR,
    WIND,
    "A [1] <b>bold</b> ![x](http://x) # claim | with `marks` of 5 mm.",
    "Tea at 12:30 is £3.50.",
)


@st.composite
def sessions(draw, new_session):
    session = new_session()
    statuses = st.sampled_from(TaskStatus)
    root = session.task("How thick is the rope and how many people fit in a car?", status=draw(statuses))
    parts = [
        session.task(f"Part {i} of the rope", root, status=draw(statuses))
        for i in range(draw(st.integers(0, 3)))
    ]
    chunks = [
        session.chunk(
            draw(st.sampled_from(TEXTS)),
            draw(st.sampled_from(["a.md", "b.md", "c.md", "http://x.org/d"])),
            task=draw(st.sampled_from([root, *parts])),
            date=draw(st.sampled_from(["", "2020", "2024-03-11"])),
            series=draw(st.sampled_from(["", "s"])),
            newest="a.md",
            period=draw(st.sampled_from(["", "", "2024-Q1"])),
            place=draw(st.sampled_from(["", "Top › p. 1"])),
        )
        for _ in range(draw(st.integers(0, 6)))
    ]
    for task in (root, *parts):
        ids = [chunk.short_id for chunk in chunks] or ["e-7777"]
        pick = st.sampled_from(ids)
        pieces = draw(st.lists(st.sampled_from(PIECES), max_size=4))
        text = "\n".join(
            piece.format(*draw(st.permutations(TEXTS))[:3], a=draw(pick), b=draw(pick), c=draw(pick))
            for piece in pieces
        )
        session.result(task, text, task.status)
        if chunks and draw(st.booleans()):
            session.synthesis(text, [draw(st.sampled_from(chunks))], task=task)
    return session


@settings(max_examples=50, deadline=None)
@given(st.data(), st.sampled_from(["mark", "drop"]))
def test_every_number_resolves_to_a_source_and_every_source_is_cited(new_session, data, choice):
    session = data.draw(sessions(new_session))
    found = report(session, settings=ReportSettings(unsupported=choice), stop_reason="iteration_cap")
    listed = [source.n for source in found.sources]
    assert listed == list(range(1, len(listed) + 1))
    cited = [n for claim in found.claims for n in claim.citations]
    assert list(dict.fromkeys(cited)) == listed
    assert [claim.id for claim in found.claims] == [f"c{i}" for i in range(1, len(found.claims) + 1)]
    text = render_markdown(found)
    body, _, definitions = text.partition("\n[1]: #source-1")
    used = {int(n) for n in re.findall(r"(?<!\\)\[(\d+)\]", body)}
    assert used == set(listed)
    assert all(f'<a id="source-{n}"></a>' in body for n in listed)
    assert definitions.count("#source-") == max(0, len(listed) - 1)
    shown = render_json(found)
    assert set(shown.findings) <= {claim.id for claim in shown.claims if claim.supported}
    assert set(shown.unsupported) == {claim.id for claim in shown.claims if not claim.supported}


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_the_same_session_gives_the_same_bytes_and_shows_no_ids(new_session, data):
    session = data.draw(sessions(new_session))
    text = render_markdown(report(session))
    assert text == render_markdown(report(session))
    assert not re.search(r"\b[te]-[0-9a-f]{4}\b", text)
    assert "<b>" not in text
    assert "](http" not in text


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_older_editions_never_speak_in_the_answer_as_current(new_session, data):
    session = data.draw(sessions(new_session))
    snapshot = session.snapshot()
    older = {node.content for node in snapshot.evidence.values() if snapshot.is_older(node)}
    current = {node.content for node in snapshot.evidence.values() if not snapshot.is_older(node)}
    for claim in report(session).claims:
        if claim.quotation and claim.how == "quotation" and claim.text.strip("“”") in older - current:
            assert claim.edition == "older"


def test_nothing_in_the_report_depends_on_the_order_of_nodes(session):
    root = session.task("How thick is the Abbey Line rope?", status=TaskStatus.ACTIVE)
    for text in (ROPE, CAR, WIND):
        session.chunk(text, f"{len(text)}.md", task=root)
    first = render_markdown(report(session))
    session.nodes = [*session.nodes[:1], *reversed(session.nodes[1:])]
    assert render_markdown(report(session)) == first


def test_claims_are_read_from_text_the_same_way_as_they_are_shown():
    drafts = [draft for block in read_cited(f"“{ROPE}” [e-aaaa]") for draft in drafts_of(block)]
    assert replace(drafts[0], ids=()).text == f"“{ROPE}”"


def test_a_quoted_pages_own_numbers_are_kept_and_are_none_of_the_reports_citations(session):
    page = (
        "The lamp at Farrow Point was lit in 1871.[4] Its keeper [5] was Maud Ellery.\n\n"
        "| Year | Keeper |\n|---|---|\n| 1871 | Maud Ellery [6] |\n| 1899 | Ann Rowe |\n"
    )
    root = session.task("Who kept the lamp at Farrow Point?")
    chunk = session.chunk(page, "lamp.md", task=root)
    session.result(
        root,
        "“The lamp at Farrow Point was lit in 1871.[4] Its keeper [5] was Maud Ellery.” "
        f"[{chunk.short_id}]\n\n"
        f"| Year | Keeper |\n|---|---|\n| 1871 | Maud Ellery [6] | [{chunk.short_id}]\n\n"
        f"| Year | Keeper |\n|---|---|\n| 1899 | Ann Rowe [7] | [{chunk.short_id}]\n",
    )
    found = report(session)
    assert [claim.text for claim in found.claims] == [
        "“The lamp at Farrow Point was lit in 1871.[4] Its keeper [5] was Maud Ellery.”",
        "Year: 1871; Keeper: Maud Ellery [6]",
        "Year: 1899; Keeper: Ann Rowe",
    ]
    assert [claim.how for claim in found.claims] == ["quotation"] * 3
    text = render_markdown(found)
    assert r"lit in 1871.\[4\] Its keeper \[5\] was Maud Ellery.” [[1]]" in text
    assert r"| Maud Ellery \[6\] | [[1]] |" in text
    assert "| Ann Rowe | [[1]] |" in text


def test_quotations_that_answer_nothing_are_said_to_be_only_what_comes_nearest(session):
    """Report, JSON and exit code say the same: nothing was found."""
    root = session.task("What does it cost to hire a television?")
    rope = session.chunk("The centre has six theatres and a ward of 40 beds.", "news.md")
    session.result(root, f"“{rope.content}” [{rope.short_id}]")
    session.search(root, "cost hire television")
    found = report(session, stop_reason="goal_complete")
    assert found.claims
    assert notes(found.answer) == ["Nothing was found that answers the question. What comes nearest:"]
    (missing,) = found.not_found
    assert (missing.task, missing.left_open) == ("What does it cost to hire a television?", False)
    assert [search.query for search in missing.searches] == ["cost hire television"]
    told = render_json(found)
    assert told.status == "nothing_found"
    assert [part.reason for part in told.unanswered] == ["nothing_found"]


def test_the_rows_of_a_table_stand_in_its_order(session):
    root = session.task("How many boats passed the lock in each month?")
    header = "| Month | Boats |\n| --- | --- |\n"
    rows = [
        session.chunk(f"{header}| {month} | {boats} |", "locks.csv", span=(at, at + 9))
        for at, (month, boats) in zip((0, 9, 18), (("May", 41), ("June", 57), ("July", 88)), strict=True)
    ]
    order = (2, 0, 1)
    cited = "\n".join(f"{rows[n].content.splitlines()[-1]} [{rows[n].short_id}]" for n in order)
    session.result(root, header + cited)
    table = report(session).answer.blocks[-1]
    assert [row.cells[0] for row in table.rows] == ["May", "June", "July"]
