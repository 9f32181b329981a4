"""Transactions of one store take turns: one is staged at a time, and none inside another."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from lethe_core.errors import StoreError


class Turns:
    """The right to stage a transaction; other threads wait for it, the thread that has it is refused."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._thread = 0

    @contextmanager
    def taken(self) -> Iterator[None]:
        thread = threading.get_ident()
        if self._thread == thread:
            raise StoreError("a transaction of this store is open in this thread already")
        with self._lock:
            self._thread = thread
            try:
                yield
            finally:
                self._thread = 0
