"""Kill research sessions at random moments, and the database's server under them; check what comes of them.

    python -m benchmarks.kills    # 200 kills with SQLite, 50 with Neo4j, 50 of Neo4j's server
    python -m benchmarks.kills --sqlite 20 --neo4j 0 --servers 0 --flow 0 --seed 7

A quarter of the kills hits the real flow under a Prefect server, the others the same steps without Prefect,
which start and run several times as fast (--flow sets the share). Needs Java and Maven for Neo4j. Ends with
exit code 1 when anything was lost, doubled or bought without need.
"""

import argparse
import os
import random
import secrets
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Final, Literal

from .campaign import FailedSessionError, Outcome, Setting, run_killed, run_undisturbed
from .corpus import write_corpus
from .history import Kill
from .servers import model_server, neo4j_server, prefect_server
from .session_process import SilentError
from .summary import summary

SAY_EVERY: Final = 20.0  # seconds


def campaign(
    setting: Setting, kills: int, flow: float, rng: random.Random, said: Callable[[str], None]
) -> bool:
    """So many kills, a share of them through the flow; whether everything held."""
    done: list[Outcome] = []
    held = True
    try:
        for through in ("loop", "flow"):
            wanted = kills if through == "flow" else round(kills * (1.0 - flow))
            if wanted <= sum(len(outcome.kills) for outcome in done):
                continue
            some = replace(setting, through=through, folder=setting.folder / through)
            said(f"{setting.name}, {through}: the undisturbed run")
            undisturbed = run_undisturbed(some)
            while (left := wanted - sum(len(outcome.kills) for outcome in done)) > 0:
                begun = time.monotonic()
                progress = _Progress(f"{setting.name}, {through}: session {len(done) + 1}", said)
                name = some.session_name(len(done) + 1)
                outcome = run_killed(some, name, left, rng, undisturbed, progress)
                done.append(outcome)
                held = held and not outcome.faults
                said(
                    f"{setting.name}, {through}: session {len(done)}, {len(outcome.kills)} kills, "
                    f"{outcome.counted.extra} calls extra, {time.monotonic() - begun:.0f} s, "
                    f"{'equal' if not outcome.faults else 'FAULTS'}; "
                    f"{sum(len(o.kills) for o in done)} of {kills} kills"
                )
    except (FailedSessionError, SilentError) as error:
        said(f"{setting.name}: FAULT: {error}")
        held = False
    finally:
        if done:
            print(summary(setting.name, done), flush=True)
    return held


class _Progress:
    """Says from time to time how far a session's kills are."""

    def __init__(self, what: str, said: Callable[[str], None]) -> None:
        self._what = what
        self._said = said
        self._kills = 0
        self._next = time.monotonic() + SAY_EVERY

    def __call__(self, kill: Kill) -> None:
        self._kills += 1
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + SAY_EVERY
            self._said(
                f"{self._what}, kill {self._kills}: before {kill.phase}, in the middle of {kill.inside}"
            )


@contextmanager
def settings_of(options: argparse.Namespace, folder: Path) -> Iterator[list[tuple[Setting, int]]]:
    """The campaigns that are wanted, with the servers that they need."""
    corpus = write_corpus(folder / "crossings")
    with ExitStack() as stack:
        model = stack.enter_context(model_server(folder / "served.jsonl"))
        prefect = ""
        if options.flow > 0.0:
            print("starting a Prefect server …", flush=True)
            prefect = stack.enter_context(prefect_server(folder / "prefect"))
        wanted: list[tuple[Setting, int]] = []
        if options.sqlite:
            setting = Setting(
                "SQLite",
                "loop",
                "session",
                folder / "sqlite",
                corpus,
                model,
                prefect,
                lambda home: f"sqlite:///{home}/graph.db",
            )
            wanted.append((setting, options.sqlite))
        if options.neo4j or options.servers:
            print("starting a Neo4j server …", flush=True)
            database = stack.enter_context(neo4j_server(folder / "neo4j-server"))
            os.environ["LETHE_NEO4J_USER"], os.environ["LETHE_NEO4J_PASSWORD"] = database.auth
            for name, victim, kills in neo4j_campaigns(options):
                setting = Setting(
                    name,
                    "loop",
                    victim,
                    folder / victim,
                    corpus,
                    model,
                    prefect,
                    lambda _: database.uri,
                    database,
                )
                wanted.append((setting, kills))
        yield wanted


def neo4j_campaigns(options: argparse.Namespace) -> list[tuple[str, Literal["session", "server"], int]]:
    both: list[tuple[str, Literal["session", "server"], int]] = [
        ("Neo4j", "session", options.neo4j),
        ("Neo4j's server", "server", options.servers),
    ]
    return [one for one in both if one[2]]


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.kills",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--sqlite", type=int, default=200, metavar="KILLS")
    parser.add_argument("--neo4j", type=int, default=50, metavar="KILLS")
    parser.add_argument("--servers", type=int, default=50, metavar="KILLS", help="of Neo4j's server")
    parser.add_argument(
        "--flow", type=float, default=0.25, metavar="SHARE", help="of the kills (default: 0.25)"
    )
    parser.add_argument("--seed", type=int, default=secrets.randbelow(10**6))
    parser.add_argument("--folder", type=Path, help="where everything is kept (default: a temporary folder)")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # ended in the same way as by Ctrl-C
    begun = time.monotonic()

    def said(line: str) -> None:
        print(f"[{time.monotonic() - begun:6.0f} s] {line}", flush=True)

    print(f"seed {options.seed}", flush=True)
    try:
        with ExitStack() as stack:
            folder = options.folder or Path(
                stack.enter_context(tempfile.TemporaryDirectory(prefix="lethe-kills-"))
            )
            folder = folder.absolute()
            rng = random.Random(options.seed)
            with settings_of(options, folder) as wanted:
                held = [campaign(setting, kills, options.flow, rng, said) for setting, kills in wanted]
    except KeyboardInterrupt:
        print("interrupted; every server was ended", flush=True)
        sys.exit(130)
    print(f"{time.monotonic() - begun:.0f} s, {'all held' if all(held) else 'FAULTS'} (seed {options.seed})")
    sys.exit(not all(held))


if __name__ == "__main__":
    main()
