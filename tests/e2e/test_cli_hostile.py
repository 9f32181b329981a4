"""Bad input that is only met at work: each run ends with a line that helps, the right exit code, no trace."""

import contextlib
import http.server
import json
import os
import shutil
import signal
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from lethe_core.report.model import ReportJson

pytestmark = [pytest.mark.e2e, pytest.mark.prefect]


def test_folder_full_of_what_cannot_be_read_still_gives_a_report(lethe, corpus, question, tmp_path, api_url):
    folder = tmp_path / "folder"
    shutil.copytree(corpus, folder)
    (folder / "junk.pdf").write_bytes(b"%PDF-1.7\n" + os.urandom(20_000))
    (folder / "junk.md").write_bytes(os.urandom(20_000))
    (folder / "empty.txt").write_bytes(b"")
    with (folder / "huge.txt").open("wb") as file:
        file.truncate(1 << 30)
    (folder / "loop").symlink_to(folder)
    (folder / "gone.md").symlink_to(tmp_path / "absent")
    os.mkfifo(folder / "pipe.txt")
    name = os.fsencode(folder) + b"/caf\xe9.md"
    Path(os.fsdecode(name)).write_text(
        "# Café\n\nThe café at Farrow Point opens at nine.\n", encoding="utf-8"
    )
    ended = lethe(
        "research", question, "--corpus", folder, "--json", "--session", "s-hostile", PREFECT_API_URL=api_url
    )
    assert ended.code == 0, ended.err
    assert "Traceback" not in ended.err
    report = ReportJson.model_validate_json(ended.out)
    skipped = {item.source.rpartition("/")[2]: item.reason for item in report.skipped}
    assert {"junk.pdf", "huge.txt", "gone.md"} <= skipped.keys(), skipped
    assert all(skipped.values())


def test_folder_with_nothing_about_the_question_ends_with_nothing_found(lethe, corpus, api_url):
    ended = lethe(
        "research",
        "Which enzyme splits lactose in the small intestine?",
        "--corpus",
        corpus,
        "--max-iterations",
        "3",
        PREFECT_API_URL=api_url,
    )
    assert ended.code == 3, ended.out + ended.err
    assert "nothing was found" in ended.out
    assert "Traceback" not in ended.err


def test_refused_key_is_a_matter_of_configuration(lethe, corpus, question, api_url):
    with model_server(lambda _: (401, {"error": {"message": "no such key"}})) as url:
        ended = lethe(
            "research",
            question,
            "--corpus",
            corpus,
            PREFECT_API_URL=api_url,
            LETHE_LLM_BASE_URL=url,
            LETHE_LLM_MODEL="m",
            LETHE_LLM_API_KEY="sk-secret-of-mine",
        )
    assert ended.code == 2, ended.err
    assert "refused the key" in ended.complaint
    assert "LETHE_LLM_API_KEY" in ended.complaint
    assert "sk-secret-of-mine" not in ended.out + ended.err


def test_model_server_that_is_down(lethe, corpus, question, api_url):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound and not listening: nobody else can answer there
        ended = lethe(
            "research",
            question,
            "--corpus",
            corpus,
            PREFECT_API_URL=api_url,
            LETHE_LLM_BASE_URL=f"http://127.0.0.1:{taken.getsockname()[1]}/v1",
            LETHE_LLM_MODEL="m",
        )
        quiet = lethe(
            "research",
            question,
            "--corpus",
            corpus,
            "--quiet",
            PREFECT_API_URL=api_url,
            LETHE_LLM_BASE_URL=f"http://127.0.0.1:{taken.getsockname()[1]}/v1",
            LETHE_LLM_MODEL="m",
        )
    assert ended.code == 4, ended.err
    assert "Traceback" not in ended.err
    assert "cannot be reached" in ended.err
    assert "lethe resume s-" in ended.out + ended.err
    assert "the language model gave no usable answer: the question was not researched" in ended.out
    assert "nothing was found" not in ended.out
    assert (quiet.code, quiet.out) == (4, "")
    assert "cannot be reached" in quiet.complaint


def test_file_that_vanishes_in_mid_run_is_named_and_nothing_else_suffers(
    lethe, corpus, question, tmp_path, api_url
):
    folder = tmp_path / "folder"
    shutil.copytree(corpus, folder)
    asked: list[str] = []

    def answer(prompt: str) -> tuple[int, object]:
        if "Say yes" in prompt:
            return 200, "yes"
        asked.append(prompt)
        if len(asked) == 1:
            (folder / "ferry.md").unlink()
            (folder / "museum.txt").unlink()
            return 200, {
                "operations": [{"op": "web_search", "query": "Farrow Point ferry lighthouse museum"}]
            }
        return 200, {"operations": [{"op": "web_search", "query": "lighthouse Farrow Point built engineer"}]}

    with model_server(answer) as url:
        ended = lethe(
            "research",
            question,
            "--corpus",
            folder,
            "--max-iterations",
            "2",
            "--json",
            PREFECT_API_URL=api_url,
            LETHE_LLM_BASE_URL=url,
            LETHE_LLM_MODEL="m",
        )
    assert "Traceback" not in ended.err
    assert ended.code in (0, 3, 5), ended.err
    report = ReportJson.model_validate_json(ended.out)
    assert report.iterations >= 1
    assert len(asked) >= 2


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount a small disk")
def test_full_disk(lethe, corpus, question, tmp_path, api_url):
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", disk], capture_output=True)
    if mounted.returncode != 0:
        pytest.skip("no right to mount")
    try:
        ended = lethe.at(disk)("research", question, "--corpus", corpus, PREFECT_API_URL=api_url)
    finally:
        subprocess.run(["umount", "-l", disk], check=True)
    assert ended.code == 1, ended.err
    assert "full" in ended.complaint or "No space left" in ended.complaint
    assert str(disk) in ended.complaint


def test_prefect_server_that_is_configured_and_down(lethe, corpus, question):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        ended = lethe(
            "research",
            question,
            "--corpus",
            corpus,
            PREFECT_API_URL=f"http://127.0.0.1:{taken.getsockname()[1]}/api",
        )
    assert ended.code == 2
    assert "does not answer" in ended.complaint
    assert "PREFECT_API_URL" in ended.complaint


def test_ctrl_c_before_the_session_has_begun(lethe, corpus, question):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        silent.settimeout(120)
        process = lethe.start(
            "research",
            question,
            "--corpus",
            corpus,
            "--session",
            "s-never",
            PREFECT_API_URL=f"http://127.0.0.1:{silent.getsockname()[1]}/api",
        )
        connection, _ = silent.accept()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        connection.close()
    assert process.returncode == 130
    assert out == ""
    assert err.splitlines()[-1] == "lethe: interrupted before the session began; nothing was stored"
    assert "Traceback" not in err
    assert "s-never" not in lethe("sessions").out


@contextlib.contextmanager
def model_server(answer: Callable[[str], tuple[int, object]]) -> Iterator[str]:
    """An OpenAI-compatible server that answers what a test says; gives its base URL."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            status, said = answer(body["messages"][-1]["content"])
            if status == 200:
                text = said if isinstance(said, str) else json.dumps(said)
                said = {"choices": [{"message": {"role": "assistant", "content": text}}]}
            data = json.dumps(said).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *arguments: object) -> None: ...

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
