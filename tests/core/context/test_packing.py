from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lethe_core.context.packing import Packing, PackingConfig, information, pack
from lethe_core.errors import ConfigError
from lethe_core.graph.arrays import FloatArray, IntArray, Matrix

SCALE = PackingConfig().regularisation


@dataclass(frozen=True)
class Case:
    vectors: Matrix
    scores: FloatArray
    tokens: IntArray
    budget: int


def mixed_case(seed: int, largest: int = 14) -> Case:
    """Spread, clustered, flat or doubled vectors; even, wild or trap-like sizes; tight or loose budgets."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, largest + 1))
    dimension = int(rng.choice([2, 4, 16, 64]))
    shape = rng.choice(["spread", "clustered", "flat", "doubled"])
    vectors = rng.standard_normal((n, dimension))
    if shape == "clustered":
        centres = rng.standard_normal((3, dimension))
        vectors = centres[rng.integers(0, 3, n)] + 0.3 * vectors
    elif shape == "flat":
        vectors = rng.standard_normal((n, min(2, dimension))) @ rng.standard_normal(
            (min(2, dimension), dimension)
        )
    elif shape == "doubled":
        vectors = vectors[rng.integers(0, max(n // 2, 1), n)]
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    scores = rng.uniform(0, 1, n) ** rng.choice([0.5, 1, 3])
    sizes = rng.choice(["even", "wild", "trap"])
    if sizes == "even":
        tokens = rng.integers(40, 121, n)
    elif sizes == "wild":
        tokens = np.ceil(10 ** rng.uniform(0, 3, n)).astype(np.int64)
    else:  # small items that look good by the token beside large ones that fill the budget
        tokens = np.where(rng.random(n) < 0.5, rng.integers(1, 30, n), rng.integers(150, 200, n))
    budget = max(int(tokens.sum() * rng.uniform(0.1, 0.8)), int(tokens.min()))
    return Case(vectors.astype(np.float32), scores, tokens, budget)


def all_values(case: Case) -> tuple[FloatArray, IntArray]:
    """F and tokens of every subset, by bit mask: Schur complements, doubling item by item."""
    rows = case.vectors.astype(np.float64) * np.sqrt(case.scores)[:, None]
    n = len(rows)
    values, tokens = np.zeros(1), np.zeros(1, dtype=np.int64)
    covariance = (np.eye(n) + rows @ rows.T / SCALE)[None]  # of the items not yet decided, given the subset
    for item in range(n):
        pivot, column, rest = covariance[:, 0, 0], covariance[:, 1:, 0], covariance[:, 1:, 1:]
        conditioned = rest - column[:, :, None] * column[:, None, :] / pivot[:, None, None]
        values = np.concatenate([values, values + np.log(pivot)])
        tokens = np.concatenate([tokens, tokens + case.tokens[item]])
        covariance = np.concatenate([rest, conditioned])
    return values, tokens


def optimum(case: Case) -> float:
    values, tokens = all_values(case)
    return float(values[tokens <= case.budget].max())


def value_of(case: Case, chosen: tuple[int, ...] | list[int]) -> float:
    """F by numpy's log-determinant."""
    rows = case.vectors[list(chosen)].astype(np.float64) * np.sqrt(case.scores[list(chosen)])[:, None]
    return float(np.linalg.slogdet(np.eye(len(rows)) + rows @ rows.T / SCALE)[1])


def naive_greedy(case: Case, start: list[int], *, per_token: bool) -> list[list[int]]:
    """Every prefix of the choices, each made by a log-determinant for every item."""
    prefixes = [list(start)]
    while True:
        chosen = prefixes[-1]
        remaining = case.budget - int(case.tokens[chosen].sum())
        best, best_gain = -1, 0.0
        base = value_of(case, chosen)
        for item in range(len(case.scores)):
            if item in chosen or case.tokens[item] > remaining:
                continue
            gain = (value_of(case, [*chosen, item]) - base) / (case.tokens[item] if per_token else 1)
            if gain > best_gain * (1 + 1e-9) + 1e-11:
                best, best_gain = item, gain
        if best < 0:
            return prefixes
        prefixes.append([*chosen, best])


