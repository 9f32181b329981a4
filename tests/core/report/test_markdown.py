"""The Markdown as a reader gets it, against a file that was read by a person; and the JSON beside it.

After a wanted change: delete golden/railway.md, run the test once to write it anew, read it, run again.
"""

import json
from pathlib import Path

import pytest

from lethe_core.graph.nodes import TaskStatus
from lethe_core.graph.session_state import CallOutcome, SkippedSource
from lethe_core.report.assembly import assemble
from lethe_core.report.markdown import MAX_SKIPPED, render_markdown
from lethe_core.report.model import ReportJson
from lethe_core.report.to_json import render_json
from lethe_core.report.unread import MAX_NAMED, bounded

GOLDEN = Path(__file__).parent / "golden" / "railway.md"
LEAD = "For a briefing on the Cliff Railway: "
HALF = "**Harbour Line, half speed:** cars are restricted to half speed once the wind reaches {} m/s."
LEAVE = "When the standby drive will not start, passengers must be off a Harbour Line car within {} minutes."
KWH = "| Month | Harbour Line (kWh) | Abbey Line (kWh) |\n|---|---|---|\n"


@pytest.fixture
def railway(session):
    """A finished session with a little of everything: parts, a table, editions, a disagreement, a failure."""
    root = session.task(
        f"{LEAD}1) When must it slow down? 2) What did it use? 3) How soon must a car be empty?"
    )
    wind = session.task(f"{LEAD}When must the Harbour Line slow down?", root)
    use = session.task(f"{LEAD}What electricity did the Harbour Line use?", root)
    empty = session.task(f"{LEAD}How soon must a Harbour Line car be empty?", root)
    painter = session.task(
        f"{LEAD}Who painted the cars?", root, status=TaskStatus.FAILED, reason="two searches found nothing"
    )
    session.task(f"{LEAD}What is planned?", root, status=TaskStatus.PENDING)
    session.search(painter, "painter of the cars")
    session.search(painter, "livery cliff railway", CallOutcome.FAILED)

    rules = {
        "title": "Wind rules",
        "series": "wind",
        "newest": "corpus/operations/wind.md",
        "place": "Limits",
    }
    new = session.chunk(
        f"- {HALF.format(15)}", "corpus/operations/wind.md", date="2024-11-04", edition="5", **rules
    )
    old = session.chunk(
        f"- {HALF.format(18)}", "corpus/archive/wind.md", date="2020-10-12", edition="4", **rules
    )
    energy = {"address": "corpus/energy.md", "title": "Energy and water use", "date": "2025-01-28"}
    january = session.chunk(f"{KWH}| January | 5,310 | 4,120 |", place="From the mains", **energy)
    july = session.chunk(f"{KWH}| July | 7,640 | 9,260 |", place="From the mains", **energy)
    plan = session.chunk(
        LEAVE.format(25), "corpus/safety/plan-v2.docx", title="Evacuation plan, version 2", date="2024-03-11",
        place="Time limits › p. 2",
    )  # fmt: skip
    news = session.chunk(
        f"![x](http://evil/p.png) {LEAVE.format(40)}",
        "https://example.org/news?id=7",
        title="News <b>today</b> [1]",
        date="2024-02",
    )

    session.result(
        wind,
        f"“{HALF.format(15)}” [{new.short_id} 2024-11-04]\n“{HALF.format(18)}” [{old.short_id} 2020-10-12]",
    )
    rows = f"{KWH}| January | 5,310 | 4,120 | [{january.short_id}]\n\n"
    rows += f"{KWH}| July | 7,640 | 9,260 | [{july.short_id}]\n\n"
    session.result(use, f"{rows}In July it used 9,999 kWh [{july.short_id}].")
    session.result(empty, f"“{LEAVE.format(25)}” [{plan.short_id}]\n“{LEAVE.format(40)}” [{news.short_id}]")
    session.result(
        root, f"“{HALF.format(15)}” [{new.short_id}]\n“{LEAVE.format(25)}” [{plan.short_id}; e-ffff]"
    )
    skipped = (SkippedSource("corpus/broken.pdf", "not a PDF: no page could be read"),)
    return assemble(session.snapshot(), session.state(skipped=skipped), embedder=session.embedder)


def test_the_markdown_is_what_a_person_has_read_and_found_good(railway):
    text = render_markdown(railway)
    if not GOLDEN.exists():
        GOLDEN.write_text(text, encoding="utf-8")
        pytest.fail(f"wrote {GOLDEN.name} anew: read it and run again")
    assert text == GOLDEN.read_text(encoding="utf-8")


