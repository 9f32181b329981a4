"""A chat server in a process of its own: real sockets, answers streamed, every request written down.

``python -m benchmarks.kills.model_server LOG`` prints its address and serves until its standard input ends. A
session's base URL is ``ADDRESS/SESSION/v1``: the log tells whose request it was. Each answer counts the same
tokens, so that a session's tokens tell how many answers were committed to it.
"""

import itertools
import json
import os
import signal
import sys
import threading
import time
from dataclasses import asdict, dataclass, replace
from hashlib import blake2b
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final, Literal

from .researcher import SECTION, answer

PROMPT_TOKENS: Final = 1000
COMPLETION_TOKENS: Final = 1
PIECES: Final = 6  # that an answer arrives in
PIECE_SECONDS: Final = 0.01

Kind = Literal["probe", "turn", "section"]


@dataclass(frozen=True, slots=True)
class Served:
    """A line of the log."""

    session: str
    number: int
    what: Literal["began", "finished"]
    kind: Kind
    prompt: str  # a digest of it

    @property
    def bought(self) -> bool:
        """Whether it is an answer, and not the check before a run."""
        return self.kind != "probe"


def read_log(path: Path, session: str) -> list[Served]:
    """What was served to one session."""
    lines = [Served(**json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()]
    return [line for line in lines if line.session == session]


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, log: Path) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.numbers = itertools.count(1)
        self._log = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def note(self, served: Served) -> None:
        os.write(self._log, (json.dumps(asdict(served)) + "\n").encode())

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that was killed is no fault of the server's."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        user = body["messages"][-1]["content"]
        kind: Kind = "section" if user.startswith(SECTION) else "turn" if "=TASK " in user else "probe"
        digest = blake2b(json.dumps(body["messages"]).encode(), digest_size=8).hexdigest()
        session = self.path.split("/")[1]
        served = Served(session, next(self.server.numbers), "began", kind, digest)
        self.server.note(served)
        text = '{"ok":"yes"}' if kind == "probe" else answer(user)
        self._stream(text)
        self.server.note(replace(served, what="finished"))

    def _stream(self, text: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        size = max(1, -(-len(text) // PIECES))
        for start in range(0, len(text), size):
            self._event({"choices": [{"index": 0, "delta": {"content": text[start : start + size]}}]})
            time.sleep(PIECE_SECONDS)
        self._event({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
        usage = {"prompt_tokens": PROMPT_TOKENS, "completion_tokens": COMPLETION_TOKENS}
        self._event({"choices": [], "usage": usage})
        self._chunk(b"data: [DONE]\n\n")
        self._chunk(b"")

    def _event(self, event: dict[str, Any]) -> None:
        self._chunk(b"data: " + json.dumps(event).encode() + b"\n\n")

    def _chunk(self, data: bytes) -> None:
        self.wfile.write(b"%x\r\n%b\r\n" % (len(data), data))
        self.wfile.flush()

    def log_message(self, *_: Any) -> None:
        pass


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal's Ctrl-C goes to every process; one ends them
    server = _Server(Path(sys.argv[1]))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    sys.stdout.write(f"http://127.0.0.1:{server.server_port}\n")
    sys.stdout.flush()
    sys.stdin.read()


if __name__ == "__main__":
    main()
