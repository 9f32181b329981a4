"""Tells a person that the Prefect server of a run has gone silent.

Prefect's client asks again and again without a word, and the run stands still meanwhile.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from flows.prefect_environment import trouble_of, without_password

EVERY_SECONDS: Final = 10.0


@contextmanager
def watched_server(
    api_url: str, say: Callable[[str], None], *, every: float = EVERY_SECONDS
) -> Iterator[None]:
    """While the block lasts, say once when the server stops answering, and once when it answers again."""
    ended = threading.Event()
    thread = threading.Thread(
        target=_watch, args=(api_url, say, every, ended), name="lethe-server-watch", daemon=True
    )
    thread.start()
    try:
        yield
    finally:
        ended.set()  # not waited for: it may be in the middle of a question to a silent server


def _watch(api_url: str, say: Callable[[str], None], every: float, ended: threading.Event) -> None:
    where = without_password(api_url)
    silent = False
    while not ended.wait(every):
        trouble = trouble_of(api_url)
        if ended.is_set() or bool(trouble) is silent:
            continue
        silent = bool(trouble)
        if silent:
            say(f"note: the Prefect server at {where} does not answer ({trouble}): the run waits a while")
        else:
            say(f"note: the Prefect server at {where} answers again")
