"""What Prefect costs an iteration: the flow's ten tasks beside the same steps called without it.

A session whose reasoner only goes on is iterated many times, once by ``benchmarks.loop``, once as the flow
does it (ten task runs, the progress artifact, a look at the run's own state), under a server of Lethe's own
on the same machine. Printed: seconds and processor time an iteration of both, their ratio, the server's
processor time, and how long after a run its server has written down the last of its task runs. Goals: .25 s
an iteration on two cores, and no lag that grows. Apart from it: what a call of the model waits for a slot of
the limit that holds on all workers together, where nobody else holds one.

With --at-once the runs go on beside each other, each in a process of its own, as those of several workers do;
what counts then is the lag after the last one's end. The machine's load stands with the figures.

    python -m benchmarks.prefect_cost [--runs 3] [--iterations 100] [--slots 30] [--at-once]
"""

import argparse
import json
import logging
import multiprocessing
import os
import re
import tempfile
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from benchmarks import loop
from flows.local_server import starting_server, stop_server
from flows.prefect_environment import point_prefect_at
from lethe_core.adapters.bootstrap import session_deps
from lethe_core.adapters.stores.owner import make_owner
from lethe_core.config import load_settings
from lethe_core.reasoning.protocol import Answer, Prompt
from lethe_core.session.handle import SessionHandle
from lethe_core.session.opening import checked_session_id, open_session

LIMIT: Final = "prefect-cost"
GOAL: Final = 0.25  # seconds of wall time an iteration
LAG_SECONDS: Final = 300.0
TICKS: Final = os.sysconf("SC_CLK_TCK")


class GoingOn:
    """Searches once, then goes on with whatever task it is given."""

    name, extractive, deterministic, context_window = "going on", False, True, 32_768

    def __init__(self) -> None:
        self._asked = 0

    def check(self) -> None:
        pass

    def answer(self, prompt: Prompt, *, deadline: float) -> Answer:  # noqa: ARG002
        self._asked += 1
        (task,) = re.findall(r"^=TASK (\S+)", prompt.user, re.MULTILINE)
        search = {"op": "web_search", "query": "the length of the Tarn bridge"}
        operation = search if self._asked == 1 else {"op": "continue", "task": task}
        return Answer(json.dumps({"operations": [operation]}), 1, 1, self.name)


@dataclass(frozen=True)
class Cost:
    """Of one iteration, in seconds."""

    wall: float
    processor: float  # of this process


@dataclass(frozen=True)
class Run:
    """One that has ended."""

    cost: Cost
    run_id: str
    task_runs: int
    ended: float  # by the machine's monotonic clock, which all processes share


@contextmanager
def session(folder: Path, name: str, **more: str) -> Iterator[SessionHandle]:
    """A new session over one document."""
    corpus = folder / "corpus"
    if not corpus.exists():  # another process may be reading it
        corpus.mkdir()
        (corpus / "tarn.md").write_text("# Tarn bridge\n\nThe Tarn bridge is 412 metres long.\n", "utf-8")
    settings = load_settings({"corpus": (corpus,), "home": folder, "max_iterations": 100, **more}).settings
    with session_deps(settings) as opened:
        deps = replace(opened, reasoner=GoingOn())
        made = open_session(deps, "How long is it?", checked_session_id(name), owner=make_owner())
        try:
            yield made
        finally:
            made.close()


def plain(folder: Path, iterations: int) -> Cost:
    with session(folder, "s-plain") as handle:
        loop.iterate(handle)  # the first one reads and searches
        wall, processor = time.perf_counter(), time.process_time()
        for _ in range(iterations):
            loop.iterate(handle)
        wall, processor = time.perf_counter() - wall, time.process_time() - processor
    return Cost(wall / iterations, processor / iterations)


def through_prefect(folder: Path, number: int, iterations: int) -> Run:
    from prefect import flow
    from prefect.runtime import flow_run

    from flows.artifacts import ProgressBar
    from flows.session import iterate
    from flows.states import own_state

    with session(folder, f"s-flow-{number}") as handle:
        measured: list[Any] = []

        @flow(name="prefect-cost", persist_result=False)
        def run() -> None:
            progress = ProgressBar(handle)
            progress.show()
            iterate(handle)
            wall, processor = time.perf_counter(), time.process_time()
            for _ in range(iterations):
                own_state()
                progress.show()
                iterate(handle)
            measured.append((time.perf_counter() - wall, time.process_time() - processor, flow_run.id))

        run()
    wall, processor, run_id = measured[0]
    cost = Cost(wall / iterations, processor / iterations)
    return Run(cost, run_id, 10 * (iterations + 1), time.monotonic())


