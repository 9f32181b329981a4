"""What the whole system finds, on questions whose answers are known.

Passages become files, one each; every question is a session with default settings. Printed: in how many
reports all supporting passages are cited, in how many the answer's words stand, and what they cost in
sources and words, since quoting everything is no answer. With ``--verdict``: how often "nothing found" is
said of questions that the folder answers (it should not be), of the same with their passages taken out, and
of questions from elsewhere (it should be).

    python benchmarks/hotpotqa.py ../shared/data/hotpotqa [--questions 20] [--verdict]
"""

import argparse
import json
import os
import re
import shutil
import sys
import tempfile
import time
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from loop import research
from rich.progress import track

from lethe_core.report.document import Claim, Report
from lethe_core.report.markdown import render_markdown

T = TypeVar("T")

ELSEWHERE = (
    "What is the recommended torque for the cylinder head bolts of a 1998 diesel tractor?",
    "How do I migrate a PostgreSQL cluster from version 14 to 16 without downtime?",
    "Which enzyme limits the rate of cholesterol synthesis, and what inhibits it?",
    "What were the quarterly earnings of the largest lithium producer in 2023?",
    "How much does a season ticket for the Zurich tram network cost?",
    "What does the tax code say about depreciation of leased solar panels?",
    "Which proof technique shows that the halting problem is undecidable?",
    "What is the boiling point of liquid nitrogen at two bar?",
    "How many passengers used Lisbon airport in August 2022?",
    "What dose of ibuprofen is safe for a child of twelve kilograms?",
)


@dataclass(frozen=True, slots=True)
class Question:
    id: str
    text: str
    answer: str
    gold: frozenset[str]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("data", type=Path, help="folder with corpus.jsonl and questions.jsonl")
    parser.add_argument("--questions", type=int, default=20, help="the first N (default 20)")
    parser.add_argument("--verdict", action="store_true", help="measure the verdict 'nothing found' as well")
    arguments = parser.parse_args()
    passages = [json.loads(line) for line in _lines(arguments.data / "corpus.jsonl")]
    questions = [
        Question(row["id"], row["question"], row["answer"], frozenset(row["gold"]))
        for row in map(json.loads, _lines(arguments.data / "questions.jsonl"))
    ][: arguments.questions]
    with tempfile.TemporaryDirectory(prefix="lethe-hotpotqa-") as made:
        folder = Path(made)
        corpus = folder / "passages"
        corpus.mkdir()
        for passage in passages:
            (corpus / f"{passage['id']}.md").write_text(
                f"# {passage['title']}\n\n{passage['text']}\n", "utf-8"
            )
        measure_answers(questions, corpus, folder / "home")
        if arguments.verdict:
            measure_verdict(questions, corpus, folder)


def measure_answers(questions: Sequence[Question], corpus: Path, home: Path) -> None:
    cited = said = nothing = 0
    sources: list[int] = []
    lengths: list[int] = []
    seconds: list[float] = []
    n_open = 0
    for question in track(questions, "questions", transient=True, disable=not sys.stderr.isatty()):
        start = time.perf_counter()
        ending, _ = research(question.text, corpus, home, f"q-{question.id}")
        seconds.append(time.perf_counter() - start)
        report = ending.report
        found = {Path(source.address).stem for source in report.sources}
        cited += question.gold <= found
        nothing += not report.findings
        # "yes" and "no" stand in no passage: nothing that quotes can say them.
        if question.answer.lower() not in ("yes", "no"):
            n_open += 1
            said += _normal(question.answer) in _normal(" ".join(_texts(report)))
        sources.append(len(report.sources))
        lengths.append(len(render_markdown(report).split()))
    n = len(questions)
    print(f"{n} questions over {sum(1 for _ in corpus.iterdir())} passages")
    print(f"  all supporting passages cited   {cited} of {n}")
    print(f"  the answer's words in the report {said} of {n_open} (yes and no aside)")
    print(f"  'nothing found'                 {nothing} of {n}")
    print(f"  sources a report                {sum(sources) / n:.1f}")
    print(f"  words a report                  {sum(lengths) / n:.0f}")
    print(f"  seconds a session               {sum(seconds) / n:.2f}")


def measure_verdict(questions: Sequence[Question], corpus: Path, folder: Path) -> None:
    def silent(question: str, where: Path, name: str) -> bool:
        ending, _ = research(question, where, folder / "home", name)
        return not ending.report.findings

    intact = sum(
        silent(question.text, corpus, f"i-{question.id}") for question in _watched(questions, "intact")
    )
    removed = 0
    for question in _watched(questions, "removed"):
        # The same folder, less the supporting passages: its index is keyed by the path and stays good.
        away = folder / "away"
        away.mkdir()
        for name in question.gold:
            shutil.move(corpus / f"{name}.md", away / f"{name}.md")
        removed += silent(question.text, corpus, f"r-{question.id}")
        for name in question.gold:
            shutil.move(away / f"{name}.md", corpus / f"{name}.md")
        away.rmdir()
    elsewhere = sum(
        silent(question, corpus, f"e-{number}")
        for number, question in enumerate(_watched(ELSEWHERE, "elsewhere"))
    )
    n = len(questions)
    print("the verdict 'nothing found'")
    print(f"  wrongly, corpus intact              {intact} of {n}")
    print(f"  not said, supporting passages gone  {n - removed} of {n}")
    print(f"  said of questions from elsewhere    {elsewhere} of {len(ELSEWHERE)}")


def _watched(items: Sequence[T], what: str) -> Iterator[T]:
    return iter(track(items, what, transient=True, disable=not sys.stderr.isatty()))


def _texts(report: Report) -> Iterator[str]:
    claims: tuple[Claim, ...] = report.claims
    for claim in claims:
        yield claim.text


def _normal(text: str) -> str:
    plain = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(re.findall(r"\w+", plain))


def _lines(path: Path) -> list[str]:
    if not path.is_file():
        sys.exit(f"{path} is not there: name the folder that holds corpus.jsonl and questions.jsonl")
    return path.read_text("utf-8").splitlines()


if __name__ == "__main__":
    main()
