"""A series through the real command: a folder changes between its runs, and they say what changed."""

import json
import re
import time
from pathlib import Path
from typing import Any

import pytest

from lethe_core.report.model import DiffJson, ReportJson

pytestmark = pytest.mark.e2e

QUESTION = (
    "1. How many passengers does the Farrow Point ferry carry? "
    "2. In which year was the Farrow Point lighthouse electrified? "
    "3. Who painted the ceiling of the Farrow Point chapel?"
)
DOCUMENTS = {
    "ferry.md": "# Ferry\n\nDate: 2023-05-01\n\n"
    "The Farrow Point ferry carries 84 passengers and sails hourly.\n",
    "lighthouse.md": "# Lighthouse\n\nThe Farrow Point lighthouse was built in 1871.\n\n"
    "The lamp of the Farrow Point lighthouse was electrified in the year 1926.\n",
    "chapel.md": "# Chapel\n\nThe ceiling of the Farrow Point chapel was painted by Ansel Brook.\n",
    "mill.md": "# Mill\n\nThe mill at Lisk grinds rye and has two wheels.\n",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("series") / "harbour"
    made.mkdir()
    for name, text in DOCUMENTS.items():
        (made / name).write_text(text, "utf-8")
    return made


@pytest.fixture(scope="module")
def run(lethe: Any, folder: Path) -> Any:
    def once(session: str) -> tuple[ReportJson, str]:
        ended = lethe(
            "research", QUESTION, "--corpus", folder, "--series", "harbour", "--session", session, "--json"
        )
        assert ended.code == 0, ended.err
        report = ReportJson.model_validate_json(ended.out)
        return report, Path(report.report).read_text("utf-8")

    return once


@pytest.fixture(scope="module")
def runs(run: Any, folder: Path) -> list[tuple[ReportJson, str]]:
    """Three runs: the first; a figure changed, a file gone and one added; nothing changed."""
    found = [run("h-1")]
    (folder / "ferry.md").write_text(
        DOCUMENTS["ferry.md"].replace("84", "96").replace("2023", "2024"), "utf-8"
    )
    (folder / "chapel.md").unlink()
    (folder / "history.md").write_text(
        "# History of the point\n\n"
        "The lamp of the Farrow Point lighthouse was electrified in the year 1931.\n",
        "utf-8",
    )
    found.append(run("h-2"))
    (folder / "mill.md").touch()
    return [*found, run("h-3")]


def section(text: str) -> str:
    return text.split("## What changed\n\n")[1].split("\n\n## ")[0]


def test_the_first_run_follows_none(runs: Any) -> None:
    report, text = runs[0]
    assert report.changes is None
    assert "What changed" not in text
    assert "84 passengers" in text
    assert "Ansel Brook" in text


def test_the_second_says_what_changed_and_nothing_else(runs: Any) -> None:
    report, text = runs[1]
    n = {source.url: source.n for source in report.sources}
    assert section(text) == (
        "Since session h-1:\n\n"
        "### Changed figures\n\n"
        f"- “The Farrow Point ferry carries 96 passengers and sails hourly.” [[{n['harbour/ferry.md']}]]\n"
        "  - Before: “The Farrow Point ferry carries 84 passengers and sails hourly.” "
        "(Ferry · harbour/ferry.md · 2023-05-01)\n\n"
        "### New findings\n\n"
        "- “The lamp of the Farrow Point lighthouse was electrified in the year 1931.” "
        f"[[{n['harbour/history.md']}]]\n\n"
        "### Dropped\n\n"
        "- “The ceiling of the Farrow Point chapel was painted by Ansel Brook.” "
        "(Chapel · harbour/chapel.md) — the source has vanished\n\n"
        "### New sources\n\n"
        "- History of the point · harbour/history.md\n\n"
        "### Vanished sources\n\n"
        "- Chapel · harbour/chapel.md\n\n"
        "### Contradictions that appeared\n\n"
        "- “The lamp of the Farrow Point lighthouse was electrified in the year 1926.” "
        f"[[{n['harbour/lighthouse.md']}]]\n"
        "  - against “The lamp of the Farrow Point lighthouse was electrified in the year 1931.” "
        f"[[{n['harbour/history.md']}]]"
    )
    changes = report.changes
    assert changes is not None
    assert (changes.since, changes.changed) == ("h-1", True)
    assert [item.reason for item in changes.dropped] == ["vanished"]
    assert "Ansel Brook" not in text.split("## Answer")[1]


def test_a_run_over_what_has_not_changed_says_so_in_a_line_and_costs_little(runs: Any) -> None:
    report, text = runs[2]
    assert section(text) == "Nothing new since session h-2."
    assert report.changes is not None
    assert not report.changes.changed
    # One to divide the question, one for each part, one to put them together, and one for another wording of
    # the part that has lost its source: what was searched for before is not searched for again.
    assert report.iterations <= 6 < runs[0][0].iterations
    assert {claim.text for claim in report.claims} <= {claim.text for claim in runs[1][0].claims}
    assert {"harbour/ferry.md", "harbour/history.md", "harbour/lighthouse.md"} == {
        s.url for s in report.sources
    }


def test_diff_says_the_same_as_the_report_and_compares_with_any_other(lethe: Any, runs: Any) -> None:
    ended = lethe("diff", "h-2")
    assert ended.code == 0
    assert "“The Farrow Point ferry carries 96 passengers and sails hourly.” (Ferry · harbour" in ended.out
    as_json = DiffJson.model_validate_json(lethe("diff", "h-2", "--json").out)
    assert (as_json.session, as_json.changes) == ("h-2", runs[1][0].changes)
    far = DiffJson.model_validate_json(lethe("diff", "h-3", "h-1", "--json").out).changes
    (figure,) = far.changed_figures
    assert ("84" in figure.old.text, "96" in figure.new.text) == (True, True)
    assert [source.url for source in far.vanished_sources] == ["harbour/chapel.md"]
    assert lethe("diff", "h-3", "h-2").out == "Nothing new since session h-2.\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [(["h-1"], "follows no other"), (["h-9"], "no session 'h-9'"), (["h-2", "h-9"], "no session 'h-9'")],
)
def test_diff_that_has_nothing_to_compare_is_a_usage_error(
    lethe: Any, runs: Any, arguments: list[str], said: str
) -> None:
    assert runs
    ended = lethe("diff", *arguments)
    assert ended.code == 2
    assert said in ended.complaint


