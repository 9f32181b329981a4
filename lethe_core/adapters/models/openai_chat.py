"""Any OpenAI-compatible chat server: llama.cpp, vLLM, Ollama, LM Studio, OpenAI, OpenRouter.

The answer is streamed, so that a server that died is noticed while a slow one may think for minutes.
"""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import httpx
from pydantic import BaseModel, ConfigDict, SecretStr, ValidationError

from lethe_core.errors import CredentialsError, ModelResponseError, ModelUnavailableError
from lethe_core.reasoning.protocol import Answer, Prompt

CONNECT_SECONDS: Final = 10.0
MAX_ERROR_TEXT: Final = 300  # characters of a server's own words that are worth repeating
MAX_ANSWER_BYTES: Final = 4_000_000  # a server that streams for ever is cut off
TRANSIENT: Final = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})


class _Delta(BaseModel):
    model_config = ConfigDict(extra="ignore")
    content: str | None = None


class _Choice(BaseModel):
    model_config = ConfigDict(extra="ignore")
    delta: _Delta | None = None
    message: _Delta | None = None


class _Usage(BaseModel):
    model_config = ConfigDict(extra="ignore")
    prompt_tokens: int = 0
    completion_tokens: int = 0


class _Chunk(BaseModel):
    """One server-sent event, or the whole object of a server that does not stream."""

    model_config = ConfigDict(extra="ignore")
    choices: list[_Choice] = []
    usage: _Usage | None = None
    error: Any = None


