"""One number a source, in order of appearance."""

from lethe_core.report.sources import SourceBook, edition_label, is_earlier_issue


def test_sources_are_numbered_in_order_of_appearance_and_keep_their_places(session):
    session.task("q")
    a = session.chunk("one", "a.md", title="A", date="2024", place="Top")
    b = session.chunk("two", "b.md")
    c = session.chunk("three", "a.md", title="A", date="2024", place="End › p. 2")
    book = SourceBook(session.snapshot())
    assert [book.number(chunk) for chunk in (b, a, c, b, a)] == [1, 2, 2, 1, 2]
    first, second = book.sources()
    assert (first.n, first.address, first.places) == (1, "b.md", ())
    assert (second.title, second.date, second.places) == ("A", "2024", ("Top", "End › p. 2"))


def test_mirrors_and_the_same_content_are_one_source(session):
    session.task("q")
    pages = [
        session.chunk("x", "https://www.example.org/p?utm_source=n", page_fingerprint="f1"),
        session.chunk("y", "http://example.org/p/", page_fingerprint="f2"),
        session.chunk("x", "https://copy.example.net/q", page_fingerprint="f1"),
    ]
    book = SourceBook(session.snapshot())
    assert {book.number(page) for page in pages} == {1}
    assert len(book.sources()) == 1


def test_the_same_address_with_another_date_is_another_source(session):
    session.task("q")
    old = session.chunk("x", "https://example.org/p", date="2023", page_fingerprint="f1")
    new = session.chunk("y", "https://example.org/p", date="2024", page_fingerprint="f2")
    book = SourceBook(session.snapshot())
    assert [book.number(old), book.number(new)] == [1, 2]
    assert not book.same(old, new)


def test_a_source_that_was_not_cited_is_not_listed(session):
    session.task("q")
    a, b = session.chunk("x", "a.md"), session.chunk("y", "b.md")
    book = SourceBook(session.snapshot())
    book.number(a)
    assert book.cited(a)
    assert not book.cited(b)
    assert [source.address for source in book.sources()] == ["a.md"]


def test_editions_are_named(session):
    session.task("q")
    old = session.chunk("x", "v1.md", edition="1", series="plan", newest="v2.md")
    new = session.chunk("x", "v2.md", edition="v2", series="plan", newest="v2.md")
    q3 = session.chunk("x", "q3.pdf", period="2024-Q3", series="report", newest="q4.pdf")
    q4 = session.chunk("x", "q4.pdf", period="2024-Q4", series="report", newest="q4.pdf")
    alone = session.chunk("x", "alone.md")
    snapshot = session.snapshot()
    labels = [edition_label(snapshot, chunk) for chunk in (old, new, q3, q4, alone)]
    assert labels == ["edition 1, older edition", "v2", "2024-Q3, earlier issue", "2024-Q4", ""]
    assert [is_earlier_issue(snapshot, chunk) for chunk in (old, q3, q4)] == [False, True, False]


def test_a_place_does_not_repeat_the_title(session):
    session.task("q")
    places = ("Rules › Limits", "Rules", "Rulesets", "p. 3")
    chunks = [session.chunk(place, "a.md", title="Rules", place=place) for place in places]
    book = SourceBook(session.snapshot())
    for chunk in chunks:
        book.number(chunk)
    assert book.sources()[0].places == ("Limits", "Rulesets", "p. 3")
