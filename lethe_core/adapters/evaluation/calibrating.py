"""``lethe eval calibrate``: an embedding model's profile from passages and questions (algorithms.md 1.1)."""

from dataclasses import dataclass, replace

from lethe_core.adapters.evaluation.retrieval import Told, embed_passages
from lethe_core.adapters.models.embedders import opened_embedder
from lethe_core.config import Settings
from lethe_core.control.embedding import Embedder, EmbeddingProfile
from lethe_core.evaluation.calibration import Thresholds, calibrate
from lethe_core.evaluation.questions import QuestionSet
from lethe_core.graph.arrays import Matrix


@dataclass(frozen=True, slots=True)
class Calibrated:
    """A model's profile with the thresholds that were derived, and what these rest on."""

    setting: str  # what `embedding` was set to
    base_url: str  # of the server behind which the model is; empty: it runs here
    profile: EmbeddingProfile
    thresholds: Thresholds


def calibrate_embedding(data: QuestionSet, *, settings: Settings, told: Told) -> Calibrated:
    """Derive the thresholds of the configured model, whether it has a profile or not.

    Raises ConfigError and ModelError as opening the model does, ConfigError for a set that is too small.
    """
    with opened_embedder(settings, uncalibrated=True) as embedder:
        vectors = embed_passages(embedder, data.passages, told)
        thresholds = derive(data, embedder, vectors)
        profile = replace(
            embedder.profile,
            similar_threshold=round(thresholds.similar_threshold, 3),
            duplicate_threshold=thresholds.duplicate_threshold,
            ga_floor=round(thresholds.ga_floor, 3),
        )
    return Calibrated(settings.embedding, settings.embedding_base_url, profile, thresholds)


def derive(data: QuestionSet, embedder: Embedder, vectors: Matrix) -> Thresholds:
    """The thresholds from a set. vectors: (n, d) of its passages. Passages of one title are one source."""
    sources = [passage.title or passage.id for passage in data.passages]
    return calibrate(vectors, sources, embedder.embed_queries([one.text for one in data.questions]))
