"""The whole control loop on real passages: what its signals do, and when it stops.

Rich, poor, single-source and duplicate-only corpora, a question of one part and one of twenty, each worked
on by two reasoners: the extractive one, which finishes its tasks, and a tireless one, which searches for ever
and finishes nothing, so that only the potential can end it. A question of more than ten parts aims at three
iterations a part, as users are told to (README.md). Printed: a line a session; drawn: coverage, novelty,
convergence, plateau, pressure and ψ by iteration, and the stop.

The goals; each that is missed is said and makes the exit code 1: no session ends before each of its parts was
tried, and the extractive one of a rich corpus not before it has concluded; with nothing to find ψ ends it
within section 4's figures (11 iterations with one part, 20 with twenty), and the extractive one within four
iterations a task, the question's own division aside; none runs into a hard cap or ends for want of an answer.

    python benchmarks/control.py ../shared/data/hotpotqa [--picture docs/control.svg] [--parts 1,20]
"""

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from loop import iterate

from lethe_core.adapters.bootstrap import session_deps
from lethe_core.adapters.stores.owner import make_owner
from lethe_core.config import load_settings
from lethe_core.control.budget import BudgetConfig
from lethe_core.din.document import DinRead
from lethe_core.din.operations import Operation, WebSearch
from lethe_core.din.read import parse_din
from lethe_core.evidence.names import names
from lethe_core.graph.nodes import SessionId, TaskStatus
from lethe_core.reasoning.extractive import decide
from lethe_core.reasoning.hops import second_searches
from lethe_core.reasoning.protocol import Answer, Prompt
from lethe_core.reasoning.queries import first_queries, reworded, searched, signature, unused
from lethe_core.report.document import Report
from lethe_core.session.finishing import check_stop, draft_report
from lethe_core.session.handle import SessionHandle
from lethe_core.session.opening import open_session
from lethe_core.session.stopping import assess, last_signals
from lethe_core.session.syncing import sync_similar

CORPORA = ("rich", "poor", "single source", "duplicates")
REASONERS = ("tireless", "extractive")
NOTHING_TO_FIND = 11  # iterations with few parts, and one a part with many (algorithms.md 4)
A_TASK = 4  # iterations of the extractive reasoner, with nothing to find
TARGET = 30  # iterations, the default
A_PART = 3  # iterations to aim at, of a question with more than ten parts
SOUND_ENDS = ("goal_complete", "no_ready_tasks", "converged", "budget")
LINES = ("coverage", "novelty", "convergence", "plateau", "pressure", "ψ")
COLOURS = ("#1b7837", "#e08214", "#2166ac", "#80cdc1", "#999999", "#b2182b")
COPIES = 40
STOPS_ABOVE = BudgetConfig().stop_threshold


@dataclass
class Run:
    """What one session did."""

    corpus: str
    parts: int
    reasoner: str
    values: list[tuple[float, ...]] = field(default_factory=list)  # of LINES, by iteration
    dividing: int = 0  # iterations that a question of several parts took itself
    stop: str = ""
    tried: int = 0  # parts that were worked on
    done: int = 0  # parts that ended DONE
    covered: float = 0.0  # mean coverage of the parts at the end
    evidence: int = 0
    cited: int = 0  # sources that the report cites
    answered: int = 0  # parts whose supporting passages it all cites; only of the rich corpus

    @property
    def iterations(self) -> int:
        return len(self.values)


