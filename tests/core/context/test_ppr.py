import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from lethe_core.context.ppr import personalized_pagerank, personalized_pageranks, walk_graph
from lethe_core.context.weights import WeightMatrix
from lethe_core.errors import ConfigError
from lethe_core.graph.arrays import FloatArray

dampings = st.sampled_from([0.0, 0.2, 0.5, 0.8, 0.85, 0.99])


def dense_solution(weights: FloatArray, seeds: FloatArray, damping: float) -> FloatArray:
    weights = weights + np.diag((weights.sum(axis=1) == 0).astype(np.float64))
    transition = weights / weights.sum(axis=1, keepdims=True)
    system = np.eye(len(seeds)) - damping * transition.T
    return np.linalg.solve(system, (1 - damping) * seeds / seeds.sum())


@st.composite
def graphs(draw: st.DrawFn) -> tuple[WeightMatrix, FloatArray]:
    """Sparse or dense, of one or of many pieces, weights over six orders of magnitude, loops allowed."""
    n = draw(st.integers(1, 25))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    density = draw(st.sampled_from([0.0, 0.05, 0.2, 1.0]))
    spread = draw(st.sampled_from([0.0, 3.0]))
    half = np.triu(10.0 ** rng.uniform(-spread, spread, (n, n)) * (rng.random((n, n)) < density))
    seeds = rng.random(n) * (rng.random(n) < 0.4)
    seeds[rng.integers(n)] = 1.0
    return csr_array(half + np.triu(half, 1).T), seeds


@settings(max_examples=50, deadline=None)
@given(graphs(), dampings)
def test_scores_are_a_distribution(graph: tuple[WeightMatrix, FloatArray], damping: float) -> None:
    scores = personalized_pagerank(*graph, damping=damping).scores
    assert (scores >= 0).all()
    assert scores.sum() == pytest.approx(1.0, abs=1e-12)


@settings(max_examples=50, deadline=None)
@given(graphs(), dampings)
def test_the_bound_holds_and_is_within_the_tolerance(
    graph: tuple[WeightMatrix, FloatArray], damping: float
) -> None:
    weights, seeds = graph
    result = personalized_pagerank(weights, seeds, damping=damping, tolerance=1e-8)
    error = np.abs(result.scores - dense_solution(weights.toarray(), seeds, damping)).sum()
    assert result.error_bound <= 1e-8
    assert error <= result.error_bound + 1e-12


@settings(max_examples=50, deadline=None)
@given(graphs(), dampings)
def test_agrees_with_a_dense_solve(graph: tuple[WeightMatrix, FloatArray], damping: float) -> None:
    weights, seeds = graph
    scores = personalized_pagerank(weights, seeds, damping=damping, tolerance=1e-10).scores
    assert np.abs(scores - dense_solution(weights.toarray(), seeds, damping)).max() <= 1e-9


@settings(max_examples=50, deadline=None)
@given(graphs(), dampings, st.integers(0, 2**32 - 1), st.floats(0, 1))
def test_scores_are_linear_in_the_seeds(
    graph: tuple[WeightMatrix, FloatArray], damping: float, other: int, share: float
) -> None:
    weights, first = graph
    first = first / first.sum()
    second = np.random.default_rng(other).dirichlet(np.ones(len(first)))

    def rank(seeds: FloatArray) -> FloatArray:
        return personalized_pagerank(weights, seeds, damping=damping, tolerance=1e-11).scores

    mixed = rank(share * first + (1 - share) * second)
    assert np.abs(mixed - (share * rank(first) + (1 - share) * rank(second))).sum() <= 1e-9


@settings(max_examples=50, deadline=None)
@given(graphs(), dampings)
def test_walks_between_two_nodes_balance_by_degree(
    graph: tuple[WeightMatrix, FloatArray], damping: float
) -> None:
    weights, _ = graph
    n = weights.shape[0]
    degrees = weights.toarray().sum(axis=1)
    degrees[degrees == 0] = 1.0
    ranks = np.array(
        [personalized_pagerank(weights, row, damping=damping, tolerance=1e-12).scores for row in np.eye(n)]
    )
    flow = degrees[:, None] * ranks
    assert flow == pytest.approx(flow.T, abs=1e-9 * degrees.max())


@settings(max_examples=50, deadline=None)
@given(graphs(), dampings)
def test_every_component_keeps_the_mass_that_was_seeded_in_it(
    graph: tuple[WeightMatrix, FloatArray], damping: float
) -> None:
    weights, seeds = graph
    count, labels = connected_components(weights, directed=False)
    scores = personalized_pagerank(weights, seeds, damping=damping).scores
    seeded = np.bincount(labels, weights=seeds / seeds.sum(), minlength=count)
    assert np.bincount(labels, weights=scores, minlength=count) == pytest.approx(seeded, abs=1e-8)


