"""HTML: main text with tables and lists, no furniture, whatever the markup."""

import contextlib

import pytest

from lethe_core.adapters.sources.readers.html import read_html
from lethe_core.errors import SourceError

PAGE = """<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">
<title>Climb the tower | Carillon Trust</title>
<meta property="article:published_time" content="2025-04-01T09:00:00Z"></head><body>
<header><nav><ul><li><a href="/">Home</a></li><li><a href="/shop">Shop</a></li></ul></nav></header>
<main><h1>Climb the tower</h1>
<p>Up 241 steps, past the clock and the playing cabin, is a gallery with a view of the sea.</p>
<h2>Tickets</h2><table><caption>Prices of 2025</caption>
<tr><th>Ticket</th><th>Price</th></tr>
<tr><td>Adult</td><td>&pound;9.50</td></tr>
<tr><td>Child_under_7</td><td>&pound;5.25</td></tr></table>
<h2>Hours</h2><ul>
<li>April to September: Tuesday to Sunday</li><li>October to March: Saturday</li></ul>
<p>Visits are guided and last forty minutes; at most fourteen people can go up.</p></main>
<aside><h3>You may also like</h3><p>Bell-metal gifts</p></aside>
<footer><p>&copy; Carillon Trust. Privacy and cookies.</p></footer>
<script>alert("x")</script></body></html>"""


def test_a_page_becomes_markdown_with_its_title_and_date() -> None:
    document = read_html(PAGE.encode())
    assert document.title == "Climb the tower"
    assert document.date == "2025-04-01"
    assert document.text.startswith("# Climb the tower\n\nUp 241 steps")
    assert "| Ticket | Price |\n| --- | --- |\n| Adult | £9.50 |\n| Child_under_7 | £5.25 |" in document.text
    assert "- April to September: Tuesday to Sunday\n- October to March: Saturday" in document.text


@pytest.mark.parametrize("furniture", ["Home", "Shop", "You may also like", "Privacy", "alert"])
def test_page_furniture_is_left_out(furniture: str) -> None:
    assert furniture not in read_html(PAGE.encode()).text


@pytest.mark.parametrize("charset", ["utf-8", "windows-1252", "utf-16"])
def test_the_declared_charset_is_used(charset: str) -> None:
    page = PAGE.replace("utf-8", charset).replace("&pound;", "£")
    assert "£9.50" in read_html(page.encode(charset)).text


def test_a_bare_fragment_is_read_too() -> None:
    assert read_html(b"<p>Short.</p>").text == "Short."
    assert read_html(b"<ol><li>one<li>two</ol>").text == "1. one\n2. two"


def test_a_table_at_the_end_and_the_headings_of_a_short_page_are_kept() -> None:
    page = (
        "<html><head><title>Cold store handbook</title></head><body>"
        "<nav><a href='/'>Home</a> <a href='/rules'>Rules</a></nav><h1>Cold store handbook</h1>"
        "<p>The cold store holds the reference collection, a sealed jar of every variety in the list.</p>"
        "<h2>When the alarm sounds</h2><ol><li>Silence the siren at the grey panel beside the door.</li>"
        "<li>Read the thermometer in the upper hatch. Do not open the main door.</li></ol>"
        "<h2>Power cuts</h2><p>Without power the store stays cold enough for nine hours, provided nobody "
        "opens it. After that the jars are moved to the freezer of the bakery two doors down.</p>"
        "<h2>Desiccant</h2><table><tr><th>Jar</th><th>Silica gel</th><th>Replaced</th></tr>"
        "<tr><td>Small</td><td>20 g</td><td>every 24 months</td></tr>"
        "<tr><td>Large</td><td>60 g</td><td>every 12 months</td></tr></table>"
        "<footer>Printed from the intranet</footer></body></html>"
    )
    text = read_html(page.encode()).text
    assert "| Large | 60 g | every 12 months |" in text
    assert "## Power cuts" in text
    assert "1. Silence the siren" in text
    assert "Printed from" not in text
    assert "Home" not in text


def test_a_bare_table_is_a_table() -> None:
    text = read_html(b"<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>").text
    assert text == "| a | b |\n| --- | --- |\n| 1 | 2 |"


def test_the_date_of_structured_data_is_found() -> None:
    data = '{"@graph":[{"datePublished":"2023-02-01"}]}'
    script = f'<script type="application/ld+json">{data}</script>'
    page = f"<html><head>{script}</head><body><p>Text.</p></body></html>"
    assert read_html(page.encode()).date == "2023-02-01"


def test_a_lead_that_only_the_description_vouches_for_is_kept() -> None:
    lead = (
        "The engineers found rust at the bearings, and the trustees launched an appeal for the frame at once."
    )
    story = "".join(
        f"<p>{'The frame was examined by two engineers in September. ' * 4}</p>" for _ in range(4)
    )
    metas = (
        f'<meta name="description" content="{story[:90]}"><meta property="og:description" content="{lead}">'
    )
    teaser = f'<div class="teaser" aria-hidden="true"><p>{lead} More of it.</p></div>'
    page = f"<html><head>{metas}</head><body>{teaser}<article>{story}</article></body></html>"
    assert lead in read_html(page.encode()).text


def test_a_page_without_text_is_a_reason() -> None:
    with pytest.raises(SourceError, match="without text"):
        read_html(b"<html><body><div id=root></div><script>start()</script></body></html>")


@pytest.mark.parametrize("tag", ["div", "span", "ul><li", "table><tr><td", "b"])
def test_deep_nesting_is_read_or_refused_but_never_crashes(tag: str) -> None:
    page = f"<html><body><p>Above.</p>{f'<{tag}>' * 20_000}deep</body></html>"
    with contextlib.suppress(SourceError):
        assert "Above." in read_html(page.encode()).text


def test_entities_of_a_doctype_are_not_expanded() -> None:
    declared = '<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;"><!ENTITY f SYSTEM "file:///etc/passwd">'
    bomb = f"<!DOCTYPE html [{declared}]>"
    text = read_html(
        f"<?xml version='1.0'?>{bomb}<html><body><p>Text &b; &f;</p></body></html>".encode()
    ).text
    assert "aaaaaaaaaaaaaaaaaaaa" not in text
    assert "root:" not in text


def test_broken_markup_keeps_its_words() -> None:
    text = read_html(b"<html><body><p>one <b>two<p>three</i> <table><tr><td>four").text
    assert {"one", "two", "three", "four"} <= set(text.replace("*", "").replace("|", " ").split())