class Tireless:
    """Divides the question as the extractive reasoner does, then searches for ever, with ever new words.

    Like a model that is never content: what it found it concludes from once, and goes on.
    """

    name = "tireless"
    extractive = True
    deterministic = True
    context_window = 32_768

    def __init__(self, embedder: Any) -> None:
        self._embedder = embedder

    def check(self) -> None: ...

    def answer(self, prompt: Prompt, *, deadline: float) -> Answer:  # noqa: ARG002
        din = parse_din(prompt.user)
        operations = self._operations(din)
        text = json.dumps({"operations": [one.model_dump(mode="json") for one in operations]})
        return Answer(text, prompt_tokens=0, completion_tokens=0, model=self.name)

    def _operations(self, din: DinRead) -> list[Operation]:
        divided = decide(din, self._embedder) if din.is_root else []
        if din.subtasks or (divided and divided[0].op == "create"):
            return divided
        concluded = any(block.synthesis for block in din.evidence)
        if din.evidence and len(din.warns) % 3 == 2 and not concluded:
            conclusion = [one for one in decide(din, self._embedder) if one.op == "synthesize"]
            if conclusion:
                return conclusion
        made = searched(din.warns)
        queries: list[str] = []
        for query in self._queries(din):
            queries = unused([*queries, query], made)
            if len(queries) == 2:
                break
        return [WebSearch(op="web_search", query=query[:1000]) for query in queries]

    def _queries(self, din: DinRead) -> Iterator[str]:
        yield from first_queries(din.goal)
        yield from second_searches(din.goal, din.evidence)
        yield from reworded(din.goal)
        mark = " ".join(signature(din.goal))
        for block in din.evidence:
            for name in names(block.content):
                yield f"{name} {mark}"
        words = " ".join(first_queries(din.goal)[:1]).split()
        for left in range(len(words)):
            yield " ".join(words[:left] + words[left + 1 :])
        for number in count(1):
            yield f"{' '.join(words)} {number}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("data", type=Path, help="folder with corpus.jsonl and questions.jsonl")
    parser.add_argument("--picture", type=Path, help="draw into this file (.svg or .png)")
    parser.add_argument("--corpora", default=",".join(CORPORA), help=f"default {','.join(CORPORA)}")
    parser.add_argument("--reasoners", default=",".join(REASONERS), help=f"default {','.join(REASONERS)}")
    parser.add_argument("--parts", default="1,20", help="how many parts the question has (default 1,20)")
    arguments = parser.parse_args()
    if not (arguments.data / "corpus.jsonl").is_file():
        sys.exit(f"{arguments.data} holds no corpus.jsonl")
    passages = _rows(arguments.data / "corpus.jsonl")
    questions = _rows(arguments.data / "questions.jsonl")
    parts = [int(count) for count in arguments.parts.split(",")]
    runs: list[Run] = []
    print(
        f"{'corpus':14} {'parts':>5} {'reasoner':10} {'stop':15} {'iterations':>10} {'tried':>5} {'done':>5} "
        f"{'covered':>7} {'evidence':>8} {'cited':>5} {'answered':>8}"
    )
    with tempfile.TemporaryDirectory(prefix="lethe-control-") as made:
        for corpus in arguments.corpora.split(","):
            folder = Path(made) / corpus.replace(" ", "-")
            folder.mkdir()
            write_corpus(corpus, folder, passages, questions)
            for n_parts in parts:
                for reasoner in arguments.reasoners.split(","):
                    run = work(corpus, n_parts, reasoner, folder, Path(made) / "home", questions)
                    runs.append(run)
                    print(
                        f"{run.corpus:14} {run.parts:5d} {run.reasoner:10} {run.stop:15} "
                        f"{run.iterations:10d} {run.tried:5d} {run.done:5d} {run.covered:7.2f} "
                        f"{run.evidence:8d} {run.cited:5d} {run.answered:8d}",
                        flush=True,
                    )
    missed = list(complaints(runs))
    for complaint in missed:
        print(f"MISSED: {complaint}")
    if arguments.picture:
        draw(runs, arguments.picture)
        print(f"drawn into {arguments.picture}")
    sys.exit(1 if missed else 0)


def write_corpus(kind: str, folder: Path, passages: Sequence[Any], questions: Sequence[Any]) -> None:
    """Files of one kind of corpus; of the poor one, such as have nothing to do with what is asked."""
    texts = [f"# {one['title']}\n\n{one['text']}\n" for one in passages]
    if kind == "rich":
        for one, text in zip(passages, texts, strict=True):
            (folder / f"{one['id']}.md").write_text(text, "utf-8")
    elif kind == "poor":
        (folder / "butter.md").write_text(
            "# Butter\n\nButter is made of cream, and cream of milk.\n", "utf-8"
        )
        (folder / "glue.md").write_text("# Glue\n\nBone glue is boiled from hides at low heat.\n", "utf-8")
    elif kind == "single source":
        (folder / "all.md").write_text("\n".join(texts), "utf-8")
    else:
        gold = set(questions[0]["gold"][:1])
        text = next(text for one, text in zip(passages, texts, strict=True) if one["id"] in gold)
        for number in range(COPIES):
            name = "copy-" + "".join(chr(ord("a") + int(digit)) for digit in f"{number:03d}")
            (folder / f"{name}.md").write_text(text, "utf-8")


def work(corpus: str, parts: int, reasoner: str, folder: Path, home: Path, questions: Sequence[Any]) -> Run:
    """One session to its end."""
    run = Run(corpus, parts, reasoner)
    asked = [row["question"] for row in questions[:parts]]
    goal = asked[0]
    if parts > 1:
        goal = "Answer these:\n" + "\n".join(f"{n}. {text}" for n, text in enumerate(asked, start=1))
    target = max(TARGET, A_PART * parts)
    settings = load_settings({"corpus": (folder,), "home": home, "max_iterations": target}).settings
    with session_deps(settings) as deps:
        if reasoner == "tireless":
            deps = replace(deps, reasoner=Tireless(deps.embedder))
        name = SessionId(f"s-{corpus.split()[0]}-{parts}-{reasoner}")
        session = open_session(deps, goal, name, owner=make_owner())
        try:
            while not (stop := check_stop(session)):
                iterate(session)
                run.values.append(_values(session))
                run.dividing += parts > 1 and session.snapshot.root.last_selected == run.iterations
            run.stop = stop
            sync_similar(session, final=True)
            _count(run, session, draft_report(session, stop).report, questions)
        finally:
            session.close()
    return run


