"""What a chat server's refusal means to the person at the command line: which error, and what to do."""

import json
from typing import Final

import httpx

from lethe_core.errors import CredentialsError, ModelResponseError, ModelUnavailableError

Refusal = CredentialsError | ModelUnavailableError | ModelResponseError

MAX_SHOWN: Final = 300  # characters of a server's own words that are worth repeating
MAX_ERROR_BYTES: Final = 64_000
TRANSIENT: Final = frozenset({402, 408, 409, 425, 429, 500, 502, 503, 504, 529})

_UNKNOWN_MODEL: Final = (
    "not found",
    "does not exist",
    "not exist",
    "unknown model",
    "invalid model",
    "not a valid model",
    "no such model",
)
_TOO_LONG: Final = ("context length", "context size", "context window", "context_length", "too long")
_ADVICE: Final = {
    402: "the account has no credit left",
    429: "too many requests, or no credit left: wait, or raise the account's limit",
    503: "overloaded, or still loading its model: try again later",
}


def refusal(where: str, model: str, status: int, said: str, *, location: str = "") -> Refusal:
    """The error for an HTTP status and the server's words.

    where: how messages call the server. said: free of secrets. location: where a redirection leads.
    """
    said = " ".join(said.split())[:MAX_SHOWN] or "no reason given"
    words = said.lower()
    if status < 400:
        return CredentialsError(
            f"{where} redirects to {location or 'nowhere'} (HTTP {status}), which is not followed, since the "
            "key would go there, too (set LETHE_LLM_BASE_URL to the address itself)"
        )
    if status in (401, 403):
        return CredentialsError(f"{where} refused the key (HTTP {status}): {said} (set LETHE_LLM_API_KEY)")
    if status in (404, 405):
        return CredentialsError(
            f"{where} does not know the model {model!r} or the path (HTTP {status}): {said} "
            "(set LETHE_LLM_MODEL; LETHE_LLM_BASE_URL usually ends in /v1)"
        )
    if status not in TRANSIENT and "model" in words and any(word in words for word in _UNKNOWN_MODEL):
        return CredentialsError(
            f"{where} does not know the model {model!r} (HTTP {status}): {said} (set LETHE_LLM_MODEL)"
        )
    if status in TRANSIENT:
        advice = _ADVICE.get(status, "see the server's log")
        return ModelUnavailableError(f"{where} cannot answer now (HTTP {status}): {said} ({advice})")
    if any(word in words for word in _TOO_LONG):
        return ModelResponseError(
            f"{where} found the request too long (HTTP {status}): {said} (set LETHE_LLM_CONTEXT_WINDOW to "
            "what the server has, or LETHE_CONTEXT_TOKENS lower)"
        )
    return ModelResponseError(
        f"{where} did not take the request (HTTP {status}): {said} (see the server's log; does "
        f"{model!r} take chat messages?)"
    )


def error_text(response: httpx.Response) -> str:
    """What a refusing server says, from a body of any shape, at most `MAX_ERROR_BYTES` of it."""
    received = b""
    for piece in response.iter_bytes():
        received += piece
        if len(received) > MAX_ERROR_BYTES:
            break
    text = received[:MAX_ERROR_BYTES].decode("utf-8", "replace")
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        return text
    if not isinstance(body, dict):
        return text
    error = body.get("error") or body.get("detail") or body.get("message") or body
    return str(error.get("message") or error) if isinstance(error, dict) else str(error)


def is_length_reached(said: str) -> bool:
    """Whether a server complains of its own answer's length: OpenAI's thinking models do, at a few tokens."""
    return "output limit was reached" in said.lower()
