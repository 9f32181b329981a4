"""The thresholds that belong to an embedding model, from passages and questions (algorithms.md 1.1)."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from lethe_core.control.vectors import normalize_cosine
from lethe_core.errors import ConfigError
from lethe_core.graph.arrays import AnyFloats, IntArray

_BLOCK = 1024  # rows of one product


@dataclass(frozen=True, slots=True)
class CalibrationConfig:
    """Which quantiles, over how many passages at most."""

    similar_quantile: float = 0.995
    similar_least: float = 0.30
    floor_quantile: float = 0.99
    duplicate: float = 0.95
    most_passages: int = 5_000  # of more, so many are drawn
    seed: int = 0


DEFAULT_CALIBRATION = CalibrationConfig()


@dataclass(frozen=True, slots=True)
class Thresholds:
    """What a profile needs beside the model's own facts."""

    similar_threshold: float  # cosine, [.30, 1]
    duplicate_threshold: float  # cosine
    ga_floor: float  # normalised cosine, [0, 1]
    n_pairs: int  # of passages of different sources, that the first rests on
    n_question_pairs: int  # of a question and a passage, that the last rests on


def calibrate(
    passages: AnyFloats,
    sources: Sequence[Hashable],
    questions: AnyFloats,
    *,
    config: CalibrationConfig = DEFAULT_CALIBRATION,
) -> Thresholds:
    """Derive the thresholds: the .995 quantile between passages of different sources, at least .30; the
    normalised .99 quantile between questions and passages.

    passages: (n, d) unit rows, title and text in document mode; sources: (n,) what each is a part of;
    questions: (m, d) unit rows in query mode. Zero rows (no text) are left out. The same input gives the same
    thresholds. Raises ConfigError when there are not two sources, or no question.
    """
    rows = np.asarray(passages, dtype=np.float32)
    asked = np.asarray(questions, dtype=np.float32)
    if rows.ndim != 2 or len(sources) != len(rows) or asked.ndim != 2 or asked.shape[1] != rows.shape[1]:
        raise ConfigError(
            f"passages {rows.shape}, {len(sources)} sources, questions {asked.shape}: they do not fit"
        )
    kept = np.flatnonzero(rows.any(axis=1))
    if kept.size > config.most_passages:
        random = np.random.default_rng(config.seed)
        kept = np.sort(random.choice(kept, config.most_passages, replace=False))
    numbers: dict[Hashable, int] = {}
    owner = np.array(
        [numbers.setdefault(sources[index], len(numbers)) for index in kept.tolist()], dtype=np.int64
    )
    rows, asked = rows[kept], asked[asked.any(axis=1)]
    if len(numbers) < 2:
        raise ConfigError(f"passages of {len(numbers)} sources hold no pair of different ones: give more")
    if not len(asked):
        raise ConfigError("no question is left to compare with the passages")
    between = _pairs(rows, owner)
    with_questions = (asked @ rows.T).ravel()
    similar = float(np.quantile(between, config.similar_quantile))
    return Thresholds(
        # Not above what counts as the same: a model whose vectors are all alike has no other threshold.
        similar_threshold=min(max(similar, config.similar_least), config.duplicate),
        duplicate_threshold=config.duplicate,
        ga_floor=float(normalize_cosine(float(np.quantile(with_questions, config.floor_quantile)))),
        n_pairs=int(between.size),
        n_question_pairs=int(with_questions.size),
    )


def _pairs(rows: AnyFloats, owner: IntArray) -> AnyFloats:
    """Cosines of all pairs i < j of different owners."""
    found = []
    for start in range(0, len(rows), _BLOCK):
        block = slice(start, start + _BLOCK)
        cosines = rows[block] @ rows.T
        later = np.arange(len(rows))[None, :] > np.arange(start, start + len(cosines))[:, None]
        found.append(cosines[later & (owner[block, None] != owner[None, :])])
    return np.concatenate(found)
