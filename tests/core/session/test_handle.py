"""Time at work, as the session counts it."""

from dataclasses import dataclass, replace
from typing import Any

from lethe_core.adapters.stores.owner import make_owner
from lethe_core.graph.nodes import SessionId
from lethe_core.graph.session_state import SessionPatch
from lethe_core.session.opening import open_session


@dataclass
class HandClock:
    """Moved by hand."""

    time: float = 1_000.0

    def monotonic(self) -> float:
        return self.time

    def now(self) -> float:
        return self.time


def test_time_at_rest_is_no_time_at_work(world: Any) -> None:
    clock = HandClock()
    deps = replace(world.deps(), clock=clock)
    session = open_session(deps, "How long is it?", SessionId("s-rest"), owner=make_owner())
    world.stack.callback(session.close)
    clock.time += 5
    with session.resting():
        clock.time += 3_600
    clock.time += 2
    assert session.seconds == 7
    with session.write() as tx:
        tx.update_session(SessionPatch())
    assert (session.state.seconds, session.seconds) == (7, 7)
    clock.time += 1
    assert session.seconds == 8
