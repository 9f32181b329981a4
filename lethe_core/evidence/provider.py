"""What a search is to Lethe."""

from collections.abc import Collection, Mapping
from typing import Protocol

from lethe_core.evidence.page import Revisited, SearchOutcome, Skipped


class SearchProvider(Protocol):
    """Finds pages for a query: a local folder, later the web."""

    @property
    def name(self) -> str:
        """What reports and logs call it."""
        ...

    @property
    def skipped(self) -> tuple[Skipped, ...]:
        """Sources that it knows of and cannot read, whatever is searched for."""
        ...

    @property
    def state(self) -> str:
        """A digest of all that it could find: while it stays the same, so do the results of its searches.

        Empty where that cannot be told without searching.
        """
        ...

    def search(self, query: str, *, known: Collection[str], deadline: float) -> SearchOutcome:
        """Find pages.

        known: addresses of pages that the session holds already.
        deadline: ``time.monotonic()`` seconds after which it must return with what it has.
        Raises SearchUnavailableError when nothing answers.
        """
        ...

    def revisit(self, known: Mapping[str, str], *, query: str) -> list[Revisited]:
        """Look at pages that a former session read, by address with the fingerprint that they had then.

        query: what is asked now; of a long page that changed its best chunks are to be ingested.
        Pages that are none of this provider's are left out.
        """
        ...
