"""The way to a chat server: its address, the key, the HTTP client, and the end of too long a call."""

import ipaddress
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from email.utils import parsedate_to_datetime
from typing import Final

import httpx
from pydantic import SecretStr

from lethe_core.errors import ConfigError, CredentialsError

# Servers close idle connections after 5 s (llama.cpp, uvicorn): below that none is met half closed.
KEEP_ALIVE_SECONDS: Final = 2.0

# Where a person sets the address and the key of each service.
URL_OF_CHAT: Final = "LETHE_LLM_BASE_URL"
KEY_OF_CHAT: Final = "LETHE_LLM_API_KEY"
URL_OF_EMBEDDINGS: Final = "LETHE_EMBEDDING_BASE_URL"
KEY_OF_EMBEDDINGS: Final = "LETHE_EMBEDDING_API_KEY"


def open_client(endpoint: httpx.URL, key: str) -> httpx.Client:
    """A client for one server. Settings of the environment count (proxies, certificates), with one exception:
    a proxy cannot reach this machine's own servers, and must not see what is said to them.
    """
    direct = {f"all://{_in_url(endpoint.host)}": None} if _is_this_machine(endpoint.host) else None
    return httpx.Client(
        headers={"Authorization": f"Bearer {key}"} if key else {},
        limits=httpx.Limits(keepalive_expiry=KEEP_ALIVE_SECONDS),
        mounts=direct,
    )


def endpoint_of(base_url: str, path: str = "/chat/completions", variable: str = URL_OF_CHAT) -> httpx.URL:
    """The address of a service, by default of chat completions. Raises ConfigError for a base that is none.

    path: the service's own, behind the base; variable: where a person sets the base.
    """
    try:
        url = httpx.URL(base_url.strip())
        base = url.path.rstrip("/").removesuffix(path)
        endpoint = url.copy_with(path=f"{base}{path}", fragment=None)
    except (httpx.InvalidURL, UnicodeError, ValueError) as error:
        raise ConfigError(f"the model server's address cannot be read: {error} (set {variable})") from None
    if url.scheme not in ("http", "https") or not url.host or not 0 < (url.port or 80) < 65536:
        raise ConfigError(
            f"the model server's address is not of the form http://HOST:PORT/v1 (set {variable})"
        )
    return endpoint


def checked_key(api_key: SecretStr | None, variable: str = KEY_OF_CHAT) -> str:
    """The key without the space around it. Raises CredentialsError for one that no header can hold."""
    key = api_key.get_secret_value().strip() if api_key is not None else ""
    if not (key.isascii() and key.isprintable()):
        raise CredentialsError(
            f"{variable} holds a character that cannot be sent (a line end or a letter outside ASCII): "
            "set it to the key alone"
        )
    return key


def _is_this_machine(host: str) -> bool:
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
    return address.is_loopback or address.is_unspecified


def _in_url(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def retry_after(response: httpx.Response) -> float | None:
    """Seconds that an overloaded server asks to wait; None when it does not say."""
    value = response.headers.get("retry-after", "").strip()
    if response.status_code not in (429, 503, 529) or not value:
        return None
    with suppress(ValueError):
        return max(0.0, float(value))
    with suppress(ValueError):
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    return None


@contextmanager
def ended_at(deadline: float, response: httpx.Response) -> Iterator[None]:
    """Shut the connection when the time is over: a read time-out starts anew with every byte."""
    stream = response.extensions.get("network_stream")
    connection = stream.get_extra_info("socket") if stream is not None else None
    if connection is None:
        yield
        return

    def shut() -> None:
        with suppress(OSError):
            # The plain socket's: the TLS one's would pull its state from under the reader.
            socket.socket.shutdown(connection, socket.SHUT_RDWR)

    timer = threading.Timer(max(0.0, deadline - time.monotonic()), shut)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
