"""Cycle detection."""

import itertools

from hypothesis import given
from hypothesis import strategies as st

from lethe_core.graph.cycles import detect_cycles

NODES = st.integers(0, 7).map(str)


@given(st.lists(st.tuples(NODES, NODES), max_size=16))
def test_what_is_found_is_a_closed_walk_along_the_edges(edges):
    cycle = detect_cycles(edges)
    if cycle:
        assert cycle[0] == cycle[-1]
        assert all(step in edges for step in itertools.pairwise(cycle))
    else:
        # Without one, nodes that nothing leaves can be taken away until no edge is left.
        left = list(edges)
        while left:
            sources = {source for source, _ in left}
            kept = [(source, target) for source, target in left if target in sources]
            assert len(kept) < len(left)
            left = kept


def test_a_loop_and_a_long_ring_are_cycles_and_a_diamond_is_none():
    assert detect_cycles([("a", "a")]) == ("a", "a")
    ring = [(str(n), str((n + 1) % 5_000)) for n in range(5_000)]
    assert len(detect_cycles(ring)) == 5_001
    assert detect_cycles([("a", "b"), ("a", "c"), ("b", "d"), ("c", "d"), ("a", "d")]) == ()
    assert detect_cycles([]) == ()
