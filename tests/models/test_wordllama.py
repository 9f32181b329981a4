"""The static embedder: the same vectors as its package gives, whatever the text."""

import logging
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lethe_core.adapters.models.wordllama import WordLlamaEmbedder, package_file
from lethe_core.errors import ModelUnavailableError

ANY_TEXT = st.text(alphabet=st.characters(exclude_categories=()), max_size=60)


@pytest.fixture(scope="module")
def embedder() -> WordLlamaEmbedder:
    return WordLlamaEmbedder()


def test_vectors_equal_those_of_the_package(embedder: WordLlamaEmbedder) -> None:
    handlers, level = logging.root.handlers[:], logging.root.level
    import wordllama

    logging.root.handlers[:] = handlers
    logging.root.setLevel(level)
    reference = wordllama.WordLlama.load(cache_dir=Path(wordllama.__file__).parent, disable_download=True)
    texts = ["The mill closed in 1987.", "Zürich – größer als 3 km²", "one", "a longer text, " * 90]
    np.testing.assert_allclose(embedder.embed_documents(texts), reference.embed(texts, norm=True), atol=1e-6)


@settings(max_examples=80, deadline=None)
@given(texts=st.lists(ANY_TEXT, max_size=5))
def test_every_text_gives_a_unit_or_a_zero_vector(embedder: WordLlamaEmbedder, texts: list[str]) -> None:
    rows = embedder.embed_documents(texts)
    assert rows.shape == (len(texts), embedder.profile.dimension)
    assert rows.dtype == np.float32
    norms = np.linalg.norm(rows, axis=1)
    assert all(abs(norm - 1) < 1e-5 or norm == 0 for norm in norms)
    assert all(norm == 0 for norm, text in zip(norms, texts, strict=True) if not text.strip())


@settings(max_examples=40, deadline=None)
@given(text=ANY_TEXT, others=st.lists(ANY_TEXT, max_size=4))
def test_a_vector_does_not_depend_on_its_company(
    embedder: WordLlamaEmbedder, text: str, others: list[str]
) -> None:
    alone = embedder.embed_documents([text])[0]
    assert np.array_equal(embedder.embed_documents([*others, text])[-1], alone)


@pytest.mark.parametrize("text", ["", "  \n", "\0", "\ud800", "a\ud800b\0c"])
def test_hostile_texts_are_embedded_without_an_error(embedder: WordLlamaEmbedder, text: str) -> None:
    assert np.isfinite(embedder.embed_queries([text])).all()


def test_blank_texts_give_the_zero_vector(embedder: WordLlamaEmbedder) -> None:
    assert not embedder.embed_documents(["", " \t\n", "\0"]).any()


def test_a_missing_file_is_named_with_what_to_do() -> None:
    with pytest.raises(ModelUnavailableError, match=r"weights/none.*reinstall"):
        package_file("weights/none.safetensors")
