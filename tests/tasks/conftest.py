"""What the flow's tests work with, and a chat server for what a real one cannot show."""

import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

PAGES = {
    "tarn-bridge.md": "# Tarn bridge\n\nDate: 2023-04-01\n\nThe Tarn bridge is 412 metres long.\n\n"
    "It was opened on 14 June 1931 by the mayor of Orle.\n",
    "ferry.md": "# Ferry\n\nThe ferry at Lisk carries 40 cars. It stops in winter.\n",
}


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    folder = tmp_path / "papers"
    folder.mkdir()
    for name, text in PAGES.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in [name for name in os.environ if name.startswith("LETHE_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("LETHE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PREFECT_LOCAL_STORAGE_PATH", str(tmp_path / "home" / "results"))
    return tmp_path / "home"


@dataclass
class Chat:
    """Answers chat completions with what a test wants, and counts them."""

    url: str = ""
    answer: Callable[[dict[str, Any]], tuple[int, str]] = lambda _: (200, "{}")
    body: bytes = b""  # sent instead of a completion
    asked: list[dict[str, Any]] = field(default_factory=list)


@pytest.fixture
def chat(monkeypatch: pytest.MonkeyPatch) -> Iterator[Chat]:
    made = Chat()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            made.asked.append(body)
            status, text = made.answer(body)
            usage = {"prompt_tokens": 10, "completion_tokens": 5}
            sent = json.dumps({"choices": [{"message": {"content": text}}], "usage": usage}).encode()
            sent = made.body or sent
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(sent)))
            self.end_headers()
            self.wfile.write(sent)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    made.url = f"http://127.0.0.1:{server.server_port}/v1"
    monkeypatch.setenv("LETHE_LLM_BASE_URL", made.url)
    monkeypatch.setenv("LETHE_LLM_MODEL", "test-model")
    yield made
    server.shutdown()
    server.server_close()
