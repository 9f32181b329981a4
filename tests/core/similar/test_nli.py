"""Nine properties of an edge, and models whose labels cannot be trusted."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lethe_core.errors import ConfigError, ModelResponseError
from lethe_core.similar.nli import classify_edges, label_order, nli_relations, verify_labels

quick = settings(max_examples=100, deadline=None)
triples = (
    st.tuples(*[st.floats(0, 1)] * 3).filter(lambda t: sum(t) > 1e-3).map(lambda t: [x / sum(t) for x in t])
)


class Classifier:
    """Answers from a table, everything else neutral; its columns in the order given."""

    name = "table"

    def __init__(self, columns=(0, 1, 2)):
        self.columns = columns
        self.asked: list[list[tuple[str, str]]] = []

    def classify(self, pairs):
        self.asked.append(list(pairs))
        table = {
            "instrument": [0.9, 0.08, 0.02],
            "closed": [0.01, 0.04, 0.95],
        }
        rows = [next((p for key, p in table.items() if key in b), [0.1, 0.8, 0.1]) for _, b in pairs]
        return np.array(rows)[:, list(self.columns)]


@quick
@given(triples, triples)
def test_the_nine_properties_are_in_range_and_bounded_together(ab, ba):
    edge = nli_relations(np.array([ab]), np.array([ba])).at(0)
    for name, value in edge.items():
        low = -1.0 if name in ("direction", "polarity") else 0.0
        assert low - 1e-12 <= value <= 1.0 + 1e-12, name
    assert edge["contradiction"] + edge["equivalence"] + edge["independence"] <= 1.0 + 1e-12


@quick
@given(triples, triples)
def test_swapping_the_ends_swaps_entailments_turns_direction_and_keeps_the_rest(ab, ba):
    edge = nli_relations(np.array([ab]), np.array([ba])).at(0)
    swapped = nli_relations(np.array([ba]), np.array([ab])).at(0)
    assert swapped.pop("entail_fwd") == edge.pop("entail_bwd")
    assert swapped.pop("entail_bwd") == edge.pop("entail_fwd")
    assert swapped.pop("direction") == -edge.pop("direction")
    assert swapped == pytest.approx(edge, abs=1e-15)


def test_the_properties_of_a_worked_edge():
    edge = nli_relations(np.array([[0.7, 0.2, 0.1]]), np.array([[0.1, 0.5, 0.4]])).at(0)
    entropy = -sum(p * math.log(p) for p in (0.7, 0.2, 0.1, 0.1, 0.5, 0.4))
    confidence = 1 - entropy / (2 * math.log(3))
    assert edge == pytest.approx(
        {
            "entail_fwd": 0.7,
            "entail_bwd": 0.1,
            "support": 0.7,
            "contradiction": 0.2,
            "equivalence": math.sqrt(0.07),
            "independence": math.sqrt(0.1),
            "confidence": confidence,
            "direction": 0.6,
            "polarity": confidence * 0.5,
        }
    )


def test_confidence_runs_from_a_guess_to_certainty():
    guess, sure = np.full((1, 3), 1 / 3), np.array([[0.0, 0.0, 1.0]])
    assert nli_relations(guess, guess).confidence[0] == pytest.approx(0.0, abs=1e-15)
    assert nli_relations(sure, sure).confidence[0] == 1.0
    assert nli_relations(sure, sure).polarity[0] == -1.0


@pytest.mark.parametrize("row", [[0.5, 0.5, 0.5], [math.nan, 0.5, 0.5], [-0.2, 0.6, 0.6], [3.0, -1.0, -1.0]])
def test_what_is_no_probability_distribution_is_refused(row):
    good = np.array([[0.2, 0.3, 0.5]])
    with pytest.raises(ModelResponseError, match="no probability distribution"):
        nli_relations(good, np.array([row]))


def test_both_directions_go_to_the_model_in_one_batch():
    model = Classifier()
    edges = classify_edges(model, ["an instrument", "x"], ["a guitar", "y is closed"])
    assert model.asked == [
        [
            ("an instrument", "a guitar"),
            ("x", "y is closed"),
            ("a guitar", "an instrument"),
            ("y is closed", "x"),
        ]
    ]
    assert edges is not None
    assert edges.entail_bwd.tolist() == pytest.approx([0.9, 0.1])
    assert len(edges) == 2


def test_off_gives_no_relations_and_no_edges_ask_nothing():
    assert classify_edges(None, ["a"], ["b"]) is None
    model = Classifier()
    nothing = classify_edges(model, [], [])
    assert nothing is not None
    assert len(nothing) == 0
    assert model.asked == []


def test_a_model_with_another_number_of_labels_is_refused():
    with pytest.raises(ModelResponseError, match="three-label"):
        classify_edges(Classifier(columns=(0, 1)), ["a"], ["b"])


def test_labels_are_taken_from_the_model_and_not_from_their_usual_order():
    assert label_order({0: "contradiction", 1: "entailment", 2: "neutral"}) == (1, 2, 0)
    assert label_order({0: "ENTAILMENT", 1: "Neutral", 2: "CONTRADICTION"}) == (0, 1, 2)
    for labels in ({0: "LABEL_0", 1: "LABEL_1", 2: "LABEL_2"}, {0: "entailment", 1: "not_entailment"}):
        with pytest.raises(ConfigError, match="labels are"):
            label_order(labels)


def test_a_model_that_lies_about_its_labels_is_refused():
    verify_labels(Classifier())
    for columns in ((2, 1, 0), (1, 0, 2), (0, 2, 1), (0, 1)):
        with pytest.raises(ConfigError, match="table"):
            verify_labels(Classifier(columns))
