"""Standard streams that are closed or take nothing end in a line at most, never in a trace."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

LETHE = f'{sys.executable} -c "from flows.cli import main; main()"'


def shell(arguments: str, home: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["/bin/sh", "-c", f"{LETHE} {arguments}"],
        capture_output=True,
        text=True,
        env={**os.environ, "LETHE_HOME": str(home)},
        cwd=Path(__file__).parents[2],
    )


pytestmark = pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a shell and /dev/full")


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&-", "<&- >&- 2>&-"])
def test_closed_streams_are_no_error(closed, tmp_path):
    ended = shell(f"sessions {closed}", tmp_path)
    assert ended.returncode == 0
    assert ended.stderr == ""
    assert ("no session" in ended.stdout) == (">&-" not in closed.replace("2>&-", ""))


def test_an_error_without_standard_error_keeps_its_exit_code(tmp_path):
    assert shell("resume s-absent 2>&-", tmp_path).returncode == 2


@pytest.mark.parametrize("arguments", ["sessions", "--version", "--help", "sessions --json"])
def test_output_that_takes_nothing_is_named(arguments, tmp_path):
    ended = shell(f"{arguments} >/dev/full", tmp_path)
    assert ended.returncode == 1
    assert ended.stderr.startswith("lethe: standard output cannot be written to: ")
    assert len(ended.stderr.splitlines()) == 1
    assert "--debug" not in ended.stderr