class OpenAIChat:
    """A reasoner behind ``/chat/completions``."""

    def __init__(
        self,
        base_url: str,
        model: str,
        *,
        api_key: SecretStr | None = None,
        context_window: int = 32768,
        read_timeout: float = 600.0,
    ) -> None:
        self._base_url = base_url.rstrip("/")
        self._model = model
        self._key = api_key or SecretStr("")
        self._window = context_window
        self._read_timeout = read_timeout

    @property
    def name(self) -> str:
        return self._model

    @property
    def extractive(self) -> bool:
        return False

    @property
    def deterministic(self) -> bool:
        return False

    @property
    def context_window(self) -> int:
        return self._window

    def check(self) -> None:
        """Ask for one token. Raises CredentialsError or ModelUnavailableError."""
        body = {"model": self._model, "messages": [{"role": "user", "content": "Say yes."}], "max_tokens": 1}
        with self._post(body, deadline=time.monotonic() + 60.0) as response:
            response.read()

    def answer(self, prompt: Prompt, *, deadline: float) -> Answer:
        body: dict[str, Any] = {
            "model": self._model,
            "messages": [
                {"role": "system", "content": prompt.system},
                {"role": "user", "content": prompt.user},
            ],
            "max_tokens": prompt.thinking_tokens + prompt.max_answer_tokens,
            "stream": True,
            "stream_options": {"include_usage": True},
            # llama.cpp and vLLM read a thinking budget here; servers that do not know it ignore it.
            "thinking_budget_tokens": prompt.thinking_tokens,
        }
        if self._is_openai():
            body["max_completion_tokens"] = body.pop("max_tokens")
            del body["thinking_budget_tokens"]
        if prompt.schema is not None:
            body["response_format"] = {
                "type": "json_schema",
                "json_schema": {"name": "din_operations", "schema": prompt.schema, "strict": True},
            }
        with self._post(body, deadline=deadline) as response:
            return self._collect(response, deadline)

    def _is_openai(self) -> bool:
        return httpx.URL(self._base_url).host == "api.openai.com"

    @contextmanager
    def _post(self, body: dict[str, Any], *, deadline: float) -> Iterator[httpx.Response]:
        left = deadline - time.monotonic()
        if left <= 0:
            raise ModelUnavailableError("no time is left for a call to the model")
        timeout = httpx.Timeout(min(self._read_timeout, left), connect=min(CONNECT_SECONDS, left))
        key = self._key.get_secret_value()
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        try:
            with (
                httpx.Client(timeout=timeout, headers=headers) as client,
                client.stream("POST", f"{self._base_url}/chat/completions", json=body) as response,
            ):
                if response.status_code >= 400:
                    response.read()
                    raise self._refusal(response)
                yield response
        except httpx.TimeoutException:
            raise ModelUnavailableError(
                f"the model server at {self._base_url} did not answer in time "
                "(LETHE_LLM_TIMEOUT sets how many seconds without a byte are waited for)"
            ) from None
        except (httpx.TransportError, httpx.InvalidURL, UnicodeError) as error:
            raise ModelUnavailableError(
                f"the model server at {self._base_url} cannot be reached: {error or type(error).__name__} "
                "(is it running? LETHE_LLM_BASE_URL says where)"
            ) from None

    def _refusal(
        self, response: httpx.Response
    ) -> CredentialsError | ModelUnavailableError | ModelResponseError:
        said = " ".join(_error_text(response).split())[:MAX_ERROR_TEXT]
        status = response.status_code
        where = f"the model server at {self._base_url}"
        if status in (401, 403):
            return CredentialsError(
                f"{where} refused the key (HTTP {status}): {said} (set LETHE_LLM_API_KEY)"
            )
        if status == 404:
            return CredentialsError(
                f"{where} does not know the model {self._model!r} or the path (HTTP 404): {said} "
                "(set LETHE_LLM_MODEL; the base URL usually ends in /v1)"
            )
        if status in TRANSIENT:
            return ModelUnavailableError(f"{where} is not able to answer now (HTTP {status}): {said}")
        if "model" in said.lower() and ("not found" in said.lower() or "does not exist" in said.lower()):
            return CredentialsError(
                f"{where} does not know the model {self._model!r}: {said} (set LETHE_LLM_MODEL)"
            )
        return ModelResponseError(f"{where} did not take the request (HTTP {status}): {said}")

    def _collect(self, response: httpx.Response, deadline: float) -> Answer:
        text: list[str] = []
        usage, size = _Usage(), 0
        for chunk in _events(response):
            if time.monotonic() > deadline:
                raise ModelUnavailableError("the model was still answering when the session's time ended")
            if chunk.error:
                raise ModelUnavailableError(
                    f"the model server at {self._base_url} broke off: {str(chunk.error)[:MAX_ERROR_TEXT]}"
                )
            usage = chunk.usage or usage
            for choice in chunk.choices[:1]:
                part = choice.delta or choice.message
                if part is not None and part.content:
                    text.append(part.content)
                    size += len(part.content)
            if size > MAX_ANSWER_BYTES:
                raise ModelResponseError(f"the model's answer is longer than {MAX_ANSWER_BYTES:,} characters")
        return Answer(
            text="".join(text),
            prompt_tokens=usage.prompt_tokens,
            completion_tokens=usage.completion_tokens,
            model=self._model,  # the name that was asked for: servers answer with paths of their own
        )


def _events(response: httpx.Response) -> Iterator[_Chunk]:
    """The objects of a stream of server-sent events; a plain JSON body is one object."""
    if "text/event-stream" not in response.headers.get("content-type", ""):
        yield _parse(response.read().decode("utf-8", "replace"))
        return
    for line in response.iter_lines():
        if not line.startswith("data:"):
            continue
        data = line.removeprefix("data:").strip()
        if data == "[DONE]":
            return
        yield _parse(data)


def _parse(data: str) -> _Chunk:
    try:
        return _Chunk.model_validate_json(data)
    except ValidationError:
        raise ModelResponseError(f"the model server sent what is no completion: {data[:200]!r}") from None


def _error_text(response: httpx.Response) -> str:
    try:
        body = json.loads(response.content)
        error = body.get("error", body)
        return str(error.get("message", error) if isinstance(error, dict) else error)
    except (ValueError, AttributeError):
        return response.text
