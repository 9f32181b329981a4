"""What a store says of leases (architecture.md, "Lease"): the same words from every store."""

from datetime import UTC, datetime
from typing import Final

from lethe_core.adapters.stores.owner import shown_owner
from lethe_core.errors import NoProgressError, SeriesBusyError, SessionBusyError, SessionLostError
from lethe_core.graph.nodes import SessionId
from lethe_core.graph.session_state import Lease

MAX_STARTS: Final = 3  # starts without a committed phase, after which the next is refused


def busy(session_id: SessionId, owner: str, until: float) -> SessionBusyError:
    return SessionBusyError(
        f"session {session_id} is being worked on by {shown_owner(owner)}, whose lease runs until "
        f"{_utc(until)}: wait for that run to end, or stop it"
    )


def series_busy(series: str, session_id: SessionId, owner: str, until: float) -> SeriesBusyError:
    return SeriesBusyError(
        f"series {series} is being worked on: session {session_id} by {shown_owner(owner)}, whose lease "
        f"runs until {_utc(until)}: wait for that run to end, or stop it",
        session_id,
    )


def lost(lease: Lease) -> SessionLostError:
    return SessionLostError(
        f"the lease on session {lease.session_id} (epoch {lease.epoch}) is not held any more: another run "
        "took it over, or the session was deleted; nothing was written"
    )


def check_starts(session_id: SessionId, starts: int) -> None:
    """Raises NoProgressError when the starts counted so far allow no other."""
    if starts >= MAX_STARTS:
        raise NoProgressError(
            f"session {session_id} was started {starts} times without committing a step: see its log for "
            f"what ends it, then `lethe resume {session_id} --force`"
        )


def _utc(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
