"""deployments/bootstrap.py on a real server: run twice it changes nothing, and keeps what others set."""

import json
import threading
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import ModuleType
from typing import Any

import pytest

pytestmark = [pytest.mark.e2e, pytest.mark.prefect]

NOTHING = "nothing to do: everything is there"


class Listener:
    """Takes what a webhook is called with."""

    def __init__(self) -> None:
        self.told: list[dict[str, Any]] = []
        told = self.told

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                told.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
                self.send_response(204)
                self.end_headers()

            def log_message(self, *_: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}/secret-path"


@pytest.fixture(scope="module")
def listener() -> Iterator[Listener]:
    made = Listener()
    yield made
    made.server.shutdown()
    made.server.server_close()


def pool(deployed: Any) -> dict[str, Any]:
    found: dict[str, Any] = deployed.ask("GET", "/work_pools/lethe")
    return found


def environment(deployed: Any) -> dict[str, str]:
    found: dict[str, str] = pool(deployed)["base_job_template"]["variables"]["properties"]["env"]["default"]
    return found


def automations(deployed: Any) -> dict[str, dict[str, Any]]:
    found = deployed.ask("POST", "/automations/filter")
    names = [one["name"] for one in found]
    assert len(names) == len(set(names))
    return dict(zip(names, found, strict=True))


def test_the_runs_of_the_pool_give_a_sign_often_enough_to_be_missed_in_time(deployed: Any) -> None:
    assert environment(deployed)["PREFECT_FLOWS_HEARTBEAT_FREQUENCY"] == "30"
    assert environment(deployed)["OPENBLAS_NUM_THREADS"] == "1"
    crashed = automations(deployed)["lethe: crashed, since its heartbeat has stopped"]
    assert crashed["trigger"]["within"] == 90
    assert {"prefect.flow-run.Running", "prefect.flow-run.heartbeat"} <= set(crashed["trigger"]["after"])
    queues = deployed.ask("POST", "/work_pools/lethe/queues/filter")
    priority = {queue["name"]: queue["priority"] for queue in queues}
    assert priority["interactive"] < priority["scheduled"]


def test_every_automation_is_for_the_runs_of_this_pool_and_none_restarts_what_failed(deployed: Any) -> None:
    for name, automation in automations(deployed).items():
        if name.startswith("lethe: tell"):
            continue
        related = automation["trigger"]["match_related"]
        assert related == {"prefect.resource.role": "work-pool", "prefect.resource.name": "lethe"}
    resumed = automations(deployed)["lethe: go on with what crashed"]["trigger"]
    assert resumed["expect"] == ["prefect.flow-run.Crashed"]
    assert "0" not in resumed["match"]["prefect.run-count"]  # one that never ran would be started for ever


def test_a_dry_run_says_what_it_would_do_and_does_nothing(deployed: Any) -> None:
    before = (pool(deployed), automations(deployed))
    said = deployed.script(
        "bootstrap.py", "--dry-run", "--crash-after", "75", "--model-concurrency", "5"
    ).said
    assert "would be changed automation “lethe: crashed, since its heartbeat has stopped”: trigger" in said
    assert "would be created concurrency limit lethe-model" in said
    assert "nothing was done (--dry-run)" in said
    assert (pool(deployed), automations(deployed)) == before
    assert deployed.ask("POST", "/v2/concurrency_limits/filter") is not None


def test_run_twice_it_changes_nothing_and_what_others_have_set_is_kept(deployed: Any) -> None:
    template = pool(deployed)["base_job_template"]
    template["variables"]["properties"]["env"]["default"]["LETHE_LLM_API_KEY"] = "of-the-owner"
    deployed.ask("PATCH", "/work_pools/lethe", base_job_template=template)
    resume = automations(deployed)["lethe: go on with what crashed"]["id"]
    deployed.ask("PATCH", f"/automations/{resume}", enabled=False)
    try:
        first = deployed.script("bootstrap.py", "--crash-after", "75")
        assert first.code == 0, first.said
        assert "changed automation “lethe: crashed, since its heartbeat has stopped”: trigger" in first.said
        assert "switched off, which is left so" in first.said
        again = deployed.script("bootstrap.py", "--crash-after", "75")
        assert NOTHING in again.said
        assert "changed " not in again.said.replace("unchanged ", "")
        assert environment(deployed)["LETHE_LLM_API_KEY"] == "of-the-owner"
        assert not automations(deployed)["lethe: go on with what crashed"]["enabled"]
        # A variable that somebody took out is put back.
        del template["variables"]["properties"]["env"]["default"]["OPENBLAS_NUM_THREADS"]
        deployed.ask("PATCH", "/work_pools/lethe", base_job_template=template)
    finally:
        deployed.ask("PATCH", f"/automations/{resume}", enabled=True)
    last = deployed.script("bootstrap.py")
    assert "changed work pool lethe: environment of its runs" in last.said
    assert environment(deployed)["OPENBLAS_NUM_THREADS"] == "1"


