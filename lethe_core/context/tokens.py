"""Counting tokens: the one thing that the context's budget is measured in."""

from typing import Protocol


class TokenCounter(Protocol):
    """Counts the tokens of a text as a model would, or a little high."""

    def count(self, text: str) -> int: ...
