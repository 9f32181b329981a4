"""Graph stores by URL: ``sqlite:///path``, ``neo4j://host``, ``bolt://host``."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from lethe_core.adapters.stores.neo4j_address import is_neo4j
from lethe_core.adapters.stores.sqlite import SqliteStore
from lethe_core.errors import ConfigError
from lethe_core.graph.store import GraphStore

_SQLITE: Final = "sqlite:///"


def sqlite_url(path: Path) -> str:
    """The URL of a store file: ``sqlite:////folder/graph.db`` (the path's own slash is the fourth)."""
    return f"{_SQLITE}{path.absolute()}"


def absolute_url(url: str, base: Path) -> str:
    """The same store with a relative or ``~`` path resolved against ``base``; other URLs as they are.

    Raises ConfigError for a SQLite store in memory.
    """
    if not url.startswith(_SQLITE) or url == _SQLITE:
        return url
    return sqlite_url(base / _file(url).expanduser())


def open_store(url: str, *, clock: Callable[[], float] = time.time) -> GraphStore:
    """Open the store at a URL, making it when there is none.

    clock: seconds since the epoch for what is created; leases go by the database's own clock.
    Neo4j takes its user and password from LETHE_NEO4J_USER and LETHE_NEO4J_PASSWORD.
    Raises ConfigError (unknown scheme, relative path), CredentialsError, StoreUnavailableError,
    StoreVersionError.
    """
    if is_neo4j(url):
        # Its driver takes a third of a second to import.
        from lethe_core.adapters.stores.neo4j import Neo4jStore

        return Neo4jStore(url, clock=clock)
    if not url.startswith(_SQLITE):
        scheme = url.partition("://")[0]
        raise ConfigError(
            f"unknown kind of graph store: {scheme!r} (supported: sqlite:///path, neo4j://host, bolt://host)"
        )
    path = _file(url)
    if not path.is_absolute():
        raise ConfigError(
            f"the path of the graph store is not absolute: {url} (write sqlite:////folder/graph.db)"
        )
    return SqliteStore(path, clock=clock)


def _file(url: str) -> Path:
    """The path in a SQLite URL. What others write for a database in memory would become a file so called."""
    path = Path(url.removeprefix(_SQLITE))
    if path.name == ":memory:" or path.name.startswith("file::memory:"):
        raise ConfigError(
            f"a graph store in memory would be gone with the run: {url} (write sqlite:////folder/graph.db)"
        )
    return path
