"""Weights that followed their graph, against weights that are made of all its edges."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lethe_core.context.anchors import AnchorNode, anchored, find_anchors
from lethe_core.context.kept_weights import KeptWeights
from lethe_core.context.weights import EdgeArrays, adjacency
from lethe_core.errors import ConfigError

changes = st.lists(
    st.tuples(
        st.integers(0, 5),  # nodes that come
        st.lists(
            st.tuples(st.integers(0, 30), st.integers(0, 30), st.sampled_from([0.0, 0.0, 0.3, 0.7, 1.0])),
            max_size=12,
        ),
    ),
    min_size=1,
    max_size=6,
)


@settings(max_examples=50, deadline=None)
@given(changes, st.data())
def test_after_any_changes_the_matrix_is_bit_for_bit_that_of_all_edges(steps, data):
    kept, pairs, n = KeptWeights(), {}, 2
    kept.grow(n)
    for more, edges in steps:
        n += more
        kept.grow(n)
        step = {(min(a % n, b % n), max(a % n, b % n)): weight for a, b, weight in edges if a % n != b % n}
        pairs |= step
        ends = np.array(list(step), dtype=np.int64).reshape(-1, 2)
        kept.put(ends[:, 1], ends[:, 0], np.array(list(step.values())))
    nodes = np.array(data.draw(st.permutations(range(n)))[: data.draw(st.integers(1, n))])
    place = {int(node): at for at, node in enumerate(nodes)}
    among = [(place[a], place[b], w) for (a, b), w in pairs.items() if a in place and b in place and w > 0]
    source, target = (np.array([edge[k] for edge in among], dtype=np.int64) for k in (0, 1))
    cosine = np.array([edge[2] for edge in among])
    anew = adjacency(len(nodes), EdgeArrays(source, target, np.full(len(among), "SIMILAR_TO"), cosine))
    found = kept.among(nodes)
    assert found.shape == anew.shape
    assert found.indptr.tolist() == anew.indptr.tolist()
    assert found.indices.tolist() == anew.indices.tolist()
    assert found.data.tobytes() == anew.data.tobytes()


@pytest.mark.parametrize(
    ("lower", "upper", "weight", "message"),
    [
        ([0], [3], [1.0], "two different ones"),
        ([1], [1], [1.0], "two different ones"),
        ([-1], [1], [1.0], "two different ones"),
        ([0, 1], [1, 0], [1.0, 2.0], "given twice"),
        ([0], [1], [float("nan")], "negative, NaN"),
        ([0], [1], [-0.1], "negative, NaN"),
        ([0, 1], [1], [1.0], "do not go with"),
    ],
)
def test_what_is_no_weight_of_a_pair_is_refused(lower, upper, weight, message):
    kept = KeptWeights()
    kept.grow(3)
    with pytest.raises(ConfigError, match=message):
        kept.put(np.array(lower), np.array(upper), np.array(weight))
    assert kept.among(np.arange(3)).toarray().tolist() == np.eye(3).tolist()
    with pytest.raises(ConfigError, match="fewer"):
        kept.grow(2)


def test_matrices_are_numbered_in_int32_since_every_step_of_a_walk_reads_the_numbers() -> None:
    edges = EdgeArrays(np.array([0, 1]), np.array([1, 2]), np.full(2, "SIMILAR_TO"), np.array([0.6, 0.7]))
    kept = KeptWeights()
    kept.grow(3)
    kept.put(edges.source, edges.target, edges.cosine)
    kept.grow(4)
    anchors = find_anchors([AnchorNode(str(node), "", ["Ada"]) for node in range(4)])
    for matrix in (kept.among(np.arange(4)), kept.among(np.array([2, 0])), adjacency(4, edges)):
        assert matrix.indices.dtype == np.int32
    assert anchored(kept.among(np.arange(4)), anchors).indices.dtype == np.int32
