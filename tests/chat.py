"""A server of chat completions for what a real one cannot show: it answers what a test wants, and counts."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any


@dataclass
class Chat:
    """What it answers, and what it was asked."""

    url: str = ""
    answer: Callable[[dict[str, Any]], tuple[int, str]] = lambda _: (200, "{}")
    body: bytes = b""  # sent instead of a completion
    asked: list[dict[str, Any]] = field(default_factory=list)

    @property
    def turns(self) -> list[dict[str, Any]]:
        """The requests that are turns of the loop, not the check before it."""
        return [body for body in self.asked if "=TASK" in body["messages"][-1]["content"]]


def task_of(body: dict[str, Any]) -> str:
    """The short id of the task that a turn is about."""
    return str(body["messages"][-1]["content"].split("=TASK ")[-1].split()[0])


def operations(*given: dict[str, Any]) -> tuple[int, str]:
    """An answer of these operations."""
    return 200, json.dumps({"operations": list(given)})


@contextmanager
def chatting() -> Iterator[Chat]:
    """Serve while the block lasts."""
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
    server.daemon_threads = True  # an answer that is withheld keeps nobody
    Thread(target=server.serve_forever, daemon=True).start()
    made.url = f"http://127.0.0.1:{server.server_port}/v1"
    try:
        yield made
    finally:
        server.shutdown()
        server.server_close()
