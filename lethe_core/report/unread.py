"""Sources that could not be read: named up to a bound, then counted."""

from collections.abc import Sequence
from typing import Final, Protocol, TypeVar

from lethe_core.graph.session_state import SkippedSource

MAX_NAMED: Final = 500  # in a session, whose state is written anew with every commit
_LIKEWISE: Final = "likewise unreadable"
_MORE: Final = " more"


class Unread(Protocol):
    """An entry of a session's list, or of a report's."""

    @property
    def source(self) -> str: ...
    @property
    def reason(self) -> str: ...


Entry = TypeVar("Entry", bound=Unread)


def bounded(found: Sequence[SkippedSource]) -> tuple[SkippedSource, ...]:
    """Each once; those beyond the bound as one entry that says how many they are."""
    each = list(dict.fromkeys(found))
    beyond = len(each) - MAX_NAMED
    if beyond <= 0:
        return tuple(each)
    return (*each[:MAX_NAMED], SkippedSource(f"{beyond}{_MORE}", _LIKEWISE))


def named(skipped: Sequence[Entry]) -> tuple[Entry, ...]:
    """Without the entry that only counts."""
    return tuple(entry for entry in skipped if entry.reason != _LIKEWISE)


def how_many(skipped: Sequence[Unread]) -> int:
    """How many sources the entries stand for."""
    counted = (entry.source.removesuffix(_MORE) for entry in skipped if entry.reason == _LIKEWISE)
    return len(named(skipped)) + sum(int(number) for number in counted if number.isdecimal())
