"""The connection to a Neo4j server: opened once, checked; work is tried again while its trouble may pass.

The driver repeats a transaction whose connection broke before the commit was sent. Where it broke during the
commit nobody knows what became of it: the work is done again, too, and has to recognise what it has written.
"""

import logging
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final, TypeVar

import neo4j
from neo4j.exceptions import DriverError, IncompleteCommit, Neo4jError

from lethe_core import __version__
from lethe_core.adapters.stores.encoding import lone_surrogates_refused
from lethe_core.adapters.stores.neo4j_address import Address, Credentials
from lethe_core.adapters.stores.neo4j_errors import passes_by_itself, translated
from lethe_core.errors import StoreVersionError

OLDEST_NEO4J: Final = 5
# Of a transaction, after which the server ends it: a host that vanished would keep its locks for hours.
MOST_SECONDS: Final = 300.0
FETCH_ROWS: Final = 5_000  # of a result at a time

Result = TypeVar("Result")
Work = Callable[[neo4j.ManagedTransaction], Result]


class Neo4jConnection:
    """A server that has answered and is new enough.

    retry_seconds: how long a piece of work is tried again; a server needs some 20 s to come back.
    Raises ConfigError, CredentialsError, StoreUnavailableError, StoreVersionError.
    """

    def __init__(self, address: Address, credentials: Credentials, *, retry_seconds: float = 60.0) -> None:
        self.url = address.url
        self._database = address.database
        self._retry_seconds = retry_seconds
        # What it warns of is either tried again or raised.
        logging.getLogger("neo4j").setLevel(logging.CRITICAL)
        with self._errors():
            self._driver = neo4j.GraphDatabase.driver(
                address.uri,
                auth=credentials.pair,
                connection_timeout=10.0,
                connection_acquisition_timeout=30.0,
                max_transaction_retry_time=retry_seconds,
                notifications_min_severity="OFF",
                telemetry_disabled=True,
                user_agent=f"lethe/{__version__}",
            )
        # In a cluster, each piece of work sees what the one before it has written.
        self._bookmarks = neo4j.GraphDatabase.bookmark_manager()
        try:
            with self._errors():
                self._driver.verify_connectivity()
                check_version(self._driver.get_server_info().agent, self.url)
        except BaseException:
            self._driver.close()
            raise

    def read(self, work: Work[Result]) -> Result:
        """Do what only reads; may be done several times."""
        return self._again(lambda session: session.execute_read(_bounded(work)))

    def write(self, work: Work[Result]) -> Result:
        """Do it in one transaction; may be done several times, so it must recognise what it has written."""

        def guarded(tx: neo4j.ManagedTransaction) -> Result:
            try:
                return work(tx)
            except Neo4jError as error:
                if error.is_retryable() and not passes_by_itself(error):
                    raise translated(error, self.url) from error
                raise

        return self._again(lambda session: session.execute_write(_bounded(guarded)))

    def run(self, query: str, **values: Any) -> None:
        """One statement in a transaction of its own, which may be done several times."""

        def work(tx: neo4j.ManagedTransaction) -> None:
            tx.run(query, **values).consume()

        self.write(work)

    def close(self) -> None:
        self._driver.close()

    # -- private --------------------------------------------------------------------------------

    def _again(self, execute: Callable[[neo4j.Session], Result]) -> Result:
        deadline = time.monotonic() + self._retry_seconds
        with self._errors():
            while True:
                try:
                    with self._driver.session(
                        database=self._database, fetch_size=FETCH_ROWS, bookmark_manager=self._bookmarks
                    ) as session:
                        return execute(session)
                except IncompleteCommit:
                    if time.monotonic() > deadline:
                        raise

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            with lone_surrogates_refused():
                yield
        except (DriverError, Neo4jError) as error:
            raise translated(error, self.url) from error


def _bounded(work: Work[Result]) -> Work[Result]:
    bounded: Work[Result] = neo4j.unit_of_work(timeout=MOST_SECONDS)(work)
    return bounded


def check_version(agent: str, url: str) -> None:
    """Raises StoreVersionError for a server that names itself as one before Neo4j 5.

    agent: ``Neo4j/5.26.0``, or by year ``Neo4j/2025.01.0``.
    """
    found = re.match(r"\w+/v?(\d+)", agent)
    if found is not None and int(found[1]) < OLDEST_NEO4J:
        raise StoreVersionError(
            f"{url} is {agent}, which is too old: Lethe needs Neo4j {OLDEST_NEO4J} or newer"
        )
