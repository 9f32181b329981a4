"""The order of events in Lethe's own Prefect server: those of before its start are not waited for.

A change of a run's state names the change before it, and the server's automations wait for that one, a
quarter of an hour at most, so that they see both in their order. What a server has seen it keeps in its
memory: after a restart it would wait for what it can never see, and a run that died while the server was away
would be started again so much later. (Compose keeps this in Redis, which outlives the server.)
"""

from datetime import UTC, datetime, timedelta
from typing import Final

from prefect.server.events.ordering.memory import CausalOrdering as _CausalOrdering
from prefect.server.events.schemas.events import ReceivedEvent

STARTED: Final = datetime.now(UTC)  # of the server: it imports this when it begins
# A change of state names the one before it only where that is no older (prefect.server.models.events).
TIGHT: Final = timedelta(minutes=5)


class CausalOrdering(_CausalOrdering):
    """As Prefect's own, in memory."""

    async def wait_for_leader(self, event: ReceivedEvent) -> None:
        """Raises EventArrivedEarly for an event whose predecessor is still to come."""
        leader = event.follows
        if (
            leader is not None
            and event.occurred < STARTED + TIGHT
            and not await self.event_has_started_processing(leader)
        ):
            return
        await super().wait_for_leader(event)
