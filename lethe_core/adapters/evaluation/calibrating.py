"""``lethe eval calibrate``: an embedding model's profile from passages and questions (algorithms.md 1.1)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from lethe_core.adapters.models.embedders import opened_embedder
from lethe_core.config import Settings
from lethe_core.control.embedding import Embedder, EmbeddingProfile
from lethe_core.errors import ConfigError
from lethe_core.evaluation.calibration import Thresholds, calibrate
from lethe_core.evaluation.questions import Passage, QuestionSet
from lethe_core.graph.arrays import Matrix

Told = Callable[[str, int, int], None]
"""Told what is being done, how much of it, and of how much."""

_BATCH: Final = 64  # passages embedded between two words to whoever watches


@dataclass(frozen=True, slots=True)
class Derived:
    """A model's profile with the thresholds that were derived, and what these rest on."""

    setting: str  # what `embedding` was set to
    base_url: str  # of the server behind which the model is; empty: it runs here
    profile: EmbeddingProfile
    thresholds: Thresholds


class Calibrated:
    """An `Embedder` with another profile than its own."""

    def __init__(self, inner: Embedder, profile: EmbeddingProfile) -> None:
        self._inner, self.profile = inner, profile

    def embed_documents(self, texts: Sequence[str]) -> Matrix:
        """As the inner embedder."""
        return self._inner.embed_documents(texts)

    def embed_queries(self, texts: Sequence[str]) -> Matrix:
        """As the inner embedder."""
        return self._inner.embed_queries(texts)


def calibrate_embedding(data: QuestionSet, *, settings: Settings, told: Told) -> Derived:
    """Derive the thresholds of the configured model, whether it has a profile or not.

    Raises ConfigError and ModelError as opening the model does, ConfigError for a set that is too small.
    """
    with opened_embedder(settings, uncalibrated=True) as embedder:
        vectors = embed_passages(embedder, data.passages, told)
        thresholds = derived_thresholds(data, embedder, vectors)
        return Derived(
            settings.embedding, settings.embedding_base_url, _with(embedder.profile, thresholds), thresholds
        )


def calibrated_profile(data: QuestionSet, embedder: Embedder, vectors: Matrix) -> EmbeddingProfile:
    """The embedder's profile with thresholds from a set. vectors: (n, d) of its passages."""
    return _with(embedder.profile, derived_thresholds(data, embedder, vectors))


def derived_thresholds(data: QuestionSet, embedder: Embedder, vectors: Matrix) -> Thresholds:
    """The thresholds from a set. vectors: (n, d) of its passages. Passages of one title are one source."""
    sources = [passage.title or passage.id for passage in data.passages]
    return calibrate(vectors, sources, embedder.embed_queries([one.text for one in data.questions]))


def embed_passages(embedder: Embedder, passages: Sequence[Passage], told: Told) -> Matrix:
    """Embeddings of passages, title and text, in document mode: (n, d). Raises ConfigError for none."""
    if not passages:
        raise ConfigError("there is no passage to embed")
    rows: list[Matrix] = []
    for start in range(0, len(passages), _BATCH):
        told("embedding the passages", start, len(passages))
        rows.append(embedder.embed_documents([one.embed_text for one in passages[start : start + _BATCH]]))
    return np.concatenate(rows)


def _with(profile: EmbeddingProfile, thresholds: Thresholds) -> EmbeddingProfile:
    return replace(
        profile,
        similar_threshold=round(thresholds.similar_threshold, 3),
        duplicate_threshold=thresholds.duplicate_threshold,
        ga_floor=round(thresholds.ga_floor, 3),
    )
