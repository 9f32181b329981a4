"""HTML to canonical Markdown: the main text with its tables and lists; navigation, footers and comments go.

Where the extractor finds no main text (a page of a few lines, a bare table), all visible text of the body
is taken. Dates come from metadata only; those in the text are judged where all texts are (evidence/dates.py).
"""

import json
import logging
import re
from typing import TYPE_CHECKING

from lethe_core.adapters.sources.readers.charset import decode
from lethe_core.adapters.sources.readers.document import Document
from lethe_core.adapters.sources.readers.markdown import first_heading, plain
from lethe_core.adapters.sources.readers.table import table_markdown
from lethe_core.errors import SourceError

if TYPE_CHECKING:
    from lxml.html import HtmlElement

_MOST_CHARACTERS = 20_000_000
_MOST_DEPTH = 200  # a few levels below the parser's own limit of 256, beyond which it drops text
_DECLARED = re.compile(
    rb"""<(?:meta|\?xml)[^>]{0,300}?(?:charset|encoding)\s*=\s*["']?([A-Za-z0-9_.:-]{2,40})""", re.I
)
_BLOCKS = frozenset(
    (
        *("address", "article", "aside", "blockquote", "body", "center", "dd", "details", "div", "dl", "dt"),
        *(
            "fieldset",
            "figcaption",
            "figure",
            "form",
            "header",
            "h1",
            "h2",
            "h3",
            "h4",
            "h5",
            "h6",
            "hr",
            "li",
        ),
        *("main", "ol", "p", "pre", "section", "summary", "table", "tr", "td", "th", "ul"),
    )
)
_FURNITURE = frozenset(
    (
        *("script", "style", "noscript", "template", "nav", "footer", "aside", "iframe", "svg", "button"),
        *("select", "head", "object"),
    )
)
_DATES = (  # metadata fields, in the order in which they are believed: the publication before later touches
    *("article:published_time", "og:published_time", "datepublished", "dc.date.issued", "dcterms.issued"),
    *("dcterms.created", "dc.date", "dcterms.date", "citation_publication_date", "citation_date", "date"),
    *("pubdate", "publishdate", "article:modified_time", "og:updated_time", "datemodified", "last-modified"),
    *("dcterms.modified", "dc.date.modified", "revised"),
)
_MOSTLY_TEXT = 0.7  # share of the visible text that is main text, where the rest is hardly navigation
_ESCAPE = re.compile(r"\\([\\`*_{}\[\]()#+\-.!|~<>])")


def read_html(data: bytes) -> Document:
    """Read an HTML page. Raises SourceError when it holds no text."""
    import trafilatura

    logging.getLogger("trafilatura").setLevel(logging.CRITICAL)  # its errors are handled here
    declared = _DECLARED.search(data[:4096])
    source = decode(data, declared=declared[1].decode("ascii") if declared else "")
    if len(source) > _MOST_CHARACTERS:
        raise SourceError(f"an HTML page of {len(source):,} characters; the limit is {_MOST_CHARACTERS:,}")
    tree = _parse(source)
    title, date = _metadata(tree)
    heading = _heading_of(tree, title)
    body = _own_text(tree)
    main = ""
    if _depth(tree) <= _MOST_DEPTH:  # the extractor recurses
        main = (
            trafilatura.extract(
                source,
                output_format="markdown",
                include_tables=True,
                include_comments=False,
                include_links=False,
                include_images=False,
                favor_recall=True,
            )
            or ""
        )
    main = _tidy(main)
    text = body if _misses(main, body) else _with_lead(main, body, tree)
    if not text.strip():
        raise SourceError("an HTML page without text (it may be built by scripts)")
    if heading and heading not in text[: len(heading) + 200]:
        text = f"# {heading}\n\n{text}"
    return Document(text=text, title=heading or title or first_heading(text), date=date)


def _misses(main: str, body: str) -> bool:
    """Whether the extractor's text is too little of all visible text, or has lost the tables or the headings
    of a page that is mostly text: a table that stands last it may take for furniture.
    """
    if len(main) < min(200, 0.5 * len(body)):
        return True
    if len(main) < _MOSTLY_TEXT * len(body):
        return False
    said = set(main.split("\n"))
    rows = [line for line in body.split("\n") if line.startswith("| ")]
    if rows and not said & set(rows):
        return True
    return sum(line.startswith("#") for line in body.split("\n")) >= 2 and not any(
        line.startswith("#") for line in said
    )


def _with_lead(text: str, body: str, tree: "HtmlElement") -> str:
    """Put back the first paragraph where the extractor took it for a teaser: the one that the page's
    own description repeats."""
    for meta in tree.iter("meta"):
        if (meta.get("name") or meta.get("property") or "").lower() in ("description", "og:description"):
            start = " ".join((meta.get("content") or "").split())[:60]
            if len(start) == 60 and start not in text:
                lead = next((part for part in body.split("\n\n") if part.startswith(start)), "")
                if lead:
                    return f"{lead}\n\n{text}"
    return text


def _parse(source: str) -> "HtmlElement":
    from lxml import etree, html

    # As bytes: a str with an encoding declaration is refused.
    parser = html.HTMLParser(encoding="utf-8", no_network=True, remove_comments=True, remove_pis=True)
    try:
        tree = html.document_fromstring(source.encode("utf-8", "replace"), parser=parser)
    except (etree.ParserError, etree.XMLSyntaxError, ValueError, AssertionError) as error:
        raise SourceError(f"HTML that cannot be parsed: {error}") from error
    return tree


def _depth(tree: "HtmlElement") -> int:
    deepest = 0
    stack = [(tree, 1)]
    while stack:
        element, depth = stack.pop()
        deepest = max(deepest, depth)
        stack.extend((child, depth + 1) for child in element)
    return deepest