def test_sessions_show_series_and_run(lethe: Any, runs: Any) -> None:
    assert runs
    rows = {row["session"]: row for row in json.loads(lethe("sessions", "--json").out)["sessions"]}
    assert [(rows[f"h-{n}"]["series"], rows[f"h-{n}"]["n"], rows[f"h-{n}"]["previous"]) for n in (1, 3)] == [
        ("harbour", 1, ""),
        ("harbour", 3, "h-2"),
    ]
    assert re.search(r"h-3 +complete .* harbour 3 ", lethe("sessions").out)


def test_two_runs_at_once_the_later_waits_or_is_skipped(lethe: Any, runs: Any, folder: Path) -> None:
    from lethe_core.adapters.stores import open_store, sqlite_url
    from lethe_core.adapters.stores.owner import make_owner
    from lethe_core.graph.nodes import SessionId

    assert runs
    store = open_store(sqlite_url(lethe.home / "graph.db"))
    lease = store.acquire_lease(SessionId("h-3"), make_owner(), seconds=300, force=True)
    command = ("research", QUESTION, "--corpus", folder, "--series", "harbour", "--session")
    skipped = lethe(*command, "h-skipped", "--if-running", "skip")
    assert skipped.code == 6
    assert "skipped: series harbour is being worked on: session h-3" in skipped.complaint
    waiting = lethe.start(*command, "h-4", "--json")
    for line in waiting.stderr:
        if "waiting until it is over" in line:
            break
    time.sleep(1)
    assert waiting.poll() is None
    store.release_lease(lease)
    out, err = waiting.communicate(timeout=120)
    assert waiting.returncode == 0, err
    assert ReportJson.model_validate_json(out).changes.since == "h-3"
    assert "h-skipped" not in {state.session_id for state in store.list_sessions("harbour")}
    store.close()


def test_a_series_that_asks_something_else_is_refused(lethe: Any, runs: Any, folder: Path) -> None:
    assert runs
    ended = lethe("research", "Who built the mill?", "--corpus", folder, "--series", "harbour")
    assert ended.code == 2
    assert "series harbour asks another question" in ended.complaint
    named = lethe("research", QUESTION, "--corpus", folder, "--series", "a b")
    assert named.code == 2
    assert "series name 'a b' cannot be used" in named.complaint
