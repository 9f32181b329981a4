"""The last words of a run fit the terminal and tell no untruth."""

import pytest

from flows.commands.summary import print_summary
from lethe_core.report.model import ChangedSourceJson, ChangesJson, ClaimJson, ReportJson, StatementJson


def report(**changes) -> ReportJson:
    claim = ClaimJson(
        id="c1",
        section="Answer",
        text="The lighthouse at Farrow Point was built in 1871 by the engineer Maud Ellery. " * 3,
        citations=(1, 2),
        edition="current",
        support=1.0,
        supported=True,
    )
    values = {
        "session": "s-1",
        "status": "complete",
        "stop_reason": "goal_complete",
        "iterations": 3,
        "seconds": 4.5,
        "tokens": 0,
        "report": "/r/report.md",
        "sources": (),
        "claims": (claim,),
        "findings": ("c1",),
        "unsupported": (),
        "contradictions": (),
        "skipped": (),
    }
    return ReportJson(**{**values, **changes})


@pytest.mark.parametrize("columns", [40, 60, 300])
def test_lines_are_as_wide_as_the_terminal_at_most(columns, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(columns))
    print_summary(report(), own_server=True)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "/r/report.md"
    assert max(map(len, lines)) <= min(columns, 100)


def test_a_silent_model_is_not_called_nothing_found(capsys):
    print_summary(report(claims=(), findings=(), status="failed", stop_reason="model_unavailable"))
    said = capsys.readouterr().out
    assert "the language model gave no usable answer: the question was not researched" in said
    assert "nothing was found" not in said
    print_summary(report(claims=(), findings=()))
    assert "nothing was found" in capsys.readouterr().out


def test_a_pages_own_number_is_no_citation(capsys):
    text = "“Built in 1871.[2] It burns [note].”"
    print_summary(report(claims=(report().claims[0].model_copy(update={"text": text, "citations": (1,)}),)))
    assert r"“Built in 1871.\[2\] It burns [note].” [1]" in capsys.readouterr().out


def test_what_changed_is_told_in_numbers(capsys):
    nothing = {name: () for name in ChangesJson.model_fields if name not in ("since", "changed")}
    print_summary(report())
    assert "since session" not in capsys.readouterr().out
    print_summary(report(changes=ChangesJson(since="s-0", changed=False, **nothing)))
    assert "since session s-0: nothing new\n" in capsys.readouterr().out
    source = ChangedSourceJson(title="Fares", url="papers/fares.md", date="")
    statement = StatementJson(text="“It is 3.”", claims=("c1",), sources=(source,))
    some = nothing | {"new_findings": (statement, statement), "vanished_sources": (source,)}
    print_summary(report(changes=ChangesJson(since="s-0", changed=True, **some)))
    assert "since session s-0: 2 new findings, 1 vanished source\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("reason", "said"),
    [
        ("budget", "go on:   lethe resume s-1 with a higher limit\n"),
        ("cancelled", ""),
        ("goal_complete", ""),
    ],
)
def test_how_to_go_on_is_said_where_more_time_would_bring_more(capsys, reason, said):
    print_summary(report(stop_reason=reason))
    printed = capsys.readouterr().out
    assert printed.endswith(said) if said else "go on" not in printed
