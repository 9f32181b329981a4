"""A source as it is read, and the chunks that it is stored in (algorithms.md 8).

The canonical text of a page is Markdown: headings with ``#``, tables as pipe tables, lists with ``-``
or ``1.``. Chunks partition that text by their spans; what is repeated for reading, such as a table's
header above a later row, lies in ``text`` but outside ``span``.
"""

from dataclasses import dataclass, field
from typing import Literal

DateSource = Literal["text", "metadata", "name", "modified", ""]
ChunkKind = Literal["prose", "list", "row"]


@dataclass(frozen=True, slots=True)
class Page:
    """One document: its canonical text and where it came from."""

    address: str  # "folder/relative/path.md" (bytes that are no UTF-8 as %XX) or a URL
    title: str
    text: str
    date: str  # ISO 8601, possibly shortened to a year or a month; empty when unknown
    date_source: DateSource
    modified: float = 0.0  # seconds since the epoch; shown, never decides
    domain: str = ""  # who speaks: a host; for a local file its own address or that of its series
    page_starts: tuple[int, ...] = ()  # offsets in text at which a printed page begins, for PDF


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a page that becomes one evidence node."""

    text: str  # what is read and quoted
    embed_text: str  # what is embedded: title + ". " + text; of a row "header: cell; header: cell"
    span: tuple[int, int]  # half-open, in the page's text
    place: str  # the headings above it, joined by " › ", and "p. 3" in a PDF
    kind: ChunkKind


@dataclass(frozen=True, slots=True)
class Edition:
    """Where a page stands among the versions of the same document."""

    series: str  # the same for all members; empty when the page stands alone
    edition: str  # its version as the page or its name says it: "v2", "2024-03-11", "archive"
    period: str  # of a periodic issue: "2024-Q3", "2024-05", "2024"
    older: bool  # a newer edition of the same document exists
    newest: str  # the address of the newest member; empty when the page stands alone


ALONE = Edition(series="", edition="", period="", older=False, newest="")


@dataclass(frozen=True, slots=True)
class Skipped:
    """A source that could not be read, and why, in words for a person."""

    source: str
    reason: str


@dataclass(frozen=True, slots=True)
class FoundPage:
    """A page that a search brings: the chunks of it that are to be ingested, in the page's order."""

    page: Page
    fingerprint: str  # hash of the page's content
    edition: Edition
    chunks: tuple[Chunk, ...]
    hits: tuple[int, ...] = ()  # indexes into chunks of those that matched the query, best first


@dataclass(frozen=True, slots=True)
class SearchOutcome:
    """What one search brought."""

    new: tuple[FoundPage, ...]  # not yet in the session, best first
    known: tuple[FoundPage, ...]  # already in the session and ranked among them; only hits matter
    skipped: tuple[Skipped, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class Revisited:
    """What has become of a page that a former session read."""

    known: str  # the address that it had then
    address: str = (
        ""  # the address that the same content has now; of a page that changed its own; empty: gone
    )
    edition: Edition = ALONE
    changed: FoundPage | None = None  # with other content: all chunks, `hits` those that are to be ingested
    reason: str = ""  # why it is gone
