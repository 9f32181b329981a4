"""What a reasoner is to Lethe: a prompt in, a text out; nothing in the loop knows which one it has."""

from dataclasses import dataclass
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class Prompt:
    """One single-turn request."""

    system: str
    user: str
    schema: dict[str, Any] | None  # JSON schema of the answer; None asks for prose
    thinking_tokens: int  # how many tokens may go into thinking, where the server knows such a budget
    max_answer_tokens: int = 2048


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back, and what it cost."""

    text: str
    prompt_tokens: int
    completion_tokens: int
    model: str


class Reasoner(Protocol):
    """A language model behind a server, or the extractive reasoner."""

    @property
    def name(self) -> str:
        """What the report's closing line calls it."""
        ...

    @property
    def extractive(self) -> bool:
        """Whether it only quotes and spends nothing: then it writes no prose, and no cap counts."""
        ...

    @property
    def deterministic(self) -> bool:
        """Whether the same prompt gives the same answer: then time feeds no decision (algorithms.md 4)."""
        ...

    @property
    def context_window(self) -> int:
        """Tokens that prompt, thinking and answer may have together."""
        ...

    def check(self) -> None:
        """Make one small request before anything is spent.

        Raises CredentialsError on a refused key or an unknown model, ModelUnavailableError when
        nothing answers.
        """
        ...

    def answer(self, prompt: Prompt, *, deadline: float) -> Answer:
        """Answer one prompt before ``deadline`` (``time.monotonic()`` seconds).

        Raises ModelUnavailableError, ModelResponseError or CredentialsError.
        """
        ...
