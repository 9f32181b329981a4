"""Parsing in another process: a document that makes a parser hang, crash or eat memory costs only itself.

PDF, Word and HTML go through large parsers, two of them in C. The process is started when the first such
file comes, takes one document after the other over its standard streams, and is killed and replaced when
one takes too long. Answers are JSON, so that a process that a hostile file took over can send only text.
"""

import contextlib
import json
import os
import struct
import subprocess
import sys
from dataclasses import asdict, dataclass
from threading import Lock, Timer
from types import TracebackType
from typing import IO, get_args

from lethe_core.adapters.sources.readers.document import Document
from lethe_core.adapters.sources.reading import Kind, parse
from lethe_core.errors import SourceError


@dataclass(frozen=True, slots=True)
class IsolationConfig:
    seconds: float = 60.0  # for one document, the libraries' loading included
    memory: int = 3 * 1024**3  # bytes of address space, where the system can limit it


_KINDS: tuple[Kind, ...] = get_args(Kind)
_PLAIN: frozenset[Kind] = frozenset(("markdown", "text", "csv"))  # linear, and no library beneath
_START = (
    "import sys, json; sys.path[:] = json.loads(sys.argv[1]); "
    "from lethe_core.adapters.sources.isolated import serve; serve(int(sys.argv[2]), int(sys.argv[3]))"
)
_LARGEST_ANSWER = 512 * 1024 * 1024


class ReaderProcess:
    """Parses documents in one other process; safe to use from several threads, one document at a time."""

    def __init__(self, config: IsolationConfig | None = None) -> None:
        self._config = config or IsolationConfig()
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = Lock()

    def parse(self, kind: Kind, data: bytes) -> Document:
        """Make a document of a file's bytes. Raises SourceError with the reason."""
        if kind in _PLAIN:
            return parse(kind, data)
        with self._lock:
            return self._ask(kind, data)

    def close(self) -> None:
        """End the process; the next document starts another."""
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()

    def __enter__(self) -> "ReaderProcess":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _ask(self, kind: Kind, data: bytes) -> Document:
        process = self._process or self._start()
        assert process.stdin is not None
        assert process.stdout is not None
        late: list[bool] = []

        def end() -> None:
            late.append(True)
            process.kill()

        timer = Timer(self._config.seconds, end)
        timer.daemon = True
        timer.start()
        try:
            process.stdin.write(struct.pack(">BQ", _KINDS.index(kind), len(data)))
            process.stdin.write(data)
            process.stdin.flush()
            (length,) = struct.unpack(">Q", _exactly(process.stdout, 8))
            answer = json.loads(_exactly(process.stdout, min(length, _LARGEST_ANSWER)))
        except (OSError, EOFError, ValueError) as error:
            self.close()
            what = f"not read within {self._config.seconds:g} s" if late else "made its reader crash"
            raise SourceError(f"the {kind.upper()} document {what}") from error
        except BaseException:  # an interrupt between question and answer: the streams are out of step
            self.close()
            raise
        finally:
            timer.cancel()
        if "error" in answer:
            raise SourceError(str(answer["error"]))
        fields = answer["document"]
        return Document(**{**fields, "page_starts": tuple(fields["page_starts"])})

    def _start(self) -> subprocess.Popen[bytes]:
        paths = json.dumps([os.path.abspath(path) for path in sys.path])  # noqa: PTH100 (an entry may be "")
        limits = [str(int(self._config.seconds) + 5), str(self._config.memory)]
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-c", _START, paths, *limits],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        return self._process


def serve(seconds: int, memory: int) -> None:
    """The other process: parse what comes on standard input until it ends.

    seconds: after which it ends itself, should nobody be left to kill it.
    """
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    questions = sys.stdin.buffer
    # Libraries print to standard output; the answers have a stream of their own.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    while True:
        try:
            kind, length = struct.unpack(">BQ", _exactly(questions, 9))
        except EOFError:
            return
        if hasattr(signal, "alarm"):
            signal.alarm(seconds)
        data = _exactly(questions, length)
        try:
            answer: dict[str, object] = {"document": asdict(parse(_KINDS[kind], data))}
        except SourceError as error:
            answer = {"error": str(error)}
        except MemoryError:
            answer = {"error": "needs more memory than a document may take"}
        except Exception as error:  # noqa: BLE001 (parsers raise what they like; the document is skipped by name)
            answer = {"error": f"could not be read ({type(error).__name__}: {str(error)[:200]})"}
        encoded = json.dumps(answer).encode("ascii")
        if hasattr(signal, "alarm"):
            signal.alarm(0)
        answers.write(struct.pack(">Q", len(encoded)))
        answers.write(encoded)
        answers.flush()


def _exactly(stream: IO[bytes], count: int) -> bytes:
    data = stream.read(count)
    if len(data) != count:
        raise EOFError
    return bytes(data)
