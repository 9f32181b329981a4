"""Relays between a driver and a Neo4j server: one counts and loses connections, one speaks TLS."""

import datetime
import ipaddress
import select
import socket
import ssl
import threading
from contextlib import suppress
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

# Bolt's COMMIT, a message of two bytes in a chunk of its own.
COMMIT = b"\x00\x02\xb0\x12\x00\x00"


class Relay:
    """Listens on a port of its own; each connection gets a thread, and one to the server's port."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
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
        raise NotImplementedError


class Proxy(Relay):
    """Passes bytes on, and counts what is read.

    before_commit, after_commit: how many of the next commits lose their connection before they reach the
    server, or after the server has carried them out and before its answer is passed on.
    """

    def __init__(self, port: int) -> None:
        self.before_commit = 0
        self.after_commit = 0
        self.lost = 0
        self.read = 0
        super().__init__(port)

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


class TlsRelay(Relay):
    """Takes TLS under a certificate that it has made itself, passes on what is in it.

    folder: where key and certificate are put.
    """

    def __init__(self, port: int, folder: Path) -> None:
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._context.load_cert_chain(_certificate(folder))
        super().__init__(port)

    def _relay(self, client: socket.socket) -> None:
        with (
            suppress(OSError),
            client,
            self._context.wrap_socket(client, server_side=True) as secure,
            socket.create_connection(("127.0.0.1", self._port)) as server,
        ):
            # One thread for both ways: a TLS socket must not be read and written at once.
            while True:
                ready = [secure] if secure.pending() else select.select([secure, server], [], [])[0]
                for end in ready:
                    data = end.recv(65536)
                    if not data:
                        return
                    (server if end is secure else secure).sendall(data)


def _end(*ends: socket.socket) -> None:
    # A socket that is only closed stays open while another thread reads from it.
    for end in ends:
        with suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)


def _certificate(folder: Path) -> Path:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "lethe-test")])
    now = datetime.datetime.now(datetime.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + datetime.timedelta(hours=1))
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False
        )
        .sign(key, hashes.SHA256())
    )
    file = folder / "certificate.pem"
    file.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        + certificate.public_bytes(serialization.Encoding.PEM)
    )
    return file