def test_the_json_has_exactly_the_documented_keys(railway):
    shown = json.loads(render_json(railway, path="out/report.md").dumps())
    assert list(shown) == [
        *("schema", "session", "status", "stop_reason", "iterations", "seconds", "tokens", "report"),
        *("sources", "claims", "findings", "unsupported", "contradictions", "skipped"),
        *("unanswered", "changes", "gate"),
    ]
    assert shown["changes"] is None  # it follows no other run
    assert list(shown["sources"][0]) == ["n", "title", "url", "date", "edition"]
    assert list(shown["claims"][0]) == [
        "id",
        "section",
        "text",
        "citations",
        "edition",
        "support",
        "supported",
    ]
    assert list(shown["contradictions"][0]) == ["claims", "sources"]
    assert shown["skipped"] == [{"source": "corpus/broken.pdf", "reason": "not a PDF: no page could be read"}]
    assert (shown["schema"], shown["session"], shown["report"]) == (1, "s-test", "out/report.md")


def test_the_json_says_what_the_markdown_says(railway):
    shown = render_json(railway)
    texts = {claim.id: claim for claim in shown.claims}
    assert shown.status == "complete"
    assert [texts[i].text for i in shown.unsupported] == ["In July it used 9,999 kWh."]
    assert {texts[i].edition for i in texts if "18 m/s" in texts[i].text} == {"older"}
    (contradiction,) = shown.contradictions
    newer, older = (texts[i].text for i in contradiction.claims)
    assert (LEAVE.format(25) in newer, LEAVE.format(40) in older) == (True, True)
    assert all("**" not in claim.text for claim in shown.claims)


def test_the_json_names_the_parts_without_an_answer_and_why(session):
    root = session.task("Who was Ada, and when did she live?", status=TaskStatus.PENDING)
    session.task("Who was Ada?", root, status=TaskStatus.FAILED)
    session.task("When did Ada \x1b[31mlive?", root, status=TaskStatus.PENDING)
    found = assemble(
        session.snapshot(), session.state(stop_reason="iteration_cap"), embedder=session.embedder
    )
    shown = json.loads(render_json(found).dumps())["unanswered"]
    assert shown == [
        {"part": "Who was Ada?", "reason": "nothing_found"},
        {"part": "When did Ada [31mlive?", "reason": "open"},
    ]


def test_the_json_can_be_read_back(railway):
    shown = render_json(railway)
    assert ReportJson.model_validate_json(shown.dumps()) == shown


def test_a_session_without_a_stop_reason_is_running(session):
    session.task("Who was Ada?", status=TaskStatus.PENDING)
    found = assemble(session.snapshot(), session.state(stop_reason=""), embedder=session.embedder)
    assert render_json(found).status == "running"
    assert "Still at work." in render_markdown(found)


def test_many_skipped_sources_are_named_up_to_a_bound_and_counted(session):
    session.task("Who was Ada?", status=TaskStatus.PENDING)
    skipped = tuple(SkippedSource(f"f{i}.bin", "binary") for i in range(MAX_SKIPPED + 5))
    found = assemble(session.snapshot(), session.state(skipped=skipped), embedder=session.embedder)
    text = render_markdown(found)
    assert text.count("binary") == MAX_SKIPPED
    assert "and 5 more" in text
    assert "25 sources could not be read" in text
    assert len(render_json(found).skipped) == MAX_SKIPPED + 5


def test_sources_that_are_only_counted_count(session):
    session.task("Who was Ada?", status=TaskStatus.PENDING)
    skipped = bounded([SkippedSource(f"f{i}.bin", "binary") for i in range(MAX_NAMED + 1200)])
    found = assemble(session.snapshot(), session.state(skipped=skipped), embedder=session.embedder)
    text = render_markdown(found)
    assert "and 1,680 more; report.json names 500 in all" in text
    assert "1700 sources could not be read" in text
    assert [entry.source for entry in render_json(found).skipped][-2:] == ["f499.bin", "1200 more"]


def test_a_session_that_found_nothing_does_not_say_that_it_answered(session):
    session.task("Who was Ada?", status=TaskStatus.DONE)
    found = assemble(
        session.snapshot(), session.state(stop_reason="goal_complete"), embedder=session.embedder
    )
    closing = render_markdown(found).splitlines()[-1]
    assert closing.startswith("Nothing was found that answers the question (`goal_complete`).")


def test_the_time_of_a_file_is_shown_as_what_it_is_and_never_as_a_date(session):
    text = "The Tarn bridge is 412 metres long and has nine arches."
    root = session.task("How long is the Tarn bridge?", result=f"“{text}” [e-0001]")
    session.chunk(text, "papers/tarn.md", task=root, date="2026-12-01", date_source="modified")
    found = assemble(
        session.snapshot(), session.state(stop_reason="goal_complete"), embedder=session.embedder
    )
    shown = render_markdown(found)
    assert "(2026-12-01)" not in shown
    assert "· file of 2026-12-01" in shown
    assert [source.date for source in render_json(found).sources] == [""]
