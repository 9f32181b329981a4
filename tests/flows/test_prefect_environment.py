"""Which Prefect server a run goes to."""

import os
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from flows.prefect_environment import (
    ConfiguredServer,
    configured_server,
    page_of,
    point_prefect_at,
    silence_of,
    without_proxy,
)


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def given(tmp_path: Path, **more: str) -> dict[str, str]:
    return {"PREFECT_HOME": str(tmp_path / "prefect"), **more}


def test_nothing_is_configured_by_default(tmp_path):
    assert configured_server(given(tmp_path)) is None


def test_environment_comes_before_files_and_files_before_the_profile(tmp_path):
    (tmp_path / "prefect").mkdir()
    profiles = tmp_path / "prefect" / "profiles.toml"
    profiles.write_text(
        'active = "mine"\n[profiles.mine]\nPREFECT_API_URL = "http://profile/api"\n[profiles.none]\n'
    )
    found = configured_server(given(tmp_path))
    assert found is not None
    assert found.url == "http://profile/api"
    assert str(profiles) in found.origin
    assert configured_server(given(tmp_path, PREFECT_PROFILE="none")) is None
    Path("prefect.toml").write_text('[api]\nurl = "http://file/api"\n')
    assert configured_server(given(tmp_path)).url == "http://file/api"
    Path(".env").write_text('# mine\nPREFECT_API_URL="http://dotenv/api"\n')
    assert configured_server(given(tmp_path)).url == "http://dotenv/api"
    assert configured_server(given(tmp_path, PREFECT_API_URL="http://env/api")).url == "http://env/api"


def test_files_that_cannot_be_read_configure_nothing(tmp_path):
    Path("prefect.toml").write_bytes(b"\xff[api")
    Path(".env").write_bytes(b"\xff")
    (tmp_path / "prefect").mkdir()
    (tmp_path / "prefect" / "profiles.toml").write_text("active = 3\nprofiles = []\n")
    assert configured_server(given(tmp_path)) is None


def test_own_server_is_reached_past_a_proxy_and_results_lie_under_home(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "environ", {"NO_PROXY": "example.org", "PREFECT_PROFILE": "mine"})
    point_prefect_at("http://127.0.0.1:4321/api", tmp_path, own=True, debug=False)
    assert os.environ["PREFECT_API_URL"] == "http://127.0.0.1:4321/api"
    assert os.environ["PREFECT_RESULTS_LOCAL_STORAGE_PATH"] == str(tmp_path / "results")
    assert os.environ["PREFECT_HOME"] == str(tmp_path / "prefect")
    assert os.environ["NO_PROXY"] == "example.org,127.0.0.1"
    assert "PREFECT_PROFILE" not in os.environ
    assert int(os.environ["PREFECT_CLIENT_MAX_RETRIES"]) < 5
    assert os.environ["PREFECT_INTERNAL_LOGGING_LEVEL"] == "CRITICAL"


def test_a_server_of_the_user_s_keeps_the_user_s_settings(tmp_path, monkeypatch):
    mine = {"PREFECT_PROFILE": "mine", "PREFECT_LOCAL_STORAGE_PATH": "/elsewhere"}
    monkeypatch.setattr(os, "environ", dict(mine))
    point_prefect_at("http://server/api", tmp_path, own=False, debug=True)
    assert mine.items() <= os.environ.items()
    assert "PREFECT_HOME" not in os.environ
    assert "PREFECT_RESULTS_LOCAL_STORAGE_PATH" not in os.environ
    assert "PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL" not in os.environ


def test_how_long_a_silent_server_is_waited_for_is_the_user_s_to_say(tmp_path, monkeypatch):
    (tmp_path / "profiles.toml").write_text(
        'active = "mine"\n[profiles.mine]\nPREFECT_CLIENT_MAX_RETRIES = "9"\n'
    )
    monkeypatch.setattr(os, "environ", {"PREFECT_HOME": str(tmp_path)})
    point_prefect_at("http://server/api", tmp_path, own=False, debug=True)
    assert "PREFECT_CLIENT_MAX_RETRIES" not in os.environ
    assert int(os.environ["PREFECT_API_REQUEST_TIMEOUT"]) < 60
    (tmp_path / "profiles.toml").unlink()
    point_prefect_at("http://server/api", tmp_path, own=False, debug=True)
    assert int(os.environ["PREFECT_CLIENT_MAX_RETRIES"]) < 5


class Health(BaseHTTPRequestHandler):
    status = 200

    def do_GET(self) -> None:
        self.send_response(self.status if self.path == "/api/health" else 404)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setattr(Health, "status", 200)
    made = ThreadingHTTPServer(("127.0.0.1", 0), Health)
    threading.Thread(target=made.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{made.server_port}"
    made.shutdown()
    made.server_close()


@pytest.mark.parametrize(
    ("status", "path", "answers"),
    [(200, "/api", True), (401, "/api", True), (503, "/api", False), (200, "", False)],
)
def test_a_server_that_answers_is_told_from_one_that_does_not(server, monkeypatch, status, path, answers):
    monkeypatch.setattr(Health, "status", status)
    assert (silence_of(ConfiguredServer(f"{server}{path}", "PREFECT_API_URL")) == "") is answers


def test_a_server_that_takes_the_call_and_says_nothing_is_given_up(monkeypatch):
    monkeypatch.setattr("flows.prefect_environment.ANSWER_SECONDS", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as mute:
        url = f"http://me:secret@127.0.0.1:{mute.getsockname()[1]}/api"
        said = silence_of(ConfiguredServer(url, "PREFECT_API_URL"))
    assert "does not answer: nothing within" in said
    assert "PREFECT_API_URL names it" in said
    assert "secret" not in said


@pytest.mark.parametrize("url", ["http://[::1/api", "not a url", "ftp://x/api", "http://127.0.0.1:9/api", ""])
def test_an_address_that_is_none_is_said(url):
    assert "does not answer" in silence_of(ConfiguredServer(url, "PREFECT_API_URL"))


def test_a_host_is_excepted_from_the_proxy_once():
    environment: dict[str, str] = {}
    for _ in range(2):
        without_proxy(environment, "127.0.0.1")
    assert environment == {"NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"}


def test_page_is_the_api_s_address_without_its_end(monkeypatch):
    monkeypatch.delenv("PREFECT_UI_URL", raising=False)
    assert page_of("http://server:4200/api/") == "http://server:4200"
