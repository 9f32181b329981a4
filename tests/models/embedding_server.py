"""A server of embeddings on a real socket: hashed words, and whatever fault a test orders."""

import json
import threading
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

DIMENSION = 8


def vector(text: str) -> list[float]:
    row = [0.0] * DIMENSION
    for word in text.lower().split():
        row[zlib.crc32(word.encode()) % DIMENSION] += 1.0
    return row


@dataclass
class Reply:
    """What the next request is answered with instead of embeddings."""

    status: int = 200
    body: str = ""
    headers: dict[str, str] = field(default_factory=dict)


@dataclass
class EmbeddingServer:
    port: int
    requests: list[dict[str, Any]] = field(default_factory=list)  # bodies, in order
    keys: list[str] = field(default_factory=list)  # Authorization headers
    replies: list[Reply | None] = field(default_factory=list)  # None: embeddings

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"


@contextmanager
def serving() -> Iterator[EmbeddingServer]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            server.requests.append(body)
            server.keys.append(self.headers.get("Authorization", ""))
            reply = server.replies.pop(0) if server.replies else None
            if self.path != "/v1/embeddings":
                reply = Reply(404, json.dumps({"error": {"message": f"no path {self.path}"}}))
            if reply is None:
                rows = [
                    {"object": "embedding", "index": index, "embedding": vector(text)}
                    for index, text in enumerate(body["input"])
                ]
                # Servers need not keep the order.
                reply = Reply(200, json.dumps({"object": "list", "data": rows[::-1], "model": body["model"]}))
            content = reply.body.encode()
            self.send_response(reply.status)
            for name, value in {"Content-Type": "application/json", **reply.headers}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: Any) -> None: ...

    httpd = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    httpd.daemon_threads = True
    server = EmbeddingServer(httpd.server_port)
    thread = threading.Thread(target=httpd.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        httpd.shutdown()
        httpd.server_close()
        thread.join()
