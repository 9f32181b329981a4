"""Any OpenAI-compatible chat server: llama.cpp, vLLM, Ollama, LM Studio, OpenAI, OpenRouter.

The answer is streamed, so that a server that died is noticed while a slow one may think for minutes. One
HTTP client serves all calls; redirections are not followed, and a proxy of the environment is not used for a
server on this machine.
"""

import json
import logging
import time
from typing import Any, Final

import httpx
from pydantic import SecretStr

from lethe_core.adapters.models.openai_connection import (
    checked_key,
    ended_at,
    endpoint_of,
    open_client,
    retry_after,
)
from lethe_core.adapters.models.openai_refusal import Refusal, error_text, is_length_reached, refusal
from lethe_core.adapters.models.openai_request import Abilities, limitations, request_body, without_refused
from lethe_core.adapters.models.openai_stream import (
    Completion,
    CutOffError,
    DeadlinePassedError,
    ServerSaidError,
    read_completion,
)
from lethe_core.errors import CredentialsError, ModelResponseError, ModelUnavailableError
from lethe_core.reasoning.protocol import Answer, Prompt

_log = logging.getLogger(__name__)

CONNECT_SECONDS: Final = 10.0
CHECK_SECONDS: Final = 180.0  # a server that loads its model at the first request takes minutes for a big one
LOADING_SECONDS: Final = 120.0
LOADING_POLL: Final = 0.5
MAX_WAITS: Final = 2  # for a server that says when to come again
MAX_WAIT_SECONDS: Final = 60.0
MIN_KEY: Final = 8  # characters; a shorter one ("none") is no secret, and stands in ordinary words

# What servers are known to stumble over in a schema, in the fewest tokens.
_PROBE: Final = Prompt(
    system="Answer in JSON.",
    user='Answer {"ok":"yes"}',
    schema={
        "type": "object",
        "properties": {
            "ok": {"anyOf": [{"const": "yes"}, {"type": "string", "minLength": 1, "maxLength": 9}]},
            "why": {"type": "string", "maxLength": 9},
        },
        "required": ["ok"],
        "additionalProperties": False,
    },
    thinking_tokens=1,
    max_answer_tokens=16,
)


class _RefusedError(Exception):
    """A request that the server did not answer with a completion."""

    def __init__(
        self, status: int, said: str, *, location: str = "", retry_after: float | None = None
    ) -> None:
        super().__init__()
        self.status = status
        self.said = said
        self.location = location
        self.retry_after = retry_after


