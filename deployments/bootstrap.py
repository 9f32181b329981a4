"""Make what Lethe's deployments need on a Prefect server: pool, queues, limit, automations.

    python deployments/bootstrap.py [--model-concurrency N] [--dry-run]

Run it as often as you like: what is there already is left as it is, and what somebody has added to the pool
(secrets in its environment, other variables) or switched off (an automation) is kept.
"""

import copy
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, Literal
from urllib.parse import urlsplit

import click
from automations import NOTIFY, crash_care, differences, notification
from prefect.blocks.webhook import Webhook
from prefect.client.orchestration import SyncPrefectClient, get_client
from prefect.client.schemas.actions import (
    GlobalConcurrencyLimitCreate,
    GlobalConcurrencyLimitUpdate,
    WorkPoolCreate,
    WorkPoolUpdate,
)
from prefect.client.schemas.objects import WorkPool
from prefect.events.schemas.automations import AutomationCore
from prefect.exceptions import ObjectNotFound
from prefect.filesystems import RemoteFileSystem
from prefect.settings import get_current_settings
from prefect.workers.process import ProcessWorker
from pydantic import SecretStr

POOL: Final = "lethe"
MODEL_LIMIT: Final = "lethe-model"
WEBHOOK: Final = "lethe-report-changed"
# The first number is served first: who waits at the page goes before what is done by the clock.
QUEUES: Final = {"interactive": 1, "scheduled": 2}
# What every run's process is given. Runs that an automation starts again get this and nothing else.
ENVIRONMENT: Final = {
    # A run that has died is noticed after three missed heartbeats; with the default of 180 seconds healthy
    # runs were taken for dead.
    "PREFECT_FLOWS_HEARTBEAT_FREQUENCY": "30",
    # Two BLAS threads on two busy cores wait for each other: packing took 30 times as long.
    "OPENBLAS_NUM_THREADS": "1",
}
LIMIT_VARIABLE: Final = "LETHE_LLM_LIMIT"
ANSWERS: Final = "lethe-answers"
NONE: Final = "none"
ANSWERS_VARIABLE: Final = "PREFECT_DEFAULT_RESULT_STORAGE_BLOCK"

Result = Literal["created", "changed", "removed", "unchanged", "left"]
DONE: Final = ("created", "changed", "removed")


