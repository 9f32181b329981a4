"""What changed, in words and as JSON: every kind with its sources, and nothing that a source wrote obeyed."""

from dataclasses import replace

from lethe_core.graph.outline import OutlinedSource
from lethe_core.report.changed import changed_parts
from lethe_core.report.diff import ChangedFigure, Changes, Dropped, Statement
from lethe_core.report.markdown import render_markdown
from lethe_core.report.model import ChangesJson, ReportJson
from lethe_core.report.to_json import render_changes, render_json

FARES = OutlinedSource("Fares", "papers/fares.md", "2024-03", "aa")
LIST = OutlinedSource("papers/list.csv", "papers/list.csv", "", "bb")
WEB = OutlinedSource("<b>News</b> | [x](y)", "https://example.org/news", "2025", "cc")
OLD = Statement("“A ticket costs 3 euros.”", (FARES,), (1,), ("c1",))
NEW = Statement("“A ticket costs 4 euros.”", (FARES, LIST), (2, 3), ("c4",))
OTHER = Statement("“A ticket costs 5 euros.”", (WEB,), (4,), ("c5",))
ALL = Changes(
    since="s-before",
    new_findings=(OTHER,),
    changed_figures=(ChangedFigure(OLD, NEW),),
    dropped=(Dropped(OLD, vanished=True), Dropped(OTHER, vanished=False)),
    new_sources=(WEB,),
    vanished_sources=(LIST,),
    appeared=((NEW, OTHER),),
    settled=((OLD, OTHER),),
)


def test_every_kind_of_change_is_told_with_its_sources():
    assert "\n\n".join(changed_parts(ALL, numbered=True)) == (
        "Since session s-before:\n\n"
        "### Changed figures\n\n"
        "- “A ticket costs 4 euros.” [[2], [3]]\n"
        "  - Before: “A ticket costs 3 euros.” (Fares · papers/fares.md · 2024-03)\n\n"
        "### New findings\n\n"
        "- “A ticket costs 5 euros.” [[4]]\n\n"
        "### Dropped\n\n"
        "- “A ticket costs 3 euros.” (Fares · papers/fares.md · 2024-03) — the source has vanished\n"
        "- “A ticket costs 5 euros.” (&lt;b>News&lt;/b> | x · <https://example.org/news> · 2025)"
        " — no longer said there\n\n"
        "### New sources\n\n"
        "- &lt;b>News&lt;/b> | x · <https://example.org/news> · 2025\n\n"
        "### Vanished sources\n\n"
        "- papers/list.csv\n\n"
        "### Contradictions that appeared\n\n"
        "- “A ticket costs 4 euros.” [[2], [3]]\n"
        "  - against “A ticket costs 5 euros.” [[4]]\n\n"
        "### Contradictions that were settled\n\n"
        "- “A ticket costs 3 euros.” (Fares · papers/fares.md · 2024-03)\n"
        "  - against “A ticket costs 5 euros.” (&lt;b>News&lt;/b> | x · <https://example.org/news> · 2025)"
    )


def test_nothing_new_is_one_line():
    assert changed_parts(Changes("s-before"), numbered=True) == ["Nothing new since session s-before."]


def test_the_json_tells_the_same_and_is_read_back():
    shown = render_changes(ALL)
    assert ChangesJson.model_validate_json(shown.model_dump_json()) == shown
    assert (shown.since, shown.changed) == ("s-before", True)
    assert shown.changed_figures[0].old.sources[0].url == "papers/fares.md"
    assert shown.changed_figures[0].new.claims == ("c4",)
    assert [item.reason for item in shown.dropped] == ["vanished", "changed"]
    assert [len(group) for group in shown.contradictions_appeared] == [2]
    assert not render_changes(Changes("s-before")).changed


def test_the_section_stands_first_and_only_in_a_report_that_follows_another(session, embedder):
    from lethe_core.report.assembly import assemble

    root = session.task("What does a ticket cost?")
    chunk = session.chunk("A ticket costs 4 euros on all days of the week.", "papers/fares.md", task=root)
    session.result(root, f"“A ticket costs 4 euros on all days of the week.” [{chunk.short_id}]")
    report = assemble(session.snapshot(), session.state(), embedder=embedder)
    assert "## What changed" not in render_markdown(report)
    followed = replace(report, changes=replace(ALL, appeared=(), new_findings=()))
    text = render_markdown(followed)
    assert text.index("## What changed") < text.index("## Answer")
    whole = render_json(followed)
    assert whole.changes == render_changes(followed.changes)
    # A report of before there were series is read as ever.
    old = whole.model_dump(mode="json", by_alias=True)
    del old["changes"]
    assert ReportJson.model_validate(old).changes is None