def naive_pack(case: Case) -> float:
    """The specified choice, with nothing lazy about it."""

    def best_from(start: list[int], best: list[int], *, per_token: bool) -> list[int]:
        prefixes = naive_greedy(case, start, per_token=per_token)
        if value_of(case, prefixes[-1]) > value_of(case, best) + 1e-11:
            best = prefixes[-1]
        found: list[int] | None = None
        for prefix in prefixes[:-1]:
            for item in range(len(case.scores)):
                chosen = [*prefix, item]
                if item in prefix or case.tokens[chosen].sum() > case.budget:
                    continue
                if value_of(case, chosen) > value_of(case, found or best) + 1e-11:
                    found = chosen
        return naive_greedy(case, found, per_token=True)[-1] if found else best

    best = best_from([], best_from([], [], per_token=True), per_token=False)
    if len(best) <= PackingConfig().few_items and len(set(case.tokens.tolist())) > 1:
        fitting = np.flatnonzero(case.tokens <= case.budget)
        by_value = sorted(fitting, key=lambda item: -value_of(case, [item]))
        for first in by_value[: PackingConfig().first_choices]:
            best = best_from([int(first)], best, per_token=True)
    return value_of(case, best)


def pack_case(case: Case, required: tuple[int, ...] = ()) -> Packing:
    return pack(case.vectors, case.scores, case.tokens, case.budget, required=required)


seeds = st.integers(0, 2**32 - 1)


@settings(max_examples=100, deadline=None)
@given(seeds)
def test_tokens_never_exceed_the_budget_and_no_item_is_taken_twice(seed: int) -> None:
    case = mixed_case(seed, largest=60)
    packing = pack_case(case, required=(1, 0))
    assert packing.tokens == case.tokens[list(packing.selected)].sum() <= case.budget
    assert len(set(packing.selected)) == len(packing.selected)


@settings(max_examples=100, deadline=None)
@given(seeds)
def test_value_is_the_log_determinant_of_what_was_chosen(seed: int) -> None:
    case = mixed_case(seed, largest=60)
    packing = pack_case(case)
    assert packing.value == pytest.approx(value_of(case, packing.selected), abs=1e-9)
    chosen = list(packing.selected)
    assert information(case.vectors[chosen], case.scores[chosen]) == pytest.approx(packing.value, abs=1e-9)


@settings(max_examples=60, deadline=None)
@given(seeds)
def test_lazy_choice_equals_naive_choice_with_duplicates_present(seed: int) -> None:
    case = mixed_case(seed, largest=12)
    twice = Case(
        np.concatenate([case.vectors, case.vectors[:5]]),
        np.concatenate([case.scores, case.scores[:5]]),
        np.concatenate([case.tokens, case.tokens[:5]]),
        case.budget,
    )
    assert pack_case(twice).value == pytest.approx(naive_pack(twice), abs=1e-9)


def test_a_large_lazy_choice_picks_what_the_naive_one_picks_in_the_same_order() -> None:
    rng = np.random.default_rng(5)
    centres = rng.standard_normal((8, 32))
    vectors = centres[rng.integers(0, 8, 150)] + 0.5 * rng.standard_normal((150, 32))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    vectors[100:] = vectors[:50]
    case = Case(vectors.astype(np.float32), rng.uniform(0.1, 1, 150), np.ones(150, dtype=np.int64), 40)
    assert list(pack_case(case).chosen) == naive_greedy(case, [], per_token=True)[-1]


def test_choice_is_near_the_optimum_and_the_bound_above_it() -> None:
    ratios = []
    for seed in range(300):
        case = mixed_case(seed)
        best = optimum(case)
        packing = pack_case(case)
        assert packing.value <= best + 1e-9
        assert best <= packing.bound + 1e-9
        ratios.append(packing.value / best)
    assert min(ratios) >= 0.85
    assert np.mean(ratios) >= 0.99