@dataclass
class Bootstrap:
    """Brings one thing after the other to what it should be, and says what it did."""

    client: SyncPrefectClient
    dry_run: bool
    say: Callable[[str], None]
    counts: dict[Result, int] = field(default_factory=dict)

    def pool(self, environment: dict[str, str | None]) -> None:
        """environment: what the pool's runs are given; None takes a variable away."""
        try:
            there: WorkPool | None = self.client.read_work_pool(POOL)
        except ObjectNotFound:
            there = None
        template = ProcessWorker.get_default_base_job_template() if there is None else there.base_job_template
        wanted = with_environment(template, environment)
        what = f"work pool {POOL}"
        if there is None:
            self._do(
                lambda: self.client.create_work_pool(
                    WorkPoolCreate(
                        name=POOL,
                        type="process",
                        description="Runs of Lethe. Secrets for them belong into the worker's environment, "
                        "or into this pool's base job template (env).",
                        base_job_template=wanted,
                    )
                )
            )
            self._note("created", what, "type process")
        elif wanted != template:
            self._do(lambda: self.client.update_work_pool(POOL, WorkPoolUpdate(base_job_template=wanted)))
            self._note("changed", what, "environment of its runs")
        else:
            self._note("unchanged", what, f"type {there.type}")

    def queues(self) -> None:
        there = (
            {}
            if self._missing_pool()
            else {queue.name: queue for queue in self.client.read_work_queues(work_pool_name=POOL)}
        )
        for name, priority in QUEUES.items():
            what = f"work queue {POOL}/{name}"
            queue = there.get(name)
            if queue is None:
                self._do(partial(self.client.create_work_queue, name, work_pool_name=POOL, priority=priority))
                self._note("created", what, f"priority {priority}")
            else:
                self._note("unchanged", what, f"priority {queue.priority}")

    def model_limit(self, slots: int | None) -> None:
        what = f"concurrency limit {MODEL_LIMIT}"
        try:
            there = self.client.read_global_concurrency_limit_by_name(MODEL_LIMIT)
        except ObjectNotFound:
            there = None
        if slots is None or (slots == 0 and there is None):
            if there is not None:
                self._note("left", what, f"{there.limit} calls of the model at a time")
            return
        if slots == 0:
            self._do(partial(self.client.delete_global_concurrency_limit_by_name, MODEL_LIMIT))
            self._note("removed", what)
            return
        if there is None:
            limit = GlobalConcurrencyLimitCreate(name=MODEL_LIMIT, limit=slots)
            self._do(lambda: self.client.create_global_concurrency_limit(limit))
            self._note("created", what, f"{slots} calls of the model at a time, on all workers together")
        elif there.limit != slots or not there.active:
            change = GlobalConcurrencyLimitUpdate(limit=slots, active=True)
            self._do(lambda: self.client.update_global_concurrency_limit(MODEL_LIMIT, change))
            self._note("changed", what, f"{there.limit} -> {slots}")
        else:
            self._note("unchanged", what, f"{slots} calls of the model at a time")

    def automation(self, wanted: AutomationCore) -> None:
        what = f"automation “{wanted.name}”"
        found = self.client.read_automations_by_name(wanted.name)
        if not found:
            self._do(lambda: self.client.create_automation(wanted))
            self._note("created", what)
            return
        there = found[0]
        changed = differences(there, wanted)
        off = "" if there.enabled else "switched off, which is left so"
        if changed:
            kept = wanted.model_copy(update={"enabled": there.enabled})
            self._do(lambda: self.client.update_automation(there.id, kept))
            self._note("changed", what, ", ".join(filter(None, (*changed, off))))
        else:
            self._note("unchanged", what, off)

    def webhook(self, url: str) -> None:
        """The address is a secret: it is stored as one, and never said."""
        what = f"webhook {WEBHOOK}"
        if not url:
            return
        there = self._stored_webhook()
        if there is not None and there.url.get_secret_value() == url:
            self._note("unchanged", what)
        else:
            block = Webhook(url=SecretStr(url)) if there is None else there
            block.url = SecretStr(url)
            self._do(lambda: block.save(WEBHOOK, overwrite=True))
            self._note("created" if there is None else "changed", what)
        stored = self._stored_webhook()
        if stored is not None and stored._block_document_id is not None:
            self.automation(notification(stored._block_document_id))
        else:
            self._note("created", f"automation “{NOTIFY}”")

    def answers(self, url: str) -> None:
        """Where bought answers are kept; the keys to it are the workers' environment's, not stored here."""
        what = f"storage block {ANSWERS}"
        try:
            found: Any = RemoteFileSystem.load(ANSWERS)
        except ValueError:
            found = None
        if found is not None and found.basepath == url:
            self._note("unchanged", what, url)
            return
        block = RemoteFileSystem(basepath=url) if found is None else found
        block.basepath = url
        self._do(lambda: block.save(ANSWERS, overwrite=True))
        self._note("created" if found is None else "changed", what, url)

    def _stored_webhook(self) -> Webhook | None:
        try:
            found = Webhook.load(WEBHOOK)
        except ValueError:
            return None
        return found if isinstance(found, Webhook) else None

    def _missing_pool(self) -> bool:
        try:
            self.client.read_work_pool(POOL)
        except ObjectNotFound:
            return True
        return False

    def _do(self, step: Callable[[], Any]) -> None:
        if not self.dry_run:
            step()

    def _note(self, result: Result, what: str, detail: str = "") -> None:
        self.counts[result] = self.counts.get(result, 0) + 1
        word = f"would be {result}" if self.dry_run and result in DONE else result
        self.say(f"{word:<18}{what}{f': {detail}' if detail else ''}")


