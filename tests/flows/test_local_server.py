"""The local server's bookkeeping, without starting one: what it takes for its own, and what never."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from flows.local_server import answers, running_server, starting_server, stop_server
from flows.server_process import ServerState, idle_clock, read_state, server_environment, write_state
from lethe_core.adapters.stores.owner import make_owner
from lethe_core.errors import LetheError, StoreError, StoreUnavailableError, UsageError


def state_of(home, **changes):
    values = {"owner": make_owner(), "pid": os.getpid(), "port": 9, "started_at": time.time(), "prefect": "3"}
    state = ServerState(**{**values, **changes})
    (home / "prefect").mkdir(parents=True, exist_ok=True)
    write_state(home, state)
    return state


def test_no_state_and_an_unreadable_one_are_no_server(tmp_path):
    assert running_server(tmp_path) is None
    (tmp_path / "prefect").mkdir()
    for text in ("", "{", "[]", '{"pid": 1}', '{"owner": 1, "extra": 2}'):
        (tmp_path / "prefect" / "server.json").write_text(text)
        assert read_state(tmp_path) is None
        assert stop_server(tmp_path) is None


def test_a_live_process_that_wrote_its_state_is_the_server(tmp_path):
    state = state_of(tmp_path)
    assert running_server(tmp_path) == state


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="starts of processes are read from /proc")
def test_another_process_that_has_the_number_by_now_is_never_ended(tmp_path):
    host, _, start, nonce = make_owner().split("/")
    bystander = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    try:
        boot, namespace, ticks = start.split(".")
        for stale in (f"{boot}.{namespace}.{int(ticks) - 1}", f"00000000.{namespace}.{ticks}"):
            state_of(tmp_path, owner=f"{host}/{bystander.pid}/{stale}/{nonce}", pid=bystander.pid)
            assert running_server(tmp_path) is None
            assert stop_server(tmp_path) is None
        assert bystander.poll() is None
    finally:
        bystander.kill()
        bystander.wait()


def test_nobody_answers_at_a_closed_port():
    assert not answers(9, timeout=1)


def test_home_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match=r"file.*LETHE_HOME"), starting_server(tmp_path / "file", print):
        pytest.fail("must not start")


def test_a_server_that_ends_at_once_is_an_error_that_quotes_its_log(tmp_path, monkeypatch):
    monkeypatch.setattr("flows.local_server._PROCESS", "import sys; sys.exit('no such luck')")
    with (
        pytest.raises(LetheError, match=r"did not start: no such luck \(see .*server.log\)") as caught,
        starting_server(tmp_path, lambda _: None) as server,
    ):
        server.wait(lambda _: None)
    assert not isinstance(caught.value, StoreError)


@pytest.mark.parametrize(
    "last",
    ["OSError: [Errno 28] No space left on device", "sqlite3.OperationalError: database or disk is full"],
)
def test_a_server_that_ends_for_a_full_disk_is_said_to(tmp_path, monkeypatch, last):
    monkeypatch.setattr("flows.local_server._PROCESS", f"import sys; sys.exit({last!r} + '\\n(background: ')")
    with (
        pytest.raises(StoreUnavailableError, match=r"the disk of .* is full.*LETHE_HOME"),
        starting_server(tmp_path, lambda _: None) as server,
    ):
        server.wait(lambda _: None)


SILENT_SERVER = """
import json, os, sys, time
sys.path[:] = json.loads(sys.argv[1])
from importlib.metadata import version
from pathlib import Path
from flows.server_process import ServerState, write_state
from lethe_core.adapters.stores.owner import make_owner
write_state(Path(sys.argv[-1]), ServerState(make_owner(), os.getpid(), 9, time.time(), version("prefect")))
print("there", flush=True)
time.sleep({seconds})
"""


def silent_server(home, seconds):
    """A process that says it is a server, answers nothing and ends."""
    (home / "prefect").mkdir(parents=True, exist_ok=True)
    program = SILENT_SERVER.format(seconds=seconds)
    process = subprocess.Popen(
        [sys.executable, "-c", program, json.dumps(sys.path), str(home)], stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    process.stdout.readline()
    return process


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="starts of processes are read from /proc")
def test_a_server_that_dies_before_it_answers_is_replaced(tmp_path, monkeypatch):
    dying = silent_server(tmp_path, 1.5)
    monkeypatch.setattr("flows.local_server._PROCESS", "import sys; sys.exit('the new one')")
    with (
        pytest.raises(LetheError, match="the new one"),
        starting_server(tmp_path, lambda _: None) as server,
    ):
        server.wait(lambda _: None)
    dying.communicate(timeout=10)


def test_an_interrupted_start_leaves_neither_process_nor_state(tmp_path, monkeypatch):
    monkeypatch.setattr("flows.local_server._PROCESS", SILENT_SERVER.format(seconds=60))
    processes = []

    def start() -> None:
        with starting_server(tmp_path, lambda _: None) as server:
            processes.append(server._process)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        start()
    assert processes[0].returncode is not None
    assert read_state(tmp_path) is None
    assert running_server(tmp_path) is None


def test_idle_time_runs_from_the_last_request():
    requests, now = [0], [0.0]
    idle = idle_clock(lambda: requests[0], lambda: now[0])
    now[0] = 50.0
    assert idle() == 50.0
    requests[0] = 3
    assert idle() == 0.0
    now[0] = 70.0
    assert idle() == 20.0


def test_the_server_s_files_lie_under_home_and_it_calls_nobody(tmp_path):
    environment = server_environment(tmp_path, 4321)
    for name in (
        "PREFECT_HOME",
        "PREFECT_SERVER_DATABASE_CONNECTION_URL",
        "PREFECT_SERVER_UI_STATIC_DIRECTORY",
    ):
        assert str(tmp_path) in environment[name]
    assert environment["PREFECT_SERVER_ANALYTICS_ENABLED"] == "false"
    assert environment["PREFECT_SERVER_API_HOST"] == "127.0.0.1"
