"""Commands that run no flow answer at once: what is expensive to import is not imported for them."""

import os
import subprocess
import sys

import pytest

HEAVY = ("prefect", "numpy", "scipy", "pydantic", "httpx", "rich", "tokenizers")


def modules_after(arguments: list[str], home: object) -> set[str]:
    """The names of all modules that a command has imported when it ends."""
    code = "import sys; from flows.cli import run; run(sys.argv[1:]); print('\\n' + ' '.join(sys.modules))"
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("LETHE_", "PREFECT_"))}
    ended = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        capture_output=True,
        text=True,
        check=True,
        env={**kept, "LETHE_HOME": str(home)},
    )
    return set(ended.stdout.splitlines()[-1].split())


@pytest.mark.parametrize(
    "arguments",
    [["--help"], ["--version"], ["research", "--help"], ["doctor", "--help"], ["server", "--help"]],
)
def test_help_imports_nothing_heavy(arguments, tmp_path):
    assert not modules_after(arguments, tmp_path).intersection(HEAVY)


@pytest.mark.parametrize(
    "arguments",
    [
        ["sessions"],
        ["report", "s-absent"],
        ["diff", "s-absent"],
        ["doctor"],
        ["server", "status"],
        ["resume", "s-absent"],
    ],
)
def test_what_runs_no_flow_imports_no_prefect(arguments, tmp_path):
    assert "prefect" not in modules_after(arguments, tmp_path)


def test_refused_research_imports_no_prefect(tmp_path):
    assert "prefect" not in modules_after(
        ["research", "What?", "--corpus", str(tmp_path / "absent")], tmp_path
    )


def test_blas_runs_in_one_thread_unless_the_user_says_otherwise():
    code = (
        "import os, sys, pytest\n"
        "from flows.cli import main\n"
        "sys.argv = ['lethe', '--version']\n"
        "with pytest.raises(SystemExit): main()\n"
        "print(os.environ['OPENBLAS_NUM_THREADS'])"
    )
    for given, expected in (({}, "1"), ({"OPENBLAS_NUM_THREADS": "4"}, "4")):
        kept = {k: v for k, v in os.environ.items() if k != "OPENBLAS_NUM_THREADS"}
        ended = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={**kept, **given}
        )
        assert ended.stdout.split()[-1] == expected
