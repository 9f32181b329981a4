"""A real, tiny sentence-transformers model from a folder; without the extra, what is said instead."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from lethe_core.adapters.models.sentence_transformer import SentenceTransformerEmbedder
from lethe_core.control.profiles import MINILM_L6, Thresholds, find_profile
from lethe_core.errors import ConfigError, ModelUnavailableError

installed = importlib.util.find_spec("sentence_transformers") is not None
needs_extra = pytest.mark.skipif(not installed, reason="the extra `models` is not installed")
GIVEN = Thresholds(query_prompt="query: ", similar_threshold=0.5, ga_floor=0.6)


@pytest.mark.skipif(installed, reason="the extra `models` is installed")
def test_without_the_extra_it_is_said_how_to_get_it() -> None:
    with pytest.raises(ConfigError, match=r"pip install 'lethe-research\[models\]'.*wordllama-256"):
        SentenceTransformerEmbedder(MINILM_L6)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Random weights in the shape of a published model, saved as its makers save theirs."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.models import Pooling, Transformer
    from transformers import BertConfig, BertModel, BertTokenizerFast

    made = tmp_path_factory.mktemp("models") / "bert"
    made.mkdir()
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "mill", "closed", "query", ":", "river"]
    (made / "vocab.txt").write_text("\n".join(words), "utf-8")
    BertTokenizerFast(str(made / "vocab.txt")).save_pretrained(made)
    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
    BertModel(BertConfig(vocab_size=len(words), **sizes)).save_pretrained(made)
    layers = Transformer(str(made)), Pooling(16)
    target = made.parent / "tiny"
    SentenceTransformer(modules=list(layers)).save(str(target))
    return target


@needs_extra
def test_every_text_gives_a_unit_or_a_zero_vector(folder: Path) -> None:
    embedder = SentenceTransformerEmbedder(find_profile(str(folder), GIVEN))
    assert embedder.profile.dimension == 16
    rows = embedder.embed_documents(["the mill closed", "", " \n", "\ud800 river \0", "x" * 200_000])
    assert rows.dtype == np.float32
    assert np.linalg.norm(rows, axis=1) == pytest.approx([1, 0, 0, 1, 1], abs=1e-5)
    assert embedder.embed_documents([]).shape == (0, 16)


@needs_extra
def test_a_query_goes_behind_its_prompt(folder: Path) -> None:
    embedder = SentenceTransformerEmbedder(find_profile(str(folder), GIVEN))
    asked, said = embedder.embed_queries(["the mill"]), embedder.embed_documents(["query: the mill"])
    np.testing.assert_allclose(asked, said, atol=1e-6)
    assert abs(asked - embedder.embed_documents(["the mill"])).max() > 1e-3


@needs_extra
def test_a_model_of_another_dimension_than_its_profile_is_refused(folder: Path) -> None:
    from dataclasses import replace

    with pytest.raises(ConfigError, match="gives 16 dimensions, its profile says 384"):
        SentenceTransformerEmbedder(replace(MINILM_L6, name=str(folder)))


@needs_extra
def test_a_model_that_cannot_be_had_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    with pytest.raises(
        ModelUnavailableError, match=r"house/absent cannot be loaded.*hf download house/absent"
    ):
        SentenceTransformerEmbedder(find_profile("house/absent", GIVEN))