def _values(session: SessionHandle) -> tuple[float, ...]:
    signals = last_signals(session.state)
    weighed = assess(session.state, session.snapshot, session.deps.budget, seconds=session.seconds)
    return (
        signals.goal_coverage,
        signals.novelty,
        signals.convergence,
        signals.plateau,
        weighed.pressure,
        weighed.psi,
    )


def _count(run: Run, session: SessionHandle, report: Report, questions: Sequence[Any]) -> None:
    snapshot = session.snapshot
    parts = snapshot.children(snapshot.root.id) or [snapshot.root]
    run.tried = sum(task.last_selected > 0 for task in parts)
    run.done = sum(task.status is TaskStatus.DONE for task in parts)
    run.covered = last_signals(session.state).goal_coverage
    found = {Path(source.address).stem for source in report.sources}
    run.evidence, run.cited = len(snapshot.evidence), len(found)
    run.answered = sum(found.issuperset(row["gold"]) for row in questions[: run.parts])


def complaints(runs: Sequence[Run]) -> Iterator[str]:
    """Which of the goals were missed, in words."""
    for run in runs:
        what = f"{run.corpus}, {run.parts} parts, {run.reasoner}"
        on_parts = run.iterations - run.dividing
        if run.stop not in SOUND_ENDS:
            yield f"{what}: ended by {run.stop.replace('_', ' ')}"
        if run.tried < run.parts:
            yield f"{what}: {run.stop} with {run.tried} of {run.parts} parts tried"
        if run.corpus == "rich" and run.reasoner == "extractive" and run.stop != "goal_complete":
            yield f"{what}: {run.stop} with {run.done} of {run.parts} parts done, not concluded from"
        if run.corpus == "poor" and run.reasoner == "tireless":
            most = max(NOTHING_TO_FIND, run.parts)
            if run.stop != "converged" or on_parts > most:
                yield f"{what}: {run.stop} after {on_parts}, ψ should have ended it by {most}"
        if run.corpus == "poor" and run.reasoner == "extractive" and on_parts > A_TASK * run.parts:
            yield f"{what}: {on_parts} iterations, more than {A_TASK} a task"


def draw(runs: Sequence[Run], picture: Path) -> None:
    import matplotlib

    matplotlib.use("agg")
    # The file is the same for the same values: it stands in the documentation.
    matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "lethe", "font.size": 8})
    import matplotlib.pyplot as plt
    from matplotlib.lines import Line2D
    from matplotlib.ticker import MaxNLocator

    columns = [(parts, reasoner) for reasoner in REASONERS for parts in sorted({run.parts for run in runs})]
    figure, axes = plt.subplots(
        len(CORPORA),
        len(columns),
        figsize=(3.2 * len(columns), 2.1 * len(CORPORA)),
        sharey=True,
        squeeze=False,
    )
    for run in runs:
        row, column = CORPORA.index(run.corpus), columns.index((run.parts, run.reasoner))
        axis = axes[row][column]
        steps = range(1, run.iterations + 1)
        for number, (name, colour) in enumerate(zip(LINES, COLOURS, strict=True)):
            bold = 2.0 if name == "ψ" else 1.1
            axis.plot(
                steps,
                [values[number] for values in run.values],
                color=colour,
                linewidth=bold,
                label=name,
                marker="." if run.iterations < 4 else None,
            )
        axis.axhline(STOPS_ABOVE, color="#b2182b", linewidth=0.6, linestyle=":")
        axis.xaxis.set_major_locator(MaxNLocator(nbins=8, integer=True))
        axis.axvline(run.iterations, color="black", linewidth=0.6)
        axis.set_ylim(-0.03, 1.03)
        axis.set_xlim(0.5, max(run.iterations * 1.02, run.iterations + 0.5))
        axis.set_title(f"{run.stop.replace('_', ' ')} after {run.iterations}", fontsize=8, loc="right")
        if row == len(CORPORA) - 1:
            axis.set_xlabel("iteration")
        if column == 0:
            axis.set_ylabel(run.corpus, fontsize=10)
    for column, (parts, reasoner) in enumerate(columns):
        heading = f"{reasoner}, {parts} part{'s' if parts > 1 else ''}"
        axes[0][column].annotate(
            heading,
            xy=(0.5, 1.22),
            xycoords="axes fraction",
            ha="center",
            fontsize=10,
            fontweight="bold",
        )
    handles, labels = axes[0][0].get_legend_handles_labels()
    handles.append(Line2D([], [], color="#b2182b", linewidth=0.6, linestyle=":"))
    labels.append(f"ψ stops above {STOPS_ABOVE}")
    figure.legend(handles, labels, loc="lower center", ncol=len(labels), frameon=False)
    figure.tight_layout(rect=(0, 0.04, 1, 0.98))
    picture.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(picture, metadata={"Date": None} if picture.suffix == ".svg" else None, dpi=110)


def _rows(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]


if __name__ == "__main__":
    main()