@settings(max_examples=50, deadline=None)
@given(graphs(), dampings, st.sampled_from([1e-6, 3.0, 1e6]))
def test_neither_the_scale_of_weights_nor_that_of_seeds_matters(
    graph: tuple[WeightMatrix, FloatArray], damping: float, scale: float
) -> None:
    weights, seeds = graph
    plain = personalized_pagerank(weights, seeds, damping=damping).scores
    scaled = personalized_pagerank(csr_array(weights * scale), seeds * scale, damping=damping).scores
    assert np.abs(plain - scaled).sum() <= 2e-8


@settings(max_examples=50, deadline=None)
@given(graphs(), dampings, st.integers(0, 2**32 - 1), st.sampled_from([0.0, 1e-3, 1.0]))
def test_the_bound_holds_wherever_the_walk_begins(
    graph: tuple[WeightMatrix, FloatArray], damping: float, other: int, distance: float
) -> None:
    # Near the solution, far from it, or at a place that has no mass in a seeded component at all.
    weights, seeds = graph
    exact = dense_solution(weights.toarray(), seeds, damping)
    start = np.abs((1 - distance) * exact + distance * np.eye(len(seeds))[other % len(seeds)])
    result = personalized_pagerank(weights, seeds, damping=damping, start=start)
    assert result.error_bound <= 1e-8
    assert np.abs(result.scores - exact).sum() <= result.error_bound + 1e-12
    assert result.scores.sum() == pytest.approx(1.0, abs=1e-12)


@settings(max_examples=60, deadline=None)
@given(graphs(), dampings, st.integers(0, 9), st.integers(0, 2**32 - 1))
def test_several_restarts_side_by_side_are_each_what_they_are_alone(
    graph: tuple[WeightMatrix, FloatArray], damping: float, count: int, other: int
) -> None:
    weights, seeds = graph
    rows = np.random.default_rng(other).random((count, len(seeds))) ** 4 + seeds
    together = personalized_pageranks(weights, rows, damping=damping)
    assert len(together) == count
    for row, found in zip(rows, together, strict=True):
        alone = personalized_pagerank(weights, row, damping=damping)
        assert found.error_bound <= 1e-8
        assert np.abs(found.scores - alone.scores).sum() <= found.error_bound + alone.error_bound + 1e-12


@settings(max_examples=30, deadline=None)
@given(graphs(), dampings)
def test_a_graph_that_was_checked_once_gives_the_same_bits(
    graph: tuple[WeightMatrix, FloatArray], damping: float
) -> None:
    weights, seeds = graph
    kept = personalized_pagerank(walk_graph(weights), seeds, damping=damping)
    assert kept.scores.tobytes() == personalized_pagerank(weights, seeds, damping=damping).scores.tobytes()


def test_beginning_at_the_solution_takes_no_step_and_after_a_small_change_few() -> None:
    rng = np.random.default_rng(5)
    half = np.triu(rng.random((300, 300)) * (rng.random((300, 300)) < 0.05), 1)
    seeds = np.eye(300)[7]
    cold = personalized_pagerank(csr_array(half + half.T), seeds, damping=0.85, tolerance=1e-10)
    again = personalized_pagerank(
        csr_array(half + half.T), seeds, damping=0.85, tolerance=1e-9, start=cold.scores
    )
    assert again.iterations == 0
    half[3, 200] += 0.01
    changed = personalized_pagerank(
        csr_array(half + half.T), seeds, damping=0.85, tolerance=1e-10, start=cold.scores
    )
    assert 0 < changed.iterations < 0.7 * cold.iterations


def test_a_start_that_is_no_distribution_is_refused() -> None:
    square = csr_array(np.ones((2, 2)))
    for start, message in (
        (np.zeros(2), "all starts are zero"),
        (np.ones(3), "2 nodes"),
        (np.array([1.0, float("nan")]), "start of node 1 is nan"),
    ):
        with pytest.raises(ConfigError, match=message):
            personalized_pagerank(square, np.ones(2), start=start)
    with pytest.raises(ConfigError, match="must be the same"):
        personalized_pageranks(square, np.ones((2, 2)), starts=np.ones((1, 2)))


def test_a_walk_by_hand() -> None:
    # Path 0 – 1 – 2, restart at 0, damping .5: x0 = x1/4 + 1/2, x1 = x0/2 + x2/2, x2 = x1/4.
    weights = csr_array(np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 0.0]]))
    result = personalized_pagerank(weights, np.array([1.0, 0.0, 0.0]), damping=0.5)
    assert result.scores == pytest.approx([7 / 12, 4 / 12, 1 / 12], abs=1e-8)


def test_an_isolated_seed_keeps_all_its_mass() -> None:
    weights = csr_array(np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, 1.0, 0.0]]))
    assert personalized_pagerank(weights, np.array([1.0, 0.0, 0.0])).scores.tolist() == [1.0, 0.0, 0.0]
    shared = personalized_pagerank(weights, np.array([1.0, 1.0, 0.0])).scores
    assert shared[0] == pytest.approx(0.5, abs=1e-8)