def test_two_items_that_fill_the_budget_win_over_the_one_that_shuts_both_out() -> None:
    # Item 2 is first by the token and by itself, log 5.1; the others reach log 2.6 + log 4.2.
    request = (np.eye(3), np.array([0.16, 0.32, 0.41]), [22, 28, 29], 50)
    assert pack(*request, config=PackingConfig(few_items=0)).chosen == (2,)
    assert set(pack(*request).chosen) == {0, 1}


@settings(max_examples=60, deadline=None)
@given(seeds)
def test_the_bound_holds_for_every_choice_with_the_required_items(seed: int) -> None:
    case = mixed_case(seed, largest=10)
    packing = pack_case(case, required=(2, 0))
    values, tokens = all_values(case)
    mask = sum(1 << item for item in packing.required)
    allowed = (tokens <= case.budget) & (np.arange(len(values)) & mask == mask)
    best = float(values[allowed].max())
    assert packing.value <= best + 1e-9
    assert best <= packing.bound + 1e-9
    assert packing.value <= packing.bound


@settings(max_examples=60, deadline=None)
@given(seeds)
def test_information_is_monotone_and_submodular(seed: int) -> None:
    case = mixed_case(seed, largest=10)
    values, _ = all_values(case)
    rng = np.random.default_rng(seed)
    n = len(case.scores)
    small = int(rng.integers(0, 1 << n))
    large = small | int(rng.integers(0, 1 << n))
    item = 1 << int(rng.integers(0, n))
    assert values[large] >= values[small] - 1e-9
    assert values[small | item] - values[small] >= values[large | item] - values[large] - 1e-9 or large & item


def test_an_item_that_does_not_fit_is_skipped_and_later_ones_are_taken() -> None:
    packing = pack(np.eye(3), np.array([1.0, 0.5, 0.4]), [100, 5, 5], 10)
    assert packing.chosen == (1, 2)


def test_one_large_item_wins_over_the_small_one_that_is_better_by_the_token() -> None:
    # By the token the small item comes first and shuts the large one out: log 2 against log 11.
    packing = pack(np.eye(2), np.array([0.1, 1.0]), [1, 100], 100)
    assert packing.chosen == (1,)
    assert packing.value == pytest.approx(np.log(11))


def test_room_left_beside_the_large_item_is_filled() -> None:
    # By the token 0, 2 come first and shut 1 out; 0 and 1 leave no room for 2 but for 3.
    packing = pack(np.eye(4), np.array([0.5, 1.0, 0.3, 0.01]), [1, 100, 10, 5], 106)
    assert set(packing.chosen) == {0, 1, 3}


def test_required_items_are_kept_first_and_counted() -> None:
    packing = pack(np.eye(4), np.array([0.1, 1.0, 1.0, 0.0]), [4, 4, 4, 4], 12, required=(3, 0))
    assert packing.required == (3, 0)
    assert packing.chosen == (1,)
    assert packing.selected == (3, 0, 1)
    assert packing.tokens == 12
    assert packing.dropped_required == ()


def test_a_copy_of_a_required_item_gives_way_to_something_new() -> None:
    vectors = np.array([[1, 0], [1, 0], [0, 1]])
    assert pack(vectors, np.array([1.0, 1.0, 0.6]), [1, 1, 1], 2, required=(0,)).chosen == (2,)


def test_required_items_beyond_the_budget_are_dropped_from_the_least_important_and_named() -> None:
    # The task, its parent, then dependencies, newest first: the second dependency no longer fits.
    packing = pack(np.eye(5), np.ones(5), [50, 30, 30, 15, 5], 100, required=(0, 1, 2, 3))
    assert packing.required == (0, 1, 3)
    assert packing.dropped_required == (2,)
    assert packing.chosen == (4,)


