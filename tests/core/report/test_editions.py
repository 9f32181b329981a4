"""An older figure is stated only as an older figure."""

import pytest

from lethe_core.report.assembly import assemble
from lethe_core.report.markdown import render_markdown

OLD = "Harbour Line service is suspended once the wind reaches 24 m/s."
NEW = "Harbour Line service is suspended once the wind reaches 21 m/s."
SAME = "The controller on shift decides and no board member overrules it."


@pytest.fixture
def editions(session):
    """The root, the older and the newest edition of one document."""
    root = session.task("At what wind speed is the Harbour Line suspended?")
    series = {"title": "Wind rules", "series": "wind", "newest": "rules.md"}
    old = session.chunk(f"{SAME} {OLD}", "archive/rules.md", date="2020-10-12", **series)
    new = session.chunk(f"{SAME} {NEW}", "rules.md", date="2024-11-04", **series)
    return root, old, new


def report(session):
    return assemble(session.snapshot(), session.state(), embedder=session.embedder)


def test_a_quotation_of_an_older_edition_moves_to_the_older_editions(session, editions):
    root, old, new = editions
    session.result(root, f"“{NEW}” [{new.short_id}]\n“{OLD}” [{old.short_id}]")
    found = report(session)
    assert [claim.text for claim in found.claims if claim.section == "Answer"] == [f"“{NEW}”"]
    (older,) = found.older
    assert older.claim.edition == "older"
    assert older.superseded_by == 1
    assert [claim.text for claim in older.instead] == [f"“{NEW}”"]
    text = render_markdown(found)
    assert text.count("24 m/s") == 1
    (stated,) = [row for row in text.splitlines() if "24 m/s" in row]
    assert stated.endswith("— older edition, superseded by [[1]]")


def test_an_older_edition_is_no_disagreement(session, editions):
    root, old, new = editions
    session.result(root, f"“{NEW}” [{new.short_id}]\n“{OLD}” [{old.short_id}]")
    assert report(session).disagreements == ()


def test_what_the_newest_edition_says_too_is_cited_from_it(session, editions):
    root, old, _ = editions
    session.result(root, f"“{SAME}” [{old.short_id}]")
    found = report(session)
    assert [source.address for source in found.sources] == ["rules.md"]
    assert found.older == ()


def test_an_answer_from_older_editions_alone_says_so(session, editions):
    root, old, _ = editions
    session.result(root, f"“{OLD}” [{old.short_id}]")
    text = render_markdown(report(session))
    assert "Only older editions speak of this" in text.partition("## Older editions")[0]


def test_prose_on_an_older_edition_keeps_its_place_with_a_label(session, editions):
    root, old, new = editions
    session.result(
        root,
        f"The Harbour Line service was once suspended at 24 m/s [{old.short_id}]. "
        f"The limit went from 24 m/s to 21 m/s [{old.short_id}; {new.short_id}].",
    )
    first, second = report(session).claims
    assert (first.edition, first.label) == ("older", "older edition")
    assert (second.edition, second.label) == ("current", "partly from an older edition")


def test_a_newest_edition_that_was_not_read_is_named(session):
    root = session.task("At what wind speed is the Harbour Line suspended?")
    old = session.chunk(OLD, "archive/rules.md", series="wind", newest="rules.md")
    session.result(root, f"“{OLD}” [{old.short_id}]")
    found = report(session)
    assert found.older[0].superseded_by is None
    assert "superseded by rules.md" in render_markdown(found)


def test_an_earlier_issue_keeps_its_place_and_names_its_period(session):
    root = session.task("How many journeys were made on the Harbour Line?")
    issue = {"series": "quarterly", "newest": "q4.pdf"}
    q3 = session.chunk("The Harbour Line made 84,267 journeys.", "q3.pdf", period="2024-Q3", **issue)
    q4 = session.chunk("The Harbour Line made 41,376 journeys.", "q4.pdf", period="2024-Q4", **issue)
    session.result(root, f"“{q4.content}” [{q4.short_id}]\n“{q3.content}” [{q3.short_id}]")
    found = report(session)
    latest, earlier = found.claims
    assert (latest.edition, latest.label) == ("current", "")
    assert (earlier.edition, earlier.label) == ("older", "issue 2024-Q3, not the latest")
    assert earlier.section == "Answer"
    assert found.disagreements == ()


def test_a_sentence_that_the_newest_edition_goes_on_with_stays_an_older_statement(session):
    root = session.task("Who tells the attendants?")
    series = {"title": "Wind rules", "series": "wind", "newest": "rules.md"}
    old = session.chunk("The controller tells both attendants.", "archive/rules.md", **series)
    session.chunk("The controller tells both attendants and stops selling tickets.", "rules.md", **series)
    session.result(root, f"“{old.content}” [{old.short_id}]")
    (older,) = report(session).older
    assert older.claim.text == "“The controller tells both attendants.”"
