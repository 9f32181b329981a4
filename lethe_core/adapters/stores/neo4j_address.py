"""Where a Neo4j server is and who is asking: a URL without credentials, credentials from the environment."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlsplit

from lethe_core.errors import ConfigError

SCHEMES: Final = ("neo4j", "neo4j+s", "neo4j+ssc", "bolt", "bolt+s", "bolt+ssc")
"""neo4j routes in a cluster, bolt speaks to one server; +s is TLS, +ssc TLS with any certificate."""

USER: Final = "LETHE_NEO4J_USER"
PASSWORD: Final = "LETHE_NEO4J_PASSWORD"


@dataclass(frozen=True, slots=True)
class Address:
    url: str  # as given
    uri: str  # what the driver takes: scheme, host, port
    database: str | None  # None: the server's default


@dataclass(frozen=True, slots=True)
class Credentials:
    """Both empty for a server without authentication; a password alone is that of the user ``neo4j``."""

    user: str = field(default="", repr=False)
    password: str = field(default="", repr=False)

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] | None = None) -> "Credentials":
        environment = os.environ if environment is None else environment
        return cls(environment.get(USER, ""), environment.get(PASSWORD, ""))

    @property
    def pair(self) -> tuple[str, str] | None:
        return (self.user or "neo4j", self.password) if self.user or self.password else None


def is_neo4j(url: str) -> bool:
    return url.partition("://")[0] in SCHEMES


def parse_address(url: str) -> Address:
    """``SCHEME://HOST[:PORT][/DATABASE]``. Raises ConfigError; its message never shows a password."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        raise ConfigError(
            "the Neo4j URL cannot be read: write neo4j://HOST[:PORT][/DATABASE], an IPv6 address in brackets"
        ) from None
    if "@" in parts.netloc:
        raise ConfigError(
            f"the Neo4j URL holds a user or a password: set {USER} and {PASSWORD} in the environment instead"
        )
    if not host:
        raise ConfigError(f"the Neo4j URL names no host: {url} (write neo4j://HOST[:PORT][/DATABASE])")
    database = parts.path.strip("/")
    if parts.query or parts.fragment or "/" in database:
        raise ConfigError(f"the Neo4j URL has more than a database behind its host: {url}")
    shown = f"[{host}]" if ":" in host else host
    uri = f"{parts.scheme}://{shown}" + (f":{port}" if port is not None else "")
    return Address(url, uri, database or None)
