"""Embeddings behind an OpenAI-compatible ``/v1/embeddings``: batched, patient with a busy server."""

import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Final

import httpx
import numpy as np
from pydantic import BaseModel, Field, SecretStr, ValidationError

from lethe_core.adapters.models.openai_connection import (
    KEY_OF_EMBEDDINGS,
    URL_OF_EMBEDDINGS,
    checked_key,
    endpoint_of,
    open_client,
    retry_after,
)
from lethe_core.adapters.models.openai_refusal import MAX_SHOWN, TRANSIENT, error_text
from lethe_core.adapters.models.wordllama import readable
from lethe_core.control.embedding import EmbeddingProfile
from lethe_core.errors import ConfigError, CredentialsError, ModelResponseError, ModelUnavailableError
from lethe_core.graph.arrays import Matrix

MAX_WAIT_SECONDS: Final = 60.0  # a server that asks for more is not waited for
MIN_KEY: Final = 8  # characters; a shorter one is no secret


@dataclass(frozen=True, slots=True)
class OpenAIEmbeddingsConfig:
    batch_texts: int = 64
    batch_characters: int = 100_000  # of one request; servers bound its tokens
    max_characters: int = 20_000  # of one text: what is longer says no more, and servers refuse it
    tries: int = 5
    first_wait: float = 0.5  # seconds, doubled with each further one, where the server names none
    timeout: float = 120.0  # seconds without a byte: a model on a processor takes its time


class _Row(BaseModel):
    index: int = Field(ge=0)
    embedding: Annotated[list[float], Field(min_length=1)]


class _Body(BaseModel):
    data: list[_Row]


