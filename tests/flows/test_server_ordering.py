"""What was before its start a server of Lethe's own does not wait for; all else keeps its order."""

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import uuid4

import pytest
from prefect.server.events.ordering import CausalOrderingModule, EventArrivedEarly
from prefect.server.events.schemas.events import ReceivedEvent

from flows import server_ordering
from flows.server_process import server_environment


def follower() -> ReceivedEvent:
    return ReceivedEvent(
        occurred=datetime.now(UTC),
        event="prefect.flow-run.Crashed",
        resource={"prefect.resource.id": f"prefect.flow-run.{uuid4()}"},
        id=uuid4(),
        follows=uuid4(),
    )


def wait(event: ReceivedEvent, *, processing: bool = False) -> None:
    async def waiting() -> None:
        ordering = server_ordering.CausalOrdering(f"test-{event.id}")
        if processing:
            await ordering.record_event_as_processing(event.model_copy(update={"id": event.follows}))
        async with asyncio.timeout(1):
            await ordering.wait_for_leader(event)

    asyncio.run(waiting())


def test_the_server_is_told_of_an_ordering_that_it_can_load(tmp_path: Path) -> None:
    assert isinstance(server_ordering, CausalOrderingModule)
    named = server_environment(tmp_path, 9)["PREFECT_SERVER_EVENTS_CAUSAL_ORDERING"]
    assert named == server_ordering.__name__


def test_an_event_whose_predecessor_may_be_from_before_the_start_goes_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(server_ordering, "STARTED", datetime.now(UTC))
    wait(follower())


def test_an_event_whose_predecessor_is_still_to_come_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_ordering, "STARTED", datetime.now(UTC) - timedelta(minutes=6))
    with pytest.raises(EventArrivedEarly):
        wait(follower())


def test_an_event_whose_predecessor_is_at_work_waits_also_after_a_start(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(server_ordering, "STARTED", datetime.now(UTC))
    with pytest.raises(TimeoutError):
        wait(follower(), processing=True)
