"""Dates as people write them (algorithms.md 8).

A written date becomes ISO 8601, shortened to what it says: "2024-03-11", "2024-03", "2024". A quarter
or half year becomes its last month, a fiscal year its year. Of a form that reads two ways (03/04/2024)
only the year is sure.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date

MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "january jan januar jänner janvier enero gennaio",
            "february feb februar février fevrier febrero febbraio",
            "march mar märz maerz mrz mars marzo",
            "april apr avril abril aprile",
            "may mai mayo maggio",
            "june jun juni juin junio giugno",
            "july jul juli juillet julio luglio",
            "august aug août aout agosto",
            "september sept sep septembre septiembre settembre",
            "october oct oktober okt octobre octubre ottobre",
            "november nov novembre noviembre",
            "december dec dezember dez décembre decembre diciembre dicembre",
        ),
        1,
    )
    for name in names.split()
}
_MONTH = "(?P<{0}>" + "|".join(sorted(MONTHS, key=len, reverse=True)) + r")\b\.?"
_YEAR = r"(?P<{0}>(?:1[89]|20)\d\d)"
_ORDINALS = {"first": 1, "1st": 1, "second": 2, "2nd": 2, "third": 3, "3rd": 3, "fourth": 4, "4th": 4}

# Alternatives in the order in which they are tried at a place: the longer form first.
_WRITTEN = re.compile(
    r"(?<![^\W_])(?<![.,/-])(?:"
    + "|".join(
        (
            _YEAR.format("iso_y")
            + r"(?P<sep>[-/.])(?P<iso_m>\d{1,2})(?P=sep)(?P<iso_d>\d{1,2})(?=T\d\d:|(?![\w-]))",
            r"(?P<dmy_d>\d{1,2})(?:st|nd|rd|th|\.|º|er)?[ ]{0,2}(?:of |de )?"
            + _MONTH.format("dmy_m")
            + r",?[ ]{0,2}(?:de |del )?"
            + _YEAR.format("dmy_y")
            + r"(?![^\W_])",
            _MONTH.format("mdy_m")
            + r"[ ]{1,2}(?P<mdy_d>\d{1,2})(?:st|nd|rd|th)?,?[ ]{1,2}"
            + _YEAR.format("mdy_y")
            + r"(?![^\W_])",
            r"(?P<dot_d>\d{1,2})\.[ ]?(?P<dot_m>\d{1,2})\.[ ]?" + _YEAR.format("dot_y") + r"(?![^\W_]|\.\d)",
            r"(?P<slash_a>\d{1,2})(?P<slash>[/-])(?P<slash_b>\d{1,2})(?P=slash)"
            + _YEAR.format("slash_y")
            + r"(?![\w/-])",
            r"(?P<sy_m>0[1-9]|1[0-2])[/.]" + _YEAR.format("sy_y") + r"(?![\w/-])",
            _YEAR.format("ym_y") + r"-(?P<ym_m>0[1-9]|1[0-2])(?![\w-])",
            _MONTH.format("my_m") + r",?[ ]{1,2}(?:de )?" + _YEAR.format("my_y") + r"(?![^\W_])",
            r"[Qq](?P<qy_q>[1-4])[ ]?[-/ ]?[ ]?(?:FY)?" + _YEAR.format("qy_y") + r"(?![^\W_])",
            _YEAR.format("yq_y") + r"[ ]?[-/ ]?[ ]?[Qq](?P<yq_q>[1-4])(?![^\W_])",
            r"(?P<oq_q>first|second|third|fourth|1st|2nd|3rd|4th) quarter(?: of)?,? "
            + _YEAR.format("oq_y")
            + r"(?![^\W_])",
            r"(?P<dq_q>[1-4])\. Quartal " + _YEAR.format("dq_y") + r"(?![^\W_])",
            r"H(?P<hy_h>[12])[ ]?[-/ ]?" + _YEAR.format("hy_y") + r"(?![^\W_])",
            _YEAR.format("yh_y") + r"[ ]?[-/ ]?H(?P<yh_h>[12])(?![^\W_])",
            r"(?:FY|fiscal year|financial year|GJ)[ -]?" + _YEAR.format("fy_y") + r"(?![^\W_])",
        )
    )
    + ")",
    re.IGNORECASE,
)


_ANY_YEAR = re.compile(r"(?:1[89]|20)\d\d")
_REACH = 32  # characters that the longest form has on either side of its year


@dataclass(frozen=True, slots=True)
class WrittenDate:
    """A date found in a text."""

    iso: str  # possibly shortened; of an ambiguous one (03/04/2024) only what is sure
    form: str  # all that it says: its ISO form, "2024-Q3", "2024-H1", "FY2023", an ambiguous one as it stands
    span: tuple[int, int]


def find_dates(text: str) -> tuple[WrittenDate, ...]:
    """Every written date of a text that names at least a month, a quarter or a fiscal year, in order."""
    return tuple(_found(text))


def _found(text: str) -> Iterator[WrittenDate]:
    for start, end in _around_years(text):
        for match in _WRITTEN.finditer(text, start, end):
            iso, form = _iso({name: value for name, value in match.groupdict().items() if value})
            if iso:
                yield WrittenDate(iso, form or match[0], match.span())


def _around_years(text: str) -> Iterator[tuple[int, int]]:
    """Disjoint stretches that hold every date: each form has a year, and the long pattern is slow."""
    start = end = 0
    for year in _ANY_YEAR.finditer(text):
        if year.start() - _REACH > end:
            if end:
                yield start, end
            start = year.start() - _REACH
        end = min(len(text), year.end() + _REACH)
    if end:
        yield start, end


def _iso(groups: dict[str, str]) -> tuple[str, str]:
    """ISO form, empty for an impossible date, and the whole form, empty for an ambiguous one."""
    year = next((value for name, value in groups.items() if name.endswith("_y")), "")
    iso = ""
    for form in ("iso", "dmy", "mdy", "dot"):
        if f"{form}_y" in groups:
            month = groups[f"{form}_m"].lower()
            iso = _day(year, MONTHS.get(month) or int(month), int(groups[f"{form}_d"]))
            return iso, iso
    for form in ("qy", "yq", "oq", "dq"):
        if f"{form}_q" in groups:
            written = groups[f"{form}_q"].lower()
            quarter = _ORDINALS.get(written) or int(written)
            return f"{year}-{3 * quarter:02d}", f"{year}-Q{quarter}"
    for form in ("hy", "yh"):
        if f"{form}_h" in groups:
            half = int(groups[f"{form}_h"])
            return f"{year}-{6 * half:02d}", f"{year}-H{half}"
    for form in ("ym", "sy", "my"):
        if f"{form}_m" in groups:
            month = groups[f"{form}_m"].lower()
            iso = f"{year}-{MONTHS.get(month) or int(month):02d}"
            return iso, iso
    if "slash_y" in groups:
        first, second = int(groups["slash_a"]), int(groups["slash_b"])
        if first <= 12 and second <= 12 and first != second:
            return year, ""
        iso = _day(year, first, second) if second > 12 else _day(year, second, first)
        return iso, iso
    return year, f"FY{year}"


def _day(year: str, month: int, day: int) -> str:
    try:
        return date(int(year), month, day).isoformat()
    except ValueError:
        return ""
