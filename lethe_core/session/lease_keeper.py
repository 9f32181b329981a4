"""Keeps a session's lease alive from a thread while the session works (architecture.md, "Lease")."""

import logging
import threading

from lethe_core.errors import SessionLostError, StoreUnavailableError
from lethe_core.graph.session_state import Lease
from lethe_core.graph.store import GraphStore

_log = logging.getLogger(__name__)

LEASE_SECONDS = 60.0
RENEW_SECONDS = 15.0


class LeaseKeeper:
    """Renews every 15 seconds; a lost lease is told to the next writer, not to the thread's log."""

    def __init__(self, store: GraphStore, lease: Lease) -> None:
        self._store = store
        self._lease = lease
        self._stop = threading.Event()
        self._lost: SessionLostError | None = None
        self._thread = threading.Thread(target=self._run, name="lethe-lease", daemon=True)
        self._thread.start()

    @property
    def lease(self) -> Lease:
        """The lease as last renewed. Raises SessionLostError once it was lost."""
        if self._lost is not None:
            raise self._lost
        return self._lease

    def release(self) -> None:
        """Stop renewing and give the lease back; one that cannot be given back runs out by itself.

        Whether the session's work succeeded was decided before: a store that has gone since changes nothing
        of it, and must not take the place of the error that ended the work.
        """
        self._stop.set()
        self._thread.join()
        if self._lost is not None:
            return
        try:
            self._store.release_lease(self._lease)
        except StoreUnavailableError as error:
            _log.warning(
                "the lease on session %s could not be given back, and runs out within %.0f s: %s",
                self._lease.session_id,
                LEASE_SECONDS,
                error,
            )

    def _run(self) -> None:
        while not self._stop.wait(RENEW_SECONDS):
            try:
                self._lease = self._store.renew_lease(self._lease, seconds=LEASE_SECONDS)
            except SessionLostError as error:
                self._lost = error
                return
            except StoreUnavailableError:
                continue  # it may pass before the lease runs out; every write is fenced all the same
