"""A session's state and embeddings come back as they were written."""

import dataclasses
import json
import math
from collections.abc import Mapping
from typing import Any, get_args, get_origin

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from lethe_core.errors import InvalidValueError, StoreVersionError
from lethe_core.graph.serial import decode_state, decode_vector, encode_state, encode_vector, stored_form
from lethe_core.graph.session_state import SessionState, SessionStatus

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)  # NUL included
FLOAT = st.floats(allow_nan=False)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | FLOAT | TEXT,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXT, inner, max_size=2),
    max_leaves=4,
)
MAPPING = st.dictionaries(TEXT, JSON, max_size=2)
STATE = SessionState("s-1", "u", "r", "the goal", "test", {"min_iterations": 3})


def drawn(kind):
    """Values of a field's type; Mapping[…, Any] holds JSON."""
    if get_origin(kind) is not Mapping:
        return st.from_type(kind)
    value = get_args(kind)[1]
    return MAPPING if value is Any else st.dictionaries(TEXT, st.from_type(value), max_size=2)


# Whatever fields the state gets later, their types say what to draw.
STATES = st.builds(
    SessionState,
    **{field.name: drawn(field.type) for field in dataclasses.fields(SessionState)}
    | {"signals": st.lists(MAPPING, max_size=2).map(tuple)},
)


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(STATES)
def test_any_state_comes_back_as_it_was(state):
    again = decode_state(encode_state(state), "s-1")
    assert repr(again) == repr(state)  # NaN and types included
    assert encode_state(again) == encode_state(state)


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf, -0.0, 0.1 + 0.2, 5e-324, 2**80, 10**30])
def test_every_number_comes_back(number):
    state = dataclasses.replace(STATE, config={"n": number})
    again = decode_state(encode_state(state), "s-1").config["n"]
    assert type(again) is type(number)
    assert repr(again) == repr(number)


def test_numpy_values_become_the_numbers_that_they_are():
    values = {"a": np.float32(0.5), "b": np.int64(7), "c": np.bool_(True), "d": np.array([1.0, 2.0])}
    state, _ = stored_form(dataclasses.replace(STATE, signals=(values,)))
    assert state.signals == ({"a": 0.5, "b": 7, "c": True, "d": [1.0, 2.0]},)
    assert state.signals[0]["c"] is True


def test_what_is_given_back_is_what_a_later_load_gives():
    given_tuples = dataclasses.replace(STATE, config={"pair": (1, 2)}, seconds=3)
    state, text = stored_form(given_tuples)
    assert state == decode_state(text, "s-1")
    assert state.config == {"pair": [1, 2]}
    assert type(state.seconds) is float


@pytest.mark.parametrize(
    "changes",
    [
        {"goal": "a\ud800"},
        {"config": {"deep": ["\udfff"]}},
        {"config": {"\ud800": 1}},
        {"config": {1: "a"}},
        {"signals": ({"a": [{True: 1}]},)},
        {"config": {"a": {1, 2}}},
        {"config": {"a": b"bytes"}},
        {"iterations": "many"},
        {"status": "asleep"},
        {"phase": {"iteration": "x"}},
    ],
)
def test_a_state_that_cannot_be_kept_is_refused_and_named(changes):
    with pytest.raises(InvalidValueError, match="s-1"):
        stored_form(dataclasses.replace(STATE, **changes))


@pytest.mark.parametrize("text", ["", "{}", "null", "[1", '{"session_id": 3}', "not JSON"])
def test_text_that_holds_no_state_is_refused(text):
    with pytest.raises(StoreVersionError, match=r"session s-1 cannot be read .* another version"):
        decode_state(text, "s-1")


def test_fields_added_later_have_their_defaults_and_dropped_ones_are_passed_over():
    values = json.loads(encode_state(STATE))
    del values["message"]
    values["dropped"] = 1
    again = decode_state(json.dumps(values), "s-1")
    assert again == STATE
    assert again.status is SessionStatus.RUNNING


@settings(max_examples=40, deadline=None)
@given(arrays(np.float32, st.integers(0, 40), elements=st.floats(width=32)))
def test_a_vector_comes_back_bit_for_bit(vector):
    data = encode_vector(vector)
    assert len(data) == 4 * len(vector)
    again = decode_vector(data)
    assert again.dtype == np.float32
    assert again.tobytes() == vector.tobytes()


def test_a_vector_is_little_endian_and_read_only_and_may_be_a_slice():
    vector = np.arange(6, dtype=np.float32)[::2]
    assert encode_vector(vector) == b"\0\0\0\0" + b"\0\0\0\x40" + b"\0\0\x80\x40"
    assert not decode_vector(encode_vector(vector)).flags.writeable
