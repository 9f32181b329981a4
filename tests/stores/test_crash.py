"""Every store: what was committed survives the writer's death, and nothing of what was not."""

import os
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

import lethe_core
from lethe_core.adapters.stores import open_store
from lethe_core.adapters.stores.owner import make_owner
from lethe_core.graph.nodes import EdgeType
from lethe_core.graph.session_state import SessionPatch

# Writes batches of 20 nodes with their edges, the state counting them, and says so after each commit.
WRITER = """
import sys
import numpy as np
from lethe_core.adapters.stores import open_store
from lethe_core.adapters.stores.owner import make_owner
from lethe_core.graph.nodes import Edge, EdgeType, EvidenceNode
from lethe_core.graph.session_state import SessionPatch
store = open_store(sys.argv[1])
lease = store.acquire_lease(sys.argv[2], make_owner(), force=True)
batch = store.load_session(sys.argv[2]).iterations
while True:
    batch += 1
    with store.transaction(lease) as tx:
        for number in range(20):
            vector = np.full(6, batch, dtype=np.float32)
            node = tx.create_node(EvidenceNode(f"{batch}.{number} " + "x" * 2000, "e", vector, 0.5, 0.5))
            tx.create_edge(Edge(EdgeType.PRODUCED, tx.state.root, node.id))
        tx.update_session(SessionPatch(iterations=batch))
    print(batch, flush=True)
"""
KILLS = 4


def test_a_killed_writer_loses_nothing_committed_and_leaves_no_half_batch(url, world):
    world.store.release_lease(world.lease)
    rng = random.Random(7)
    for _ in range(KILLS):
        process = subprocess.Popen(
            [sys.executable, "-c", WRITER, url, world.id],
            env=os.environ | {"PYTHONPATH": str(Path(lethe_core.__file__).parents[1])},
            stdout=subprocess.PIPE,
            text=True,
        )
        assert process.stdout is not None
        told = int(process.stdout.readline())
        time.sleep(rng.uniform(0.0, 0.2))
        process.kill()
        rest = process.communicate()[0].split("\n")
        told = max([told, *(int(line) for line in rest[:-1])])  # the last line may be cut

        store = open_store(url)
        batches = store.load_session(world.id).iterations
        assert batches in (told, told + 1)  # committed, and killed before it could say so
        snapshot = store.load_snapshot(world.id)
        expected = [f"{batch}.{number}" for batch in range(1, batches + 1) for number in range(20)]
        assert [node.content.split()[0] for node in snapshot.evidence.values()] == expected
        assert [node.sequence for node in snapshot.evidence.values()] == list(range(1, 20 * batches + 1))
        assert all(
            (node.embedding == float(node.content.split(".")[0])).all() for node in snapshot.evidence.values()
        )
        assert snapshot.targets(EdgeType.PRODUCED, world.root) == list(snapshot.evidence)
        store.close()


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="a dead owner is seen through /proc")
def test_after_a_kill_the_next_run_writes_on_at_once(url, world):
    world.store.release_lease(world.lease)
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER, url, world.id],
        env=os.environ | {"PYTHONPATH": str(Path(lethe_core.__file__).parents[1])},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    process.stdout.readline()
    process.kill()
    process.communicate()
    world.lease = world.store.acquire_lease(world.id, make_owner())
    world.write(lambda tx: tx.update_session(SessionPatch(message="on")))
    assert world.store.load_session(world.id).message == "on"
