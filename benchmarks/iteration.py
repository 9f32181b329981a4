"""What Lethe itself adds to an iteration, beside the model and the fetches, as the evidence grows.

A session over real passages whose searches bring many documents; printed for each iteration: evidence nodes,
seconds of each step without the reasoner and the search, and their sum; the goal is .5 s at 1,000 nodes. The
reference beside it is the one dense product of all evidence with itself.

    python benchmarks/iteration.py ../shared/data/hotpotqa
"""

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from lethe_core.adapters.bootstrap import session_deps
from lethe_core.adapters.stores.owner import make_owner
from lethe_core.config import load_settings
from lethe_core.graph.nodes import SessionId
from lethe_core.graph.snapshot import stack
from lethe_core.session.answering import ask, due_round, judge
from lethe_core.session.applying import apply_answer
from lethe_core.session.calling import execute_calls
from lethe_core.session.composing import expand, pack_evidence, serialize
from lethe_core.session.handle import SessionHandle
from lethe_core.session.measuring import measure
from lethe_core.session.opening import open_session
from lethe_core.session.selecting import ready_tasks, select
from lethe_core.session.syncing import sync_similar

STEPS = ("select", "sync", "expand", "pack", "serialize", "judge", "apply", "signals")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("data", type=Path, help="folder with corpus.jsonl and questions.jsonl")
    parser.add_argument("--iterations", type=int, default=12)
    arguments = parser.parse_args()
    if not (arguments.data / "corpus.jsonl").is_file():
        sys.exit(f"{arguments.data} holds no corpus.jsonl")
    with tempfile.TemporaryDirectory(prefix="lethe-iteration-") as made:
        corpus = Path(made) / "passages"
        corpus.mkdir()
        for line in (arguments.data / "corpus.jsonl").read_text("utf-8").splitlines():
            passage = json.loads(line)
            (corpus / f"{passage['id']}.md").write_text(
                f"# {passage['title']}\n\n{passage['text']}\n", "utf-8"
            )
        lines = (arguments.data / "questions.jsonl").read_text("utf-8").splitlines()[:10]
        asked = " ".join(f"{n}) {json.loads(line)['question']}" for n, line in enumerate(lines, start=1))
        settings = load_settings(
            {"corpus": (corpus,), "home": Path(made) / "home", "search_documents": 100}
        ).settings
        with session_deps(settings) as deps:
            session = open_session(deps, f"Answer these: {asked}", SessionId("s-bench"), owner=make_owner())
            try:
                run(session, arguments.iterations)
            finally:
                session.close()


def run(session: SessionHandle, iterations: int) -> None:
    print("evidence " + " ".join(f"{step:>9}" for step in (*STEPS, "sum", "product", "ratio")))
    for _ in range(iterations):
        times: dict[str, float] = dict.fromkeys(STEPS, 0.0)

        def timed(step: str, act: Callable[[], object], times: dict[str, float] = times) -> object:
            start = time.perf_counter()
            result = act()
            times[step] += time.perf_counter() - start
            return result

        timed("select", lambda: select(session, ready_tasks(session)))
        task = session.record.task
        timed("sync", lambda: sync_similar(session))
        timed("expand", partial(expand, session, task))
        timed("pack", partial(pack_evidence, session, task))
        timed("serialize", partial(serialize, session, task))
        while (round_number := due_round(session)) is not None:
            answer = ask(session, round_number)
            timed("judge", lambda n=round_number, a=answer: judge(session, n, a))
        timed("apply", lambda: apply_answer(session))
        execute_calls(session)
        timed("signals", lambda: measure(session))
        evidence = session.snapshot.live_evidence()
        matrix = stack(evidence, session.deps.embedder.profile.dimension)
        start = time.perf_counter()
        float((matrix @ matrix.T).sum())
        product = time.perf_counter() - start
        total = sum(times.values())
        cells = [*(times[step] for step in STEPS), total, product, total / product]
        print(f"{len(evidence):8d} " + " ".join(f"{cell:9.3f}" for cell in cells), flush=True)


if __name__ == "__main__":
    main()
