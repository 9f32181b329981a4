import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lethe_core.context.weights import EdgeArrays, adjacency, edge_weights, end_cosines, seed_vector
from lethe_core.errors import ConfigError
from lethe_core.graph.nodes import EdgeType

NAN = float("nan")


def edges(
    *rows: tuple[int, int, str, float], nli: list[tuple[float, float, float]] | None = None
) -> EdgeArrays:
    source, target, kind, cosine = zip(*rows, strict=True) if rows else ((), (), (), ())
    scores = np.array(nli, dtype=np.float64).T if nli else (None, None, None)
    return EdgeArrays(
        source=np.array(source, dtype=np.int64),
        target=np.array(target, dtype=np.int64),
        kind=np.array(kind, dtype=np.str_),
        cosine=np.array(cosine, dtype=np.float64),
        confidence=scores[0],
        support=scores[1],
        contradiction=scores[2],
    )


@st.composite
def random_edges(draw: st.DrawFn) -> tuple[int, EdgeArrays]:
    n = draw(st.integers(2, 12))
    pairs = st.tuples(
        st.integers(0, n - 1),
        st.integers(0, n - 1),
        st.sampled_from([str(kind) for kind in EdgeType]),
        st.floats(-1, 1),
    ).filter(lambda edge: edge[0] != edge[1])
    rows = draw(st.lists(pairs, max_size=40))
    unit = st.floats(0, 1) | st.just(NAN)
    nli = draw(st.lists(st.tuples(unit, unit, unit), min_size=len(rows), max_size=len(rows)))
    return n, edges(*rows, nli=nli or None)


def test_each_structural_type_has_its_weight() -> None:
    given_edges = edges(
        (0, 1, "SUBTASK_OF", 1.0),
        (0, 2, "PRODUCED", 1.0),
        (0, 3, "DEPENDS_ON", 1.0),
        (0, 4, "SUPERSEDES", 1.0),
    )
    assert edge_weights(given_edges).tolist() == [1.0, 0.9, 0.8, 0.0]


def test_every_edge_type_of_the_graph_is_known() -> None:
    rows = [(0, 1, kind, 0.5) for kind in EdgeType]
    assert len(edge_weights(edges(*rows))) == len(EdgeType)


def test_structural_weight_is_multiplied_by_the_cosine_of_its_ends_but_stays_passable() -> None:
    given_edges = edges((0, 1, "PRODUCED", 0.5), (0, 1, "PRODUCED", 0.01), (0, 1, "SUBTASK_OF", -0.7))
    assert edge_weights(given_edges) == pytest.approx([0.45, 0.045, 0.05])


def test_similarity_weight_rises_with_a_confident_verdict_of_either_sign() -> None:
    given_edges = edges(
        *[(0, 1, "SIMILAR_TO", 0.6)] * 3, nli=[(0.8, 0.9, 0.1), (0.8, 0.1, 0.9), (0.0, 1.0, 0.0)]
    )
    # .6 · (1 + .25 · .8 · .9) = .708
    assert edge_weights(given_edges) == pytest.approx([0.708, 0.708, 0.6])


def test_similarity_weight_is_the_cosine_while_nli_is_off() -> None:
    rows = [(0, 1, "SIMILAR_TO", 0.6)] * 2
    assert edge_weights(edges(*rows)).tolist() == [0.6, 0.6]
    assert edge_weights(edges(*rows, nli=[(NAN, NAN, NAN), (NAN, 1.0, 1.0)])).tolist() == [0.6, 0.6]


def test_negative_similarity_carries_no_weight() -> None:
    assert edge_weights(edges((0, 1, "SIMILAR_TO", -0.3))).tolist() == [0.0]


def test_parallel_edges_add_up_whatever_their_direction() -> None:
    weights = adjacency(
        2, edges((0, 1, "DEPENDS_ON", 1.0), (1, 0, "SUBTASK_OF", 1.0), (1, 0, "SIMILAR_TO", 0.6))
    )
    assert weights.toarray() == pytest.approx(np.array([[0.0, 2.4], [2.4, 0.0]]))


