"""Embeddings over a real socket: batched, asked for once, patient, and clear about what is wrong."""

import json
import socket
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from pydantic import SecretStr

from lethe_core.adapters.models.embedders import opened_embedder
from lethe_core.adapters.models.openai_embeddings import OpenAIEmbedder, OpenAIEmbeddingsConfig
from lethe_core.config import Settings
from lethe_core.control.profiles import MINILM_L6, Thresholds, find_profile
from lethe_core.errors import (
    ConfigError,
    CredentialsError,
    LetheError,
    ModelResponseError,
    ModelUnavailableError,
)
from tests.models.embedding_server import DIMENSION, EmbeddingServer, Reply, serving, vector

PROFILE = find_profile("house-embed", Thresholds(query_prompt="query: ", similar_threshold=0.5, ga_floor=0.6))
QUICK = OpenAIEmbeddingsConfig(batch_texts=3, batch_characters=60, tries=3, first_wait=0.01)


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    with serving() as made:
        yield made


def opened(server: EmbeddingServer, **more: Any) -> OpenAIEmbedder:
    return OpenAIEmbedder(PROFILE, server.url, config=QUICK, **more)


def unit(text: str) -> np.ndarray:
    row = np.array(vector(text))
    return row / np.linalg.norm(row)


def test_vectors_come_in_the_order_of_the_texts_and_are_unit(server: EmbeddingServer) -> None:
    embedder = opened(server)
    texts = [f"text number {n}" for n in range(8)]
    rows = embedder.embed_documents(texts)
    np.testing.assert_allclose(rows, [unit(text) for text in texts], atol=1e-6)
    assert rows.dtype == np.float32
    assert embedder.profile.dimension == DIMENSION
    assert {body["model"] for body in server.requests} == {"house-embed"}


def test_a_batch_is_bounded_in_texts_and_in_characters(server: EmbeddingServer) -> None:
    embedder = opened(server)
    server.requests.clear()
    embedder.embed_documents(["short"] * 7)
    assert [len(body["input"]) for body in server.requests] == [3, 3, 1]
    server.requests.clear()
    embedder.embed_documents(["x" * 50, "y" * 50, "z"])
    assert [len(body["input"]) for body in server.requests] == [1, 2]


def test_a_query_is_sent_behind_its_prompt_and_a_document_as_it_is(server: EmbeddingServer) -> None:
    embedder = opened(server)
    embedder.embed_queries(["where?"])
    embedder.embed_documents(["there"])
    assert [body["input"] for body in server.requests[-2:]] == [["query: where?"], ["there"]]


def test_a_blank_text_is_not_sent_and_has_the_zero_vector(server: EmbeddingServer) -> None:
    embedder = opened(server)
    server.requests.clear()
    rows = embedder.embed_documents(["", "  \n", "word"])
    assert not rows[:2].any()
    assert [body["input"] for body in server.requests] == [["word"]]
    assert embedder.embed_documents([]).shape == (0, DIMENSION)


def test_through_the_settings_each_different_text_is_asked_for_once(server: EmbeddingServer) -> None:
    settings = Settings(
        embedding="house-embed",
        embedding_base_url=server.url,
        embedding_api_key=SecretStr("sk-of-the-house"),
        embedding_similar_threshold=0.5,
        embedding_ga_floor=0.6,
    )
    with opened_embedder(settings) as embedder:
        server.requests.clear()
        embedder.embed_documents(["a b", "c d", "a b"])
        embedder.embed_documents(["c d", "a b"])
    assert [body["input"] for body in server.requests] == [["a b", "c d"]]
    assert set(server.keys) == {"Bearer sk-of-the-house"}


@pytest.mark.parametrize("status", [429, 503, 500])
def test_a_busy_server_is_asked_again(server: EmbeddingServer, status: int) -> None:
    embedder = opened(server)
    server.requests.clear()
    server.replies += [Reply(status, "busy", {"Retry-After": "0"}), Reply(status, "busy")]
    np.testing.assert_allclose(embedder.embed_documents(["a b"])[0], unit("a b"), atol=1e-6)
    assert len(server.requests) == 3


def test_a_server_that_stays_busy_or_asks_for_an_hour_is_given_up(server: EmbeddingServer) -> None:
    embedder = opened(server)
    server.replies += [Reply(503, '{"error": "loading"}')] * 3
    with pytest.raises(ModelUnavailableError, match=r"HTTP 503\): loading"):
        embedder.embed_documents(["a"])
    server.requests.clear()
    server.replies.append(Reply(429, "slow down", {"Retry-After": "3600"}))
    with pytest.raises(ModelUnavailableError, match="HTTP 429"):
        embedder.embed_documents(["a"])
    assert len(server.requests) == 1


def data(*rows: list[Any]) -> str:
    return json.dumps({"data": [{"index": n, "embedding": row} for n, row in enumerate(rows)]})


@pytest.mark.parametrize(
    ("reply", "error", "said"),
    [
        (
            Reply(401, "the key sk-secret-1 is wrong"),
            CredentialsError,
            "refused the key .*the key … is wrong",
        ),
        (Reply(404, "no such model"), CredentialsError, "'house-embed'.*LETHE_EMBEDDING"),
        (Reply(302, "", {"Location": "http://elsewhere/"}), ConfigError, "redirects"),
        (Reply(400, '{"error": {"message": "input too long"}}'), ModelResponseError, "input too long"),
        (Reply(200, "<html>hello</html>"), ModelResponseError, "did not answer with embeddings"),
        (Reply(200, '{"data": []}'), ModelResponseError, "0 vectors came for 2 texts"),
        (Reply(200, data([1.0] * 8)), ModelResponseError, "1 vectors came for 2 texts"),
        (Reply(200, data([1.0] * 4, [1.0] * 4)), ModelResponseError, "4 dimensions, before of 8"),
        (Reply(200, data([1.0] * 8, [1.0] * 7)), ModelResponseError, "did not answer"),
        (Reply(200, data([1.0] * 8, [float("nan")] * 8)), ModelResponseError, "did not answer"),
        (Reply(200, data([1.0] * 8, [])), ModelResponseError, "did not answer"),
    ],
)
def test_what_is_wrong_is_said_and_what_to_do(
    server: EmbeddingServer, reply: Reply, error: type[LetheError], said: str
) -> None:
    embedder = opened(server, api_key=SecretStr("sk-secret-1"))
    server.replies.append(reply)
    with pytest.raises(error, match=said) as caught:
        embedder.embed_documents(["a", "b"])
    assert "sk-secret-1" not in str(caught.value)


def test_another_model_of_a_known_name_is_refused(server: EmbeddingServer) -> None:
    with pytest.raises(ConfigError, match=r"gives 8 dimensions .* says 384"):
        OpenAIEmbedder(MINILM_L6, server.url, config=QUICK)


def test_a_server_that_is_not_there_is_named() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    with pytest.raises(
        ModelUnavailableError, match=rf"127.0.0.1:{port}/v1 cannot be reached.*EMBEDDING_BASE"
    ):
        OpenAIEmbedder(PROFILE, f"http://127.0.0.1:{port}/v1", config=QUICK)


def test_an_address_that_is_none_is_refused() -> None:
    with pytest.raises(ConfigError, match="LETHE_EMBEDDING_BASE_URL"):
        OpenAIEmbedder(PROFILE, "ftp://host/v1", config=QUICK)
