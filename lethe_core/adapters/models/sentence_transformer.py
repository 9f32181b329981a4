"""Sentence embedding by sentence-transformers: any published model by its name, or a folder with one.

Needs the extra ``models`` (torch). Files are looked for where the hub's own tools keep them, and
``HF_HUB_OFFLINE`` is honoured: then nothing is asked for over the network.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from lethe_core.adapters.models.wordllama import readable
from lethe_core.control.embedding import EmbeddingProfile
from lethe_core.errors import ConfigError, ModelResponseError, ModelUnavailableError
from lethe_core.graph.arrays import Matrix


@dataclass(frozen=True, slots=True)
class SentenceTransformerConfig:
    batch_size: int = 32
    max_characters: int = 50_000  # of one text: far above what a model reads, and tokenizers are slow


class SentenceTransformerEmbedder:
    """An `Embedder`; safe to use from several threads, one call at a time.

    profile: its name is a model's on the hub or a folder's path; a dimension of 0 is told by the model.
    Raises ConfigError without the extra, for a folder that holds no model, and for a model of another
    dimension than its profile says; ModelUnavailableError when its files cannot be had.
    """

    def __init__(self, profile: EmbeddingProfile, config: SentenceTransformerConfig | None = None) -> None:
        self._config = config or SentenceTransformerConfig()
        self._model = _load(profile)
        self._lock = Lock()
        self._profile = profile
        dimension = self._encode(["dimension"], None).shape[1]
        if profile.dimension not in (0, dimension):
            raise ConfigError(
                f"the embedding model {profile.name} gives {dimension} dimensions, its profile says "
                f"{profile.dimension}: it is another model of that name (name its folder instead)"
            )
        self._profile = replace(profile, dimension=dimension)

    @property
    def profile(self) -> EmbeddingProfile:
        return self._profile

    def embed_documents(self, texts: Sequence[str]) -> Matrix:
        """Embed texts: (n, d) unit float32; a blank text gives the zero vector."""
        return self._embed(texts, None)

    def embed_queries(self, texts: Sequence[str]) -> Matrix:
        """Embed what is asked, behind the profile's query prompt: (n, d) unit float32."""
        return self._embed(texts, self._profile.query_prompt or None)

    def _embed(self, texts: Sequence[str], prompt: str | None) -> Matrix:
        rows = np.zeros((len(texts), self._profile.dimension), dtype=np.float32)
        present = [index for index, text in enumerate(texts) if text.strip()]
        if present:
            cut = [readable(texts[index][: self._config.max_characters]) for index in present]
            rows[present] = self._encode(cut, prompt)
        return rows

    def _encode(self, texts: Sequence[str], prompt: str | None) -> Matrix:
        with self._lock:
            made = self._model.encode(
                list(texts),
                prompt=prompt,
                batch_size=self._config.batch_size,
                show_progress_bar=False,
                convert_to_numpy=True,
                normalize_embeddings=True,
            )
        rows = np.asarray(made, dtype=np.float32)
        if not np.isfinite(rows).all():
            raise ModelResponseError(
                f"the embedding model {self._profile.name} gave numbers that are none (NaN or infinity)"
            )
        return rows


def _load(profile: EmbeddingProfile) -> Any:
    folder = Path(profile.name)
    if folder.is_absolute() and not (folder / "config.json").is_file():
        raise ConfigError(
            f"{folder} holds no embedding model (no config.json in it): name the folder that "
            "SentenceTransformer.save wrote, or a model's name"
        )
    try:
        from sentence_transformers import SentenceTransformer
        from transformers.utils import logging as transformers_logging
    except ImportError as error:
        raise ConfigError(
            f"the embedding model {profile.name} needs the extra `models`, which is not installed "
            f"({error}): pip install 'lethe-research[models]', or set LETHE_EMBEDDING=wordllama-256"
        ) from None
    transformers_logging.disable_progress_bar()  # it would run through whatever the command shows
    revision = None if folder.is_absolute() else profile.revision or None
    try:
        return SentenceTransformer(profile.name, revision=revision)
    except (OSError, ValueError, RuntimeError) as error:
        offline = os.environ.get("HF_HUB_OFFLINE", "").casefold() in ("1", "true", "yes", "on")
        reason = next((line.strip() for line in str(error).splitlines() if line.strip()), "no reason given")
        raise ModelUnavailableError(
            f"the embedding model {profile.name} cannot be loaded: {reason[:300]} "
            + (
                "(HF_HUB_OFFLINE is set: get it once on a machine with a network by "
                if offline
                else "(get it once by "
            )
            + f"`hf download {profile.name}`, or set LETHE_EMBEDDING to a folder that holds it)"
        ) from None
