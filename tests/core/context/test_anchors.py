"""Lexical anchors: which terms join which nodes, and where the walk restarts."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from lethe_core.context.anchors import (
    AnchorConfig,
    AnchorIndex,
    AnchorNode,
    Anchors,
    anchored,
    anchored_seeds,
    find_anchors,
    relevance,
)
from lethe_core.context.ppr import personalized_pagerank
from lethe_core.errors import ConfigError

quick = settings(max_examples=50, deadline=None)
names = st.sampled_from(["ada", "bell", "curie", "dirac", "euler", "fermi", "gauss"])
mentions = st.builds(
    AnchorNode,
    source=st.sampled_from(["s1", "s2", "s3", "s4"]),
    title=st.one_of(st.just(""), names),
    terms=st.frozensets(names, max_size=4),
)


def edges(anchors: Anchors) -> dict[tuple[int, str], float]:
    found = {
        (int(node), anchors.terms[term]): float(weight)
        for node, term, weight in zip(anchors.node, anchors.term, anchors.weight, strict=True)
    }
    assert len(found) == anchors.node.size
    return found


def by_definition(nodes: list[AnchorNode], config: AnchorConfig) -> tuple[list[str], dict]:
    has = [set(node.terms) | ({node.title} if node.title else set()) for node in nodes]
    n = len({node.source for node in nodes})
    df = {
        term: len({node.source for node, own in zip(nodes, has, strict=True) if term in own})
        for term in set().union(*has)
    }
    most = max(config.max_sources, config.max_share * n)
    kept = sorted(term for term, count in df.items() if config.min_sources <= count <= most)
    joins = {}
    for at, (node, own) in enumerate(zip(nodes, has, strict=True)):
        for term in own.intersection(kept):
            idf = math.log((n + 1) / (df[term] + 0.5))
            if idf > 0:
                joins[at, term] = idf * (config.own_title if term == node.title else 1.0)
    return kept, joins


@quick
@given(st.lists(mentions, max_size=12), st.integers(2, 4))
def test_terms_are_kept_and_weighted_by_how_many_sources_have_them(nodes, most):
    config = AnchorConfig(max_sources=most)
    found = find_anchors(nodes, config=config)
    kept, joins = by_definition(nodes, config)
    assert list(found.terms) == kept
    assert edges(found) == pytest.approx(joins)
    assert (found.idf >= 0.0).all()


@quick
@given(st.lists(mentions, max_size=12), st.data())
def test_an_index_that_grew_counts_any_of_its_nodes_as_if_there_were_no_others(nodes, data):
    index = AnchorIndex()
    later = []
    for row, node in enumerate(nodes):
        told = data.draw(st.frozensets(names, max_size=2)) - node.terms - {node.title}
        later.append(AnchorNode(node.source, node.title, node.terms | told))
        assert index.add(node) == row
        for term in told:
            index.mention(row, term)
        index.among(np.arange(row + 1))  # asked in between, it goes on growing
    rows = np.flatnonzero(data.draw(st.lists(st.booleans(), min_size=len(nodes), max_size=len(nodes))))
    found, fresh = index.among(rows), find_anchors([later[row] for row in rows])
    assert found.terms == fresh.terms
    assert found.idf.tolist() == fresh.idf.tolist()
    assert edges(found) == edges(fresh)


def test_a_name_of_two_sources_leads_from_one_to_the_other():
    nodes = [
        AnchorNode("film", "the mill", {"ada bell"}),
        AnchorNode("person", "ada bell", {"orle"}),
        *(AnchorNode(f"other {n}", "", {"rye"}) for n in range(4)),
    ]
    anchors = find_anchors(nodes)
    matrix = anchored(csr_array((6, 6)), anchors)
    assert (matrix != matrix.T).nnz == 0
    seeds = np.zeros(6 + len(anchors.terms))
    seeds[0] = 1.0
    scores = personalized_pagerank(matrix, seeds, damping=0.8).scores
    assert scores[1] > 0.1
    assert scores[2:6].tolist() == [0.0] * 4
    # Four times the weight between a node and its own title: ln(7/2.5) and four times that.
    assert edges(anchors)[1, "ada bell"] == pytest.approx(4 * math.log(7 / 2.5))


def test_the_graph_itself_stays_as_it_is():
    weights = csr_array(np.array([[0.0, 0.5], [0.5, 0.0]]))
    anchors = find_anchors([AnchorNode(f"s{n}", "", {"ada"}) for n in range(2)])
    assert anchored(weights, anchors)[:2, :2].toarray().tolist() == weights.toarray().tolist()
    assert anchored(weights, find_anchors([])) is weights


@quick
@given(
    st.lists(st.floats(0, 1), min_size=3, max_size=3),
    st.lists(st.floats(0, 1), min_size=3, max_size=3),
    st.frozensets(names, max_size=3),
)
def test_the_restart_is_a_distribution_and_an_empty_share_goes_to_the_others(structure, relevant, own):
    anchors = find_anchors([AnchorNode(f"s{n}", "", {"ada", "bell"} if n < 2 else set()) for n in range(9)])
    parts = [sum(structure), sum(value**4 for value in relevant), len(own & {"ada", "bell"})]
    arrays = np.array(structure), np.array(relevant)
    if not any(parts):
        with pytest.raises(ConfigError, match="nowhere to start"):
            anchored_seeds(*arrays, own, anchors)
        return
    seeds = anchored_seeds(*arrays, own, anchors)
    assert seeds.shape == (3 + 2,)
    assert (seeds >= 0.0).all()
    assert seeds.sum() == pytest.approx(1.0)
    if all(part > 1e-6 for part in parts):
        assert seeds[3:].sum() == pytest.approx(0.2)


def test_the_restart_favours_the_best_sixteen_by_the_fourth_power():
    relevant = np.linspace(0.1, 1.0, 20)
    seeds = anchored_seeds(np.zeros(20), relevant, (), find_anchors([]))
    assert seeds[:4].tolist() == [0.0] * 4
    assert seeds[19] / seeds[10] == pytest.approx((relevant[19] / relevant[10]) ** 4)


def test_relevance_is_two_fifths_meaning_and_three_fifths_words_and_bears_nan():
    found = relevance(np.array([0.5, -0.2, np.nan]), np.array([0.0, 4.0, 2.0]))
    assert found == pytest.approx([0.4, 0.6, 0.3])
    assert relevance(np.zeros(2), np.zeros(2)).tolist() == [0.0, 0.0]
    assert relevance(np.zeros(0), np.zeros(0)).size == 0
