"""What the reports on both small collections must say, must not say, and may say as older only.

The sessions are real but for Prefect: files, index, store, models and report as a newcomer has them. What
is not reached yet stands in the lists with a ``gap`` that says why, and fails here as soon as it is reached.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from loop import research  # benchmarks/loop.py

from lethe_core.report.document import Block, Claim, ClaimList, ClaimTable, Paragraph, Report, Section

HERE = Path(__file__).parent
COLLECTIONS = {
    "examples": (HERE / "expected_examples.json", HERE.parents[1] / "examples" / "corpus"),
    "second": (HERE / "expected_second.json", HERE / "corpus_second"),
}


@dataclass(frozen=True)
class Expected:
    """One entry of a list."""

    collection: str
    question: str
    text: str
    source: str
    part: int | None
    dated: bool

    def stands_in(self, claim: Claim) -> bool:
        return re.search(rf"(?<![\w.,]){re.escape(self.text)}(?!\w|[.,]\d)", claim.text) is not None


def questions(collection: str) -> list[dict[str, Any]]:
    data = json.loads(COLLECTIONS[collection][0].read_text("utf-8"))
    found: list[dict[str, Any]] = data["questions"] if isinstance(data, dict) else data
    return found


def expected(kind: str) -> Iterator[Any]:
    for collection in COLLECTIONS:
        for number, question in enumerate(questions(collection), start=1):
            for entry in question.get(kind, []):
                gap = entry.get("gap", "")
                yield pytest.param(
                    Expected(
                        collection,
                        question["question"],
                        entry["text"],
                        entry["source"],
                        entry.get("part"),
                        bool(entry.get("dated")),
                    ),
                    id=f"{collection}-{number}-{entry['text']}",
                    marks=[pytest.mark.xfail(reason=gap, strict=True)] if gap else [],
                )


@pytest.fixture(scope="module")
def report_on(tmp_path_factory: pytest.TempPathFactory) -> Any:
    home = tmp_path_factory.mktemp("home")
    names = iter(range(1000))

    @cache
    def run(collection: str, question: str) -> Report:
        ending, _ = research(question, COLLECTIONS[collection][1], home, f"s-report-{next(names)}")
        report: Report = ending.report
        return report

    return run


def stated(section: Section) -> list[Claim]:
    return [claim for block in section.blocks for claim in _claims(block)]


def _claims(block: Block) -> Iterator[Claim]:
    if isinstance(block, Paragraph):
        yield from block.claims
    elif isinstance(block, ClaimList):
        for item in block.items:
            yield from item
    elif isinstance(block, ClaimTable):
        yield from (row.claim for row in block.rows)


def everywhere(report: Report) -> list[Claim]:
    """The claims of answer and sections: what the report says in its own name."""
    return [claim for section in (report.answer, *report.sections) for claim in stated(section)]


@pytest.mark.parametrize("entry", list(expected("must_state")))
def test_it_is_stated_in_its_section_with_its_source(entry: Expected, report_on: Any) -> None:
    report: Report = report_on(entry.collection, entry.question)
    sections = everywhere(report) if entry.part is None else stated(report.sections[entry.part - 1])
    addresses = {source.n: source.address for source in report.sources}
    assert any(
        entry.stands_in(claim)
        and claim.supported
        and any(addresses[n].endswith(entry.source) for n in claim.citations)
        for claim in sections
    ), [claim.text for claim in sections]


@pytest.mark.parametrize("entry", list(expected("must_not_state")))
def test_it_is_not_stated(entry: Expected, report_on: Any) -> None:
    report: Report = report_on(entry.collection, entry.question)
    assert not [claim.text for claim in everywhere(report) if entry.stands_in(claim)]


@pytest.mark.parametrize("entry", list(expected("only_as_older")))
def test_it_is_stated_as_older_only(entry: Expected, report_on: Any) -> None:
    """``dated``: a document of no series may state its own figure, with its date beside it."""
    report: Report = report_on(entry.collection, entry.question)
    assert not [
        claim.text
        for claim in everywhere(report)
        if entry.stands_in(claim) and claim.edition != "older" and not (entry.dated and claim.date)
    ]
