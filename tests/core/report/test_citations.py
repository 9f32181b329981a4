"""Support of a claim by what it cites."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lethe_core.errors import ConfigError
from lethe_core.report.citations import Statement, SupportConfig, measure, support
from lethe_core.report.wording import Rarity

ROPE = (
    "The hauling rope of the Abbey Line is 36 mm thick. It was fitted in 2019. "
    "It must be replaced by 14 November 2026."
)
CAR = "Each car of the Harbour Line carries 26 people, of whom 14 are seated."
RARITY = Rarity.of([ROPE, CAR, "Tea is served in the museum from noon."])
ROW = Statement("Abbey; 36 mm", cells=("Abbey", "36 mm"), header=("Rope", "Diameter"))


@pytest.fixture
def supported(embedder):
    return lambda claim, cited, **k: support(claim, cited, embedder=embedder, rarity=RARITY, **k)


def test_an_exact_quotation_is_supported_with_one(supported):
    result = supported("“The hauling rope of the Abbey Line is 36 mm thick.”", [CAR, ROPE])
    assert (result.score, result.supported, result.how) == (1.0, True, "quotation")


def test_a_paraphrase_with_its_facts_is_supported(supported):
    result = supported("The Abbey Line's hauling rope has a thickness of 36 mm.", [ROPE])
    assert result.supported
    assert result.how == "similarity"
    assert result.score < 1


@pytest.mark.parametrize("figure", ["35", "360", "3.6", "63"])
def test_a_claim_with_a_changed_figure_is_never_supported(supported, figure):
    result = supported(f"The hauling rope of the Abbey Line is {figure} mm thick.", [ROPE])
    assert not result.supported
    assert result.score <= 0.49


def test_a_claim_about_something_else_is_not_supported(supported):
    assert not supported("Whales sing in winter.", [ROPE]).supported


def test_facts_may_be_spread_over_several_citations(supported):
    claim = "The Abbey Line has a hauling rope of 36 mm, the Harbour Line cars for 26 people."
    assert supported(claim, [ROPE, CAR]).supported
    assert not supported(claim, [ROPE]).supported


@pytest.mark.parametrize("cited", [[], [""], ["  \n"]])
def test_a_claim_that_cites_nothing_is_unsupported(supported, cited):
    assert supported("Anything at all is said here.", cited).how == "none"


def test_inference_decides_when_it_is_on(supported):
    def entail(pairs):
        return [0.9 if "36 mm" in premise else 0.1 for premise, _ in pairs]

    claim = "The rope is thick."
    assert supported(claim, [CAR, ROPE], entail=entail).how == "entailment"
    assert supported(claim, [CAR, ROPE], entail=entail).supported
    assert not supported(claim, [CAR], entail=entail).supported
    assert (
        supported("“Each car of the Harbour Line carries 26 people”", [CAR], entail=entail).how == "quotation"
    )


def test_a_broken_inference_score_supports_nothing(supported):
    assert not supported(
        "The rope is thick.", [ROPE], entail=lambda pairs: [float("nan")] * len(pairs)
    ).supported


def test_a_whole_row_of_the_cited_table_is_a_quotation(supported):
    assert supported(ROW, ["| Rope | Diameter |\n|---|---|\n| Abbey | 36 mm |"]).how == "quotation"
    assert not supported(ROW, ["| Rope | Diameter |\n|---|---|\n| Abbey | 38 mm |"]).supported


@settings(max_examples=40, deadline=None)
@given(st.text(max_size=60), st.lists(st.text(max_size=60), max_size=3))
def test_scores_stay_between_zero_and_one_and_decide(embedder, claim, cited):
    result = support(claim, cited, embedder=embedder, rarity=RARITY)
    assert 0 <= result.score <= 1
    assert result.supported == (result.score >= 0.5)


def test_measuring_together_gives_what_measuring_alone_gives(embedder):
    pairs = [
        (Statement(claim), cited)
        for claim in ("The rope is 36 mm.", CAR, "")
        for cited in ([ROPE], [CAR, ROPE])
    ]
    together = measure(pairs, embedder=embedder, rarity=RARITY)
    assert together == [measure([pair], embedder=embedder, rarity=RARITY)[0] for pair in pairs]


def test_a_cap_at_the_threshold_is_refused():
    with pytest.raises(ConfigError, match="cap"):
        SupportConfig(threshold=0.5, missing_number_cap=0.5)
