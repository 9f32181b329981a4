"""A person is told once when the server of a run goes silent, and once when it is back."""

import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from queue import Queue

from flows.server_watch import watched_server


class Health(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


def test_silence_and_return_are_said_once_each():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    said: Queue[str] = Queue()
    with watched_server(f"http://127.0.0.1:{port}/api", said.put, every=0.02):
        assert "does not answer" in said.get(timeout=30)
        server = ThreadingHTTPServer(("127.0.0.1", port), Health)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        assert "answers again" in said.get(timeout=30)
    server.shutdown()
    server.server_close()
    assert said.empty()
