"""What a user sees of a run: standard output, standard error, exit code, files, Prefect's page."""

import json
import re
import signal
import subprocess
import threading
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from lethe_core.report.model import ReportJson

pytestmark = [pytest.mark.e2e, pytest.mark.prefect]

STEPS = {
    "ready set",
    "select task",
    "sync similar",
    "expand context",
    "pack context",
    "serialize context",
    "call model, round 0",
    "parse response, round 0",
    "apply operations",
    "compute signals",
}
# Where nothing may be started, nothing could be: no server is at this address.
NO_PREFECT = {"PREFECT_API_URL": "http://127.0.0.1:9/api"}
EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="module")
def both(lethe, corpus, question):
    """Two runs that begin in the same moment, before there is any server."""
    first = ("research", question, "--corpus", corpus, "--session", "s-first")
    second = (
        "research",
        question,
        "--corpus",
        corpus,
        "--out",
        "elsewhere",
        "--max-iterations",
        "2",
        "--json",
    )
    processes = [lethe.start(*arguments) for arguments in (first, second)]
    ended = [(process.communicate(timeout=280), process.returncode) for process in processes]
    return [SimpleNamespace(code=code, out=out, err=err) for (out, err), code in ended]


@pytest.fixture(scope="module")
def finished(both):
    return both[0]


def test_runs_that_begin_at_once_start_one_server(both):
    pages = {
        address for run in both for address in re.findall(r"follow it at (http://127.0.0.1:\d+)/", run.err)
    }
    assert len(pages) == 1, pages
    assert sum("starting a local Prefect server" in run.err for run in both) == 1


def test_a_run_prints_its_report_s_path_and_answer_and_nothing_of_its_progress(lethe, finished):
    assert finished.code == 0, finished.err
    path = Path(finished.out.splitlines()[0])
    assert path == lethe.folder / "lethe-reports" / "s-first" / "report.md"
    assert "1871" in path.read_text(encoding="utf-8")
    assert "1871" in finished.out
    assert "Maud Ellery" in finished.out
    assert "iteration 1" not in finished.out
    assert "iteration 1 (target 30)" in finished.err
    assert re.search(r"\d+ findings? from \d+ source", finished.out)
    assert "lethe server stop" in finished.out
    assert "Traceback" not in finished.err
    assert "Finished in state" not in finished.err


def test_a_run_is_seen_on_the_server_with_its_ten_tasks_an_iteration(finished, api_url):
    run_id = re.search(r"/runs/flow-run/([0-9a-f-]{36})", finished.out)
    assert run_id is not None
    run = _get(f"{api_url}/flow_runs/{run_id[1]}")
    assert run["state_type"] == "COMPLETED"
    assert run["name"].endswith("· s-first")
    deadline = time.monotonic() + 30  # the recorder writes in batches
    while True:
        body = {"flow_runs": {"id": {"any_": [run_id[1]]}}, "limit": 200}
        names = {task["name"] for task in _get(f"{api_url}/task_runs/filter", body)}
        missing = {f"01 {step}" for step in STEPS} - names
        if not missing:
            break
        assert time.monotonic() < deadline, missing
        time.sleep(0.5)


def test_json_prints_one_object_and_nothing_else(lethe, both):
    ended = both[1]
    assert ended.code in (0, 5)
    report = ReportJson.model_validate_json(ended.out)
    assert report.session.startswith("s-")
    assert report.iterations <= 4
    assert Path(report.report) == lethe.folder / "elsewhere" / "report.md"
    assert json.loads((lethe.folder / "elsewhere" / "report.json").read_text()) == json.loads(ended.out)


@pytest.mark.usefixtures("finished")
class TestAfterwards:
    """What needs no Prefect starts none, and says what there was."""

    def test_same_question_on_a_finished_session_prints_its_report(self, lethe, corpus, question):
        ended = lethe("research", question, "--corpus", corpus, "--session", "s-first", **NO_PREFECT)
        assert ended.code == 0
        assert ended.out.splitlines()[0].endswith("s-first/report.md")
        assert "is finished" in ended.err

    def test_resume_of_a_finished_session_prints_its_report(self, lethe):
        ended = lethe("resume", "s-first", "--json", **NO_PREFECT)
        assert ended.code == 0
        assert ReportJson.model_validate_json(ended.out).findings

    def test_another_question_on_a_session_is_refused(self, lethe, corpus):
        ended = lethe("research", "What else?", "--corpus", corpus, "--session", "s-first", **NO_PREFECT)
        assert ended.code == 2
        assert "asks another question" in ended.complaint

    def test_quiet_prints_nothing(self, lethe):
        ended = lethe("resume", "s-first", "--quiet", **NO_PREFECT)
        assert (ended.code, ended.out, ended.err) == (0, "", "")

    def test_report_comes_from_the_graph_in_both_formats(self, lethe):
        markdown = lethe("report", "s-first")
        assert markdown.code == 0
        written = lethe.folder / "lethe-reports" / "s-first" / "report.md"
        assert markdown.out == written.read_text(encoding="utf-8")
        as_json = lethe("report", "s-first", "--format", "json", "--out", "copy/report.json")
        assert as_json.code == 0
        assert ReportJson.model_validate_json((lethe.folder / "copy" / "report.json").read_text()).findings

    def test_sessions_are_listed(self, lethe):
        listed = lethe("sessions")
        assert listed.code == 0
        assert re.search(r"s-first +complete", listed.out)
        rows = json.loads(lethe("sessions", "--json").out)["sessions"]
        assert {"s-first"} <= {row["session"] for row in rows}

    def test_doctor_finds_everything_well(self, lethe, corpus):
        ended = lethe("doctor", "--corpus", corpus, "--json", LETHE_MAX_ITERATION="3")
        found = json.loads(ended.out)
        assert ended.code == 0
        assert found["ok"]
        levels = {check["name"]: check for check in found["checks"]}
        assert levels["Prefect"]["level"] == "ok"
        assert "local server answers" in levels["Prefect"]["text"]
        assert "LETHE_MAX_ITERATIONS" in levels["LETHE_MAX_ITERATION"]["text"]

    def test_a_reader_that_leaves_is_no_error(self, lethe):
        process = lethe.start("report", "s-first")
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == ""
        process.stderr.close()
        assert process.wait() == 141


