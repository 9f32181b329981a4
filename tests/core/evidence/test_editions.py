import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lethe_core.evidence.editions import EditionCandidate, editions, says_superseded
from lethe_core.evidence.markers import read_markers, stem
from lethe_core.evidence.page import Edition


def page(address: str, title: str = "", date: str = "", superseded: bool = False) -> EditionCandidate:
    return EditionCandidate(address, title, date, superseded)


def place(*members: EditionCandidate, alike: bool = True) -> dict[str, Edition]:
    return editions(members, lambda _one, _other: alike)


def older(*members: EditionCandidate) -> set[str]:
    return {address for address, edition in place(*members).items() if edition.older}


@pytest.mark.parametrize(
    ("address", "title", "expected"),
    [
        ("docs/pricing-v2.md", "Pricing", "pricing"),
        ("docs/policy_2024-03-11_final.docx", "", "policy"),
        ("docs/Copy of policy (1).docx", "", "policy"),
        ("docs/policy.md.bak", "", "policy"),
        ("docs/spec v1.2 draft.md", "", "spec"),
        ("docs/2nd edition handbook.md", "", "handbook"),
        ("docs/old-town.md", "", "old town"),
        ("docs/index.md", "Travel policy (superseded)", "travel policy"),
        ("docs/quarterly-2024-q3.pdf", "", "quarterly"),
        ("docs/readme.md", "README", ""),
        ("docs/report.pdf", "Report", ""),
        ("docs/2024.md", "", ""),
    ],
)
def test_the_stem_is_what_is_left_without_markers(address: str, title: str, expected: str) -> None:
    assert stem(address, title) == expected


@pytest.mark.parametrize(
    ("address", "title", "period"),
    [
        ("r/quarterly-2024-q3.pdf", "", "2024-Q3"),
        ("r/Q3 2024.pdf", "", "2024-Q3"),
        ("r/news.md", "Newsletter, May 2024", "2024-05"),
        ("r/data-2024-05.csv", "", "2024-05"),
        ("r/half-h1-2024.md", "", "2024-H1"),
        ("r/2024-w07.md", "", "2024-W07"),
        ("r/annual-2023.md", "", "2023"),
        ("2023/annual.md", "Accounts", "2023"),
        ("r/minutes-2024-03-11.md", "Minutes", "2024-03-11"),
        ("r/policy-2024-03-11.md", "Policy", ""),
        ("r/policy-v2.md", "Policy", ""),
    ],
)
def test_periods_are_read_from_name_title_and_folder(address: str, title: str, period: str) -> None:
    assert read_markers(address, title).period == period


@pytest.mark.parametrize(
    ("address", "title", "version"),
    [
        ("d/plan-v1.md", "", "v1"),
        ("d/plan.md", "Plan, version 2.1", "v2.1"),
        ("d/v3/plan.md", "", "v3"),
        ("d/plan-draft.md", "", "draft"),
        ("d/plan-2024-03-11.md", "", "2024-03-11"),
        ("d/archive/plan.md", "", "archive"),
        ("d/plan.md", "", ""),
    ],
)
def test_versions_are_read_from_name_title_and_folder(address: str, title: str, version: str) -> None:
    assert read_markers(address, title).label == version


def test_all_but_the_newest_version_are_older() -> None:
    found = place(page("d/plan-v1.md"), page("d/plan-v10.docx"), page("d/plan-v2.md"))
    assert {address for address, edition in found.items() if edition.older} == {
        "d/plan-v1.md",
        "d/plan-v2.md",
    }
    assert {edition.newest for edition in found.values()} == {"d/plan-v10.docx"}
    assert len({edition.series for edition in found.values()}) == 1


def test_an_archived_document_is_older_than_the_one_in_use_wherever_that_lies() -> None:
    assert older(page("c/operations/rules.md"), page("c/archive/rules.md")) == {"c/archive/rules.md"}
    assert older(page("c/operations/rules.md"), page("c/archive/2019/rules-2019.md")) == {
        "c/archive/2019/rules-2019.md"
    }


def test_the_archive_counts_for_more_than_a_later_date() -> None:
    assert older(page("c/rules.md", date="2020"), page("c/old/rules.md", date="2024")) == {"c/old/rules.md"}


