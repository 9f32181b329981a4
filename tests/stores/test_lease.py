"""Every store: one writer a session, fenced by its lease's epoch."""

import re
import signal
import socket
import sys
import threading
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from lethe_core.adapters.stores import open_store
from lethe_core.adapters.stores.owner import make_owner, shown_owner
from lethe_core.errors import NoProgressError, SessionBusyError, SessionLostError
from lethe_core.graph.session_state import SessionPatch


def test_a_lease_runs_from_the_database_s_clock(world):
    world.store.release_lease(world.lease)
    before = time.time()
    lease = world.store.acquire_lease(world.id, "host/1/x/a", seconds=45)
    assert before + 45 - 1 < lease.until < time.time() + 45 + 1
    renewed = world.store.renew_lease(lease, seconds=90)
    assert lease.until + 40 < renewed.until
    assert (renewed.owner, renewed.epoch) == (lease.owner, lease.epoch)


def test_a_held_lease_is_refused_with_its_owner_its_end_and_what_to_do(world):
    with pytest.raises(SessionBusyError) as caught:
        world.store.acquire_lease(world.id, "host/2/x/b")
    message = str(caught.value)
    assert "s-world" in message
    assert f"by {shown_owner(world.lease.owner)}, whose lease" in message
    (end,) = re.findall(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC", message)
    told = datetime.strptime(end, "%Y-%m-%d %H:%M:%S UTC").replace(tzinfo=UTC).timestamp()
    assert abs(told - world.lease.until) <= 1
    assert "wait" in message
    world.evidence()  # the holder is not disturbed


def test_force_does_not_break_a_held_lease(world):
    with pytest.raises(SessionBusyError):
        world.store.acquire_lease(world.id, "host/2/x/b", force=True)


def test_every_acquisition_raises_the_epoch(world):
    epochs = [world.lease.epoch]
    for number in range(3):
        world.store.release_lease(world.lease)
        world.lease = world.store.acquire_lease(world.id, f"host/1/x/{number}", force=True)
        epochs.append(world.lease.epoch)
    assert epochs == sorted(set(epochs))


def test_a_released_lease_writes_no_more(world, contents):
    before = contents(world.snapshot())
    world.store.release_lease(world.lease)
    with pytest.raises(SessionLostError, match="s-world"):
        world.evidence()
    with pytest.raises(SessionLostError):
        world.store.renew_lease(world.lease)
    world.store.release_lease(world.lease)  # once more: nothing happens
    assert contents(world.snapshot()) == before


def test_an_expired_lease_is_taken_over_and_its_writer_fenced_off(url, world, contents):
    old = world.store.renew_lease(world.lease, seconds=0.05)
    time.sleep(0.1)
    other = open_store(url)
    new = other.acquire_lease(world.id, "elsewhere/2/x/b")
    before = contents(world.snapshot())
    with pytest.raises(SessionLostError):
        world.evidence()
    with pytest.raises(SessionLostError):
        world.write(lambda tx: tx.update_session(SessionPatch(iterations=99)))
    with pytest.raises(SessionLostError):
        world.store.renew_lease(old)
    world.store.release_lease(old)  # must not end the new owner's lease
    with pytest.raises(SessionBusyError, match="by process 2 on elsewhere, whose lease"):
        world.store.acquire_lease(world.id, "host/3/x/c")
    assert contents(world.snapshot()) == before
    world.lease = new
    world.store = other
    world.evidence()
    other.close()


def test_a_lease_lost_while_a_transaction_is_open_stops_its_commit(url, world, contents):
    before = contents(world.snapshot())

    def overtaken():
        with world.store.transaction(world.lease) as tx:
            tx.create_node(world.new_evidence())
            world.store.renew_lease(world.lease, seconds=0.01)
            time.sleep(0.05)
            other = open_store(url)
            other.acquire_lease(world.id, "elsewhere/2/x/b")
            other.close()

    with pytest.raises(SessionLostError):
        overtaken()
    assert contents(world.snapshot()) == before


def test_a_lease_on_a_session_made_anew_under_the_same_name_is_worth_nothing(world):
    world.store.release_lease(world.lease)
    world.store.delete_session(world.id)
    with pytest.raises(SessionLostError):
        world.evidence()
    world.store.create_session(world.new_state(world.id), world.new_task())
    world.store.acquire_lease(world.id, "host/9/x/z")
    with pytest.raises(SessionLostError):
        world.evidence()


def test_an_expired_lease_that_nobody_took_may_be_renewed(world):
    lease = world.store.renew_lease(world.lease, seconds=0.01)
    time.sleep(0.05)
    world.lease = world.store.renew_lease(lease)
    world.evidence()
    with pytest.raises(SessionBusyError):
        world.store.acquire_lease(world.id, "host/2/x/b")


def test_a_lease_is_renewed_from_another_thread_while_a_transaction_is_open(world):
    with world.store.transaction(world.lease) as tx:
        tx.create_node(world.new_evidence())
        renewed = []
        thread = threading.Thread(target=lambda: renewed.append(world.store.renew_lease(world.lease)))
        thread.start()
        thread.join(10)
        assert renewed
        assert renewed[0].until >= world.lease.until
    assert len(world.snapshot().evidence) == 1


def test_the_owner_itself_may_take_its_lease_again(world):
    again = world.store.acquire_lease(world.id, world.lease.owner)
    with pytest.raises(SessionLostError):
        world.evidence()
    world.lease = again
    world.evidence()


# -- dead owners ------------------------------------------------------------------------------------


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
def test_a_dead_owner_on_this_host_is_taken_over_at_once(url, world, processes):
    world.store.release_lease(world.lease)
    code = (
        "import sys; from lethe_core.adapters.stores import open_store; "
        "from lethe_core.adapters.stores.owner import make_owner; "
        "open_store(sys.argv[1]).acquire_lease(sys.argv[2], make_owner(), seconds=3600); "
        "print('held', flush=True); sys.stdin.read()"
    )
    process = processes.spawn(code, url, world.id)
    assert process.stdout.readline() == "held\n"
    with pytest.raises(SessionBusyError, match=f"process {process.pid} on {socket.gethostname()},"):
        world.store.acquire_lease(world.id, make_owner())
    process.kill()
    while Path(f"/proc/{process.pid}/stat").read_bytes().rpartition(b")")[2].split()[0] != b"Z":
        time.sleep(0.01)
    # Dead, though its parent has not looked yet.
    assert world.store.lease_holder(world.id) is None
    world.lease = world.store.acquire_lease(world.id, make_owner())
    process.communicate()
    world.evidence()


@pytest.mark.parametrize("owner", ["elsewhere/1/x/y", "nonsense", "a/b/c/d", f"{socket.gethostname()}/1/-/n"])
def test_the_owner_of_another_host_is_never_guessed_dead(world, owner):
    world.store.release_lease(world.lease)
    world.store.acquire_lease(world.id, owner)
    with pytest.raises(SessionBusyError, match=f"by {re.escape(shown_owner(owner))}, whose lease"):
        world.store.acquire_lease(world.id, make_owner())


PAUSED = """
import sys
import numpy as np
from lethe_core.adapters.stores import open_store
from lethe_core.adapters.stores.owner import make_owner
from lethe_core.errors import SessionLostError
from lethe_core.graph.nodes import EvidenceNode
store = open_store(sys.argv[1])
lease = store.acquire_lease(sys.argv[2], make_owner(), seconds=2)
with store.transaction(lease) as tx:
    tx.create_node(EvidenceNode("in time", "e", np.ones(6, dtype=np.float32), 0.5, 0.5))
print("held", flush=True)
sys.stdin.readline()
for write in ("transaction", "renewal"):
    try:
        if write == "renewal":
            store.renew_lease(lease)
        else:
            with store.transaction(lease) as tx:
                tx.create_node(EvidenceNode("too late", "e", np.ones(6, dtype=np.float32), 0.5, 0.5))
        print("wrote")
    except SessionLostError:
        print("lost")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGSTOP")
def test_a_writer_paused_past_its_lease_cannot_write_any_more(url, world, processes):
    world.store.release_lease(world.lease)
    process = processes.spawn(PAUSED, url, world.id)
    assert process.stdout.readline() == "held\n"
    process.send_signal(signal.SIGSTOP)
    with pytest.raises(SessionBusyError):  # stopped is not dead
        world.store.acquire_lease(world.id, make_owner())
    deadline = time.monotonic() + 30
    while world.store.lease_holder(world.id) is not None:
        assert time.monotonic() < deadline
        time.sleep(0.1)
    world.lease = world.store.acquire_lease(world.id, make_owner())
    process.send_signal(signal.SIGCONT)
    out, _ = process.communicate("on\n")
    assert out.split() == ["lost", "lost"]
    world.evidence("by the next")
    assert [node.content for node in world.snapshot().evidence.values()] == ["in time", "by the next"]


# -- starts without progress ------------------------------------------------------------------------


def start(world, *, force=False):
    """A start whose process dies without releasing its lease."""
    world.store.renew_lease(world.lease, seconds=0.001)
    time.sleep(0.01)
    world.lease = world.store.acquire_lease(world.id, "host/1/x/a", force=force)


def test_a_fourth_start_without_a_committed_phase_is_refused(world):
    start(world)
    start(world)
    world.evidence()  # written, but no phase
    epoch = world.lease.epoch
    for _ in range(2):
        with pytest.raises(NoProgressError, match="resume s-world --force"):
            start(world)
    start(world, force=True)
    assert world.lease.epoch == epoch + 1
    start(world)
    start(world)
    with pytest.raises(NoProgressError, match="3 times"):
        start(world)


@pytest.mark.parametrize(
    ("patch", "counts"),
    [
        (SessionPatch(phase=None), True),
        (SessionPatch(sections={"t-1": "prose"}), True),
        (SessionPatch(message="still here"), False),
    ],
    ids=["phase", "section of the report", "no phase"],
)
def test_a_committed_phase_begins_the_count_again(world, patch, counts):
    start(world)
    start(world)
    world.write(lambda tx: tx.update_session(patch))
    if counts:
        for _ in range(3):
            start(world)
    with pytest.raises(NoProgressError):
        start(world)


def test_a_phase_that_was_rolled_back_does_not_count(world):
    start(world)
    start(world)

    def fail(tx):
        tx.update_session(SessionPatch(phase=None))
        raise ValueError

    with pytest.raises(ValueError):  # noqa: PT011
        world.write(fail)
    with pytest.raises(NoProgressError):
        start(world)


# -- races ------------------------------------------------------------------------------------------


@pytest.mark.skipif(sys.platform == "win32", reason="needs fork")
def test_of_six_processes_that_start_in_one_instant_exactly_one_goes_on(url, world, processes):
    rounds = 40
    world.store.release_lease(world.lease)
    won = processes.race(url, rounds, [world.id] * 6)
    assert [len(epochs) for epochs in won] == [1] * rounds
    first = world.lease.epoch + 1
    assert [epochs[0] for epochs in won] == list(range(first, first + rounds))


def test_holder_of_a_lease_is_told_without_a_start_being_counted(world) -> None:
    held = world.store.lease_holder(world.id)
    assert held == world.lease
    for _ in range(5):
        assert world.store.lease_holder(world.id) == held
    world.store.release_lease(world.lease)
    assert world.store.lease_holder(world.id) is None
    world.lease = world.store.acquire_lease(world.id, "host/2/x/b")


def test_expired_lease_has_no_holder(world) -> None:
    world.store.release_lease(world.lease)
    world.lease = world.store.acquire_lease(world.id, "elsewhere/1/x/a", seconds=0.01)
    time.sleep(0.05)
    assert world.store.lease_holder(world.id) is None