def test_ctrl_c_ends_with_a_partial_report_and_the_line_that_resumes(lethe):
    question = (EXAMPLES / "questions.txt").read_text(encoding="utf-8").splitlines()[1]
    process = lethe.start("research", question, "--corpus", EXAMPLES / "corpus", "--session", "s-cut")
    _await_line(process, "iteration 2 ")
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert "Traceback" not in err
    assert err.rstrip().splitlines()[-1] == "lethe: cancelled; go on with: lethe resume s-cut"
    report = lethe.folder / "lethe-reports" / "s-cut" / "report.md"
    assert out.splitlines()[0] == str(report)
    assert "Cancelled" in report.read_text(encoding="utf-8")
    assert re.search(r"s-cut +cancelled", lethe("sessions").out)
    resumed = lethe("resume", "s-cut", "--max-iterations", "4")
    assert resumed.code in (0, 5), resumed.err
    assert "iteration 1 " not in resumed.err


def test_a_killed_run_is_resumed_at_once(lethe):
    question = (EXAMPLES / "questions.txt").read_text(encoding="utf-8").splitlines()[1]
    process = lethe.start("research", question, "--corpus", EXAMPLES / "corpus", "--session", "s-killed")
    _await_line(process, "iteration 2 ")
    process.kill()
    process.communicate()
    assert re.search(r"s-killed +interrupted", lethe("sessions").out)
    resumed = lethe("resume", "s-killed", "--max-iterations", "4", "--json")
    assert resumed.code in (0, 5), resumed.err
    assert ReportJson.model_validate_json(resumed.out).iterations >= 3
    assert "waiting" not in resumed.err


@pytest.fixture
def slow_model(chat_server: Any, chat_module: Any) -> Iterator[tuple[str, threading.Event]]:
    """A model's address: from the second iteration on it thinks until the event is set."""
    go_on = threading.Event()

    def answer(_: dict[str, Any]) -> tuple[int, str]:
        number = len(chat_server.asked)
        if number > 2:  # the first asks whether it is there
            go_on.wait(240)
        return chat_module.operations({"op": "web_search", "query": f"rope {number}"})

    chat_server.answer = answer
    yield chat_server.url, go_on
    go_on.set()


def test_server_that_is_ended_under_a_run(lethe, tmp_path_factory, slow_model):
    """Its model thinks meanwhile: a run that went on could end before the server does."""
    url, go_on = slow_model
    at_work = lethe.at(tmp_path_factory.mktemp("lost"))
    process = at_work.start(
        "research",
        "Which rope is in use?",
        *("--corpus", EXAMPLES / "corpus", "--session", "s-lost"),
        LETHE_LLM_BASE_URL=url,
        LETHE_LLM_MODEL="m",
    )
    _await_line(process, "iteration 2 ")
    refused = at_work("server", "stop")
    assert refused.code == 6
    assert "s-lost" in refused.complaint
    assert at_work("server", "stop", "--force").code == 0
    go_on.set()
    out, err = process.communicate(timeout=240)
    assert (process.returncode, out) == (1, ""), err
    assert err.splitlines()[-1].endswith("went away; what was committed is kept: lethe resume s-lost")
    assert "--- Error logging" not in err
    assert "Worker" not in err
    assert "Traceback" not in err


def _await_line(process: "subprocess.Popen[str]", wanted: str) -> None:
    assert process.stderr is not None
    said = ""
    for line in process.stderr:
        if wanted in line:
            return
        said += line
    pytest.fail(f"the run ended without {wanted!r}: {said}")


def _get(url: str, body: dict[str, Any] | None = None) -> Any:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.load(answer)