def test_a_sole_member_is_never_older() -> None:
    found = place(
        page("c/archive/rules.md", "Rules"), page("c/superseded/plan-v1-draft-old.md", superseded=True)
    )
    assert not any(edition.older or edition.series or edition.newest for edition in found.values())


def test_an_archive_that_holds_everything_makes_nothing_old() -> None:
    assert older(page("archive/rules.md"), page("archive/plan.md")) == set()
    assert older(page("archive/rules-v1.md"), page("archive/rules-v2.md")) == {"archive/rules-v1.md"}


def test_what_is_not_alike_is_no_edition() -> None:
    found = place(page("d/plan-v1.md"), page("d/plan-v2.md"), alike=False)
    assert not any(edition.older or edition.series for edition in found.values())


def test_likeness_is_asked_only_for_pairs_that_share_a_stem() -> None:
    asked: list[tuple[int, int]] = []
    members = [page("d/plan-v1.md"), page("d/fares.md"), page("d/plan-v2.md"), page("e/plan.md")]
    editions(members, lambda i, j: bool(asked.append((i, j))))
    assert {frozenset(pair) for pair in asked} == {frozenset({0, 2})}


def test_periodic_issues_are_labelled_and_none_is_older() -> None:
    found = place(
        page("r/quarterly-2024-q1.pdf"),
        page("r/quarterly-2024-q3.pdf"),
        page("c/archive/quarterly-2023-q4.pdf"),
    )
    assert not any(edition.older for edition in found.values())
    assert [found[address].period for address in sorted(found)] == ["2023-Q4", "2024-Q1", "2024-Q3"]
    assert {edition.newest for edition in found.values()} == {"r/quarterly-2024-q3.pdf"}


def test_within_one_period_a_draft_is_older_than_its_issue() -> None:
    found = place(page("r/stock-2024-q2.md"), page("r/stock-2024-q2-draft.md"), page("r/stock-2024-q3.md"))
    assert [address for address, edition in found.items() if edition.older] == ["r/stock-2024-q2-draft.md"]
    assert found["r/stock-2024-q2-draft.md"].newest == "r/stock-2024-q2.md"
    assert found["r/stock-2024-q2.md"].newest == "r/stock-2024-q3.md"


def test_minutes_of_several_days_are_issues_and_policies_of_several_days_are_versions() -> None:
    assert older(page("m/board-minutes-2024-03-11.md"), page("m/board-minutes-2024-04-08.md")) == set()
    assert older(page("m/policy-2024-03-11.md"), page("m/policy-2024-04-08.md")) == {"m/policy-2024-03-11.md"}


def test_yearly_editions_in_an_archive_are_older_than_the_undated_one_in_use() -> None:
    assert older(page("c/policy.md"), page("c/archive/policy-2021.md"), page("c/archive/policy-2022.md")) == {
        "c/archive/policy-2021.md",
        "c/archive/policy-2022.md",
    }


@pytest.mark.parametrize("name", ["index", "readme", "report", "minutes"])
def test_generic_names_in_other_folders_are_no_editions(name: str) -> None:
    assert older(page(f"c/a/{name}.md", name), page(f"c/archive/{name}.md", name)) == set()
    assert older(page(f"c/v1/{name}.md", name), page(f"c/v2/{name}.md", name)) == set()


def test_generic_names_are_editions_when_their_title_or_their_folder_says_so() -> None:
    assert older(page("c/v1/index.md", "Install guide"), page("c/v2/index.md", "Install guide")) == {
        "c/v1/index.md"
    }
    assert older(page("c/report-v1.docx"), page("c/report-v2.docx")) == {"c/report-v1.docx"}


def test_one_title_on_a_whole_site_makes_no_editions() -> None:
    assert older(page("c/pricing-eu-v1.md", "Pricing"), page("c/pricing-us-v2.md", "Pricing")) == set()


def test_same_names_in_other_folders_are_other_documents() -> None:
    assert older(page("c/eu/fares.md", date="2023"), page("c/us/fares.md", date="2024")) == set()


def test_a_page_that_says_so_is_older() -> None:
    assert older(page("c/fares.md"), page("c/fares.html", superseded=True)) == {"c/fares.html"}


