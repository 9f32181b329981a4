"""Embedding models by name."""

from lethe_core.adapters.models.embedding_cache import CachedEmbedder
from lethe_core.adapters.models.wordllama import WordLlamaEmbedder
from lethe_core.control.embedding import Embedder
from lethe_core.control.profiles import WORDLLAMA_256, find_profile
from lethe_core.errors import ConfigError


def open_embedder(name: str) -> Embedder:
    """The embedding model of a name. Raises ConfigError for one that is not there."""
    profile = find_profile(name)
    if profile is not WORDLLAMA_256:
        raise ConfigError(
            f"the embedding model {profile.name} needs the adapter of the extra `models`, which this version "
            f"does not have yet: use {WORDLLAMA_256.name}"
        )
    return CachedEmbedder(WordLlamaEmbedder())
