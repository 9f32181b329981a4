"""The second hop counts where something is missing, and by the names that the question lacks."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lethe_core.context.anchors import AnchorNode, find_anchors
from lethe_core.context.hops import HopConfig, hop_terms, leading, with_hops

masses = st.lists(st.floats(0.0, 1.0), min_size=3, max_size=3).map(np.array)


def test_each_of_the_best_sources_leads_by_its_best_item() -> None:
    scores = np.array([0.1, 0.9, 0.8, 0.7, 0.0])
    assert leading(scores, ["a", "b", "b", "c", "d"], 3) == [1, 3, 0]
    assert leading(scores, ["a", "b", "b", "c", "d"], 9) == [1, 3, 0]  # what scores nothing leads nowhere
    assert leading(np.zeros(0), [], 3) == []


def test_terms_are_the_rarest_that_lead_elsewhere_and_that_the_task_does_not_say() -> None:
    nodes = [
        AnchorNode("a", "", {"anna berg", "orle", "tarn", "alone"}),
        AnchorNode("b", "", {"orle", "tarn"}),
        AnchorNode("c", "", {"anna berg", "tarn"}),
        *(AnchorNode(f"d{n}", "", {f"thing {n}"}) for n in range(4)),
    ]
    anchors = find_anchors(nodes)
    mentioned = nodes[0].terms
    assert hop_terms(mentioned, "How long is the bridge?", anchors) == ["anna berg", "orle", "tarn"]
    assert hop_terms(mentioned, "What of Orle?", anchors) == ["anna berg", "tarn"]
    assert hop_terms(mentioned, "", anchors, config=HopConfig(names=1)) == ["anna berg"]
    assert hop_terms({"unheard of"}, "", anchors) == []


@given(masses, st.lists(masses, max_size=3))
def test_the_largest_mass_stays_and_nothing_is_negative(first: np.ndarray, hops: list[np.ndarray]) -> None:
    joined = with_hops(first, hops)
    assert joined.shape == first.shape
    assert np.isfinite(joined).all()
    assert (joined >= 0.0).all()
    if first.max() > 1e-9:
        assert joined.max() == pytest.approx(first.max())


@given(masses)
def test_without_hops_the_first_walk_stands_as_it_is(first: np.ndarray) -> None:
    assert with_hops(first, []) is first
    unchanged = with_hops(first, [np.zeros(3)])
    np.testing.assert_allclose(unchanged, first, atol=1e-12)


def test_a_hop_lifts_what_it_reaches_but_not_above_the_best_of_the_first_walk() -> None:
    first = np.array([0.50, 0.20, 0.001])
    lifted = with_hops(first, [np.array([0.0, 0.1, 0.9])])
    assert lifted[2] > lifted[1] * 0.5  # it was 1/200 of it
    assert lifted[0] == pytest.approx(lifted.max())
