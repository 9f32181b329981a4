"""WordLlama: static token vectors that lie in its wheel; no download, no torch (models.md).

A text's vector is the mean of its tokens' vectors, so word order does not change it (hence the fact
guard, algorithms.md 8). The two files are read from the package's folder without importing the package:
its import configures the root logger and brings an HTTP client, and costs a second instead of a tenth.
The vectors are the same (tests/models/test_wordllama.py compares them).
"""

import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from lethe_core.control.embedding import EmbeddingProfile
from lethe_core.control.profiles import WORDLLAMA_256
from lethe_core.errors import ModelUnavailableError
from lethe_core.graph.arrays import Matrix

if TYPE_CHECKING:
    from tokenizers import Tokenizer

_WEIGHTS = "weights/l2_supercat_256.safetensors"
_TOKENIZER = "tokenizers/l2_supercat_tokenizer_config.json"


@dataclass(frozen=True, slots=True)
class WordLlamaConfig:
    batch_size: int = 512  # texts tokenised in one call; no effect on the vectors
    max_characters: int = (
        200_000  # of one text; its mean no longer moves, and the tokenizer takes seconds a megabyte
    )


class WordLlamaEmbedder:
    """The embedded default of an `Embedder`: 256 dimensions, some 5,000 passages a second on two cores.

    Raises ModelUnavailableError at construction when the package or one of its files is missing.
    """

    def __init__(
        self, profile: EmbeddingProfile = WORDLLAMA_256, config: WordLlamaConfig | None = None
    ) -> None:
        from safetensors.numpy import load_file

        self._profile = profile
        self._config = config or WordLlamaConfig()
        self._tokenizer = load_tokenizer()
        (table,) = load_file(package_file(_WEIGHTS)).values()
        self._vectors: Matrix = np.ascontiguousarray(table, dtype=np.float32)  # (vocabulary, 256)

    @property
    def profile(self) -> EmbeddingProfile:
        return self._profile

    def embed_documents(self, texts: Sequence[str]) -> Matrix:
        """Embed texts: (n, 256) unit float32; an empty or blank text gives the zero vector.

        A text's vector does not depend on what else is embedded with it.
        """
        rows = np.zeros((len(texts), self._vectors.shape[1]), dtype=np.float32)
        for start in range(0, len(texts), self._config.batch_size):
            batch = [self._prepare(text) for text in texts[start : start + self._config.batch_size]]
            for offset, encoding in enumerate(
                self._tokenizer.encode_batch_fast(batch, add_special_tokens=False)
            ):
                if encoding.ids:
                    rows[start + offset] = self._vectors[encoding.ids].mean(axis=0)
        norms = np.linalg.norm(rows, axis=1, keepdims=True)
        np.divide(rows, norms, out=rows, where=norms > 0)
        return rows

    def embed_queries(self, texts: Sequence[str]) -> Matrix:
        """Embed what is asked: (n, 256) unit float32; the model knows no query mode."""
        return self.embed_documents(texts)

    def _prepare(self, text: str) -> str:
        text = readable(text[: self._config.max_characters])
        return text if text.strip() else ""


@cache
def load_tokenizer() -> "Tokenizer":
    """The tokenizer of the wheel, without padding or truncation; some 80 ms, once a process.

    Embedding and counting share it: nothing changes it, and it may be used by several threads.
    """
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(package_file(_TOKENIZER))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


def readable(text: str) -> str:
    """Replace what a tokenizer refuses or takes for data: lone surrogates and NUL."""
    if text.isascii():
        return text.replace("\0", " ")
    return text.encode("utf-8", "replace").decode("utf-8").replace("\0", " ")


def package_file(name: str) -> str:
    """Path of a file inside the installed wordllama package, which is not imported.

    Raises ModelUnavailableError naming what is missing.
    """
    spec = importlib.util.find_spec("wordllama")
    if spec is None or spec.origin is None:
        raise ModelUnavailableError(
            "the package wordllama is not installed (pip install 'wordllama>=0.4,<0.5')"
        )
    path = Path(spec.origin).parent / name
    if not path.is_file():
        raise ModelUnavailableError(
            f"wordllama is installed without {name} (looked in {path.parent}); "
            "reinstall it from its wheel: pip install --force-reinstall 'wordllama>=0.4,<0.5'"
        )
    return str(path)