def test_two_formats_of_one_document_are_both_present() -> None:
    assert older(page("c/fares.md", date="2024-05"), page("c/fares.pdf", date="2024")) == set()


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.builds(
            page,
            st.builds(
                "{}/{}{}.md".format,
                st.sampled_from(["c", "c/archive", "c/v2", "c/2023", "c/old/sub"]),
                st.sampled_from(["fares", "report", "plan"]),
                st.sampled_from(
                    ["", "-v1", "-v2", "-draft", "-2023", "-2024-q1", "-2024-05-01", "-old", "-final"]
                ),
            ),
            st.sampled_from(["", "Fares", "Travel plan"]),
            st.sampled_from(["", "2023", "2024-05", "2024-05-01"]),
            st.booleans(),
        ),
        max_size=8,
        unique_by=lambda member: member.address,
    ),
)
def test_editions_hold_together(members: list[EditionCandidate]) -> None:
    def alike(one: EditionCandidate, two: EditionCandidate) -> bool:
        return len(one.address + two.address) % 3 > 0

    def run(order: list[EditionCandidate]) -> dict[str, Edition]:
        return editions(order, lambda i, j: alike(order[i], order[j]))

    found = run(members)
    assert run(members[::-1]) == found
    assert set(found) == {member.address for member in members}
    for series, group in itertools.groupby(
        sorted(found.items(), key=lambda kv: kv[1].series), lambda kv: kv[1].series
    ):
        placed = dict(group)
        if not series:
            assert not any(edition.older or edition.newest for edition in placed.values())
            continue
        assert len(placed) > 1
        for address, edition in placed.items():
            assert edition.newest in placed
            assert not (edition.older and edition.newest == address)
            assert not placed[edition.newest].older


@pytest.mark.parametrize(
    "text",
    [
        "This document has been superseded by v2.",
        "# Fares\n\n> **Superseded** by the 2024 edition",
        "Status: obsolete",
        "# Superseded: fares",
        "This page is no longer maintained.",
        "Diese Fassung ist veraltet.",
        "SUPERSEDED\n\nFares of 2019",
        "No longer valid.",
    ],
)
def test_a_page_that_says_it_is_superseded_is_believed(text: str) -> None:
    assert says_superseded(text)


@pytest.mark.parametrize(
    "text",
    [
        "This version supersedes version 1.",
        "The old tariff was superseded by the new one.",
        "This policy has not been superseded.",
        "Deprecated features are listed below.",
        "Replaced by hand each spring, the rope lasts long.",
        "Fares\n\n" + "word " * 1000 + "\n\nThis document is obsolete.",
        "",
    ],
)
def test_a_page_that_speaks_of_another_is_not(text: str) -> None:
    assert not says_superseded(text)


def test_numbered_editions_from_different_years_are_no_yearbooks() -> None:
    """Each is titled with its number and named with its year; the older one holds no longer."""
    found = editions(
        [
            EditionCandidate("c/visiting-policy-2021.md", "Visiting policy (edition 2)", "2021-03-15", False),
            EditionCandidate("c/visiting-policy-2024.md", "Visiting policy (edition 3)", "2024-05-01", False),
        ],
        lambda _one, _other: True,
    )
    old, new = found["c/visiting-policy-2021.md"], found["c/visiting-policy-2024.md"]
    assert (old.older, old.period, old.newest) == (True, "", "c/visiting-policy-2024.md")
    assert (new.older, new.period) == (False, "")


def test_what_says_that_it_is_superseded_is_no_issue_of_its_year() -> None:
    found = editions(
        [
            EditionCandidate("c/parking-rules-2021.md", "Parking rules", "2021", True),
            EditionCandidate("c/parking-rules-2024.md", "Parking rules", "2024", False),
        ],
        lambda _one, _other: True,
    )
    assert (found["c/parking-rules-2021.md"].older, found["c/parking-rules-2021.md"].period) == (True, "")


def test_issues_of_a_periodical_keep_their_periods_whatever_their_versions() -> None:
    found = editions(
        [
            EditionCandidate("c/annual-report-2021-v2.md", "Annual report 2021", "2021", False),
            EditionCandidate("c/annual-report-2022-v1.md", "Annual report 2022", "2022", False),
        ],
        lambda _one, _other: True,
    )
    assert [(e.older, e.period) for e in found.values()] == [(False, "2021"), (False, "2022")]