class OpenAIChat:
    """A reasoner behind ``/chat/completions``; may be used from several threads.

    base_url: with or without a trailing slash; a query (``?api-version=…``) is kept.
    Raises ConfigError for a base URL that is none, CredentialsError for a key that no header can hold.
    """

    def __init__(
        self,
        base_url: str,
        model: str,
        *,
        api_key: SecretStr | None = None,
        context_window: int = 32768,
        read_timeout: float = 600.0,
    ) -> None:
        self._endpoint = endpoint_of(base_url)
        # Without what could be a password in it.
        shown = self._endpoint.copy_with(username=None, password=None, query=None)
        self._where = f"the model server at {str(shown).removesuffix('/chat/completions')}"
        self._model = model
        self._key = checked_key(api_key)
        self._window = context_window
        self._read_timeout = read_timeout
        openai = self._endpoint.host == "api.openai.com"
        self._abilities = (
            Abilities(form="schema", thinking=False, length_field="max_completion_tokens")
            if openai
            else Abilities()
        )
        self._proven: frozenset[str] = frozenset()  # forms in which an answer has come
        self._client = open_client(self._endpoint, self._key)

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

    def close(self) -> None:
        """Close the connections; the reasoner cannot be used any more."""
        self._client.close()

    def check(self) -> None:
        """Have a few tokens answered, and learn what the server refuses.

        Raises CredentialsError, ModelUnavailableError, ModelResponseError.
        """
        self._exchange(_PROBE, time.monotonic() + CHECK_SECONDS, probe=True)

    def answer(self, prompt: Prompt, *, deadline: float) -> Answer:
        """See the protocol. An empty answer is an answer: it was paid for, and is repaired like a bad one."""
        completion = self._exchange(prompt, deadline)
        return Answer(
            text=completion.text,
            prompt_tokens=completion.prompt_tokens,
            completion_tokens=completion.completion_tokens,
            model=self._model,  # the name that was asked for: servers answer with paths of their own
        )

    def _exchange(self, prompt: Prompt, deadline: float, *, probe: bool = False) -> Completion:
        """Send a prompt until it is answered or nothing that could be changed would help."""
        abilities = self._abilities
        waits, loading_until = 0, min(deadline, time.monotonic() + LOADING_SECONDS)
        while True:
            try:
                completion = self._send(request_body(self._model, prompt, abilities), deadline)
            except _RefusedError as refused:
                if probe and is_length_reached(refused.said):
                    completion = Completion("", 0, 0)
                elif refused.status == 503 and "loading" in refused.said.lower():
                    self._wait(LOADING_POLL, loading_until, refused)
                    continue
                elif refused.retry_after is not None and waits < MAX_WAITS:
                    waits += 1
                    self._wait(refused.retry_after, deadline, refused)
                    continue
                else:
                    abilities = self._without_refused(abilities, prompt, refused)
                    continue
            if abilities != self._abilities and (refuses := limitations(abilities)):
                _log.warning("%s does not take: %s", self._where, refuses)
            self._abilities = abilities
            if prompt.schema is not None:
                self._proven |= {abilities.form}
            return completion

    def _without_refused(self, abilities: Abilities, prompt: Prompt, refused: _RefusedError) -> Abilities:
        """What to try next. Raises the refusal as an error when there is nothing to try."""
        error = self._error(refused)
        fewer = without_refused(
            abilities,
            refused.status,
            refused.said,
            schema=prompt.schema is not None,
            proven=abilities.form in self._proven,
        )
        if isinstance(error, CredentialsError) or refused.status == 429 or fewer is None:
            raise error
        return fewer

    def _wait(self, seconds: float, until: float, refused: _RefusedError) -> None:
        if seconds > MAX_WAIT_SECONDS or time.monotonic() + seconds > until:
            raise self._error(refused)
        _log.info("%s answered %d: waiting for %.0f s", self._where, refused.status, seconds)
        time.sleep(seconds)

    def _error(self, refused: _RefusedError) -> Refusal:
        return refusal(
            self._where,
            self._model,
            refused.status,
            self._scrubbed(refused.said),
            location=self._scrubbed(refused.location),
        )

    def _scrubbed(self, text: str) -> str:
        """A server's words without the key, which some repeat."""
        return text.replace(self._key, "…") if len(self._key) >= MIN_KEY else text

    def _send(self, body: dict[str, Any], deadline: float) -> Completion:
        """One request. Raises _RefusedError, ModelUnavailableError, ModelResponseError."""
        left = deadline - time.monotonic()
        if left <= 0:
            raise ModelUnavailableError("no time is left for a call to the model (--time-budget sets it)")
        content = json.dumps(body).encode()
        timeout = httpx.Timeout(min(self._read_timeout, left), connect=min(CONNECT_SECONDS, left))
        try:
            with (
                self._client.stream(
                    "POST",
                    self._endpoint,
                    content=content,
                    headers={"Content-Type": "application/json", "Accept": "text/event-stream"},
                    timeout=timeout,
                ) as response,
                ended_at(deadline, response),
            ):
                if response.status_code >= 300:
                    raise _refused(response)
                return read_completion(
                    response.iter_bytes(),
                    events="text/event-stream" in response.headers.get("content-type", ""),
                    whole=bool({"transfer-encoding", "content-length"} & response.headers.keys()),
                    prompt_bytes=sum(len(message["content"].encode()) for message in body["messages"]),
                    deadline=deadline,
                )
        except ServerSaidError as error:
            refused = _RefusedError(error.status, error.text)
            if error.received:
                raise self._error(refused) from None
            raise refused from None
        except ModelResponseError as error:
            raise ModelResponseError(self._scrubbed(str(error))) from None
        except (httpx.HTTPError, CutOffError, DeadlinePassedError) as error:
            raise self._unavailable(error, deadline) from None

    def _unavailable(self, error: Exception, deadline: float) -> ModelUnavailableError:
        if time.monotonic() >= deadline - 0.05:  # a time-out of what was left ends a little early
            return ModelUnavailableError(
                f"{self._where} had not answered to the end when the time for the call was over "
                "(--time-budget sets the session's)"
            )
        if isinstance(error, httpx.ConnectTimeout):
            return ModelUnavailableError(
                f"{self._where} cannot be reached: no connection within {CONNECT_SECONDS:.0f} s "
                "(is it running? LETHE_LLM_BASE_URL says where)"
            )
        if isinstance(error, httpx.TimeoutException):
            return ModelUnavailableError(
                f"{self._where} sent nothing for {self._read_timeout:g} s "
                "(LETHE_LLM_TIMEOUT sets how long a silence is waited out)"
            )
        if isinstance(error, httpx.ConnectError | httpx.ProxyError | httpx.UnsupportedProtocol):
            return ModelUnavailableError(
                f"{self._where} cannot be reached: {error or type(error).__name__} "
                "(is it running? LETHE_LLM_BASE_URL says where)"
            )
        return ModelUnavailableError(
            f"{self._where} broke off in the middle of its answer (see the server's log: did it crash?)"
        )


def _refused(response: httpx.Response) -> _RefusedError:
    return _RefusedError(
        response.status_code,
        error_text(response),
        location=response.headers.get("location", "")[:200],
        retry_after=retry_after(response),
    )
