"""Every store: the sessions of one series are found together, and one of them is at work at a time."""

import dataclasses
import json

import pytest

from lethe_core.adapters.stores.owner import shown_owner
from lethe_core.errors import SeriesBusyError
from lethe_core.graph.nodes import SessionId
from lethe_core.graph.serial import decode_state, encode_state
from lethe_core.graph.session_state import SessionPatch

OWNER = "elsewhere/1/x/"


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
    for named in ("rail", "s-a", f"by {shown_owner(OWNER + 'a')}, whose lease", "UTC", "wait"):
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
def test_of_several_runs_of_a_series_that_start_at_once_exactly_one_has_the_turn(
    url, store, new_world, processes
):
    for racer in range(5):
        add(store, new_world, f"s-{racer}", "rail")
    rounds = 8
    won = processes.race(url, rounds, [f"s-{racer}" for racer in range(5)])
    assert [len(epochs) for epochs in won] == [1] * rounds


def test_a_state_from_before_there_were_series_is_read(store, new_world):
    text = encode_state(add(store, new_world, "s-old", ""))
    values = json.loads(text)
    for name in ("series", "n", "previous", "before", "known_searches", "source_state", "n_findings"):
        del values[name]
    old = decode_state(json.dumps(values), "s-old")
    assert (old.series, old.n, old.previous, old.before) == ("", 1, "", None)
