"""Progress: two lines an iteration where there is no terminal, a picture where there is one."""

import io
import re
from dataclasses import replace

import pytest

from flows.terminal import LiveDisplay, PlainDisplay, QuietDisplay, open_display
from lethe_core.session.handle import Progress

PROGRESS = Progress(
    iteration=2,
    task="What did\x1b[31m Ellery build?",
    searches=(("Ellery\n lighthouse", 4), ("Farrow", 0)),
    n_evidence=12,
    n_sources=3,
    n_tasks=2,
    n_done=1,
    applied=False,
)


def test_plain_lines_say_an_iteration_s_task_and_what_was_found_once_each(capsys):
    display = PlainDisplay(30)
    display.checking("qwen3-\x1b[2J8b")
    for progress in (PROGRESS, PROGRESS, replace(PROGRESS, applied=True), replace(PROGRESS, applied=True)):
        display.iteration(progress)
    display.assembling()
    captured = capsys.readouterr()
    assert captured.out == ""
    asking, first, second, third = captured.err.splitlines()
    assert asking == "asking the model server whether it answers (qwen3-[2J8b)"
    assert first == "iteration 2 (target 30): What did[31m Ellery build?"
    assert second.startswith("  searched “Ellery lighthouse”: 4 new; searched “Farrow”: nothing new · ")
    assert "12 passages from 3 sources · 1 of 2 tasks done" in second
    assert third == "writing the report"


def test_a_folder_that_is_read_in_a_moment_prints_nothing(capsys):
    display = PlainDisplay(30)
    for done in range(18):
        display.indexing(done, 18, "a.md")
    assert capsys.readouterr().err == ""


def test_live_picture_shows_what_is_going_on():
    from rich.console import Console

    display = LiveDisplay(30)
    try:
        display.indexing(3, 20, "folder/\x1b[2Jreport.pdf")
        assert "3 of 20" in _drawn(display, Console)
        assert "\x1b[2J" not in _drawn(display, Console)
        display.checking("qwen3-8b")
        assert "asking the model server whether it answers (qwen3-8b)" in _drawn(display, Console)
        display.iteration(replace(PROGRESS, applied=True))
        drawn = _drawn(display, Console)
        for words in ("iteration 2 (target 30)", "12 passages", "Ellery build?", "4 new"):
            assert words in drawn
        display.assembling()
        assert "writing the report" in _drawn(display, Console)
    finally:
        display.close()


def test_quiet_says_nothing(capsys):
    display = open_display(30, quiet=True)
    assert isinstance(display, QuietDisplay)
    display.say("something")
    display.iteration(PROGRESS)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("terminal", [True, False])
def test_display_suits_standard_error(terminal, monkeypatch):
    monkeypatch.setattr("sys.stderr.isatty", lambda: terminal, raising=False)
    display = open_display(30)
    display.close()
    assert isinstance(display, LiveDisplay if terminal else PlainDisplay)


@pytest.mark.parametrize("variable", ["NO_COLOR", "LANG"])
def test_no_color_leaves_no_style_at_all(variable, monkeypatch):
    for name in ("NO_COLOR", "FORCE_COLOR", "COLORTERM"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv(variable, "C")
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    display = LiveDisplay(30)
    display.iteration(replace(PROGRESS, applied=True))
    display.close()
    assert "Ellery" in terminal.getvalue()
    styled = re.search(r"\x1b\[[0-9;]*[1-9][0-9;]*m", terminal.getvalue())
    assert (styled is None) == (variable == "NO_COLOR")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def _drawn(display, console_class) -> str:
    console = console_class(width=140)
    with console.capture() as capture:
        console.print(display._picture())
    return capture.get()
