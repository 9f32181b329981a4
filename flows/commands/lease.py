"""Whether another run holds a session: seen before anything is started, or ended."""

import time
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from flows.terminal import write_line
from lethe_core.errors import SessionBusyError, StoreError

if TYPE_CHECKING:
    from lethe_core.config import Settings
    from lethe_core.graph.nodes import SessionId

LEASE_WAIT: Final = 65.0  # a lease runs for 60 seconds; one that is renewed meanwhile belongs to the living


def refuse_if_held(settings: "Settings", session: "SessionId") -> None:
    """Raises SessionBusyError when another run holds the session."""
    _look(settings, session, wait=False, quiet=True)


def wait_for_lease(settings: "Settings", session: "SessionId", *, quiet: bool) -> None:
    """Wait while another run may be at work that is seen from here neither to live nor to have died.

    A run that is alive renews its lease; one that has certainly ended holds none.
    Raises SessionBusyError for a run that lives.
    """
    _look(settings, session, wait=True, quiet=quiet)


def refuse_if_at_work(settings: "Settings") -> None:
    """Raises SessionBusyError when a run on this machine works on a session of this store.

    A store that cannot be read tells of none: it must not keep a server from being ended.
    """
    from flows.commands.stored import existing_store
    from lethe_core.adapters.stores.owner import owner_is_alive

    at_work = []
    with suppress(StoreError):
        store = existing_store(settings)
        if store is None:
            return
        try:
            for state in store.list_sessions():
                held = store.lease_holder(state.session_id) if state.status.value == "running" else None
                if held is not None and owner_is_alive(held.owner):
                    at_work.append(f"{state.session_id} (process {held.owner.split('/')[1]})")
        finally:
            store.close()
    if at_work:
        raise SessionBusyError(
            f"being worked on: {', '.join(at_work)}; a run without its server ends in error: wait for it, "
            "end it with Ctrl-C, or end the server all the same with `lethe server stop --force`"
        )


def _look(settings: "Settings", session: "SessionId", *, wait: bool, quiet: bool) -> None:
    from lethe_core.adapters.stores import open_store
    from lethe_core.adapters.stores.leases import busy
    from lethe_core.adapters.stores.owner import owner_is_alive, shown_owner

    store = open_store(settings.store_url)
    try:
        begun = time.monotonic()
        first = held = store.lease_holder(session)
        while held is not None:
            renewed = first is None or held.until > first.until
            late = time.monotonic() - begun > LEASE_WAIT
            if not wait or renewed or late or owner_is_alive(held.owner):
                raise busy(held.session_id, held.owner, held.until)
            if held is first and not quiet:
                write_line(
                    f"session {session} is held by {shown_owner(held.owner)}, which cannot be seen from "
                    "here: waiting until its lease runs out (a minute at most) …"
                )
            time.sleep(1.0)
            held = store.lease_holder(session)
    finally:
        store.close()
