"""A relay between a driver and a Neo4j server: counts what is read, loses connections at chosen moments."""

import socket
import threading
from contextlib import suppress

# Bolt's COMMIT, a message of two bytes in a chunk of its own.
COMMIT = b"\x00\x02\xb0\x12\x00\x00"


class Proxy:
    """Passes bytes on.

    before_commit, after_commit: how many of the next commits lose their connection before they reach the
    server, or after the server has carried them out and before its answer is passed on.
    """

    def __init__(self, port: int) -> None:
        self._port = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self.before_commit = 0
        self.after_commit = 0
        self.lost = 0
        self.read = 0
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        _end(self._listener)
        self._listener.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                threading.Thread(target=self._relay, args=(client,), daemon=True).start()

    def _relay(self, client: socket.socket) -> None:
        try:
            server = socket.create_connection(("127.0.0.1", self._port))
        except OSError:
            _end(client)
            return
        swallow = threading.Event()
        back = threading.Thread(target=self._answers, args=(server, client, swallow), daemon=True)
        back.start()
        with suppress(OSError):
            while data := client.recv(65536):
                if COMMIT in data and self.before_commit:
                    self.before_commit -= 1
                    self.lost += 1
                    break
                if COMMIT in data and self.after_commit:
                    self.after_commit -= 1
                    self.lost += 1
                    swallow.set()
                server.sendall(data)
        _end(client, server)

    def _answers(self, server: socket.socket, client: socket.socket, swallow: threading.Event) -> None:
        with suppress(OSError):
            while data := server.recv(65536):
                self.read += len(data)
                if swallow.is_set():
                    break
                client.sendall(data)
        _end(client, server)


def _end(*ends: socket.socket) -> None:
    # A socket that is only closed stays open while another thread reads from it.
    for end in ends:
        with suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)