def test_a_node_without_an_edge_that_carries_weight_gets_a_loop() -> None:
    weights = adjacency(4, edges((0, 1, "SUBTASK_OF", 1.0), (2, 3, "SUPERSEDES", 1.0)))
    assert weights.toarray().tolist() == [
        [0.0, 1.0, 0.0, 0.0],
        [1.0, 0.0, 0.0, 0.0],
        [0.0, 0.0, 1.0, 0.0],
        [0.0, 0.0, 0.0, 1.0],
    ]


def test_a_graph_without_edges_is_all_loops_and_one_without_nodes_is_empty() -> None:
    assert adjacency(2, edges()).toarray().tolist() == [[1.0, 0.0], [0.0, 1.0]]
    assert adjacency(0, edges()).shape == (0, 0)


@settings(max_examples=50, deadline=None)
@given(random_edges())
def test_weights_are_exactly_symmetric_non_negative_and_no_row_is_empty(
    drawn: tuple[int, EdgeArrays],
) -> None:
    n, given_edges = drawn
    dense = adjacency(n, given_edges).toarray()
    assert np.array_equal(dense, dense.T)
    assert np.isfinite(dense).all()
    assert (dense >= 0).all()
    assert (dense.sum(axis=1) > 0).all()


@settings(max_examples=50, deadline=None)
@given(random_edges())
def test_off_the_diagonal_the_matrix_is_the_sum_of_the_edges(drawn: tuple[int, EdgeArrays]) -> None:
    n, given_edges = drawn
    expected = np.zeros((n, n))
    for source, target, weight in zip(
        given_edges.source, given_edges.target, edge_weights(given_edges), strict=True
    ):
        expected[source, target] += weight
        expected[target, source] += weight
    dense = adjacency(n, given_edges).toarray()
    np.fill_diagonal(dense, 0.0)
    assert dense == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("given_edges", "message"),
    [
        (edges((0, 1, "KNOWS", 0.5)), "KNOWS"),
        (edges((0, 1, "SIMILAR_TO", NAN)), "nan"),
        (edges((0, 1, "SIMILAR_TO", 1.5)), "1.5"),
        (edges((0, 3, "SIMILAR_TO", 0.5)), "3 nodes"),
        (edges((-1, 1, "SIMILAR_TO", 0.5)), "-1"),
        (edges((1, 1, "SIMILAR_TO", 0.5)), "node 1 to itself"),
        (
            EdgeArrays(np.array([0]), np.array([1, 2]), np.array(["PRODUCED"]), np.array([0.5])),
            "target",
        ),
    ],
)
def test_an_edge_that_cannot_be_is_refused_with_its_value(given_edges: EdgeArrays, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        adjacency(3, given_edges)


def test_cosines_a_rounding_above_one_are_taken_as_one() -> None:
    assert edge_weights(edges((0, 1, "SUBTASK_OF", 1.0000005))).tolist() == [1.0]


def test_end_cosines_are_zero_without_an_embedding() -> None:
    vectors = np.array([[1, 0], [0.6, 0.8], [0, 0]], dtype=np.float32)
    assert end_cosines(vectors, np.array([0, 1]), np.array([1, 2])) == pytest.approx([0.6, 0.0])


def test_seeds_are_the_task_its_neighbours_at_half_and_its_evidence_at_half_in_all() -> None:
    seeds = seed_vector(8, 0, parents=[1], children=[2], dependencies=[3], evidence=[4, 5])
    assert seeds == pytest.approx(np.array([1, 0.5, 0.5, 0.5, 0.25, 0.25, 0, 0]) / 3)


def test_a_node_in_two_roles_takes_the_larger_share() -> None:
    seeds = seed_vector(4, 0, parents=[1], children=[1, 0], dependencies=[2], evidence=[2, 3])
    assert seeds == pytest.approx(np.array([1, 0.5, 0.5, 0.25]) / 2.25)


def test_evidence_named_twice_counts_once() -> None:
    assert seed_vector(3, 0, evidence=[1, 1, 2]) == pytest.approx(seed_vector(3, 0, evidence=[1, 2]))


def test_a_lone_task_is_the_only_seed() -> None:
    assert seed_vector(3, 1).tolist() == [0.0, 1.0, 0.0]


@pytest.mark.parametrize(("selected", "parents"), [(3, []), (-1, []), (0, [7])])
def test_a_seed_outside_the_graph_is_refused(selected: int, parents: list[int]) -> None:
    with pytest.raises(ConfigError, match="3 nodes"):
        seed_vector(3, selected, parents=parents)