def test_a_required_item_larger_than_the_budget_is_dropped_and_the_rest_is_packed() -> None:
    packing = pack(np.eye(2), np.ones(2), [50, 5], 10, required=(0,))
    assert (packing.required, packing.dropped_required, packing.chosen) == ((), (0,), (1,))


def test_items_without_information_are_left_out() -> None:
    vectors = np.array([[1, 0], [0, 0], [0, 1]])
    assert pack(vectors, np.array([1.0, 1.0, 0.0]), [1, 1, 1], 10).chosen == (0,)


def test_of_equal_items_the_first_is_taken() -> None:
    vectors = np.tile(np.array([[0.6, 0.8]], dtype=np.float32), (50, 1))
    assert pack(vectors, np.full(50, 0.7), [10] * 50, 35).chosen == (0, 1, 2)


def test_many_copies_of_one_item_keep_their_exact_value() -> None:
    vectors = np.tile(np.array([[0.6, 0.8]]), (400, 1))
    packing = pack(vectors, np.ones(400), [1] * 400, 300)
    assert packing.value == pytest.approx(np.log1p(300 / SCALE), abs=1e-9)


def test_everything_is_taken_when_it_fits_and_the_bound_says_that_nothing_is_missing() -> None:
    packing = pack(np.eye(3), np.ones(3), [1, 2, 3], 6)
    assert sorted(packing.chosen) == [0, 1, 2]
    assert packing.bound == packing.value == pytest.approx(3 * np.log(11))


@pytest.mark.parametrize("budget", [0, 4])
def test_no_items_or_no_room_gives_an_empty_context(budget: int) -> None:
    nothing = pack(np.zeros((0, 3)), np.zeros(0), [], budget)
    assert (nothing.selected, nothing.tokens, nothing.value, nothing.bound) == ((), 0, 0.0, 0.0)
    no_room = pack(np.eye(2), np.ones(2), [5, 5], budget)
    assert (no_room.selected, no_room.tokens, no_room.value, no_room.bound) == ((), 0, 0.0, 0.0)


@settings(max_examples=30, deadline=None)
@given(seeds)
def test_the_same_input_gives_the_same_choice(seed: int) -> None:
    case = mixed_case(seed, largest=40)
    assert pack_case(case) == pack_case(case)


@pytest.mark.parametrize(
    ("vectors", "scores", "tokens", "budget", "required", "message"),
    [
        (np.ones(3), np.ones(3), [1, 1, 1], 3, (), "shape"),
        (np.eye(2), np.ones(3), [1, 1], 3, (), "shape"),
        (np.eye(2), np.ones(2), [1], 3, (), "tokens"),
        (np.eye(2), np.ones(2), [1, 0], 3, (), "item 1 has 0 tokens"),
        (np.eye(2) * np.nan, np.ones(2), [1, 1], 3, (), "NaN"),
        (np.eye(2), np.array([1, np.nan]), [1, 1], 3, (), "item 1 is nan"),
        (np.eye(2), np.array([1, -0.5]), [1, 1], 3, (), "item 1 is -0.5"),
        (np.eye(2), np.ones(2), [1, 1], -1, (), "budget is -1"),
        (np.eye(2), np.ones(2), [1, 1], 3, (0, 0), "required"),
        (np.eye(2), np.ones(2), [1, 1], 3, (2,), "required"),
    ],
)
def test_a_request_that_makes_no_sense_is_refused(
    vectors: FloatArray,
    scores: FloatArray,
    tokens: list[int],
    budget: int,
    required: tuple[int, ...],
    message: str,
) -> None:
    with pytest.raises(ConfigError, match=message):
        pack(vectors, scores, tokens, budget, required=required)


def test_a_regularisation_that_is_not_positive_is_refused() -> None:
    with pytest.raises(ConfigError, match="regularisation"):
        pack(np.eye(2), np.ones(2), [1, 1], 2, config=PackingConfig(regularisation=0.0))
