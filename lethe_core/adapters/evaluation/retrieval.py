"""``lethe eval retrieval``: how much of the evidence stands among the first k passages, by each method."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from lethe_core.adapters.evaluation.calibrating import Calibrated, Told, calibrated_profile, embed_passages
from lethe_core.adapters.evaluation.searching import PassageLoop
from lethe_core.adapters.evaluation.whole import METHODS, WholeCorpus
from lethe_core.adapters.models.embedders import opened_embedder, profile_of
from lethe_core.config import Settings
from lethe_core.control.embedding import Embedder
from lethe_core.errors import ConfigError
from lethe_core.evaluation.metrics import Interval, all_evidence_at, bootstrap_mean, recall_at
from lethe_core.evaluation.questions import Question, QuestionSet
from lethe_core.graph.arrays import Matrix

_LOOP: Final = ("first search", "second search")
ALL_METHODS: Final = (*METHODS, *_LOOP)


@dataclass(frozen=True, slots=True)
class Measure:
    """One method at one k, over all questions."""

    method: str  # of ALL_METHODS
    k: int
    recall: Interval
    all_evidence: Interval


@dataclass(frozen=True, slots=True)
class Retrieval:
    """What came of an evaluation."""

    embedding: str
    n_passages: int
    n_questions: int
    measures: tuple[Measure, ...]  # by method, then by k
    gains: tuple[tuple[int, Interval], ...]  # by k: all evidence, the second search less the one shot
    brought: float  # passages that the two searches brought, a question
    brought_all: float  # share of the questions whose evidence was all among them


def evaluate_retrieval(
    data: QuestionSet,
    folder: Path,
    *,
    settings: Settings,
    ks: Sequence[int],
    told: Told = lambda what, done, total: None,  # noqa: ARG005
) -> Retrieval:
    """Ask every question of every method. folder: an empty one, for the loop's files.

    A model of one's own, from a folder or a server, that nothing was measured for gets its thresholds here.

    Raises ConfigError for an unknown embedding or a k below 1, ModelError when the model does not load.
    """
    if not ks or min(ks) < 1:
        raise ConfigError(f"k is {', '.join(map(str, ks)) or 'empty'}: numbers from 1 on are needed")
    ks = sorted(set(ks))
    own = is_model_of_ones_own(settings)
    with opened_embedder(settings, uncalibrated=own) as embedder:
        vectors = embed_passages(embedder, data.passages, told)
        if own:
            told("deriving the model's thresholds from this set", 0, len(data.passages))
            embedder = Calibrated(embedder, calibrated_profile(data, embedder, vectors))
        return _evaluate(data, folder, embedder, vectors, ks, told)


def _evaluate(
    data: QuestionSet, folder: Path, embedder: Embedder, vectors: Matrix, ks: Sequence[int], told: Told
) -> Retrieval:
    whole = WholeCorpus(data.passages, vectors, embedder)
    rankings: dict[str, list[tuple[str, ...]]] = {method: [] for method in ALL_METHODS}
    for number, question in enumerate(data.questions):
        told("one shot over the whole corpus", number, len(data.questions))
        for method, ranking in whole.rankings(question).items():
            rankings[method].append(ranking)
    brought: list[frozenset[str]] = []
    with PassageLoop.over(
        data.passages,
        folder,
        embedder=embedder,
        progress=lambda done, total, _: told("indexing the passages", done, total),
    ) as loop:
        for number, question in enumerate(data.questions):
            told("searching twice", number, len(data.questions))
            rounds = loop.ask(question)
            rankings[_LOOP[0]].append(rounds.first)
            rankings[_LOOP[1]].append(rounds.second)
            brought.append(rounds.found)
    return _measured(data, embedder.profile.name, ks, rankings, brought)


def is_model_of_ones_own(settings: Settings) -> bool:
    """Whether the configured model is a folder's or a server's that has no thresholds yet."""
    if profile_of(settings, uncalibrated=True).dimension:
        return False
    given = (settings.embedding_similar_threshold, settings.embedding_ga_floor)
    return None in given and bool(settings.embedding_base_url or Path(settings.embedding).is_dir())


def _measured(
    data: QuestionSet,
    embedding: str,
    ks: Sequence[int],
    rankings: dict[str, list[tuple[str, ...]]],
    brought: Sequence[frozenset[str]],
) -> Retrieval:
    questions = data.questions
    measures = [
        Measure(
            method,
            k,
            bootstrap_mean(
                [recall_at(ranking, q.gold, k) for ranking, q in _each(rankings[method], questions)]
            ),
            bootstrap_mean(_all_at(rankings[method], questions, k)),
        )
        for method in ALL_METHODS
        for k in ks
    ]
    gains = [
        (
            k,
            bootstrap_mean(
                np.subtract(
                    _all_at(rankings["second search"], questions, k),
                    _all_at(rankings["context"], questions, k),
                )
            ),
        )
        for k in ks
    ]
    return Retrieval(
        embedding=embedding,
        n_passages=len(data.passages),
        n_questions=len(questions),
        measures=tuple(measures),
        gains=tuple(gains),
        brought=sum(map(len, brought)) / len(questions),
        brought_all=sum(found.issuperset(q.gold) for found, q in zip(brought, questions, strict=True))
        / len(questions),
    )


def _each(
    rankings: Sequence[tuple[str, ...]], questions: Sequence[Question]
) -> "zip[tuple[tuple[str, ...], Question]]":
    return zip(rankings, questions, strict=True)


def _all_at(rankings: Sequence[tuple[str, ...]], questions: Sequence[Question], k: int) -> list[float]:
    return [float(all_evidence_at(ranking, q.gold, k)) for ranking, q in _each(rankings, questions)]
