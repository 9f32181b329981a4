"""Neo4j: a server that refuses, is too old, does not answer or comes back, and what is said of it."""

import contextlib
import socket
import subprocess
import sys
import threading
import traceback

import pytest
from neo4j.exceptions import Forbidden, TransientError

from lethe_core.adapters.stores import neo4j_address, open_store
from lethe_core.adapters.stores.neo4j import Neo4jStore
from lethe_core.adapters.stores.neo4j_address import Credentials, parse_address
from lethe_core.adapters.stores.neo4j_connection import check_version
from lethe_core.adapters.stores.neo4j_errors import translated
from lethe_core.errors import (
    ConfigError,
    CredentialsError,
    StoreUnavailableError,
    StoreVersionError,
)
from lethe_core.graph.session_state import SessionPatch

SECRET = "Zq7-secret-Zq7"


@pytest.fixture
def place(neo4j):
    return neo4j


@pytest.mark.parametrize("user", ["neo4j", "nobody", ""])
def test_a_wrong_password_is_refused_with_what_to_set_and_never_shown(url, user):
    credentials = Credentials(user, SECRET)
    with pytest.raises(CredentialsError, match="LETHE_NEO4J_USER and LETHE_NEO4J_PASSWORD") as caught:
        Neo4jStore(url, credentials=credentials)
    assert url in str(caught.value)
    assert caught.value.exit_code == 2
    assert SECRET not in "".join(traceback.format_exception(caught.value)) + repr(credentials)


def test_no_password_is_refused_with_what_to_set(url, monkeypatch):
    for name in (neo4j_address.USER, neo4j_address.PASSWORD):
        monkeypatch.delenv(name)
    with pytest.raises(CredentialsError, match="LETHE_NEO4J_PASSWORD"):
        open_store(url)


@pytest.mark.parametrize("scheme", ["bolt", "neo4j", "bolt+s", "neo4j+ssc"])
def test_a_server_that_is_not_there_is_named(scheme):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"{scheme}://127.0.0.1:{free.getsockname()[1]}"
        with pytest.raises(StoreUnavailableError, match=url.replace("+", r"\+")):
            open_store(url)


def test_a_server_of_another_kind_is_named():
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def answer():
            with contextlib.suppress(OSError):
                while True:
                    client, _ = listener.accept()
                    client.recv(100)
                    client.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
                    client.close()

        threading.Thread(target=answer, daemon=True).start()
        with pytest.raises(StoreUnavailableError, match="check that it runs"):
            open_store(f"bolt://127.0.0.1:{listener.getsockname()[1]}")
        listener.shutdown(socket.SHUT_RDWR)  # a close alone would not wake the thread


def test_tls_is_asked_for_by_the_scheme(url):
    with pytest.raises(StoreUnavailableError, match=r"bolt\+s"):
        open_store(url.replace("bolt://", "bolt+s://"))


def test_a_server_behind_tls_is_reached_by_the_scheme(neo4j_tls, world):
    store = open_store(f"bolt+ssc://127.0.0.1:{neo4j_tls.port}")
    assert [state.session_id for state in store.list_sessions()] == [world.id]
    store.close()


def test_a_certificate_that_nobody_has_signed_is_refused_where_it_must_be_signed(neo4j_tls):
    with pytest.raises(StoreUnavailableError, match=r"certificate.*bolt\+s://127") as caught:
        open_store(f"bolt+s://127.0.0.1:{neo4j_tls.port}")
    assert "+ssc" in str(caught.value)


def test_a_server_that_wants_tls_and_is_asked_without_is_named(neo4j_tls):
    with pytest.raises(StoreUnavailableError, match=r"wants TLS.*bolt://127"):
        open_store(f"bolt://127.0.0.1:{neo4j_tls.port}")


def test_a_server_behind_a_routing_url_is_reached(url):
    store = open_store(url.replace("bolt://", "neo4j://"))
    assert store.list_sessions() == []
    store.close()


def test_a_database_may_be_named_and_an_unknown_one_is_refused(url, world):
    named = open_store(f"{url}/neo4j")
    assert [state.session_id for state in named.list_sessions()] == [world.id]
    named.close()
    with pytest.raises(ConfigError, match=r"no such database.*/nowhere"):
        open_store(f"{url}/nowhere")


@pytest.mark.parametrize("agent", ["Neo4j/4.4.38", "Neo4j/3.5.0", "neo4j/v4.0"])
def test_an_old_server_is_refused_with_its_version(agent):
    with pytest.raises(StoreVersionError, match=rf"bolt://x is {agent}.*Neo4j 5"):
        check_version(agent, "bolt://x")


