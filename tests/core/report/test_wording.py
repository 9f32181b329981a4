"""Numbers are compared as values, words by their rarity."""

import pytest

from lethe_core.report.wording import Rarity, is_year, name_words, numbers


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("1,234 people", "1234 people"),
        ("three cars", "3 cars"),
        ("March 2, 2017", "2 March 2017"),
        ("on 2017-03-02", "2 March 2017"),
        ("88 per cent", "88%"),
        ("12\u202f345 visits", "12,345 visits"),
    ],
)
def test_a_reworded_figure_is_the_same_figure(one, other):
    assert numbers(one) - {"02", "03"} <= numbers(other) | {"3", "2"}
    assert numbers(other) <= numbers(one)


@pytest.mark.parametrize(
    ("claim", "source"),
    [("88%", "88 people"), ("2 March", "1 March, 2 people"), ("15.5", "15 and 5"), ("1.5", "15")],
)
def test_a_figure_of_another_kind_is_missing(claim, source):
    assert not numbers(claim) <= numbers(source)


def test_years_are_told_from_other_values():
    values = ("1894", "2024", "388", "41376", "3/2", "9000")
    assert [value for value in values if is_year(value)] == ["1894", "2024"]


def test_names_are_words_without_figures():
    assert name_words("In May the Harbour Line carried 12 people") >= {"harbour"}
    assert not name_words("the rope is worn and old")


def test_a_rare_word_weighs_more_than_a_common_one_and_an_absent_one_most():
    rarity = Rarity.of(["rope and car", "rope and drive", "rope"])
    assert rarity.weight("absent") > rarity.weight("car") > rarity.weight("rope") > 0


def test_the_share_is_one_for_all_words_and_zero_for_none():
    rarity = Rarity.of(["rope car", "rope"])
    wanted = frozenset({"rope", "car"})
    assert rarity.share(wanted, wanted) == 1.0
    assert rarity.share(wanted, frozenset()) == 0.0
    assert rarity.share(frozenset(), wanted) == 1.0
    assert rarity.share(wanted, frozenset({"car"})) > 0.5
