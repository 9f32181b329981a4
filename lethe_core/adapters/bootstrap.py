"""From settings to what a session works with: the one place where adapters are chosen."""

import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from lethe_core.adapters.models.embedders import opened_embedder
from lethe_core.adapters.models.openai_chat import OpenAIChat
from lethe_core.adapters.models.tokens import WordLlamaTokenCounter
from lethe_core.adapters.sources.search import FolderSearch, SearchConfig
from lethe_core.adapters.stores import open_store
from lethe_core.config import Settings
from lethe_core.control.embedding import Embedder
from lethe_core.errors import ConfigError, CorpusError
from lethe_core.reasoning.extractive import ExtractiveReasoner
from lethe_core.reasoning.protocol import Reasoner
from lethe_core.session.clock import Clock, SystemClock
from lethe_core.session.deps import SessionDeps

IndexProgress = Callable[[int, int, str], None]


@contextmanager
def session_deps(
    settings: Settings,
    *,
    clock: Clock | None = None,
    progress: IndexProgress | None = None,
    embedder: Embedder | None = None,
) -> Iterator[SessionDeps]:
    """Open store, models and sources for one session; all are closed on leaving.

    progress: told (done, total, name) while a folder is read; embedder: one that is open already.
    Raises ConfigError, CorpusError, StoreError.
    """
    check_corpus(settings.corpus)
    with ExitStack() as stack:
        store = open_store(settings.store_url)
        stack.callback(store.close)
        embedder = embedder or stack.enter_context(opened_embedder(settings))
        search = stack.enter_context(
            FolderSearch.open(
                settings.corpus,
                settings.home,
                embedder,
                progress=progress,
                config=SearchConfig(
                    documents=settings.search_documents,
                    whole_chunks=settings.search_chunks,
                    best_chunks=settings.search_best_chunks,
                ),
            )
        )
        reasoner = open_reasoner(settings, embedder)
        if isinstance(reasoner, OpenAIChat):
            stack.callback(reasoner.close)
        yield SessionDeps(
            store=store,
            embedder=embedder,
            reasoner=reasoner,
            search=(search,),
            tokens=WordLlamaTokenCounter(),
            nli=None,
            settings=settings,
            clock=clock or SystemClock(),
        )


def open_reasoner(settings: Settings, embedder: Embedder) -> Reasoner:
    """A model server when one is configured, otherwise the extractive reasoner."""
    if not settings.llm_base_url:
        return ExtractiveReasoner(embedder)
    return OpenAIChat(
        settings.llm_base_url,
        settings.llm_model,
        api_key=settings.llm_api_key,
        context_window=settings.llm_context_window,
        read_timeout=settings.llm_timeout,
    )


def check_corpus(folders: tuple[Path, ...]) -> None:
    """Refuse what this worker cannot see, in the first second. Raises CorpusError, ConfigError."""
    if not folders:
        raise ConfigError("no corpus is given and there is no other source: --corpus DIR (or LETHE_CORPUS)")
    host = socket.gethostname()
    for folder in folders:
        if not folder.is_absolute():
            raise ConfigError(
                f"the corpus path is relative: {folder} (a worker's folder is not yours: make it absolute)"
            )
        if not folder.exists():
            raise CorpusError(
                f"corpus folder not found on {host}: {folder} (mount it, or pass a path that it sees)"
            )
        if not folder.is_dir():
            raise CorpusError(f"the corpus on {host} is a file, not a folder: {folder} (pass its folder)")