def lag(expected: Mapping[str, int], ended: float) -> float:
    """Seconds from `ended` until so many task runs of each run are recorded as completed."""
    from prefect.client.orchestration import get_client

    with get_client(sync_client=True) as client:
        for run_id, number in expected.items():
            body = {
                "flow_runs": {"id": {"any_": [run_id]}},
                "task_runs": {"state": {"type": {"any_": ["COMPLETED"]}}},
            }
            while (count := client._client.post("/task_runs/count", json=body).json()) < number:
                if time.monotonic() - ended > LAG_SECONDS:
                    raise SystemExit(f"after {LAG_SECONDS:.0f} s {count} of {number} task runs were recorded")
                time.sleep(0.1)
    return time.monotonic() - ended


def slot(folder: Path, times: int) -> float:
    """Seconds that a call of the model costs more under the limit: its slot taken and given back."""
    from prefect import flow
    from prefect.client.orchestration import get_client
    from prefect.client.schemas.actions import GlobalConcurrencyLimitCreate

    from tasks.slots import model_slot

    with get_client(sync_client=True) as client:
        client.create_global_concurrency_limit(GlobalConcurrencyLimitCreate(name=LIMIT, limit=2))
    model = {"llm_limit": LIMIT, "llm_base_url": "http://127.0.0.1:9/v1", "llm_model": "never asked"}
    with session(folder, "s-slots", **model) as handle:
        measured: list[float] = []

        @flow(name="prefect-cost-slots", persist_result=False)
        def run() -> None:
            with model_slot(handle):
                pass  # the first one makes the connection
            begun = time.perf_counter()
            for _ in range(times):
                with model_slot(handle):
                    pass
            measured.append((time.perf_counter() - begun) / times)

        run()
    return measured[0]


def processor_seconds(pid: int) -> float:
    """Of another process, its threads included."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def compare(folder: Path, server: int, runs: int, iterations: int) -> None:
    """server: the number of its process."""
    bare = plain(folder, iterations)
    print(f"{'':12}{'wall s':>9}{'processor s':>13}{'server s':>10}{'lag s':>8}")
    print(f"{'without':12}{bare.wall:9.3f}{bare.processor:13.3f}")
    for number in range(1, runs + 1):
        before = processor_seconds(server)
        run = through_prefect(folder, number, iterations)
        seconds = lag({run.run_id: run.task_runs}, run.ended)
        cost = run.cost
        spent = (processor_seconds(server) - before) / iterations
        print(f"{f'run {number}':12}{cost.wall:9.3f}{cost.processor:13.3f}{spent:10.3f}{seconds:8.1f}")
        added = cost.wall - bare.wall
        print(
            f"{'':12}{cost.wall / bare.wall:.1f} times the wall time, "
            f"{cost.processor / bare.processor:.1f} times the processor time; "
            f"Prefect adds {added:.3f} s, {added / GOAL:.2f} of the goal",
            flush=True,
        )


def at_once(folder: Path, server: int, runs: int, iterations: int) -> None:
    """The runs beside each other, and the lag of the recorder when the last one has ended."""
    before, begun = processor_seconds(server), time.monotonic()
    # Each a new process: one that is forked would share this one's connections.
    fresh = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(runs, mp_context=fresh) as processes:
        going = [
            processes.submit(through_prefect, folder, number, iterations) for number in range(1, runs + 1)
        ]
        ended = [one.result() for one in going]
        last = max(run.ended for run in ended)
        seconds = lag({run.run_id: run.task_runs for run in ended}, last)
    total = sum(run.task_runs for run in ended)
    spent = (processor_seconds(server) - before) / (runs * (iterations + 1))
    print(f"{'':12}{'wall s':>9}{'processor s':>13}")
    for number, run in enumerate(ended, 1):
        print(f"{f'run {number}':12}{run.cost.wall:9.3f}{run.cost.processor:13.3f}")
    print(
        f"{runs * iterations} iterations in {runs} runs at once, {last - begun:.0f} s: {total} task runs, "
        f"the last recorded {seconds:.1f} s after the last run's end; {spent:.3f} s of the server's "
        "processor an iteration",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--iterations", type=int, default=100, help="of each run")
    parser.add_argument("--slots", type=int, default=30, help="taken of the limit on the model's calls")
    parser.add_argument("--at-once", action="store_true", help="the runs beside each other; only the lag")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="lethe-prefect-") as made:
        folder = Path(made)
        try:
            with starting_server(folder, print) as server:
                server.wait(print)
            point_prefect_at(server.state.api_url, folder, own=True, debug=False)
            print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores before it")
            if arguments.at_once:
                at_once(folder, server.state.pid, arguments.runs, arguments.iterations)
            else:
                compare(folder, server.state.pid, arguments.runs, arguments.iterations)
                seconds = slot(folder, arguments.slots)
                print(
                    f"{'limit':12}{seconds:9.3f} a call, beside the above: only where a model's limit is set"
                )
            print(f"load {os.getloadavg()[0]:.1f} after it, these processes' own with it")
            for handler in logging.getLogger("prefect.flow_runs").handlers:
                handler.flush()  # what is still to be sent would meet no server
        finally:
            stop_server(folder)


if __name__ == "__main__":
    main()
