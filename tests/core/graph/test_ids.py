"""Short ids: the shortest prefix that is free, at least four digits."""

import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lethe_core.graph.ids import SHORT_ID, new_node_id, short_id_for


@given(st.lists(st.uuids(version=4), unique=True, max_size=30), st.sampled_from("te"))
def test_short_ids_are_unique_prefixes_and_as_short_as_they_can_be(ids, letter):
    taken = set()
    for node_id in map(str, ids):
        short = short_id_for(node_id, letter, taken.__contains__)
        digits = node_id.replace("-", "")
        assert SHORT_ID.fullmatch(short)
        assert short not in taken
        assert short == f"{letter}-{digits[: len(short) - 2]}"
        assert all(f"{letter}-{digits[:n]}" in taken for n in range(4, len(short) - 2))
        taken.add(short)


def test_an_id_whose_every_prefix_is_taken_is_an_error():
    with pytest.raises(ValueError, match="taken"):
        short_id_for(new_node_id(), "t", lambda _: True)


def test_a_new_id_is_a_uuid4_in_canonical_form():
    node_id = new_node_id()
    assert str(uuid.UUID(node_id)) == node_id
    assert uuid.UUID(node_id).version == 4
