"""What an embedding model is to Lethe: a protocol and the thresholds of each model (algorithms.md 1.1)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from lethe_core.graph.arrays import Matrix


@dataclass(frozen=True, slots=True)
class EmbeddingProfile:
    """A model's name, its shape and the thresholds that belong to it."""

    name: str
    revision: str
    dimension: int
    query_prompt: str  # put before a query; empty for symmetric models
    matryoshka: bool  # whether a renormalised prefix of a vector is itself an embedding
    similar_threshold: float  # cosine, SIMILAR_TO
    duplicate_threshold: float  # cosine, semantic duplicate
    ga_floor: float  # normalised cosine, goal alignment


class Embedder(Protocol):
    """Turns texts into unit vectors; an empty text gives the zero vector."""

    @property
    def profile(self) -> EmbeddingProfile:
        """The model's shape and thresholds."""
        ...

    def embed_documents(self, texts: Sequence[str]) -> Matrix:
        """Embed evidence and tasks: (n, d) unit float32, in the order given."""
        ...

    def embed_queries(self, texts: Sequence[str]) -> Matrix:
        """Embed what is asked, with the model's query prompt: (n, d) unit float32."""
        ...
