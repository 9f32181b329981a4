"""Strengths after witnesses: worked figures, range, monotony, independence."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lethe_core.similar.refine import RelatedEvidence, refined_strengths

quick = settings(max_examples=80, deadline=None)


def related(edges: list[dict]) -> RelatedEvidence:
    def column(name: str, default: float) -> np.ndarray:
        return np.array([edge.get(name, default) for edge in edges], dtype=np.float64)

    return RelatedEvidence(
        i=np.array([edge["i"] for edge in edges], dtype=np.int64),
        j=np.array([edge["j"] for edge in edges], dtype=np.int64),
        cosine=column("cosine", 0.7),
        entail_fwd=column("entail_fwd", 0.0),
        entail_bwd=column("entail_bwd", 0.0),
        contradiction=column("contradiction", 0.0),
        confidence=column("confidence", 1.0),
    )


def strength(base, domains, edges, older=None, at=0) -> float:
    flags = np.zeros(len(base), dtype=bool) if older is None else np.array(older)
    found = refined_strengths(np.array(base), [{name} for name in domains], flags, related(edges))
    return float(found[at])


# A witness of base strength .8 that is certain to entail: a = .8.
@pytest.mark.parametrize(("witnesses", "expected"), [(0, 0.6), (1, 0.740), (2, 0.824), (3, 0.874)])
def test_one_to_three_independent_domains_raise_a_strength_as_worked_out(witnesses, expected):
    edges = [{"i": 0, "j": at + 1, "entail_bwd": 1.0} for at in range(witnesses)]
    base = [0.6] + [0.8] * witnesses
    assert strength(base, "abcd"[: witnesses + 1], edges) == pytest.approx(expected, abs=0.0005)


def test_several_witnesses_of_one_domain_count_as_its_best():
    edges = [{"i": 0, "j": 1, "entail_bwd": 1.0}, {"i": 2, "j": 0, "entail_fwd": 0.4}]
    assert strength([0.6, 0.8, 0.8], "abb", edges) == pytest.approx(0.740)
    assert strength([0.6, 0.8, 0.8], "abc", edges) > 0.75


def test_entailment_counts_only_from_the_witness_towards_the_node():
    assert strength([0.6, 0.8], "ab", [{"i": 0, "j": 1, "entail_fwd": 1.0}]) == pytest.approx(0.6)
    assert strength([0.8, 0.6], "ab", [{"i": 0, "j": 1, "entail_fwd": 1.0}], at=1) == pytest.approx(0.740)


def test_a_witness_is_as_good_as_its_own_base_and_the_models_confidence():
    edge = {"i": 0, "j": 1, "entail_bwd": 0.9, "confidence": 0.5}
    a = 0.5 * 0.9 * 0.7
    assert strength([0.5, 0.7], "ab", [edge]) == pytest.approx(0.5 + 0.45 * 0.5 * a)


@pytest.mark.parametrize(("cosine", "share"), [(0.90, 1.0), (0.925, 0.5), (0.95, 0.0), (0.999, 0.0)])
def test_a_near_copy_is_no_independent_witness(cosine, share):
    edge = {"i": 0, "j": 1, "entail_bwd": 1.0, "cosine": cosine}
    assert strength([0.6, 0.8], "ab", [edge]) == pytest.approx(0.6 + 0.35 * 0.5 * 0.8 * share)


def test_the_same_source_does_not_corroborate_itself_but_may_contradict_itself():
    assert strength([0.6, 0.8], "aa", [{"i": 0, "j": 1, "entail_bwd": 1.0}]) == 0.6
    lowered = strength([0.6, 0.8], "aa", [{"i": 0, "j": 1, "contradiction": 1.0}])
    assert lowered == pytest.approx(0.6 - 0.3 * 0.4)
    copy = {"i": 0, "j": 1, "contradiction": 1.0, "cosine": 0.99}
    assert strength([0.6, 0.8], "ab", [copy]) == pytest.approx(0.6 - 0.3 * 0.4)


def test_support_and_contradiction_weaken_each_other():
    edges = [{"i": 0, "j": 1, "entail_bwd": 1.0}, {"i": 0, "j": 2, "contradiction": 1.0}]
    assert strength([0.6, 0.8, 0.8], "abc", edges) == pytest.approx(0.6 + 0.35 * 0.4 * 0.6 - 0.3 * 0.4 * 0.6)


def test_an_older_edition_is_halved_last_and_keeps_the_floor():
    edge = {"i": 0, "j": 1, "entail_bwd": 1.0}
    assert strength([0.9, 0.8], "ab", [edge], [True, False]) == pytest.approx(0.5 * (0.9 + 0.05 * 0.4))
    assert strength([0.35, 0.8], "ab", [edge], [True, False]) == 0.30
    # Its voice for others is its base, not what age left of it.
    assert strength([0.6, 0.8], "ab", [edge], [False, True]) == pytest.approx(0.740)


def test_without_nli_or_neighbours_strengths_are_the_bases():
    base, older = np.array([0.3, 0.62, 0.95]), np.array([False, False, True])
    domains = [{"a"}, {"b"}, {"c"}]
    expected = [0.3, 0.62, 0.475]
    assert refined_strengths(base, domains, older, None).tolist() == expected
    assert refined_strengths(base, domains, older, related([])).tolist() == expected
    assert refined_strengths(base[:0], [], older[:0], None).tolist() == []


def test_a_synthesis_speaks_for_all_its_domains_but_not_for_those_it_drew_from():
    edge = related([{"i": 0, "j": 1, "entail_bwd": 1.0}])
    base, none_older = np.array([0.6, 0.8]), np.zeros(2, dtype=bool)
    for_another = refined_strengths(base, [{"a"}, {"b", "c"}], none_older, edge)
    assert for_another[0] == pytest.approx(0.824)
    for_its_own = refined_strengths(base, [{"a"}, {"a", "c"}], none_older, edge)
    assert for_its_own[0] == 0.6


@st.composite
def graphs(draw):
    n = draw(st.integers(2, 7))
    base = draw(st.lists(st.floats(0.30, 0.95), min_size=n, max_size=n))
    domains = [{draw(st.sampled_from("abc"))} for _ in range(n)]
    older = draw(st.lists(st.booleans(), min_size=n, max_size=n))
    ends = draw(st.lists(st.sampled_from([(i, j) for i in range(n) for j in range(i + 1, n)]), unique=True))
    share = st.floats(0, 1)
    edges = [
        {
            "i": i,
            "j": j,
            "cosine": draw(st.floats(0.3, 1.0)),
            "entail_fwd": draw(share),
            "entail_bwd": draw(share),
            "contradiction": draw(share),
            "confidence": draw(share),
        }
        for i, j in ends
    ]
    return np.array(base), domains, np.array(older), edges


@quick
@given(graphs())
def test_strengths_stay_in_range_and_do_not_depend_on_which_end_comes_first(graph):
    base, domains, older, edges = graph
    found = refined_strengths(base, domains, older, related(edges))
    assert ((found >= 0.30) & (found <= 0.95)).all()
    turned = [
        {**e, "i": e["j"], "j": e["i"], "entail_fwd": e["entail_bwd"], "entail_bwd": e["entail_fwd"]}
        for e in reversed(edges)
    ]
    assert refined_strengths(base, domains, older, related(turned)) == pytest.approx(found, abs=1e-12)


@quick
@given(graphs(), st.data())
def test_more_entailment_never_lowers_and_more_contradiction_never_raises_a_strength(graph, data):
    base, domains, older, edges = graph
    if not edges:
        return
    at = data.draw(st.integers(0, len(edges) - 1))
    before = refined_strengths(base, domains, older, related(edges))
    for name, sign in (("entail_fwd", 1), ("entail_bwd", 1), ("contradiction", -1)):
        more = [dict(edge) for edge in edges]
        more[at][name] += data.draw(st.floats(0, 1)) * (1.0 - more[at][name])
        after = refined_strengths(base, domains, older, related(more))
        assert (sign * (after - before) >= -1e-12).all()
