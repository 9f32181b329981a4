"""The embedding model that a configuration names: static vectors, a model run here, or a server's."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from lethe_core.adapters.models.embedding_cache import CachedEmbedder
from lethe_core.adapters.models.wordllama import WordLlamaEmbedder
from lethe_core.config import Settings
from lethe_core.control.embedding import Embedder, EmbeddingProfile
from lethe_core.control.profiles import (
    WORDLLAMA_256,
    Thresholds,
    adjusted,
    blank_profile,
    find_profile,
    known_profile,
)
from lethe_core.errors import ConfigError


@contextmanager
def opened_embedder(settings: Settings, *, uncalibrated: bool = False) -> Iterator[Embedder]:
    """The embedding model of a configuration, each different text asked for once.

    uncalibrated: a model without thresholds is taken, too, with such that nothing reaches: for deriving them.
    Raises ConfigError, CredentialsError, ModelUnavailableError, ModelResponseError.
    """
    profile = profile_of(settings, uncalibrated=uncalibrated)
    if settings.embedding_base_url:
        # Its client takes a fifth of a second to import.
        from lethe_core.adapters.models.openai_embeddings import OpenAIEmbedder

        remote = OpenAIEmbedder(profile, settings.embedding_base_url, api_key=settings.embedding_api_key)
        try:
            yield CachedEmbedder(remote)
        finally:
            remote.close()
    elif profile.name == WORDLLAMA_256.name:
        yield CachedEmbedder(WordLlamaEmbedder(profile))
    else:
        from lethe_core.adapters.models.sentence_transformer import SentenceTransformerEmbedder

        yield CachedEmbedder(SentenceTransformerEmbedder(profile))


def profile_of(settings: Settings, *, uncalibrated: bool = False) -> EmbeddingProfile:
    """The profile of the configured model; nothing is loaded. Raises ConfigError.

    A folder's model is called by the folder's path; one that is named like a known model has its thresholds.
    """
    name = settings.embedding.strip()
    given = Thresholds(
        query_prompt=settings.embedding_query_prompt,
        similar_threshold=settings.embedding_similar_threshold,
        duplicate_threshold=settings.embedding_duplicate_threshold,
        ga_floor=settings.embedding_ga_floor,
    )
    folder = _folder(name) if not settings.embedding_base_url else None
    known = known_profile(name if folder is None else folder.name)
    # A name without a publisher is no model's that could be loaded: it is a slip of the pen.
    loadable = folder is not None or settings.embedding_base_url or "/" in name
    if known is None and uncalibrated and loadable and not given.suffice:
        profile = adjusted(blank_profile(name), given)
    else:
        profile = find_profile(known.name if known is not None else name, given)
    return profile if folder is None else replace(profile, name=str(folder), revision="")


def settings_of_filled(settings: Settings, key: str) -> Settings:
    """The configuration of the model that filled a session. key: the session's profile, NAME[@REVISION].

    The present one where that model is configured, otherwise the model's name alone.
    """
    name, _, _ = key.partition("@")
    try:
        if profile_of(settings).name == name:
            return settings
    except ConfigError:
        pass  # what is configured now does not matter
    others = ("base_url", "query_prompt", "similar_threshold", "duplicate_threshold", "ga_floor")
    plain = {f"embedding_{other}": Settings.model_fields[f"embedding_{other}"].default for other in others}
    return settings.model_copy(update={"embedding": name, **plain})


def _folder(name: str) -> Path | None:
    """The folder that a name is; None for a model's name. Raises ConfigError for a path to nothing."""
    path = Path(name).expanduser()
    if path.name == name and known_profile(name) is not None:
        return None  # whatever lies in the working folder under a known model's name
    if path.is_dir():
        return path.resolve()
    if path.is_absolute() or name.startswith((".", "~")):
        raise ConfigError(f"the embedding model's folder is not there: {path}")
    return None
