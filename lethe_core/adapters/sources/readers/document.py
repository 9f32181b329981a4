"""What a reader makes of a file's bytes: canonical Markdown and what the file says of itself."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Document:
    text: str  # canonical Markdown (evidence/page.py)
    title: str = ""  # front matter, first heading or metadata, in that order; empty when there is none
    date: str = ""  # ISO 8601, from front matter or metadata; empty when there is none
    date_in_text: bool = False  # the date stands in front matter, which counts as text
    page_starts: tuple[int, ...] = ()  # offsets in text, for PDF
    note: str = ""  # what was left out, in words for a person
