"""Processes of their own that use a store: they race for a lease, or are stopped in the midst."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import lethe_core

# Forked before any store is opened, so that the imports are paid for once.
RACE = """
import multiprocessing, sys
from lethe_core.adapters.stores import open_store
from lethe_core.adapters.stores.owner import make_owner
from lethe_core.errors import SeriesBusyError, SessionBusyError
url, rounds, sessions = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
context = multiprocessing.get_context("fork")
barrier, epochs = context.Barrier(len(sessions)), context.Array("i", len(sessions) * rounds)

def race(racer, session):
    store, owner = open_store(url), make_owner()
    for turn in range(rounds):
        lease = None
        barrier.wait()
        try:
            lease = store.acquire_lease(session, owner, force=True)
            epochs[len(sessions) * turn + racer] = lease.epoch
        except (SessionBusyError, SeriesBusyError):
            pass
        barrier.wait()
        if lease:
            store.release_lease(lease)
    store.close()

racers = [context.Process(target=race, args=given) for given in enumerate(sessions)]
for racer in racers:
    racer.start()
for racer in racers:
    racer.join()
print(*epochs[:], *(racer.exitcode for racer in racers))
"""


def spawn(code: str, *arguments: str) -> "subprocess.Popen[str]":
    """A process of its own that runs this code."""
    return subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        env=os.environ | {"PYTHONPATH": str(Path(lethe_core.__file__).parents[1])},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def race(url: str, rounds: int, sessions: Sequence[str]) -> list[list[int]]:
    """Processes that start in one instant, one for each session given: the epochs of a round's winners."""
    out, _ = spawn(RACE, url, str(rounds), *sessions).communicate()
    answers = [int(word) for word in out.split()]
    count = len(sessions)
    assert answers[count * rounds :] == [0] * count
    return [
        [epoch for epoch in answers[count * turn : count * (turn + 1)] if epoch] for turn in range(rounds)
    ]
