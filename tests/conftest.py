"""What tests of several folders share: Neo4j and Prefect, each started by the first that asks."""

import importlib.util
import os
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

NEO4J_URI = "LETHE_TEST_NEO4J_URI"


def pytest_configure() -> None:
    """Whoever runs the tests in the background may ignore signals, and all processes started from there with
    them: those that are tested here must get theirs."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)


def load(path: Path) -> ModuleType:
    """A helper module by its path: tests are no package."""
    spec = importlib.util.spec_from_file_location(f"tests_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where a dataclass looks its module up
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def load_module() -> Callable[[Path], ModuleType]:
    return load


@pytest.fixture(scope="session")
def prefect_server() -> Iterator[None]:
    """A Prefect server, started once for all tests that need one."""
    # Here, for the sake of all tests that do without: importing Prefect takes seconds.
    from prefect.settings import (
        PREFECT_FLOWS_HEARTBEAT_FREQUENCY,
        PREFECT_LOGGING_TO_API_ENABLED,
        temporary_settings,
    )
    from prefect.testing.utilities import prefect_test_harness

    os.environ["PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_BATCH_SIZE"] = "100"
    os.environ["PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_FLUSH_INTERVAL"] = "1"
    with (
        prefect_test_harness(server_startup_timeout=120),
        temporary_settings({PREFECT_FLOWS_HEARTBEAT_FREQUENCY: None, PREFECT_LOGGING_TO_API_ENABLED: False}),
    ):
        yield


@pytest.fixture(scope="session")
def chat_module() -> ModuleType:
    return load(Path(__file__).with_name("chat.py"))


@pytest.fixture
def chat_server(chat_module: ModuleType) -> Iterator[Any]:
    """A server of chat completions that answers what the test wants."""
    with chat_module.chatting() as chat:
        yield chat


@pytest.fixture(scope="session")
def s3_server() -> Iterator[Any]:
    """An S3 server with a bucket."""
    with load(Path(__file__).with_name("s3.py")).serving() as s3:
        yield s3


@pytest.fixture
def s3(s3_server: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The S3 server, which this process has the keys to."""
    for name, value in s3_server.environment.items():
        monkeypatch.setenv(name, value)
    return s3_server


@pytest.fixture(scope="session")
def neo4j_server_module() -> ModuleType:
    return load(Path(__file__).parent / "neo4j" / "server.py")


@pytest.fixture(scope="session")
def neo4j_server(neo4j_server_module: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The server of the tests' own, None where another one is named; it may be ended and started again."""
    if os.environ.get(NEO4J_URI):
        yield None
        return
    try:
        server = neo4j_server_module.Server(tmp_path_factory.mktemp("neo4j") / "home")
        server.start()
    except neo4j_server_module.NoServerError as error:
        # Where everything has to be tested, a test that is left out is one that fails.
        if os.environ.get("CI", "").lower() in ("true", "1"):
            pytest.fail(f"no Neo4j: {error}")
        pytest.skip(f"no Neo4j: {error}")
    user, password = server.auth
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LETHE_NEO4J_USER", user)
        patch.setenv("LETHE_NEO4J_PASSWORD", password)
        yield server
    server.stop()


@pytest.fixture(scope="session")
def neo4j_url(neo4j_server: Any) -> str:
    """The URL of a running server; its user and password are in the environment."""
    return neo4j_server.uri if neo4j_server is not None else _given(os.environ[NEO4J_URI])


@pytest.fixture(scope="session")
def neo4j_query(neo4j_url: str) -> Iterator[Callable[..., list[Any]]]:
    """Asks the server past the store; returns a list of values a row."""
    import neo4j

    from lethe_core.adapters.stores.neo4j_address import Credentials

    with neo4j.GraphDatabase.driver(neo4j_url, auth=Credentials.from_environment().pair) as driver:

        def query(text: str, **values: Any) -> list[Any]:
            return [record.values() for record in driver.execute_query(text, values).records]

        yield query


@pytest.fixture(scope="session")
def empty_neo4j(neo4j_url: str, neo4j_query: Callable[..., list[Any]]) -> Iterator[Callable[[], str]]:
    """Empties the server and gives its URL; constraints and the schema's mark stay."""

    def empty() -> str:
        neo4j_query("MATCH (n) WHERE NOT n:Meta DETACH DELETE n")
        return neo4j_url

    yield empty
    empty()


@pytest.fixture
def neo4j_proxy(neo4j_url: str) -> Iterator[Any]:
    """A relay to the server that can lose connections at a commit."""
    port = int(neo4j_url.rpartition(":")[2].partition("/")[0])
    proxy = load(Path(__file__).parent / "neo4j" / "relays.py").Proxy(port)
    yield proxy
    proxy.close()


@pytest.fixture
def neo4j_tls(neo4j_url: str, tmp_path: Path) -> Iterator[Any]:
    """A relay that speaks TLS with whoever comes, under a certificate that nobody has signed."""
    port = int(neo4j_url.rpartition(":")[2].partition("/")[0])
    relay = load(Path(__file__).parent / "neo4j" / "relays.py").TlsRelay(port, tmp_path)
    yield relay
    relay.close()


def _given(url: str) -> str:
    """The URL of a server that somebody else runs, once it is known to hold nothing."""
    import neo4j

    from lethe_core.adapters.stores.neo4j_address import Credentials

    with neo4j.GraphDatabase.driver(url, auth=Credentials.from_environment().pair) as driver:
        (record,) = driver.execute_query("MATCH (n) WHERE NOT n:Meta RETURN count(n)").records
    if record[0]:
        pytest.fail(f"{NEO4J_URI} names a server that holds {record[0]} nodes: the tests would delete them")
    return url