def test_a_single_node_has_all_the_mass_with_and_without_a_loop() -> None:
    for weight in (0.0, 1.0):
        result = personalized_pagerank(csr_array(np.array([[weight]])), np.array([5.0]))
        assert result.scores.tolist() == [1.0]
        assert result.error_bound == 0.0


def test_a_node_that_no_seed_reaches_has_exactly_nothing() -> None:
    weights = csr_array(np.kron(np.eye(2), np.ones((3, 3)) - np.eye(3)))
    scores = personalized_pagerank(weights, np.array([1.0, 0, 0, 0, 0, 0])).scores
    assert (scores[:3] > 0).all()
    assert scores[3:].tolist() == [0.0, 0.0, 0.0]


def test_damping_zero_returns_the_seeds() -> None:
    weights = csr_array(np.ones((3, 3)))
    result = personalized_pagerank(weights, np.array([1.0, 3.0, 0.0]), damping=0.0)
    assert result.scores.tolist() == [0.25, 0.75, 0.0]
    assert result.iterations == 0


def test_a_tolerance_finer_than_float64_ends_with_an_honest_bound() -> None:
    rng = np.random.default_rng(3)
    half = np.triu(rng.random((40, 40)), 1)
    weights = half + half.T
    seeds = rng.random(40)
    result = personalized_pagerank(csr_array(weights), seeds, damping=0.85, tolerance=1e-30)
    assert 1e-30 < result.error_bound < 1e-13
    assert np.abs(result.scores - dense_solution(weights, seeds, 0.85)).sum() < 1e-13


def test_damping_close_to_one_on_a_long_path_still_meets_the_bound() -> None:
    n = 400
    weights = np.diag(np.ones(n - 1), 1) + np.diag(np.ones(n - 1), -1)
    seeds = np.eye(n)[0]
    result = personalized_pagerank(csr_array(weights), seeds, damping=0.9999)
    assert result.error_bound <= 1e-8
    assert np.abs(result.scores - dense_solution(weights, seeds, 0.9999)).sum() <= 2e-8


@pytest.mark.parametrize("worst", [float("nan"), float("inf"), -0.5])
def test_a_weight_that_is_no_weight_is_refused_with_its_value(worst: float) -> None:
    weights = csr_array(np.array([[0.0, worst], [worst, 0.0]]))
    with pytest.raises(ConfigError, match=str(worst)):
        personalized_pagerank(weights, np.array([1.0, 0.0]))


@pytest.mark.parametrize("worst", [float("nan"), float("inf"), -0.5])
def test_a_seed_that_is_no_share_is_refused_with_its_value(worst: float) -> None:
    with pytest.raises(ConfigError, match=f"node 1 is {worst}"):
        personalized_pagerank(csr_array(np.ones((2, 2))), np.array([1.0, worst]))


@pytest.mark.parametrize("damping", [-0.1, 1.0, 1.5, float("nan")])
def test_damping_outside_its_range_is_refused(damping: float) -> None:
    with pytest.raises(ConfigError, match="damping"):
        personalized_pagerank(csr_array(np.ones((2, 2))), np.ones(2), damping=damping)


@pytest.mark.parametrize("tolerance", [0.0, -1e-8, float("nan"), float("inf")])
def test_a_tolerance_that_cannot_be_met_is_refused(tolerance: float) -> None:
    with pytest.raises(ConfigError, match="tolerance"):
        personalized_pagerank(csr_array(np.ones((2, 2))), np.ones(2), tolerance=tolerance)


def test_no_nodes_no_seeds_and_shapes_that_disagree_are_refused() -> None:
    square = csr_array(np.ones((2, 2)))
    with pytest.raises(ConfigError, match="no nodes"):
        personalized_pagerank(csr_array((0, 0)), np.zeros(0))
    with pytest.raises(ConfigError, match="all seeds are zero"):
        personalized_pagerank(square, np.zeros(2))
    with pytest.raises(ConfigError, match="2 nodes"):
        personalized_pagerank(square, np.ones(3))
    with pytest.raises(ConfigError, match="square"):
        personalized_pagerank(csr_array(np.ones((2, 3))), np.ones(2))


def test_weights_that_are_not_symmetric_are_refused() -> None:
    with pytest.raises(ConfigError, match="not symmetric"):
        personalized_pagerank(csr_array(np.array([[0.0, 1.0], [0.5, 0.0]])), np.ones(2))


def test_weights_too_small_for_float64_are_refused_and_not_turned_into_nan() -> None:
    with pytest.raises(ConfigError, match="rescale"):
        personalized_pagerank(csr_array(np.full((2, 2), 1e-310)), np.ones(2))
