"""Every store: the sessions of one series are found together, and one of them is at work at a time."""

import dataclasses
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import lethe_core
from lethe_core.errors import SeriesBusyError
from lethe_core.graph.nodes import SessionId
from lethe_core.graph.serial import decode_state, encode_state
from lethe_core.graph.session_state import SessionPatch

OWNER = "elsewhere/1/x/"

# As in test_lease: forked before any store is opened. Each racer has a session of its own in one series.
RACE = """
import multiprocessing, sys
from lethe_core.adapters.stores import open_store
from lethe_core.adapters.stores.owner import make_owner
from lethe_core.errors import SeriesBusyError
url, rounds = sys.argv[1], int(sys.argv[2])
context = multiprocessing.get_context("fork")
barrier, won = context.Barrier(5), context.Array("i", 5 * rounds)

def race(racer):
    store, owner = open_store(url), make_owner()
    for turn in range(rounds):
        lease = None
        barrier.wait()
        try:
            lease = store.acquire_lease(f"s-{racer}", owner, force=True)
            won[5 * turn + racer] = 1
        except SeriesBusyError:
            pass
        barrier.wait()
        if lease:
            store.release_lease(lease)
    store.close()

racers = [context.Process(target=race, args=(number,)) for number in range(5)]
for racer in racers:
    racer.start()
for racer in racers:
    racer.join()
print(*won[:], *(racer.exitcode for racer in racers))
"""


def add(store, new_world, name, series):
    world = new_world.__new__(new_world)
    world._numbers = iter(range(1000))
    state = dataclasses.replace(new_world.new_state(name), series=series, n=0)
    return store.create_session(state, world.new_task())


def test_the_sessions_of_a_series_are_found_and_no_others(store, new_world):
    names = ["rail", "rail-2", 'r"ail', "Rail", "", "rail"]
    for number, series in enumerate(names):
        add(store, new_world, f"s-{number}", series)
    # A state that speaks of a series is not of it.
    quoted = new_world(store, "s-quoting")
    with store.transaction(quoted.lease) as tx:
        tx.update_session(SessionPatch(message='"series":"rail"', config={"series": "rail"}))
    for series in set(names) - {""}:
        expected = [f"s-{number}" for number, name in enumerate(names) if name == series]
        assert [state.session_id for state in store.list_sessions(series)] == expected
    assert len(store.list_sessions()) == len(names) + 1
    assert store.list_sessions("none") == []


def test_one_session_of_a_series_is_at_work_at_a_time(store, new_world):
    for name, series in (("s-a", "rail"), ("s-b", "rail"), ("s-c", "road"), ("s-d", ""), ("s-e", "")):
        add(store, new_world, name, series)
    first = store.acquire_lease(SessionId("s-a"), OWNER + "a")
    with pytest.raises(SeriesBusyError) as caught:
        store.acquire_lease(SessionId("s-b"), OWNER + "b", force=True)
    for named in ("rail", "s-a", OWNER + "a", "UTC", "wait"):
        assert named in str(caught.value)
    for other in ("s-c", "s-d", "s-e"):
        store.acquire_lease(SessionId(other), OWNER + other)
    store.renew_lease(first)
    store.release_lease(first)
    second = store.acquire_lease(SessionId("s-b"), OWNER + "b")
    with pytest.raises(SeriesBusyError, match="s-b"):
        store.acquire_lease(SessionId("s-a"), OWNER + "a")
    assert second.epoch == 1  # what was refused counts for nothing


def test_a_turn_that_has_run_out_is_taken(store, new_world):
    for name in ("s-a", "s-b"):
        add(store, new_world, name, "rail")
    store.acquire_lease(SessionId("s-a"), OWNER + "a", seconds=-1)
    assert store.acquire_lease(SessionId("s-b"), OWNER + "b").owner == OWNER + "b"


@pytest.mark.timeout(120)
def test_of_several_runs_of_a_series_that_start_at_once_exactly_one_has_the_turn(url, store, new_world):
    for racer in range(5):
        add(store, new_world, f"s-{racer}", "rail")
    rounds = 8
    ended = subprocess.run(
        [sys.executable, "-c", RACE, url, str(rounds)],
        env=os.environ | {"PYTHONPATH": str(Path(lethe_core.__file__).parents[1])},
        capture_output=True,
        text=True,
        check=True,
    )
    numbers = [int(word) for word in ended.stdout.split()]
    won, exits = numbers[: 5 * rounds], numbers[5 * rounds :]
    assert exits == [0] * 5, ended.stderr
    assert [sum(won[5 * turn : 5 * turn + 5]) for turn in range(rounds)] == [1] * rounds


def test_a_state_from_before_there_were_series_is_read(store, new_world):
    text = encode_state(add(store, new_world, "s-old", ""))
    values = json.loads(text)
    for name in ("series", "n", "previous", "before", "known_searches", "source_state", "n_findings"):
        del values[name]
    old = decode_state(json.dumps(values))
    assert (old.series, old.n, old.previous, old.before) == ("", 1, "", None)
