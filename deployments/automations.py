"""What the Prefect server does by itself for runs of Lethe's pool: see that one has died, and start it again.

An event is called by the name of a state, and Lethe's states by what ended them (`goal_complete`): what a
living run may do next is therefore any event of the run, not a list of names.
"""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any, Final
from uuid import UUID

from prefect.client.schemas.objects import StateType
from prefect.events.actions import CallWebhook, ChangeFlowRunState
from prefect.events.schemas.automations import AutomationCore, EventTrigger, Posture

ANY: Final = "prefect.flow-run.*"
CLAIMED: Final = ("Pending", "Submitting")  # a worker's states of a run before it runs
# Signs that a run's process lives; one that dies before its first heartbeat has only begun to run.
LIVING: Final = ("Running", "Retrying", "heartbeat")
# Of one run: what dies at every start must not be started for ever, and before it has run once (a count of
# 0) something is wrong with the worker, which the next start would meet again.
RESTARTS: Final = 5
CRASHED: Final = "lethe: crashed, since its heartbeat has stopped"
NEVER_RAN: Final = "lethe: begun by a worker and never ran"
RESUME: Final = "lethe: go on with what crashed"
NOTIFY: Final = "lethe: tell of a changed report"

# Names and numbers, as the event has them; what was asked and found stays in the report.
PAYLOAD: Final = """{
  "event": "{{ event.event }}",
  "series": {{ event.resource["prefect.resource.name"] | tojson }},
  "session": {{ event.payload["session"] | tojson }},
  "since": {{ event.payload["since"] | tojson }},
  "new_findings": {{ event.payload["new_findings"] | default(0) }},
  "changed_figures": {{ event.payload["changed_figures"] | default(0) }},
  "dropped": {{ event.payload["dropped"] | default(0) }},
  "contradictions_appeared": {{ event.payload["contradictions_appeared"] | default(0) }}
}"""


def crash_care(related: dict[str, Any], *, crash_after: float, start_within: float) -> list[AutomationCore]:
    """Three automations for the runs that `related` picks out: a pool's, by its events' related resources.

    crash_after: seconds without a heartbeat after which a run has died; three heartbeats.
    start_within: seconds that a worker may take from claiming a run to running it.
    """
    runs: dict[str, Any] = {"prefect.resource.id": "prefect.flow-run.*"}
    return [
        AutomationCore(
            name=CRASHED,
            description="A healthy run gives a sign every 30 seconds; its lease decides who may write.",
            tags=["lethe"],
            trigger=_silence({f"prefect.flow-run.{name}" for name in LIVING}, runs, related, crash_after),
            actions=[
                ChangeFlowRunState(
                    name="Crashed",
                    state=StateType.CRASHED,
                    force=False,
                    message=f"no sign of it for {crash_after:.0f} seconds: its process, or its "
                    "worker's machine, has ended",
                )
            ],
        ),
        AutomationCore(
            name=NEVER_RAN,
            description="A worker that dies between claiming a run and running it leaves it to nobody.",
            tags=["lethe"],
            trigger=_silence({f"prefect.flow-run.{name}" for name in CLAIMED}, runs, related, start_within),
            actions=[_again(f"claimed by a worker and not begun within {start_within:.0f} seconds")],
        ),
        AutomationCore(
            name=RESUME,
            description="A crashed run goes on with its session; what was cancelled or failed stays so.",
            tags=["lethe"],
            trigger=EventTrigger(
                expect={"prefect.flow-run.Crashed"},
                match={**runs, "prefect.run-count": [str(count) for count in range(1, RESTARTS + 1)]},
                match_related=related,
                posture=Posture.Reactive,
                threshold=1,
                within=timedelta(0),
            ),
            actions=[_again("started again after a crash: it goes on with its session")],
        ),
    ]


def notification(webhook: UUID) -> AutomationCore:
    """Call a webhook for every report of a series that says something new, and for no other."""
    return AutomationCore(
        name=NOTIFY,
        description="Of a report that says nothing new nobody is told.",
        tags=["lethe"],
        trigger=EventTrigger(
            expect={"lethe.report.changed"},
            match={"prefect.resource.id": "lethe.series.*"},
            posture=Posture.Reactive,
            threshold=1,
            within=timedelta(0),
        ),
        actions=[CallWebhook(block_document_id=webhook, payload=PAYLOAD)],
    )


def differences(there: AutomationCore, wanted: AutomationCore) -> list[str]:
    """What of an automation that there is would have to change; whether it is switched on is its owner's."""
    one, other = (_comparable(automation) for automation in (there, wanted))
    return [name for name in other if one[name] != other[name]]


def _silence(events: set[str], runs: dict[str, Any], related: dict[str, Any], within: float) -> EventTrigger:
    return EventTrigger(
        after=events,
        expect={ANY},
        match=runs,
        match_related=related,
        for_each={"prefect.resource.id"},
        posture=Posture.Proactive,
        threshold=1,
        within=timedelta(seconds=within),
    )


def _again(message: str) -> ChangeFlowRunState:
    # The same run, not another one: it keeps its session, its parameters and its place on the page.
    return ChangeFlowRunState(state=StateType.SCHEDULED, name="AwaitingRetry", message=message, force=False)


def _comparable(automation: AutomationCore) -> dict[str, Any]:
    core = AutomationCore.model_validate(automation.model_dump())
    compared: Sequence[str] = ("description", "tags", "trigger", "actions")
    values = core.model_dump(mode="json", include=set(compared))
    return {name: _plain(values[name]) for name in compared}


def _plain(value: Any) -> Any:
    """Sets come in any order, and what is not set may be left out or null."""
    if isinstance(value, dict):
        return {
            key: _plain(item) for key, item in value.items() if item not in (None, [], {}) and key != "id"
        }
    if isinstance(value, list):
        return sorted((_plain(item) for item in value), key=repr)
    return value
