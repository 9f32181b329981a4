"""How far a long command has come: lines where there is no terminal, a bar where there is one."""

import io
import time

import pytest

from flows import steps
from flows.steps import steps_shown


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_what_takes_long_says_how_far_it_is_and_only_on_standard_error(capsys, monkeypatch):
    monkeypatch.setattr(steps, "PLAIN_FIRST_SECONDS", 0.01)
    monkeypatch.setattr(steps, "PLAIN_SECONDS", 0.01)
    out = err = ""
    with steps_shown("copying", "session") as step:
        while "copying …\n" not in err:
            err += capsys.readouterr().err
            time.sleep(0.01)
        step(3, 1_200)
        while "copying: 3 of 1,200 sessions\n" not in err:
            now = capsys.readouterr()
            out, err = out + now.out, err + now.err
            time.sleep(0.01)
    assert out == ""
    assert set(err.splitlines()) == {"copying …", "copying: 3 of 1,200 sessions"}


@pytest.mark.parametrize("quiet", [False, True])
def test_what_is_quick_or_to_be_quiet_says_nothing(capsys, monkeypatch, quiet):
    monkeypatch.setattr(steps, "PLAIN_FIRST_SECONDS", 0.001 if quiet else 600.0)
    with steps_shown("checking", "session", quiet=quiet) as step:
        step(1, 2)
        time.sleep(0.02)
    assert capsys.readouterr() == ("", "")


def test_a_terminal_has_a_bar(capsys, monkeypatch):
    terminal = Terminal()
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr("sys.stderr", terminal)
    with steps_shown("checking", "session") as step:
        step(1, 2)
    assert "1 of 2 sessions" in terminal.getvalue()
    assert "━" in terminal.getvalue()
    assert capsys.readouterr().out == ""
