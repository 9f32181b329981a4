"""The reasoner behind an OpenAI-compatible server: over real sockets, with every fault that servers have."""

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from pydantic import SecretStr

from lethe_core.adapters.models import openai_chat, openai_stream
from lethe_core.adapters.models.openai_chat import OpenAIChat
from lethe_core.errors import (
    ConfigError,
    CredentialsError,
    LetheError,
    ModelResponseError,
    ModelUnavailableError,
)
from lethe_core.reasoning.protocol import Answer, Prompt

KEY = "sk-secret-0123456789"
SCHEMA = {"type": "object", "properties": {"operations": {"type": "array"}}, "required": ["operations"]}
PROMPT = Prompt(
    system="You answer.",
    user="How long is the pier?",
    schema=SCHEMA,
    thinking_tokens=100,
    max_answer_tokens=50,
)
USAGE = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}

Reply = Callable[["Exchange"], None]


class Exchange(BaseHTTPRequestHandler):
    """One request; what a `Reply` answers it with."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        server: Any = self.server
        self.body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        server.double.requests.append(self.body)
        server.double.paths.append(self.path)
        server.double.headers.append(dict(self.headers))
        server.double.connections.add(self.client_address)
        try:
            server.double.reply(self)
        except OSError:
            self.close_connection = True  # the client has hung up

    def begin(self, status: int = 200, kind: str = "text/event-stream", **headers: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()

    def whole(self, status: int, value: Any, **headers: str) -> None:
        """A body at once: an object as JSON, or a text."""
        data = (value if isinstance(value, str) else json.dumps(value)).encode()
        kind = "text/html" if isinstance(value, str) else "application/json"
        self.begin(status, kind, Content_Length=str(len(data)), **headers)
        self.wfile.write(data)

    def chunked(self, *pieces: bytes) -> None:
        """A streamed body in these pieces, each sent by itself."""
        self.begin(Transfer_Encoding="chunked")
        for piece in pieces:
            self.piece(piece)
        self.wfile.write(b"0\r\n\r\n")

    def piece(self, piece: bytes) -> None:
        self.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece))

    def log_message(self, *_: object) -> None:
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def handle_error(self, *_: object) -> None:
        """A client that hangs up is what many tests are about."""


@dataclass
class Double:
    """A server that answers as it is told, and what it was asked."""

    url: str
    reply: Reply = lambda exchange: exchange.chunked(stream("yes"))
    requests: list[dict[str, Any]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    connections: set[Any] = field(default_factory=set)

    def reasoner(self, **options: Any) -> OpenAIChat:
        return OpenAIChat(self.url, "tiny", **{"api_key": SecretStr(KEY), "read_timeout": 10.0, **options})

    def ask(self, prompt: Prompt = PROMPT, *, seconds: float = 10.0, **options: Any) -> Answer:
        return self.reasoner(**options).answer(prompt, deadline=time.monotonic() + seconds)


@pytest.fixture
def server() -> Iterator[Double]:
    http_server: Any = Server(("127.0.0.1", 0), Exchange)
    http_server.double = Double(f"http://127.0.0.1:{http_server.server_address[1]}/v1")
    threading.Thread(target=http_server.serve_forever, args=(0.01,), daemon=True).start()
    yield http_server.double
    http_server.shutdown()
    http_server.server_close()


def event(delta: dict[str, Any] | None = None, **fields: Any) -> bytes:
    """One server-sent event of a stream."""
    choices = [] if delta is None else [{"index": 0, "delta": delta, "finish_reason": None}]
    data = {"object": "chat.completion.chunk", "choices": choices, **fields}
    return b"data: " + json.dumps(data, ensure_ascii=False).encode() + b"\n\n"


def stream(*texts: str, usage: Any = USAGE) -> bytes:
    """The whole stream of an answer."""
    end = [{"index": 0, "delta": {}, "finish_reason": "stop"}]
    return b"".join(
        [
            event({"role": "assistant", "content": None}),
            *(event({"content": text}) for text in texts),
            b"data: " + json.dumps({"choices": end}).encode() + b"\n\n",
            event(usage=usage) if usage is not None else b"",
            b"data: [DONE]\n\n",
        ]
    )


def refusing(status: int, said: str, **headers: str) -> Reply:
    return lambda exchange: exchange.whole(status, {"error": {"message": said, "code": status}}, **headers)


# -- answers ------------------------------------------------------------------------------------


def test_a_streamed_answer_is_put_together_with_what_it_cost(server: Double) -> None:
    server.reply = lambda exchange: exchange.chunked(stream('{"opera', 'tions":', "[]}"))
    answer = server.ask()
    assert answer == Answer(text='{"operations":[]}', prompt_tokens=11, completion_tokens=7, model="tiny")


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_a_stream_may_be_cut_anywhere(server: Double, size: int) -> None:
    text = "Größe 7 µm 😀 line\u2028separator\x0bfeed"
    sent = b": a comment\r\nevent: message\r\n" + stream(text[:9], text[9:]).replace(b"\n", b"\r\n")
    server.reply = lambda exchange: exchange.chunked(
        *(sent[at : at + size] for at in range(0, len(sent), size))
    )
    assert server.ask().text == text


def test_a_character_whose_halves_come_in_two_events_is_whole(server: Double) -> None:
    halves = [
        b'data: {"choices":[{"delta":{"content":"%b"}}]}\n\n' % half for half in (rb"\ud83d", rb"\ude00")
    ]
    server.reply = lambda exchange: exchange.chunked(*halves, stream(" ok"))
    assert server.ask().text == "😀 ok"


def test_a_server_that_does_not_stream_is_read_at_once(server: Double) -> None:
    body = {"choices": [{"message": {"role": "assistant", "content": "whole"}}], "usage": USAGE}
    server.reply = lambda exchange: exchange.whole(200, body)
    assert server.ask() == Answer(text="whole", prompt_tokens=11, completion_tokens=7, model="tiny")


def test_tokens_that_a_server_does_not_count_are_estimated_high(server: Double) -> None:
    server.reply = lambda exchange: exchange.chunked(stream("a" * 300, usage=None))
    answer = server.ask()
    assert answer.completion_tokens == 100
    assert answer.prompt_tokens == 11  # 32 bytes of prompt at three a token


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning"])
def test_thoughts_sent_apart_are_no_part_of_the_answer(server: Double, name: str) -> None:
    thoughts = event({name: "The pier … 400 m?"})
    server.reply = lambda exchange: exchange.chunked(thoughts, stream("412 m"))
    assert server.ask().text == "412 m"


def test_content_in_typed_parts_is_read_without_the_thoughts(server: Double) -> None:
    parts = [
        {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]},
        {"type": "text", "text": "yes"},
    ]
    server.reply = lambda exchange: exchange.chunked(event({"content": parts}), stream(" indeed"))
    assert server.ask().text == "yes indeed"


def test_an_answer_under_a_schema_that_was_ignored_is_handed_on_as_it_is(server: Double) -> None:
    server.reply = lambda exchange: exchange.chunked(stream("Sure! ```json\n{}\n```"))
    assert server.ask().text == "Sure! ```json\n{}\n```"


def test_an_empty_answer_is_an_answer_that_was_paid_for(server: Double) -> None:
    server.reply = lambda exchange: exchange.chunked(event({"reasoning_content": "so long"}), stream())
    answer = server.ask()
    assert (answer.text, answer.completion_tokens) == ("", 7)


# -- requests -----------------------------------------------------------------------------------


def test_the_request_holds_prompt_schema_lengths_and_key(server: Double) -> None:
    server.ask()
    (request,) = server.requests
    assert [message["content"] for message in request["messages"]] == ["You answer.", "How long is the pier?"]
    assert request["model"] == "tiny"
    assert request["max_tokens"] == 150
    assert request["thinking_budget_tokens"] == request["thinking_token_budget"] == 100
    assert request["stream"] is True
    assert request["response_format"]["json_schema"]["schema"] == SCHEMA
    assert server.headers[0]["Authorization"] == f"Bearer {KEY}"


def test_prose_is_asked_for_without_a_schema(server: Double) -> None:
    server.ask(Prompt(system="s", user="u", schema=None, thinking_tokens=1))
    assert "response_format" not in server.requests[0]


def test_without_a_key_none_is_sent(server: Double) -> None:
    server.ask(api_key=None)
    assert "Authorization" not in server.headers[0]


@pytest.mark.parametrize("ending", ["", "/", "/chat/completions", "?api-version=3"])
def test_the_base_url_may_end_as_people_write_it(server: Double, ending: str) -> None:
    server.url += ending
    server.ask()
    assert server.paths == ["/v1/chat/completions" + (ending if "?" in ending else "")]


def test_several_calls_and_threads_share_one_client(server: Double) -> None:
    body = {"choices": [{"message": {"content": "whole"}}], "usage": USAGE}
    server.reply = lambda exchange: exchange.whole(200, body)
    reasoner = server.reasoner()
    answers: list[Answer] = []

    def ask() -> None:
        answers.append(reasoner.answer(PROMPT, deadline=time.monotonic() + 10))

    ask()
    ask()
    assert len(server.connections) == 1
    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [answer.text for answer in answers] == ["whole"] * 10


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_a_proxy_of_the_environment_never_sees_what_is_said_to_this_machine(
    server: Double, host: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    server.url = server.url.replace("127.0.0.1", host)
    assert server.ask().text == "yes"


def test_a_proxy_of_the_environment_is_used_for_other_machines(
    server: Double, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("http_proxy", server.url.removesuffix("/v1"))
    reasoner = OpenAIChat("http://model.invalid/v1", "tiny", read_timeout=5.0)
    assert reasoner.answer(PROMPT, deadline=time.monotonic() + 10).text == "yes"
    assert server.paths == ["http://model.invalid/v1/chat/completions"]


# -- refusals -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "said", "kind", "advice"),
    [
        (401, "Incorrect API key provided", CredentialsError, "LETHE_LLM_API_KEY"),
        (403, "Forbidden", CredentialsError, "LETHE_LLM_API_KEY"),
        (404, "model 'tiny' not found, try pulling it first", CredentialsError, "LETHE_LLM_MODEL"),
        (404, "Not Found", CredentialsError, "/v1"),
        (405, "Method Not Allowed", CredentialsError, "/v1"),
        (400, "tiny is not a valid model ID", CredentialsError, "LETHE_LLM_MODEL"),
        (400, "Model Not Exist", CredentialsError, "LETHE_LLM_MODEL"),
        (402, "Insufficient Balance", ModelUnavailableError, "credit"),
        (429, "Rate limit reached", ModelUnavailableError, "wait"),
        (500, "kernel panic", ModelUnavailableError, "log"),
        (503, "Service Unavailable", ModelUnavailableError, "later"),
        (
            400,
            "the request exceeds the available context size",
            ModelResponseError,
            "LETHE_LLM_CONTEXT_WINDOW",
        ),
        (413, "Payload Too Large", ModelResponseError, "log"),
        (400, "messages: roles must alternate", ModelResponseError, "chat messages"),
    ],
)
def test_a_refusal_says_what_to_do(
    server: Double, status: int, said: str, kind: type[LetheError], advice: str
) -> None:
    server.reply = refusing(status, said)
    with pytest.raises(kind) as caught:
        server.ask()
    assert type(caught.value) is kind
    assert said in str(caught.value)
    assert advice in str(caught.value)
    assert server.url in str(caught.value)


def test_a_redirection_is_not_followed_and_named(server: Double) -> None:
    server.reply = lambda exchange: exchange.whole(308, "", Location="https://elsewhere.invalid/v1")
    with pytest.raises(CredentialsError, match=r"elsewhere\.invalid.*LETHE_LLM_BASE_URL"):
        server.ask()
    assert len(server.requests) == 1


@pytest.mark.parametrize("body", ["<html>Bad gateway</html>", "", "[1, 2]", '"text"', "null"])
def test_a_refusal_in_any_shape_is_read(server: Double, body: str) -> None:
    server.reply = lambda exchange: exchange.whole(502, body)
    with pytest.raises(ModelUnavailableError, match="HTTP 502"):
        server.ask()


def test_no_message_and_no_repr_holds_the_key(server: Double) -> None:
    texts = [repr(server.reasoner()), str(vars(server.reasoner()).get("_client"))]
    echoes: list[Reply] = [
        refusing(401, f"Incorrect API key provided: {KEY}"),
        refusing(400, f"header Bearer {KEY} is odd"),
        lambda exchange: exchange.whole(308, "", Location=f"http://127.0.0.1:9/?key={KEY}"),
        lambda exchange: exchange.whole(200, f"you sent {KEY}"),
        lambda exchange: exchange.chunked(f"data: {KEY}\n\n".encode()),
        lambda exchange: exchange.chunked(event(error={"message": KEY, "code": 503})),
    ]
    for echo in echoes:
        server.reply = echo
        with pytest.raises(LetheError) as caught:
            server.ask()
        texts.append(str(caught.value))
    assert not [text for text in texts if KEY in text]


def test_a_password_in_the_base_url_is_not_shown(server: Double) -> None:
    server.url = server.url.replace("http://", "http://ann:hunter2@")
    server.reply = refusing(503, "down")
    with pytest.raises(ModelUnavailableError) as caught:
        server.ask()
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize("key", ["sk-one\nsk-two-0123456789", "sk-schlüssel-0123456789", "sk-\0-0123456789"])
def test_a_key_that_cannot_be_sent_is_refused_without_showing_it(server: Double, key: str) -> None:
    with pytest.raises(CredentialsError, match="LETHE_LLM_API_KEY") as caught:
        server.reasoner(api_key=SecretStr(key))
    assert key not in str(caught.value)


def test_white_space_around_a_key_is_no_part_of_it(server: Double) -> None:
    server.ask(api_key=SecretStr(f" {KEY}\n"))
    assert server.headers[0]["Authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize(
    "url", ["http://", "ftp://host/v1", "http://[::1", "http://host:99999999/v1", "host"]
)
def test_an_address_that_is_none_is_named_as_a_setting(url: str) -> None:
    with pytest.raises(ConfigError, match="LETHE_LLM_BASE_URL"):
        OpenAIChat(url, "tiny")


# -- servers that do not know a field ---------------------------------------------------------------


def picky(*refused: str, status: int = 400, says: str = "Unrecognized field: {}") -> Reply:
    """A server that refuses requests with certain fields."""

    def reply(exchange: Exchange) -> None:
        for name in refused:
            if name in exchange.body:
                exchange.whole(status, {"error": {"message": says.format(name)}})
                return
        exchange.chunked(stream("{}"))

    return reply


@pytest.mark.parametrize("says", ["Unrecognized field: {}", "Bad request"])
@pytest.mark.parametrize(
    "refused",
    [
        ("stream_options",),
        ("thinking_budget_tokens",),
        ("response_format",),
        ("stream_options", "thinking_token_budget", "response_format"),
    ],
)
def test_a_refused_field_is_left_out_and_stays_left_out(
    server: Double, refused: tuple[str, ...], says: str
) -> None:
    server.reply = picky(*refused, says=says)
    reasoner = server.reasoner()
    assert reasoner.answer(PROMPT, deadline=time.monotonic() + 10).text == "{}"
    n_learning = len(server.requests)
    reasoner.answer(PROMPT, deadline=time.monotonic() + 10)
    assert len(server.requests) == n_learning + 1
    assert not set(refused) & server.requests[-1].keys()


def test_what_a_server_refuses_is_logged_once(server: Double, caplog: pytest.LogCaptureFixture) -> None:
    server.reply = picky("response_format", "stream_options")
    reasoner = server.reasoner()
    for _ in range(2):
        reasoner.answer(PROMPT, deadline=time.monotonic() + 10)
    (record,) = [record for record in caplog.records if record.name.startswith("lethe_core")]
    assert "JSON schemas" in record.getMessage()
    assert "tokens" in record.getMessage()


def test_an_overloaded_server_is_not_asked_again_at_once_whatever_it_says(server: Double) -> None:
    server.reply = refusing(
        503, "the reasoning model with this schema and these stream_options is overloaded"
    )
    with pytest.raises(ModelUnavailableError):
        server.ask()
    assert len(server.requests) == 1


def test_only_what_the_server_names_is_left_out(server: Double) -> None:
    server.reply = picky("thinking_token_budget", says="{} is set but reasoning_config is not configured")
    server.ask()
    assert server.requests[-1].keys() >= {"stream_options", "response_format"}


def formats(server: Double) -> list[Any]:
    found = [request.get("response_format", {}) for request in server.requests]
    return [(form.get("type"), form.get("json_schema", {}).get("strict"), "schema" in form) for form in found]


def only(*types: str, status: int, says: str) -> Reply:
    """A server that knows only some types of response_format."""

    def reply(exchange: Exchange) -> None:
        form = exchange.body.get("response_format", {"type": "none"})
        if form["type"] in types or form["type"] == "none":
            exchange.chunked(stream("{}"))
        else:
            exchange.whole(status, {"detail": says})

    return reply


def test_a_schema_that_is_refused_as_strict_is_sent_as_a_wish(server: Double) -> None:
    def reply(exchange: Exchange) -> None:
        if exchange.body["response_format"]["json_schema"]["strict"]:
            exchange.whole(400, {"error": {"message": "Invalid schema: 'minLength' is not permitted"}})
        else:
            exchange.chunked(stream("{}"))

    server.reply = reply
    server.ask()
    assert formats(server) == [("json_schema", True, False), ("json_schema", False, False)]


def test_a_server_that_fails_at_json_schema_is_asked_for_a_json_object(server: Double) -> None:
    server.reply = only("json_object", status=500, says="Internal Server Error")
    reasoner = server.reasoner()
    for _ in range(2):
        reasoner.answer(PROMPT, deadline=time.monotonic() + 10)
    assert formats(server) == [("json_schema", True, False), *[("json_object", None, True)] * 2]


def test_a_server_error_of_one_that_has_kept_to_a_schema_is_its_own_trouble(server: Double) -> None:
    reasoner = server.reasoner()
    reasoner.answer(PROMPT, deadline=time.monotonic() + 10)
    server.reply = refusing(500, "out of memory")
    with pytest.raises(ModelUnavailableError):
        reasoner.answer(PROMPT, deadline=time.monotonic() + 10)
    assert len(server.requests) == 2


def test_a_limit_on_the_answers_length_takes_the_room_for_thoughts(server: Double) -> None:
    def reply(exchange: Exchange) -> None:
        if exchange.body["max_tokens"] > 100:
            exchange.whole(400, {"error": {"message": "max_tokens is too large: 150; at most 100"}})
        else:
            exchange.chunked(stream("{}"))

    server.reply = reply
    server.ask()
    assert [request["max_tokens"] for request in server.requests] == [150, 50]


def test_a_server_that_wants_the_length_under_another_name_gets_it(server: Double) -> None:
    says = (
        "Unsupported parameter: '{}' is not supported with this model. Use 'max_completion_tokens' instead."
    )
    server.reply = picky("max_tokens", says=says)
    server.ask()
    assert server.requests[-1]["max_completion_tokens"] == 150


def test_a_server_that_refuses_everything_is_asked_a_few_times_only(server: Double) -> None:
    server.reply = refusing(400, "no")
    with pytest.raises(ModelResponseError, match="no"):
        server.ask()
    assert len(server.requests) <= 6


# -- servers that fail --------------------------------------------------------------------------


def test_a_server_that_is_not_there_is_said_to_be_so() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound, but nobody listens
        reasoner = OpenAIChat(f"http://127.0.0.1:{taken.getsockname()[1]}/v1", "tiny")
        with pytest.raises(ModelUnavailableError, match=r"cannot be reached.*is it running"):
            reasoner.answer(PROMPT, deadline=time.monotonic() + 10)


def test_a_host_that_has_no_address_is_said_to_be_so() -> None:
    with pytest.raises(ModelUnavailableError, match=r"cannot be reached.*LETHE_LLM_BASE_URL"):
        OpenAIChat("http://no-such-host.invalid/v1", "tiny").answer(PROMPT, deadline=time.monotonic() + 10)


@pytest.mark.parametrize("how", ["chunked", "to the end"])
def test_an_answer_that_was_cut_off_is_not_taken_for_whole(server: Double, how: str) -> None:
    def reply(exchange: Exchange) -> None:
        begun = stream("half an ans", "wer").split(b'data: {"choices": [{"index": 0, "delta": {}')[0]
        exchange.close_connection = True
        if how == "chunked":
            exchange.begin(Transfer_Encoding="chunked")
            exchange.piece(begun)
        else:
            exchange.begin(Connection="close")
            exchange.wfile.write(begun)

    server.reply = reply
    with pytest.raises(ModelUnavailableError, match="broke off"):
        server.ask()


def test_an_end_without_done_is_an_end_when_the_model_said_stop(server: Double) -> None:
    def reply(exchange: Exchange) -> None:
        exchange.close_connection = True
        exchange.begin(Connection="close")
        exchange.wfile.write(stream("all of it").replace(b"data: [DONE]\n\n", b""))

    server.reply = reply
    assert server.ask().text == "all of it"


def test_a_server_that_hangs_up_without_a_word_broke_off(server: Double) -> None:
    def reply(exchange: Exchange) -> None:
        exchange.close_connection = True

    server.reply = reply
    with pytest.raises(ModelUnavailableError, match="broke off"):
        server.ask()


@pytest.mark.parametrize("begun", [False, True])
def test_a_silence_longer_than_the_time_out_ends_the_call(server: Double, begun: bool) -> None:
    released = threading.Event()

    def reply(exchange: Exchange) -> None:
        if begun:
            exchange.begin(Transfer_Encoding="chunked")
            exchange.piece(event({"content": "well"}))
        released.wait(5)

    server.reply = reply
    with pytest.raises(ModelUnavailableError, match=r"sent nothing for 0\.2 s.*LETHE_LLM_TIMEOUT"):
        server.ask(read_timeout=0.2)
    released.set()


@pytest.mark.parametrize("dripping", [event({"content": "and "}), b": ping\n\n"])
def test_a_stream_without_an_end_ends_with_the_session(server: Double, dripping: bytes) -> None:
    def reply(exchange: Exchange) -> None:
        exchange.begin(Transfer_Encoding="chunked")
        while True:
            exchange.piece(dripping)
            time.sleep(0.01)

    server.reply = reply
    with pytest.raises(ModelUnavailableError, match="time for the call was over"):
        server.ask(seconds=0.3)


def test_a_stalled_stream_ends_with_the_session_though_its_time_out_is_longer(server: Double) -> None:
    released = threading.Event()

    def reply(exchange: Exchange) -> None:
        exchange.begin(Transfer_Encoding="chunked")
        for _ in range(3):
            exchange.piece(event({"content": "so "}))
            time.sleep(0.1)
        released.wait(20)

    server.reply = reply
    begun = time.monotonic()
    with pytest.raises(ModelUnavailableError, match="time for the call was over"):
        server.ask(seconds=0.6)
    released.set()
    assert time.monotonic() - begun < 15  # not a speed: the server would have kept silent for 20 s


def test_no_call_is_made_when_the_time_is_over(server: Double) -> None:
    with pytest.raises(ModelUnavailableError, match="no time is left"):
        server.ask(seconds=-1.0)
    assert not server.requests


def test_a_server_that_does_not_keep_to_the_length_is_cut_off(
    server: Double, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(openai_stream, "MAX_ANSWER_CHARACTERS", 10_000)

    def reply(exchange: Exchange) -> None:
        exchange.begin(Transfer_Encoding="chunked")
        while True:
            exchange.piece(event({"content": "on and on " * 50}))

    server.reply = reply
    with pytest.raises(ModelResponseError, match="cut off at 10,000"):
        server.ask()


@pytest.mark.parametrize("kind", ["text/event-stream", "application/json"])
def test_a_line_without_an_end_is_cut_off(server: Double, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openai_stream, "MAX_STREAM_BYTES", 100_000)

    def reply(exchange: Exchange) -> None:
        exchange.begin(kind=kind, Transfer_Encoding="chunked")
        while True:
            exchange.piece(b"data: " + b"x" * 5_000)

    server.reply = reply
    with pytest.raises(ModelResponseError, match="100,000"):
        server.ask()


@pytest.mark.parametrize(
    "garbage",
    [
        b"data: {nonsense\n\n",
        b"data: [1]\n\n",
        b'data: {"choices": 7}\n\n',
        b"data: " + b"[" * 100_000 + b"\n\n",
    ],
)
def test_garbage_in_a_stream_is_shown(server: Double, garbage: bytes) -> None:
    server.reply = lambda exchange: exchange.chunked(event({"content": "a"}), garbage)
    with pytest.raises(ModelResponseError, match="no completion"):
        server.ask()


@pytest.mark.parametrize("body", ["<html>Welcome</html>", {}, {"choices": []}, {"models": ["tiny"]}])
def test_a_page_that_is_no_completion_points_at_the_address(server: Double, body: Any) -> None:
    server.reply = lambda exchange: exchange.whole(200, body)
    with pytest.raises(ModelResponseError, match="LETHE_LLM_BASE_URL"):
        server.ask()


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        ({"message": "slot lost", "code": 500}, ModelUnavailableError),
        ({"message": "rate limited", "code": 429}, ModelUnavailableError),
        ({"message": "key revoked", "code": 401}, CredentialsError),
        ({"message": "slot lost", "code": "server_error"}, ModelUnavailableError),
        ("slot lost", ModelUnavailableError),
    ],
)
@pytest.mark.parametrize("shape", ["event", "old event", "whole"])
@pytest.mark.parametrize("received", [False, True])
def test_an_error_in_place_of_an_answer_is_what_it_says(
    server: Double, error: Any, kind: type[LetheError], shape: str, received: bool
) -> None:
    said = error if isinstance(error, str) else error["message"]
    before = [event({"content": "Well, "})] if received else []

    def reply(exchange: Exchange) -> None:
        if shape == "whole":
            exchange.whole(200, {"error": error})
        elif shape == "event":
            exchange.chunked(*before, event(error=error))
        else:
            exchange.chunked(*before, b"error: " + json.dumps(error).encode() + b"\n\n")

    server.reply = reply
    with pytest.raises(kind, match=said):
        server.ask()


# -- waiting ------------------------------------------------------------------------------------


def test_a_server_that_says_when_to_come_again_is_asked_again_then(server: Double) -> None:
    def reply(exchange: Exchange) -> None:
        if len(server.requests) == 1:
            exchange.whole(429, {"error": {"message": "slow down"}}, Retry_After="0.05")
        else:
            exchange.chunked(stream("yes"))

    server.reply = reply
    assert server.ask().text == "yes"


@pytest.mark.parametrize("after", ["3600", "Wed, 21 Oct 2099 07:28:00 GMT", "soon", ""])
def test_nobody_waits_for_an_hour_or_for_no_reason(server: Double, after: str) -> None:
    server.reply = refusing(429, "slow down", Retry_After=after)
    with pytest.raises(ModelUnavailableError, match="slow down"):
        server.ask()
    assert len(server.requests) == 1


def test_a_server_that_always_says_later_is_given_up(server: Double) -> None:
    server.reply = refusing(503, "busy", Retry_After="0")
    with pytest.raises(ModelUnavailableError, match="busy"):
        server.ask()
    assert len(server.requests) == 1 + openai_chat.MAX_WAITS


def test_a_server_that_is_loading_its_model_is_waited_for(
    server: Double, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(openai_chat, "LOADING_POLL", 0.01)

    def reply(exchange: Exchange) -> None:
        if len(server.requests) < 4:
            exchange.whole(503, {"error": {"message": "Loading model", "code": 503}})
        else:
            exchange.chunked(stream("yes"))

    server.reply = reply
    assert server.ask().text == "yes"


# -- the check ----------------------------------------------------------------------------------


def test_the_check_costs_a_few_tokens_and_learns_what_is_refused(server: Double) -> None:
    server.reply = picky("thinking_token_budget", "stream_options")
    reasoner = server.reasoner()
    reasoner.check()
    assert all(request["max_tokens"] < 20 for request in server.requests)
    assert all(len(json.dumps(request)) < 1_000 for request in server.requests)
    n_learning = len(server.requests)
    reasoner.answer(PROMPT, deadline=time.monotonic() + 10)
    assert len(server.requests) == n_learning + 1


def test_a_server_that_complains_of_so_short_an_answer_is_there(server: Double) -> None:
    server.reply = refusing(
        400, "Could not finish the message because max_tokens or model output limit was reached."
    )
    server.reasoner().check()


@pytest.mark.parametrize(
    ("status", "said", "kind"),
    [
        (401, "bad key", CredentialsError),
        (404, "model not found", CredentialsError),
        (503, "down", ModelUnavailableError),
    ],
)
def test_the_check_fails_like_an_answer(
    server: Double, status: int, said: str, kind: type[LetheError]
) -> None:
    server.reply = refusing(status, said)
    with pytest.raises(kind, match=said):
        server.reasoner().check()


def test_a_closed_reasoner_keeps_no_connection(server: Double) -> None:
    reasoner = server.reasoner()
    reasoner.check()
    reasoner.close()
    assert reasoner._client.is_closed