@pytest.mark.parametrize("agent", ["Neo4j/5.0.0", "Neo4j/5.26.26", "Neo4j/2025.10.1", "Neo4j/dev"])
def test_a_server_from_version_5_on_is_taken(agent):
    check_version(agent, "bolt://x")


def test_missing_rights_say_what_the_user_must_be_allowed():
    error = translated(Forbidden("Executing admin procedure is not allowed"), "neo4j://x")
    assert isinstance(error, CredentialsError)
    assert "constraints" in str(error)
    assert "neo4j://x" in str(error)


def test_what_may_pass_later_is_told_from_what_stays():
    assert isinstance(translated(TransientError("deadlock"), "neo4j://x"), StoreUnavailableError)


# -- URLs -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "url",
    [
        "neo4j://me:{}@host",
        "bolt://:{}@host:7687/db",
        "neo4j://host:{}",
        "neo4j://[{}",
    ],
)
def test_a_url_that_cannot_be_used_is_refused_without_showing_a_password(url):
    with pytest.raises(ConfigError) as caught:
        open_store(url.format(SECRET))
    assert SECRET not in str(caught.value)
    assert SECRET.lower() not in str(caught.value).lower()


@pytest.mark.parametrize(
    "url", ["neo4j://", "bolt:///db", "neo4j://host/a/b", "neo4j://host?x=y", "bolt://host#x"]
)
def test_a_url_with_too_little_or_too_much_is_refused(url):
    with pytest.raises(ConfigError):
        open_store(url)


@pytest.mark.parametrize(
    ("url", "uri", "database"),
    [
        ("neo4j://host", "neo4j://host", None),
        ("bolt+s://host:7688/", "bolt+s://host:7688", None),
        ("neo4j+ssc://host/research", "neo4j+ssc://host", "research"),
        ("bolt://[::1]:7687/db", "bolt://[::1]:7687", "db"),
    ],
)
def test_a_url_is_a_server_and_perhaps_a_database(url, uri, database):
    address = parse_address(url)
    assert (address.url, address.uri, address.database) == (url, uri, database)


def test_credentials_come_from_the_environment_and_are_not_shown():
    given = Credentials.from_environment({"LETHE_NEO4J_USER": "me", "LETHE_NEO4J_PASSWORD": SECRET})
    assert given.pair == ("me", SECRET)
    assert Credentials.from_environment({"LETHE_NEO4J_PASSWORD": SECRET}).pair == ("neo4j", SECRET)
    assert Credentials.from_environment({}).pair is None
    assert SECRET not in repr(given)


# -- broken connections and a server that comes back ------------------------------------------------

QUIET = """
import sys
from lethe_core.adapters.stores import open_store
store = open_store(sys.argv[1])
state = store.load_session("s-world")
lease = store.acquire_lease("s-world", "host/1/x/b")
store.release_lease(lease)
store.close()
"""


def test_a_retried_transaction_is_silent(world, neo4j_proxy):
    world.store.release_lease(world.lease)
    neo4j_proxy.before_commit = 2
    done = subprocess.run(
        [sys.executable, "-c", QUIET, f"bolt://127.0.0.1:{neo4j_proxy.port}"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert neo4j_proxy.lost == 2


def test_a_server_killed_in_mid_session_loses_and_repeats_nothing(neo4j_server, url, world, contents):
    if neo4j_server is None:
        pytest.skip("the server belongs to somebody else")
    store = world.store
    found = world.evidence("before")
    snapshot = world.snapshot()
    impatient = Neo4jStore(url, retry_seconds=0.1)
    neo4j_server.kill()
    with pytest.raises(StoreUnavailableError, match="does not answer"):
        impatient.load_session(world.id)
    with pytest.raises(StoreUnavailableError, match="does not answer"):
        open_store(url)
    impatient.close()

    # It comes back read-only first, then as it was; the session goes on by itself.
    neo4j_server.start("server.databases.default_to_read_only=true")
    try:
        with pytest.raises(StoreUnavailableError, match="read-only"):
            world.evidence("refused")
        assert contents(world.snapshot()) == contents(snapshot)
    finally:
        neo4j_server.stop()
        neo4j_server.start(wait=False)
    with store.transaction(world.lease) as tx:
        tx.create_node(world.new_evidence("after"))
        tx.upsert_similar([])
        tx.update_session(SessionPatch(iterations=1))
    snapshot.apply(tx.delta)
    assert [node.content for node in snapshot.evidence.values()] == ["before", "after"]
    assert next(iter(snapshot.evidence)) == found
    assert contents(world.snapshot()) == contents(snapshot)
    assert store.load_session(world.id).iterations == 1
    neo4j_server.wait()
