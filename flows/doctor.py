"""What is configured, what answers, what is off: the checks of ``lethe doctor``. Starts nothing.

A check fails when something configured does not answer; what merely could be turned on is off.
"""

import os
import shutil
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Final

from flows.local_server import answers, running_server
from flows.prefect_environment import configured_server, silence_of, without_password
from flows.unknown_variables import unknown_variables
from flows.wording import count, shown
from lethe_core.config import SECRETS, LoadedSettings, Settings
from lethe_core.errors import LetheError, ModelError

LOW_DISK_BYTES: Final = 1 << 30


class Level(StrEnum):
    OK = "ok"
    OFF = "off"
    NOTE = "note"
    FAILED = "FAIL"


@dataclass(frozen=True, slots=True)
class Check:
    name: str
    level: Level
    text: str


@dataclass(frozen=True, slots=True)
class Value:
    """One setting as it is in effect."""

    name: str
    value: str  # secrets hidden
    origin: str


def effective_values(loaded: LoadedSettings) -> list[Value]:
    """Every setting, in the order of the model, with where it came from."""
    found = []
    for name in Settings.model_fields:
        value = getattr(loaded.settings, name)
        if name in SECRETS:
            text = "(set, hidden)" if value.get_secret_value() else ""
        elif isinstance(value, tuple):
            text = os.pathsep.join(str(part) for part in value)
        else:
            text = "" if value is None else str(value)
        found.append(Value(name, without_password(shown(text, 500)), loaded.origins[name]))
    return found


def check_all(settings: Settings, environment: Mapping[str, str] | None = None) -> list[Check]:
    """Run every check; none raises."""
    environment = os.environ if environment is None else environment
    checks = [
        _guarded("home", lambda: _home(settings.home)),
        _guarded("store", lambda: _store(settings)),
        _guarded("embedding", lambda: _embedding(settings)),
        _guarded("model", lambda: _model(settings)),
        _nli(),
        *[_guarded(_corpus_name(folder), partial(_corpus, folder)) for folder in settings.corpus],
        *_no_corpus(settings),
        _guarded("Prefect", lambda: _prefect(settings.home)),
    ]
    return checks + _unknown_variables(environment)


def _guarded(name: str, check: Callable[[], Check]) -> Check:
    try:
        return check()
    except LetheError as error:
        return Check(name, Level.FAILED, str(error))
    except OSError as error:
        return Check(name, Level.FAILED, f"{error.strerror or error} ({error.filename or 'no file'})")


def _home(home: Path) -> Check:
    from flows.local_server import home_error

    try:
        home.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=home) as file:
            file.write(b"lethe")
            file.flush()
    except OSError as error:
        raise home_error(home, error) from None
    free = shutil.disk_usage(home).free
    text = f"{home} can be written to, {free / 1e9:,.1f} GB free"
    if free < LOW_DISK_BYTES:
        return Check("home", Level.NOTE, f"{text}: a disk that fills up ends a run (make room)")
    return Check("home", Level.OK, text)


def _store(settings: Settings) -> Check:
    from flows.commands.stored import existing_store

    store = existing_store(settings)
    if store is None:
        return Check("store", Level.OK, f"{settings.store_url} will be made by the first run")
    try:
        number = len(store.list_sessions())
    finally:
        store.close()
    return Check("store", Level.OK, f"{settings.store_url} opens, {count(number, 'session')}")


def _embedding(settings: Settings) -> Check:
    from lethe_core.adapters.models.embedders import opened_embedder

    with opened_embedder(settings) as embedder:
        vector = embedder.embed_queries(["Does it answer?"])
    return Check("embedding", Level.OK, f"{settings.embedding} answers, {vector.shape[1]} dimensions")


def _model(settings: Settings) -> Check:
    if not settings.llm_base_url:
        return Check(
            "model",
            Level.OFF,
            "no language model: reports are made of quotations (set LETHE_LLM_BASE_URL and LETHE_LLM_MODEL "
            "to an OpenAI-compatible server)",
        )
    from lethe_core.adapters.models.openai_chat import OpenAIChat

    where = without_password(settings.llm_base_url)
    reasoner = OpenAIChat(
        settings.llm_base_url,
        settings.llm_model,
        api_key=settings.llm_api_key,
        context_window=settings.llm_context_window,
        read_timeout=min(settings.llm_timeout, 60.0),
    )
    try:
        reasoner.check()
    except ModelError as error:
        return Check("model", Level.FAILED, str(error))
    return Check("model", Level.OK, f"{settings.llm_model} answers at {where}")


def _nli() -> Check:
    return Check("inference", Level.OFF, "no inference model: support is measured by words and vectors")


def _corpus(folder: Path) -> Check:
    from lethe_core.adapters.bootstrap import check_corpus
    from lethe_core.adapters.sources.folder import walk

    check_corpus((folder,))
    found = walk((folder,))
    more = (
        f", {count(len(found.skipped), 'entry')} left out".replace("entrys", "entries")
        if found.skipped
        else ""
    )
    return Check(_corpus_name(folder), Level.OK, f"{count(len(found.files), 'file')}{more}")


def _corpus_name(folder: Path) -> str:
    return f"corpus {shown(str(folder), 100)}"


def _no_corpus(settings: Settings) -> list[Check]:
    if settings.corpus:
        return []
    return [
        Check(
            "corpus", Level.OFF, "no folder is configured: give --corpus DIR to each run, or set LETHE_CORPUS"
        )
    ]


def _prefect(home: Path) -> Check:
    configured = configured_server()
    if configured is not None:
        if silence := silence_of(configured):
            return Check("Prefect", Level.FAILED, silence)
        where = without_password(configured.url)
        return Check("Prefect", Level.OK, f"the server at {where} answers ({configured.origin})")
    state = running_server(home)
    if state is None:
        return Check(
            "Prefect", Level.OK, "no server configured: the next run starts a local one, and reuses it"
        )
    if answers(state.port):
        return Check(
            "Prefect", Level.OK, f"the local server answers at {state.page} (`lethe server stop` ends it)"
        )
    return Check(
        "Prefect", Level.NOTE, f"the local server at {state.page} is starting, or stuck (`lethe server stop`)"
    )


def _unknown_variables(environment: Mapping[str, str]) -> list[Check]:
    return [
        Check(name, Level.NOTE, f"no setting has this name, it does nothing{hint}")
        for name, hint in unknown_variables(environment)
    ]
