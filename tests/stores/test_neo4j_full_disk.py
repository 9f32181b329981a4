"""Neo4j: the server's disk is full in the middle of a commit."""

import subprocess

import numpy as np
import pytest

from lethe_core.adapters.stores.neo4j import Neo4jStore
from lethe_core.adapters.stores.neo4j_address import Credentials
from lethe_core.errors import StoreUnavailableError
from lethe_core.graph.session_state import SessionPatch

LATIN = 90_000  # random letters of a node: nothing that a store could pack


@pytest.mark.timeout(240)
def test_a_full_disk_loses_nothing_committed_and_says_what_to_do(
    neo4j_server_module, tmp_path, small_disk, new_world
):
    rng = np.random.default_rng(1)
    with small_disk(tmp_path / "small", megabytes=24) as mounted:
        if not mounted:
            pytest.skip("no small disk can be mounted here")
        try:
            server = neo4j_server_module.Server(tmp_path / "small" / "neo4j")
        except neo4j_server_module.NoServerError as error:
            pytest.skip(f"no Neo4j: {error}")
        settings = ("db.tx_log.preallocate=false", "db.tx_log.rotation.size=1m")
        server.start(*settings)
        try:
            store = Neo4jStore(server.uri, credentials=Credentials(*server.auth), retry_seconds=5)
            world, batches = new_world(store), 0

            def fill(tx):
                for number in range(10):
                    text = rng.integers(97, 123, LATIN, dtype=np.uint8).tobytes().decode()
                    tx.create_node(world.new_evidence(f"{batches}.{number} {text}"))
                tx.update_session(SessionPatch(iterations=batches + 1))

            said = ""
            while not said and batches < 100:
                try:
                    world.write(fill)
                    batches += 1
                except StoreUnavailableError as error:
                    said = str(error)
            assert "check its disk and the room on it, then start the server again" in said
            assert batches > 0
            store.close()
            server.kill()
            grown = ["mount", "-o", "remount,size=300m", str(tmp_path / "small")]
            subprocess.run(grown, check=True)
            server.start(*settings)
            store = Neo4jStore(server.uri, credentials=Credentials(*server.auth))
            kept = store.load_session(world.id).iterations
            # The commit that failed may stand in the server's log: then it is whole.
            assert kept in (batches, batches + 1)
            found = [node.content.split()[0] for node in store.dump_session(world.id).nodes[1:]]
            assert found == [f"{batch}.{number}" for batch in range(kept) for number in range(10)]
            store.close()
        finally:
            server.kill()
