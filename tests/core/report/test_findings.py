"""What counts as an answer to what was asked."""

from lethe_core.report.findings import Asked, is_finding
from lethe_core.report.wording import Rarity

TEXTS = [
    "The Abbey Line has a rope of 36 mm.",
    "The Harbour Line has oak cars.",
    "The Harbour Line runs from 06:45.",
    "Tea is served in the museum.",
]
RARITY = Rarity.of(TEXTS)


def finding(cited, question, task=None):
    return is_finding(cited, Asked.of(question, RARITY), Asked.of(task or question, RARITY), RARITY)


def test_the_rarest_name_of_the_question_makes_a_finding():
    assert finding(TEXTS[0], "What about the Abbey Line and its Harbour Line sister?")
    assert not finding(TEXTS[1], "What about the Abbey Line and its Harbour Line sister?")


def test_half_of_the_weighted_words_of_the_task_make_a_finding():
    assert finding(TEXTS[3], "who served whom?", "tea in the museum, served when")
    assert not finding(TEXTS[3], "who sang?", "cold tea at dawn among green whales")


def test_a_name_that_no_evidence_has_makes_nothing_a_finding():
    assert not any(
        finding(text, "What was the population of Ljubljana in the Habsburg census?") for text in TEXTS
    )


def test_the_numbers_of_a_questions_parts_are_no_figures():
    assert not finding("It has 1 or 2 doors.", "For Ljubljana: 1) who built it? 2) who burned it?")


def test_an_empty_task_finds_nothing():
    assert not finding(TEXTS[0], "", "")


def test_half_of_one_clause_is_enough_for_a_question_of_several():
    question = "Which tea is served in the museum, how strong is it, and by what date must it be gone?"
    assert len(Asked.of(question, RARITY).clauses) >= 2
    assert finding(TEXTS[3], "who sang?", question)
    assert not finding("Whales sing at dawn.", "who sang?", question)


def test_a_name_elsewhere_on_the_page_counts_among_the_words_but_not_as_the_rarest():
    asked = Asked.of("What oak cars does the Zorn Harbour Line have?", RARITY)
    nothing = Asked.of("", RARITY)
    cited = "It has oak."
    page = frozenset({"zorn", "harbour", "line"})
    assert not is_finding(cited, nothing, asked, RARITY)
    assert is_finding(cited, nothing, asked, RARITY, page)
    assert not is_finding("Tea for two.", asked, asked, RARITY, frozenset({"zorn"}))
