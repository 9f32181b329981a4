"""Reading a chat completion as it arrives: server-sent events, or the one object of a server without them.

What a server sends is bounded, and read as bytes: an event may be cut anywhere by the network, and text may
hold characters (U+2028) that other line readers take for the end of a line.
"""

import json
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, ValidationError

from lethe_core.errors import ModelResponseError

MAX_ANSWER_CHARACTERS: Final = 1_000_000  # with thoughts; the longest that is asked for has some 60,000
MAX_STREAM_BYTES: Final = 100_000_000  # an event of some 300 bytes a token
BYTES_PER_TOKEN: Final = 3  # fewer than any tokenizer's mean, since what is estimated counts against a cap


class DeadlinePassedError(Exception):
    """The time of the call ended while its answer was still arriving."""


class CutOffError(Exception):
    """The stream ended before the answer did."""


class ServerSaidError(Exception):
    """An error object where a completion was expected; ``received`` tells whether text had arrived before."""

    def __init__(self, error: Any, *, received: bool) -> None:
        super().__init__()
        fields = error if isinstance(error, dict) else {"message": error}
        self.text = str(fields.get("message") or error)
        code = fields.get("code", fields.get("status"))
        self.status = code if isinstance(code, int) and 400 <= code < 600 else 500
        self.received = received


class _Lenient(BaseModel):
    model_config = ConfigDict(extra="ignore")


class _Part(_Lenient):
    content: Any = None  # a text, or a list of typed parts
    reasoning_content: Any = None
    reasoning: Any = None


class _Choice(_Lenient):
    delta: _Part | None = None
    message: _Part | None = None
    finish_reason: str | None = None


class _Usage(_Lenient):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


class _Event(_Lenient):
    choices: list[_Choice] | None = None
    usage: _Usage | None = None
    error: Any = None


@dataclass(frozen=True, slots=True)
class Completion:
    """The text of an answer without its thoughts, and what it cost."""

    text: str
    prompt_tokens: int
    completion_tokens: int


def read_completion(
    received: Iterable[bytes], *, events: bool, whole: bool, prompt_bytes: int, deadline: float
) -> Completion:
    """Put an answer together.

    received: the body as it arrives.
    events: whether the body is a stream of events.
    whole: whether the transport itself would tell that the body was cut off.
    prompt_bytes: length of what was sent, for servers that do not count tokens.
    deadline: ``time.monotonic()`` seconds.
    Raises DeadlinePassedError, CutOffError, ServerSaidError, ModelResponseError.
    """
    bounded = _bounded(received, deadline)
    text: list[str] = []
    usage, size, n_choices, ended = _Usage(), 0, 0, False
    for data in _events(bounded) if events else [b"".join(bounded)]:
        if data.strip() == b"[DONE]":
            ended = True
            break
        event = _parse(data)
        if event.error:
            raise ServerSaidError(event.error, received=size > 0)
        usage = event.usage or usage
        for choice in (event.choices or [])[:1]:
            n_choices += 1
            part = choice.delta or choice.message or _Part()
            text.append(_text(part.content))
            size += len(text[-1]) + len(_text(part.reasoning_content or part.reasoning))
            ended = ended or bool(choice.finish_reason)
        if size > MAX_ANSWER_CHARACTERS:
            raise ModelResponseError(
                f"the model's answer was cut off at {MAX_ANSWER_CHARACTERS:,} characters: the server does "
                "not keep to the length that was asked for"
            )
    if not n_choices:
        raise ModelResponseError(
            "the model server sent an answer without a completion (is it an OpenAI-compatible server? "
            "LETHE_LLM_BASE_URL usually ends in /v1)"
        )
    if not (ended or whole):
        raise CutOffError
    return Completion(
        text=_joined(text),
        prompt_tokens=usage.prompt_tokens or _estimate(prompt_bytes),
        completion_tokens=usage.completion_tokens or _estimate(size),
    )


def _bounded(received: Iterable[bytes], deadline: float) -> Iterator[bytes]:
    size = 0
    for piece in received:
        if time.monotonic() > deadline:
            raise DeadlinePassedError
        size += len(piece)
        if size > MAX_STREAM_BYTES:
            raise ModelResponseError(f"the model server sent more than {MAX_STREAM_BYTES:,} bytes: cut off")
        yield piece


def _events(received: Iterable[bytes]) -> Iterator[bytes]:
    """The data of each server-sent event; comments and other fields are passed over."""
    data: list[bytes] = []
    for line in _lines(received):
        field, _, value = line.partition(b":")
        if field == b"data":
            data.append(value.removeprefix(b" "))
        elif field == b"error":  # an older llama.cpp's way to say it
            yield b'{"error":' + value + b"}"
        elif not line and data:
            yield b"\n".join(data)
            data = []
    if data:
        yield b"\n".join(data)


def _lines(received: Iterable[bytes]) -> Iterator[bytes]:
    rest: list[bytes] = []
    for piece in received:
        first, *others = piece.split(b"\n")
        rest.append(first)
        for other in others:
            yield b"".join(rest).removesuffix(b"\r")
            rest = [other]
    yield b"".join(rest).removesuffix(b"\r")


def _parse(data: bytes) -> _Event:
    shown = data[:200].decode("utf-8", "replace")
    try:
        # json, not pydantic's own reader: that refuses a character whose halves come in two events.
        value = json.loads(data.decode("utf-8", "replace"))
        return _Event.model_validate(value)
    except (ValueError, RecursionError, ValidationError):
        raise ModelResponseError(
            f"the model server sent what is no completion: {shown!r} (is it an OpenAI-compatible server? "
            "LETHE_LLM_BASE_URL usually ends in /v1)"
        ) from None


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        parts = [part for part in content if isinstance(part, dict) and part.get("type") == "text"]
        return "".join(part["text"] for part in parts if isinstance(part.get("text"), str))
    return ""


def _joined(pieces: list[str]) -> str:
    """The pieces in one, halves of a character put together; a half that stays alone becomes U+FFFD."""
    return "".join(pieces).encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _estimate(size: int) -> int:
    return -(-size // BYTES_PER_TOKEN)
