"""Where a walk begins that was made before."""

import numpy as np

from lethe_core.graph.nodes import NodeId
from lethe_core.session.walking import LastWalk

A, B = NodeId("a"), NodeId("b")


def test_a_walk_begins_where_the_last_one_from_its_task_ended_by_the_names_of_nodes_and_terms():
    last = LastWalk(warm_from=2)
    assert last.start(A, ["n1", "orle"]) is None
    last.keep(A, ["n1", "orle"], np.array([0.75, 0.25]))
    assert last.start(A, ["n0", "n1", "orle"]).tolist() == [0.0, 0.75, 0.25]
    assert last.start(B, ["n0", "n1", "orle"]) is None
    assert last.start(A, ["n8", "n9"]) is None  # nothing of it is left


def test_a_small_graph_is_walked_from_its_seeds_so_that_a_session_taken_up_again_goes_on_alike():
    last = LastWalk()
    last.keep(A, ["n1"], np.array([1.0]))
    assert last.start(A, ["n1"]) is None
