"""What a report said, as far as the next report of its series is compared with it (report/diff.py).

It lies on the session that follows, not on the one that it tells of: that one may be deleted meanwhile, or
gone on with.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class OutlinedSource:
    """A source that the report cites."""

    title: str
    address: str
    date: str
    fingerprint: str  # of its page's content, shortened


@dataclass(frozen=True, slots=True)
class OutlinedClaim:
    """A statement that the report makes."""

    text: str
    sources: tuple[int, ...]  # indexes into the outline's sources
    passages: tuple[str, ...]  # marks of the passages that it cites
    wording: tuple[str, ...]  # marks of its own sentences, when it is a quotation
    finding: bool
    id: str = ""  # in its report


@dataclass(frozen=True, slots=True)
class Outline:
    """A report's statements, and by their marks what its session held: passages, sentences and pages.

    A mark is a shortened digest. What an older edition alone says is not among what is held.
    """

    session: str
    sources: tuple[OutlinedSource, ...] = ()
    claims: tuple[OutlinedClaim, ...] = ()
    contradictions: tuple[tuple[int, ...], ...] = ()  # indexes into claims
    held: tuple[str, ...] = ()  # marks of passages, of their sentences and of their table rows
    pages: tuple[str, ...] = ()  # addresses and fingerprints
    older: tuple[str, ...] = ()  # addresses of pages that a newer edition had replaced
