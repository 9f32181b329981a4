"""What a request to a chat server holds, and what to leave out of it once a server has refused it.

The API is a family rather than a standard: servers refuse fields that others need. A refusal costs nothing,
so the fullest request is tried first, and what was refused is left out for the rest of the session.
"""

from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from lethe_core.reasoning.protocol import Prompt

# How an answer is held to a schema, best first. OpenAI refuses optional fields and bounds of lengths in
# strict schemas; llama-cpp-python and DeepSeek know only json_object, the former with a schema in it.
Form = Literal["strict schema", "schema", "object with schema", "object", "none"]
FORMS: Final[tuple[Form, ...]] = ("strict schema", "schema", "object with schema", "object", "none")

_OF_USAGE: Final = ("stream_options", "include_usage")
_OF_THINKING: Final = ("thinking", "reasoning")
_OF_FORM: Final = (
    "response_format",
    "json_schema",
    "json_object",
    "schema",
    "grammar",
    "guided",
    "structured",
)
_OF_LENGTH: Final = (
    "max_tokens",
    "max_completion_tokens",
    "context length",
    "context size",
    "context window",
)


@dataclass(frozen=True, slots=True)
class Abilities:
    """What a server has not refused so far."""

    form: Form = "strict schema"
    usage: bool = True  # it counts the tokens of a stream when asked to
    thinking: bool = True  # it takes a thinking budget, or ignores it
    thinking_room: bool = True  # the answer may be longer by the thinking budget
    length_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"


def limitations(abilities: Abilities) -> str:
    """What a server has refused, in words."""
    said = []
    if abilities.form not in ("strict schema", "schema"):
        said.append("JSON schemas (answers are checked, and asked for again when they do not fit)")
    if not abilities.usage:
        said.append("counting a stream's tokens (they are estimated)")
    if not abilities.thinking:
        said.append("a thinking budget")
    if not abilities.thinking_room:
        said.append("answers as long as thoughts and answer together")
    return ", ".join(said)


def request_body(model: str, prompt: Prompt, abilities: Abilities) -> dict[str, Any]:
    """The JSON object of a streamed chat completion."""
    room = prompt.thinking_tokens if abilities.thinking_room else 0
    body: dict[str, Any] = {
        "model": model,
        "messages": [
            {"role": "system", "content": prompt.system},
            {"role": "user", "content": prompt.user},
        ],
        abilities.length_field: room + prompt.max_answer_tokens,
        "stream": True,
    }
    if abilities.usage:
        body["stream_options"] = {"include_usage": True}
    if abilities.thinking:
        body["thinking_budget_tokens"] = prompt.thinking_tokens  # llama.cpp
        body["thinking_token_budget"] = prompt.thinking_tokens  # vLLM
    if prompt.schema is not None and abilities.form != "none":
        body["response_format"] = _response_format(prompt.schema, abilities.form)
    return body


def _response_format(schema: dict[str, Any], form: Form) -> dict[str, Any]:
    if form == "object":
        return {"type": "json_object"}
    if form == "object with schema":
        return {"type": "json_object", "schema": schema}
    strict = form == "strict schema"
    return {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema, "strict": strict}}


def without_refused(
    abilities: Abilities, status: int, said: str, *, schema: bool, proven: bool
) -> Abilities | None:
    """What to try next after a refusal; None when leaving something out cannot help.

    status, said: the HTTP status and the server's words.
    schema: whether the refused request had one.
    proven: whether a request of this form has been answered before: then a plain 500 is the server's trouble.
    """
    if status not in (400, 422, 500, 501):
        return None  # about the key, the model or the hour, whatever words it uses
    if named := _named(abilities, said.lower(), schema=schema):
        return named
    if status != 500:
        if abilities.thinking or abilities.usage:
            return replace(abilities, thinking=False, usage=False)
        return _next_form(abilities) if schema else None
    # llama-cpp-python answers 500, without a word on the reason, to a response_format that it does not know.
    if schema and not proven and abilities.form != "none":
        plain = abilities.form in ("strict schema", "schema")
        return replace(abilities, form="object with schema" if plain else "none")
    return None


def _named(abilities: Abilities, words: str, *, schema: bool) -> Abilities | None:
    """Leave out what the server's words name."""
    if abilities.length_field == "max_tokens" and "max_completion_tokens" in words and "instead" in words:
        return replace(abilities, length_field="max_completion_tokens")
    if _any(_OF_LENGTH, words):
        return replace(abilities, thinking_room=False) if abilities.thinking_room else None
    if abilities.usage and _any(_OF_USAGE, words):
        return replace(abilities, usage=False)
    if abilities.thinking and _any(_OF_THINKING, words):
        return replace(abilities, thinking=False)
    return _next_form(abilities) if schema and _any(_OF_FORM, words) else None


def _next_form(abilities: Abilities) -> Abilities | None:
    at = FORMS.index(abilities.form) + 1
    return replace(abilities, form=FORMS[at]) if at < len(FORMS) else None


def _any(names: tuple[str, ...], words: str) -> bool:
    return any(name in words for name in names)