class OpenAIEmbedder:
    """An `Embedder`; safe to use from several threads.

    profile: its name is the model's on the server; a dimension of 0 is told by the server's first answer,
    which is asked for here. Raises ConfigError for an address that is none or a model of another dimension
    than its profile says, CredentialsError for a refused key or an unknown model, ModelUnavailableError.
    """

    def __init__(
        self,
        profile: EmbeddingProfile,
        base_url: str,
        *,
        api_key: SecretStr | None = None,
        config: OpenAIEmbeddingsConfig | None = None,
    ) -> None:
        self._config = config or OpenAIEmbeddingsConfig()
        self._endpoint = endpoint_of(base_url, "/embeddings", URL_OF_EMBEDDINGS)
        shown = self._endpoint.copy_with(username=None, password=None, query=None)
        self._where = f"the embedding server at {str(shown).removesuffix('/embeddings')}"
        self._key = checked_key(api_key, KEY_OF_EMBEDDINGS)
        self._client = open_client(self._endpoint, self._key)
        self._profile = profile
        try:
            dimension = self._ask(["dimension"]).shape[1]
            if profile.dimension not in (0, dimension):
                raise ConfigError(
                    f"{self._where} gives {dimension} dimensions for {profile.name}, its profile says "
                    f"{profile.dimension}: it is another model of that name"
                )
        except BaseException:
            self._client.close()
            raise
        self._profile = replace(profile, dimension=dimension)

    @property
    def profile(self) -> EmbeddingProfile:
        return self._profile

    def close(self) -> None:
        """Close the connections; the embedder cannot be used any more."""
        self._client.close()

    def embed_documents(self, texts: Sequence[str]) -> Matrix:
        """Embed texts: (n, d) unit float32; a blank text gives the zero vector and is not sent."""
        return self._embed(texts, "")

    def embed_queries(self, texts: Sequence[str]) -> Matrix:
        """Embed what is asked, behind the profile's query prompt: (n, d) unit float32."""
        return self._embed(texts, self._profile.query_prompt)

    def _embed(self, texts: Sequence[str], prompt: str) -> Matrix:
        rows = np.zeros((len(texts), self._profile.dimension), dtype=np.float32)
        present = [index for index, text in enumerate(texts) if text.strip()]
        cut = [prompt + readable(texts[index])[: self._config.max_characters] for index in present]
        at = 0
        for batch in self._batches(cut):
            made = self._ask(batch)
            if made.shape[1] != rows.shape[1]:
                raise ModelResponseError(
                    f"{self._where} gave vectors of {made.shape[1]} dimensions, before of {rows.shape[1]}: "
                    "did its model change?"
                )
            rows[present[at : at + len(batch)]] = made
            at += len(batch)
        return rows

    def _batches(self, texts: Sequence[str]) -> Iterator[list[str]]:
        batch: list[str] = []
        size = 0
        for text in texts:
            full = len(batch) == self._config.batch_texts or size + len(text) > self._config.batch_characters
            if batch and full:
                yield batch
                batch, size = [], 0
            batch.append(text)
            size += len(text)
        if batch:
            yield batch

    def _ask(self, texts: Sequence[str]) -> Matrix:
        """One request, again while the server is busy: (n, d) unit rows."""
        content = json.dumps({"model": self._profile.name, "input": list(texts)}).encode()
        for attempt in range(1, self._config.tries + 1):
            wait = self._config.first_wait * 2 ** (attempt - 1)
            try:
                response = self._client.post(
                    self._endpoint,
                    content=content,
                    headers={"Content-Type": "application/json"},
                    timeout=httpx.Timeout(self._config.timeout, connect=10.0),
                )
            except httpx.HTTPError as error:
                trouble = ModelUnavailableError(
                    f"{self._where} cannot be reached: {error or type(error).__name__} "
                    f"(is it running? {URL_OF_EMBEDDINGS} says where)"
                )
            else:
                if response.status_code < 300:
                    return self._vectors(response, len(texts))
                refused = self._refused(response)
                if not isinstance(refused, ModelUnavailableError):
                    raise refused
                trouble, asked = refused, retry_after(response)
                wait = wait if asked is None else asked
            if attempt == self._config.tries or wait > MAX_WAIT_SECONDS:
                raise trouble
            time.sleep(wait)
        raise AssertionError("unreachable: the last attempt returns or raises")

    def _vectors(self, response: httpx.Response, count: int) -> Matrix:
        try:
            rows = sorted(_Body.model_validate_json(response.content).data, key=lambda row: row.index)
            if [row.index for row in rows] != list(range(count)):
                raise ValueError(f"{len(rows)} vectors came for {count} texts")
            made = np.array([row.embedding for row in rows], dtype=np.float64)
            if not np.isfinite(made).all():
                raise ValueError("a number is NaN or infinity")
        except (ValidationError, ValueError) as error:
            first = next((line for line in str(error).splitlines() if line.strip()), "no reason given")
            raise ModelResponseError(
                f"{self._where} did not answer with embeddings: {self._scrubbed(first)[:MAX_SHOWN]} "
                f"(does {URL_OF_EMBEDDINGS} lead to an OpenAI-compatible /v1?)"
            ) from None
        norms = np.linalg.norm(made, axis=1, keepdims=True)
        np.divide(made, norms, out=made, where=norms > 0.0)
        return made.astype(np.float32)

    def _refused(
        self, response: httpx.Response
    ) -> ConfigError | CredentialsError | ModelUnavailableError | ModelResponseError:
        status = response.status_code
        said = " ".join(self._scrubbed(error_text(response)).split())[:MAX_SHOWN] or "no reason given"
        if status < 400:
            return ConfigError(
                f"{self._where} redirects (HTTP {status}), which is not followed, since the key would go "
                f"there, too (set {URL_OF_EMBEDDINGS} to the address itself)"
            )
        if status in (401, 403):
            return CredentialsError(
                f"{self._where} refused the key (HTTP {status}): {said} (set {KEY_OF_EMBEDDINGS})"
            )
        if status in (404, 405):
            return CredentialsError(
                f"{self._where} does not know the model {self._profile.name!r} or the path (HTTP {status}): "
                f"{said} (set LETHE_EMBEDDING; {URL_OF_EMBEDDINGS} usually ends in /v1)"
            )
        if status in TRANSIENT:
            return ModelUnavailableError(f"{self._where} cannot answer now (HTTP {status}): {said}")
        return ModelResponseError(f"{self._where} did not take the request (HTTP {status}): {said}")

    def _scrubbed(self, text: str) -> str:
        """A server's words without the key, which some repeat."""
        return text.replace(self._key, "…") if len(self._key) >= MIN_KEY else text
