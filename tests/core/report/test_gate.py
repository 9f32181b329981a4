"""What a gate lets pass, on reports made from graphs."""

from dataclasses import replace

import pytest

from lethe_core.report.document import (
    Claim,
    Closing,
    Disagreement,
    NotFound,
    OlderStatement,
    Paragraph,
    Report,
    Section,
    Source,
)
from lethe_core.report.gate import CHECKS, failures
from lethe_core.report.to_json import render_json


def claim(name: str, **changes: object) -> Claim:
    made = Claim(
        id=name,
        section="Answer",
        text="The bridge is 412 metres long.",
        quotation=False,
        citations=(1,),
        support=0.9,
        supported=True,
        how="similarity",
        edition="current",
        label="",
        finding=True,
        date="",
        passages=(),
    )
    return replace(made, **changes)  # type: ignore[arg-type]


@pytest.fixture
def good() -> Report:
    claims = (claim("c1"), claim("c2"))
    return Report(
        title="Tarn bridge",
        question="How long is the bridge?",
        answer=Section("Answer", (Paragraph(claims),)),
        sections=(),
        disagreements=(),
        older=(),
        not_found=(),
        sources=(Source(1, "Bridges", "bridges.md", "2024", "", "", False, ()),),
        claims=claims,
        skipped=(),
        closing=Closing("s-1", "goal_complete", "", 3, 1.0, 0, ("extractive",), False, True, 0, 0, 0),
    )


def named(report: Report) -> list[str]:
    return [failure.check for failure in failures(report, CHECKS)]


def test_a_report_without_a_fault_passes_every_check(good):
    assert failures(good, CHECKS) == ()


def test_each_check_sees_its_own_fault_and_names_the_claims(good):
    unsupported = replace(good, claims=(*good.claims, claim("c3", supported=False, finding=False)))
    (failure,) = failures(unsupported, CHECKS)
    assert (failure.check, failure.claims) == ("unsupported", ("c3",))
    assert failure.message == "1 claim without support in the cited sources (c3)"

    other = claim("c3", text="The bridge is 415 metres long.", finding=False)
    (failure,) = failures(replace(good, disagreements=(Disagreement((good.claims[0], other)),)), CHECKS)
    assert (failure.check, failure.claims) == ("contradiction", ("c1", "c3"))

    (failure,) = failures(replace(good, claims=(claim("c1"), claim("c2", edition="older"))), CHECKS)
    assert (failure.check, failure.claims) == ("stale", ("c2",))

    missing = NotFound("Who painted it?", True, "", ())
    (failure,) = failures(replace(good, not_found=(missing, missing)), CHECKS)
    assert failure.message == "nothing was found for: Who painted it? and 1 more"

    assert named(replace(good, claims=())) == ["no-evidence"]
    assert named(replace(good, closing=replace(good.closing, stop_reason="iteration_cap"))) == ["partial"]


def test_what_is_set_apart_as_an_older_edition_is_not_stale(good):
    apart = claim("c3", edition="older")
    older = OlderStatement(apart, 1, "new.md", ())
    assert named(replace(good, claims=(*good.claims, apart), older=(older,))) == []


def test_only_the_checks_that_are_asked_for_fail_it(good):
    faulty = replace(good, claims=(claim("c1", supported=False, finding=False),))
    assert [f.check for f in failures(faulty, ("no-evidence",))] == ["no-evidence"]
    assert failures(faulty, ("stale", "partial")) == ()
    assert named(faulty) == ["unsupported", "no-evidence"]


def test_many_claims_are_counted_and_the_first_named(good):
    (failure,) = failures(
        replace(good, claims=tuple(claim(f"c{n}", edition="older") for n in range(1, 9))), CHECKS
    )
    assert failure.message == "8 claims resting on an older edition (c1, c2, c3, c4, c5, …)"
    assert len(failure.claims) == 8


def test_the_json_object_says_what_it_does_not_pass(good):
    gate = failures(replace(good, claims=()), CHECKS)
    assert render_json(good).gate == ()
    assert [item.check for item in render_json(good, gate=gate).gate] == ["no-evidence"]
