"""What a search is to Lethe."""

from collections.abc import Collection
from typing import Protocol

from lethe_core.evidence.page import SearchOutcome, Skipped


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

    def search(self, query: str, *, known: Collection[str], deadline: float) -> SearchOutcome:
        """Find pages.

        known: addresses of pages that the session holds already.
        deadline: ``time.monotonic()`` seconds after which it must return with what it has.
        Raises SearchUnavailableError when nothing answers.
        """
        ...