def _heading_of(tree: "HtmlElement", title: str) -> str:
    """The heading that names the page rather than its site; empty when none does.

    The one that the page's title contains, the longest of them (a site's name is mostly the shorter);
    without a title the only h1.
    """
    found = {_inline(element): None for element in tree.iter("h1", "h2") if len(_inline(element)) <= 300}
    named = [heading for heading in found if len(heading) > 2 and heading.casefold() in title.casefold()]
    if named:
        return max(named, key=len)
    tops = {_inline(element): None for element in tree.iter("h1")}
    return next(iter(tops)) if not title and len(tops) == 1 else ""


def _metadata(tree: "HtmlElement") -> tuple[str, str]:
    metas: dict[str, str] = {}
    for meta in tree.iter("meta"):
        name = (meta.get("property") or meta.get("name") or meta.get("itemprop") or "").lower()
        if name and meta.get("content"):
            metas.setdefault(name, " ".join(meta.get("content").split()))
    elements = [_inline(element) for element in tree.iter("title")]
    title = metas.get("og:title") or metas.get("dc.title") or (elements[0] if elements else "")
    site = metas.get("og:site_name", "")
    if site and title.lower().endswith(site.lower()):
        title = title[: -len(site)].rstrip(" |-–—·:»") or title
    date = next((metas[name] for name in _DATES if _iso(metas.get(name, ""))), "") or _structured_date(tree)
    if not date:
        published = [
            t
            for t in tree.iter("time")
            if t.get("pubdate") is not None or t.get("itemprop") == "datePublished"
        ]
        date = next(
            (t.get("datetime") for t in published or tree.iter("time") if _iso(t.get("datetime") or "")), ""
        )
    return title, _iso(date)


def _structured_date(tree: "HtmlElement") -> str:
    for script in tree.iter("script"):
        if "ld+json" not in (script.get("type") or ""):
            continue
        try:
            loaded = json.loads(script.text or "")
        except (ValueError, RecursionError):
            continue
        items = (
            loaded
            if isinstance(loaded, list)
            else loaded.get("@graph", [loaded])
            if isinstance(loaded, dict)
            else []
        )
        for item in items if isinstance(items, list) else []:
            for key in ("datePublished", "dateModified"):
                if isinstance(item, dict) and _iso(str(item.get(key, ""))):
                    return str(item[key])
    return ""


def _iso(value: str) -> str:
    match = re.match(r"\s*((?:19|20)\d\d)[-/](0[1-9]|1[0-2])[-/](0[1-9]|[12]\d|3[01])(?!\d)", value)
    return "-".join(match.groups()) if match else ""


def _tidy(markdown: str) -> str:
    """Undo the extractor's escapes and give its tables the shape that all tables have here."""
    lines: list[str] = []
    table: list[list[str]] = []
    fenced = False
    for line in [*markdown.split("\n"), ""]:
        fenced ^= line.startswith("```")
        row = line.strip()
        if not fenced and row.startswith("|") and row.endswith("|") and len(row) > 1:
            cells = [_ESCAPE.sub(r"\1", cell).strip() for cell in re.split(r"(?<!\\)\|", row[1:-1])]
            if not all(re.fullmatch(r":?-{3,}:?", cell) for cell in cells):
                table.append(cells)
            continue
        if table:
            lines.extend(["", table_markdown(table), ""])
            table = []
        lines.append(line if fenced else _ESCAPE.sub(r"\1", line.rstrip()))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip("\n")


def _own_text(tree: "HtmlElement") -> str:
    """All visible text in document order, without recursion: blocks, lists and tables as Markdown."""
    parts: list[str] = []
    line: list[str] = []

    def flush(prefix: str = "") -> None:
        words = " ".join("".join(line).split())
        line.clear()
        if words:
            parts.append(prefix + words)

    bodies = tree.xpath("//body") or [tree]
    stack: list[tuple[HtmlElement | str, str]] = [(bodies[0], "")]
    while stack:
        item, prefix = stack.pop()
        if isinstance(item, str):
            line.append(item)
            if prefix:
                flush(prefix.removeprefix("\n"))
            continue
        tag = item.tag if isinstance(item.tag, str) else ""
        if tag in _FURNITURE or item.get("hidden") is not None:
            continue
        if tag == "table" and not item.xpath(".//table"):
            flush()
            rows = [[_inline(cell) for cell in row if cell.tag in ("td", "th")] for row in item.iter("tr")]
            rows = [row for row in rows if any(row)]
            if rows:
                parts.append(table_markdown(rows))
            continue
        if tag in _BLOCKS or tag == "br":
            flush()
            stack.append(("", "\n" + _prefix(item, tag)))
        for child in reversed(item):
            if child.tail:
                stack.append((child.tail, ""))
            stack.append((child, ""))
        if item.text:
            stack.append((item.text, ""))
    flush()
    return _join(parts)


def _prefix(element: "HtmlElement", tag: str) -> str:
    if re.fullmatch(r"h[1-6]", tag):
        return "#" * int(tag[1]) + " "
    if tag == "li":
        parent = element.getparent()
        if parent is not None and parent.tag == "ol":
            return f"{parent.index(element) + 1}. "
        return "- "
    return ""


def _join(parts: list[str]) -> str:
    text = ""
    for part in parts:
        together = part.startswith("- ") and text.rsplit("\n", 1)[-1].startswith("- ")
        text += ("\n" if together else "\n\n") + part if text else part
    return text


def _inline(element: "HtmlElement") -> str:
    return plain(" ".join(" ".join(element.itertext()).split()))
