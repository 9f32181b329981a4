"""``lethe eval``: how well evidence is found in a set of questions, and an embedding model's thresholds."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from flows.commands.common import absolute, effective_settings
from flows.commands.options import NamedPath, NamedText, common_options

if TYPE_CHECKING:
    from lethe_core.adapters.evaluation.calibrating import Derived
    from lethe_core.adapters.evaluation.retrieval import Retrieval
    from lethe_core.evaluation.metrics import Interval

MOST: Final = 1000  # a k above it says nothing about a context


def counts(ctx: click.Context, param: click.Parameter, value: str) -> tuple[int, ...]:
    """``5,10``: whole numbers from 1 on."""
    parts = [part.strip() for part in value.split(",")]
    if not all(part.isascii() and part.isdecimal() and 1 <= int(part) <= MOST for part in parts):
        raise click.BadParameter(
            f"{value!r}: give whole numbers from 1 to {MOST:,}, such as 5,10", ctx, param
        )
    return tuple(sorted({int(part) for part in parts}))


def data_options(command: Any) -> Any:
    """``--corpus``, ``--questions`` and ``--embedding``."""
    for option in (
        click.option(
            "--embedding",
            type=NamedText(),
            metavar="NAME",
            help="The embedding model: a name, or a folder with a model; default: the configured one.",
        ),
        click.option(
            "--questions",
            type=NamedPath(),
            required=True,
            metavar="FILE",
            help='Lines {"id", "question", "gold": [ids of the supporting passages]}.',
        ),
        click.option(
            "--corpus",
            type=NamedPath(),
            required=True,
            metavar="FILE",
            help='Lines {"id", "title", "text"}, a passage each.',
        ),
    ):
        command = option(command)
    return command


@click.group("eval", short_help="Measure retrieval, and derive an embedding model's thresholds.")
def evaluate() -> None:
    """Measure retrieval, and derive an embedding model's thresholds."""


@evaluate.command(short_help="Say how much of the evidence is found.")
@data_options
@click.option(
    "--k",
    "ks",
    callback=counts,
    metavar="N[,N]…",
    default="5,10",
    show_default=True,
    help="Among how many passages the evidence is looked for.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@common_options
def retrieval(
    corpus: Path,
    questions: Path,
    embedding: str | None,
    ks: tuple[int, ...],
    as_json: bool,
    debug: bool,  # noqa: ARG001 (read by the entry point)
    config: Path | None,
    home: Path | None,
) -> int:
    """Say how much of the evidence stands among the first k passages, with 95 % bootstrap intervals.

    In one shot over the whole corpus: dense, BM25, their reciprocal rank fusion, plain PageRank over
    similarity, and Lethe's context. And for the loop: what a session packs first after its first search, and
    after a second one with what it found.
    """
    import tempfile

    from flows.evaluating import watched
    from lethe_core.adapters.evaluation.retrieval import evaluate_retrieval
    from lethe_core.adapters.evaluation.rows import read_question_set

    settings = effective_settings({"embedding": embedding}, config=config, home=home).settings
    data = read_question_set(absolute(corpus), absolute(questions))
    with tempfile.TemporaryDirectory(prefix="lethe-eval-") as folder, watched() as told:
        found = evaluate_retrieval(data, Path(folder), settings=settings, ks=ks, told=told)
    click.echo(json.dumps(_retrieval_object(found), indent=2) if as_json else _retrieval_table(found))
    return 0


@evaluate.command(short_help="Derive the thresholds of an embedding model.")
@data_options
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@common_options
def calibrate(
    corpus: Path,
    questions: Path,
    embedding: str | None,
    as_json: bool,
    debug: bool,  # noqa: ARG001 (read by the entry point)
    config: Path | None,
    home: Path | None,
) -> int:
    """Derive the thresholds that belong to an embedding model, and print a profile ready for lethe.toml.

    How alike passages of different sources are tells what SIMILAR_TO means with this model; how near
    passages are to questions tells what is on topic. The model needs no profile yet.
    """
    from flows.evaluating import watched
    from lethe_core.adapters.evaluation.calibrating import calibrate_embedding
    from lethe_core.adapters.evaluation.rows import read_question_set

    settings = effective_settings({"embedding": embedding}, config=config, home=home).settings
    data = read_question_set(absolute(corpus), absolute(questions))
    with watched() as told:
        found = calibrate_embedding(data, settings=settings, told=told)
    click.echo(json.dumps(_profile_object(found), indent=2) if as_json else _profile_text(found))
    return 0


def _retrieval_object(found: "Retrieval") -> dict[str, Any]:
    return {"schema": 1, **asdict(found), "gains": [{"k": k, **asdict(gain)} for k, gain in found.gains]}


def _retrieval_table(found: "Retrieval") -> str:
    ks = [k for k, _ in found.gains]
    heads = [f"{what} at {k}" for k in ks for what in ("recall", "all evidence")]
    at = {(measure.method, measure.k): measure for measure in found.measures}
    rows = [["", *heads]]
    for method in dict.fromkeys(measure.method for measure in found.measures):
        cells = [method]
        for k in ks:
            cells += [_interval(at[method, k].recall), _interval(at[method, k].all_evidence)]
        rows.append(cells)
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = [f"{found.n_questions:,} questions over {found.n_passages:,} passages, {found.embedding}", ""]
    lines += [
        "  ".join(f"{cell:{width}}" for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    ]
    lines.append("")
    lines += [
        f"all evidence at {k}, the second search less one shot of the context: {_interval(gain, sign=True)}"
        for k, gain in found.gains
    ]
    lines.append(
        f"the two searches brought {found.brought:.1f} passages a question, "
        f"all evidence among them for {found.brought_all:.2f} of the questions"
    )
    return "\n".join(lines)


def _interval(value: "Interval", *, sign: bool = False) -> str:
    form = "+.3f" if sign else ".3f"
    return f"{value.mean:{form}} [{value.low:{form}}, {value.high:{form}}]"


def _profile_object(found: "Derived") -> dict[str, Any]:
    return {
        "schema": 1,
        "profile": asdict(found.profile),
        "n_pairs": found.thresholds.n_pairs,
        "n_question_pairs": found.thresholds.n_question_pairs,
    }


def _profile_text(found: "Derived") -> str:
    profile, thresholds = found.profile, found.thresholds
    return "\n".join(
        [
            f"# {profile.name}: from {thresholds.n_pairs:,} pairs of passages and "
            f"{thresholds.n_question_pairs:,} of a question and a passage",
            f"embedding = {json.dumps(found.setting)}",
            *([f"embedding_base_url = {json.dumps(found.base_url)}"] if found.base_url else []),
            f"embedding_query_prompt = {json.dumps(profile.query_prompt)}",
            f"embedding_similar_threshold = {profile.similar_threshold:.3f}",
            f"embedding_duplicate_threshold = {profile.duplicate_threshold:.3f}",
            f"embedding_ga_floor = {profile.ga_floor:.3f}",
        ]
    )