def test_a_limit_is_made_changed_and_taken_away_with_what_its_runs_are_told(deployed: Any) -> None:
    for slots, result in (("3", "created"), ("3", "unchanged"), ("2", "changed"), ("0", "removed")):
        said = deployed.script("bootstrap.py", "--model-concurrency", slots).said
        assert f" {result} concurrency limit lethe-model" in said
        assert ("LETHE_LLM_LIMIT" in environment(deployed)) == (slots != "0")


def test_a_bucket_for_answers_is_a_block_without_keys_that_every_run_is_told_of(deployed: Any) -> None:
    block = {"PREFECT_DEFAULT_RESULT_STORAGE_BLOCK": "remote-file-system/lethe-answers"}
    try:
        for url, result in (
            ("s3://b/one", "created"),
            ("s3://b/one", "unchanged"),
            ("s3://b/two/", "changed"),
        ):
            said = deployed.script("bootstrap.py", "--answers", url).said
            assert f"{result} storage block lethe-answers: {url.rstrip('/')}" in " ".join(said.split()), said
            assert block.items() <= environment(deployed).items()
        for wrong, why in (("b/one", "no address"), ("s3://key:hidden@b/one", "stored in clear")):
            refused = deployed.script("bootstrap.py", "--answers", wrong)
            assert refused.code == 2
            assert why in refused.said
            assert "hidden" not in refused.said
    finally:
        done = deployed.script("bootstrap.py", "--answers", "none")
    assert done.code == 0, done.said
    assert not block.keys() & environment(deployed).keys()


def test_a_changed_report_is_told_of_and_no_other_and_the_address_stays_a_secret(
    deployed: Any, deployed_module: ModuleType, listener: Listener
) -> None:
    made = deployed.script("bootstrap.py", LETHE_NOTIFY_URL=listener.url)
    assert "created webhook lethe-report-changed" in made.said, made.said
    assert "created automation “lethe: tell of a changed report”" in made.said
    assert NOTHING in deployed.script("bootstrap.py", LETHE_NOTIFY_URL=listener.url).said
    moved = deployed.script("bootstrap.py", LETHE_NOTIFY_URL=listener.url + "/moved")
    assert "changed webhook" in moved.said
    assert "secret-path" not in made.said + moved.said

    def event(name: str, series: str) -> dict[str, Any]:
        return {
            "id": str(uuid.uuid4()),
            "occurred": datetime.now(UTC).isoformat(),
            "event": name,
            "resource": {"prefect.resource.id": f"lethe.series.{series}", "prefect.resource.name": series},
            "payload": {"session": "s-2", "since": 's-1"', "changed_figures": 1},
        }

    def told() -> bool:
        # The server takes some seconds to look at a new automation: what is said meanwhile is for nobody.
        said = [event("lethe.report.unchanged", "still"), event("lethe.report.changed", "harbour")]
        deployed.ask_list("/events", said)
        return bool(listener.told)

    deployed_module.until(told, 60, every=2)
    first = listener.told[0]
    assert (first["series"], first["session"], first["since"]) == ("harbour", "s-2", 's-1"')
    assert (first["changed_figures"], first["new_findings"]) == (1, 0)
    assert {one["series"] for one in listener.told} == {"harbour"}


def test_a_server_that_is_not_there_is_said_so_in_a_line(deployed: Any) -> None:
    done = deployed.script("bootstrap.py", PREFECT_API_URL="http://127.0.0.1:9/api")
    assert done.code == 1
    assert "Error: the Prefect server at http://127.0.0.1:9/api does not answer" in done.said
    assert "Traceback" not in done.said