def with_environment(template: dict[str, Any], environment: dict[str, str | None]) -> dict[str, Any]:
    """A base job template whose runs get these variables, and those of None not; all else of it stays."""
    changed = copy.deepcopy(template)
    variables = changed.setdefault("variables", {}).setdefault("properties", {})
    given = variables.setdefault("env", {"type": "object", "title": "Environment Variables"})
    merged = {**(given.get("default") or {}), **environment}
    given["default"] = {name: value for name, value in merged.items() if value is not None}
    return changed


def _storage_url(url: str) -> str:
    """Raises click.UsageError for what is no address, and for one that has a key in it."""
    parts = urlsplit(url)
    if not (parts.scheme and parts.netloc):
        raise click.UsageError(f"--answers is no address of a storage: {url!r} (s3://BUCKET/FOLDER)")
    if "@" in parts.netloc:
        raise click.UsageError("--answers with a key in it would be stored in clear: set it for the workers")
    return url.rstrip("/")


@click.command()
@click.option(
    "--model-concurrency",
    type=click.IntRange(0),
    envvar="LETHE_MODEL_CONCURRENCY",
    metavar="N",
    help="Calls of the model at a time, on all workers together; 0 takes the limit away.",
)
@click.option(
    "--crash-after",
    type=click.FloatRange(60),
    default=90,
    show_default=True,
    metavar="SECONDS",
    help="Without a heartbeat, of which there is one every 30 seconds.",
)
@click.option(
    "--start-within",
    type=click.FloatRange(30),
    default=120,
    show_default=True,
    metavar="SECONDS",
    help="From a worker's claiming a run to the run.",
)
@click.option("--dry-run", is_flag=True, help="Say what would be done, and do nothing.")
@click.option(
    "--notify-url",
    envvar="LETHE_NOTIFY_URL",
    default="",
    help="Called for every changed report of a series; better in LETHE_NOTIFY_URL, which nobody else sees.",
)
@click.option(
    "--answers",
    envvar="LETHE_ANSWERS",
    default="",
    metavar="URL",
    help="Where all workers keep the answers that they buy: s3://BUCKET/FOLDER, or another file system of "
    "fsspec; its keys belong into the workers' environment. none: in each worker's own folder again.",
)
def main(
    model_concurrency: int | None,
    crash_after: float,
    start_within: float,
    dry_run: bool,
    notify_url: str,
    answers: str,
) -> None:
    """Make what Lethe's deployments need: pool, queues, limit, automations. Run twice it changes nothing."""
    url = get_current_settings().api.url
    if url is None:
        raise click.UsageError("no Prefect server is named: set PREFECT_API_URL, or let `make up` start one")
    click.echo(f"Prefect server at {url}")
    with get_client(sync_client=True) as client:
        if (error := client.api_healthcheck()) is not None:
            raise click.ClickException(
                f"the Prefect server at {url} does not answer: {str(error) or type(error).__name__}"
            )
        made = Bootstrap(client, dry_run, click.echo)
        environment: dict[str, str | None] = dict(ENVIRONMENT)
        if model_concurrency is not None:
            environment[LIMIT_VARIABLE] = MODEL_LIMIT if model_concurrency else None
        if answers == NONE:
            environment[ANSWERS_VARIABLE] = None
        elif answers:
            made.answers(_storage_url(answers))
            environment[ANSWERS_VARIABLE] = f"remote-file-system/{ANSWERS}"
        made.pool(environment)
        made.queues()
        made.model_limit(model_concurrency)
        related = {"prefect.resource.role": "work-pool", "prefect.resource.name": POOL}
        for automation in crash_care(related, crash_after=crash_after, start_within=start_within):
            made.automation(automation)
        made.webhook(notify_url)
    if not any(made.counts.get(result) for result in DONE):
        click.echo("nothing to do: everything is there")
    elif dry_run:
        click.echo("nothing was done (--dry-run)")


if __name__ == "__main__":
    sys.exit(main())
