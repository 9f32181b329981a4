from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lethe_core.evidence.dates import date_in_name, labelled_date, page_date, parse_date
from lethe_core.evidence.written_dates import find_dates

MONTHS = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]


@settings(max_examples=100, deadline=None)
@given(st.dates(min_value=date(1800, 1, 1), max_value=date(2099, 12, 31)))
def test_every_day_is_read_in_every_unambiguous_form(day: date) -> None:
    iso = day.isoformat()
    year, month, number = iso.split("-")
    name = MONTHS[int(month) - 1]
    forms = [iso, f"{int(number)} {name} {year}", f"{name} {int(number)}, {year}", f"{number}.{month}.{year}"]
    forms += [f"{int(number)}th of {name[:3]}. {year}", f"{year}/{month}/{number}"]
    assert [found.iso for form in forms for found in find_dates(f"on {form} it")] == [iso] * len(forms)


@pytest.mark.parametrize(
    ("written", "iso", "form"),
    [
        ("Q3 2024", "2024-09", "2024-Q3"),
        ("2024-Q3", "2024-09", "2024-Q3"),
        ("third quarter of 2024", "2024-09", "2024-Q3"),
        ("H1 2024", "2024-06", "2024-H1"),
        ("FY2023", "2023", "FY2023"),
        ("March 2024", "2024-03", "2024-03"),
        ("2024-03", "2024-03", "2024-03"),
        ("03/2024", "2024-03", "2024-03"),
        ("13/04/2024", "2024-04-13", "2024-04-13"),
        ("04/13/2024", "2024-04-13", "2024-04-13"),
        ("03/04/2024", "2024", "03/04/2024"),
        ("3. Mai 2024", "2024-05-03", "2024-05-03"),
        ("1er janvier 2020", "2020-01-01", "2020-01-01"),
    ],
)
def test_shortened_and_ambiguous_dates_say_no_more_than_is_sure(written: str, iso: str, form: str) -> None:
    (found,) = find_dates(f"in {written}.")
    assert (found.iso, found.form) == (iso, form)


@pytest.mark.parametrize(
    "text", ["31.02.2024", "in 2024", "version 1.2.2024.1", "192.168.2024", "2024-13-01"]
)
def test_what_is_no_date_is_none(text: str) -> None:
    assert find_dates(text) == ()


@settings(max_examples=100, deadline=None)
@given(st.text(st.sampled_from("20241389 -/.QqMarchFY,\n"), max_size=120))
def test_found_dates_stand_in_order_without_overlap(text: str) -> None:
    edges = [edge for found in find_dates(text) for edge in found.span]
    assert edges == sorted(edges)


@pytest.mark.parametrize(
    ("text", "iso"),
    [
        ("---\ntitle: x\ndate: 2024-03-11\n---\nfoo", "2024-03-11"),
        ("# Minutes of 11 March 2024\n\ntext", "2024-03-11"),
        ("# Annual report 2023\n\ntext", "2023"),
        ("**Updated:** 3 May 2024", "2024-05-03"),
        ("_Last updated March 2024_", "2024-03"),
        ("Published on 1 January 2023 | Updated 5 May 2024", "2024-05-05"),
        ("Stand: 11.03.2024", "2024-03-11"),
        ("Veröffentlicht am 11. März 2024", "2024-03-11"),
        ("| Date | 2024-03-11 |", "2024-03-11"),
        ("Last updated: Monday, 3 May 2024", "2024-05-03"),
        ("Reporting period: Q3 2024", "2024-09"),
        ("It was published on 3 May 1999 in London.", ""),
        ("Date of birth: 3 May 1999", ""),
        (
            "As of 30 June 1990 the line had twelve cars, and "
            + "nobody knew how many more would come. " * 3,
            "",
        ),
        ("# Fares\n\n## History since 1990\n", ""),
        ("The bridge opened on 3 May 1999.", ""),
    ],
)
def test_only_a_labelled_date_is_the_pages(text: str, iso: str) -> None:
    assert labelled_date(text) == iso


@pytest.mark.parametrize(
    ("name", "iso"),
    [
        ("docs/report-2024-q3.pdf", "2024-09"),
        ("minutes_20240311.md", "2024-03-11"),
        ("11.03.2024 minutes.md", "2024-03-11"),
        ("march-2024.docx", "2024-03"),
        ("report_2024-03.pdf", "2024-03"),
        ("annual-report-2023.md", "2023"),
        ("x/2023/07/notes.md", "2023-07"),
        ("03-04-2024.md", "2024"),
        ("v2/12345678.md", ""),
        ("a/b%20c.md", ""),
    ],
)
def test_a_name_gives_its_date(name: str, iso: str) -> None:
    assert date_in_name(name) == iso


def test_the_text_comes_before_metadata_before_the_name_before_the_file_system() -> None:
    day = 86400.0 * 365
    assert page_date("Date: 2024-03-11", "2023", "r-2022.md", day) == ("2024-03-11", "text")
    assert page_date("nothing", "D:20230105101010+01'00'", "r-2022.md", day) == ("2023-01-05", "metadata")
    assert page_date("nothing", "junk", "r-2022.md", day) == ("2022", "name")
    assert page_date("nothing", "", "r.md", day) == ("1971-01-01", "modified")
    assert page_date("nothing", "", "r.md", 0.0) == ("", "")
    assert page_date("nothing", "", "r.md", 1e300) == ("", "")


@pytest.mark.parametrize(
    ("written", "iso"),
    [
        ("2024-03-11T10:00:00Z", "2024-03-11"),
        ("Mon, 11 Mar 2024 10:00:00 GMT", "2024-03-11"),
        ("2024-13-45", ""),
    ],
)
def test_one_date_is_parsed_in_any_form(written: str, iso: str) -> None:
    assert parse_date(written) == iso
