"""Sessions as they lie in the store: looked up, reported and shown without a run."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flows.commands.common import effective_settings
from lethe_core.errors import SessionNotFoundError

if TYPE_CHECKING:
    from lethe_core.config import Settings
    from lethe_core.graph.nodes import SessionId
    from lethe_core.graph.outline import Outline
    from lethe_core.graph.session_state import SessionState
    from lethe_core.graph.snapshot import GraphSnapshot
    from lethe_core.graph.store import GraphStore
    from lethe_core.report.document import Report


def existing_store(settings: "Settings") -> "GraphStore | None":
    """The store, or None where nothing has been stored yet: looking makes no database."""
    from lethe_core.adapters.stores import open_store

    url = settings.store_url
    if url.startswith("sqlite:///") and not Path(url.removeprefix("sqlite:///")).exists():
        return None
    return open_store(url)


def find_session(settings: "Settings", name: str) -> "SessionState | None":
    """A session by its name; None when there is none of it."""
    from lethe_core.session.opening import checked_session_id

    session_id = checked_session_id(name)
    store = existing_store(settings)
    if store is None:
        return None
    try:
        return store.load_session(session_id)
    except SessionNotFoundError:
        return None
    finally:
        store.close()


def known_session(settings: "Settings", name: str) -> "SessionState":
    """A session by its name. Raises SessionNotFoundError."""
    state = find_session(settings, name)
    if state is None:
        raise SessionNotFoundError(
            f"no session {name!r} in {settings.store_url} (`lethe sessions` lists those that there are)"
        )
    return state


def check_same_session(
    settings: "Settings",
    state: "SessionState",
    question: str,
    series: str | None = None,
    corpus: Sequence[Path] = (),
) -> None:
    """Refuse another question, series or corpus (SessionMismatchError) or model (StoreVersionError).

    corpus: the folders that were given, absolute; none where the session's own stand.
    """
    from lethe_core.adapters.models.embedders import profile_of
    from lethe_core.session.opening import check_same

    check_same(state, question, profile_of(settings), series or "", corpus)


def with_own_corpus(settings: "Settings", name: str) -> "Settings":
    """The settings with the folders that a stored session of this name works on, whatever is configured."""
    state = find_session(settings, name)
    own = state.config.get("corpus") if state is not None else None
    return settings.model_copy(update={"corpus": tuple(map(Path, own))}) if own else settings


def recalled_settings(
    state: "SessionState", flags: Mapping[str, Any], *, config: Path | None, home: Path | None
) -> "Settings":
    """What the session was last run with, the flags that are given now above it.

    What the flow takes no parameter for is put into this process's environment, where the flow reads its
    settings.
    """
    from lethe_core.session.opening import REMEMBERED

    given = {name: value for name, value in flags.items() if value is not None}
    # A session of no series is not put into one by what the environment says.
    given.setdefault("series", state.series)
    recalled = {name: state.config[name] for name in REMEMBERED if name in state.config}
    if "max_iterations" in given and "min_iterations" not in given:
        # A floor from then must not refuse the lower target that is asked for now.
        recalled["min_iterations"] = min(recalled.get("min_iterations", 1), given["max_iterations"])
    for name in REMEMBERED:
        if recalled.get(name) is not None and name != "corpus":
            os.environ[f"LETHE_{name.upper()}"] = str(recalled[name])
    return effective_settings({**recalled, **given}, config=config, home=home).settings


def stored_report(settings: "Settings", session_id: "SessionId") -> "Report":
    """The report of a session as it stands, from the graph alone. Raises SessionNotFoundError."""
    return _report_and_graph(settings, session_id)[0]


def stored_outline(settings: "Settings", session_id: "SessionId") -> "Outline":
    """What a session's report is compared by. Raises SessionNotFoundError."""
    from lethe_core.report.outlining import outline_of

    return outline_of(*_report_and_graph(settings, session_id))


def _report_and_graph(settings: "Settings", session_id: "SessionId") -> "tuple[Report, GraphSnapshot]":
    from lethe_core.adapters.models.embedders import opened_embedder, settings_of_filled
    from lethe_core.adapters.stores import open_store
    from lethe_core.session.reporting import stored_report as report_of

    store = open_store(settings.store_url)
    try:
        state = store.load_session(session_id)
        snapshot = store.load_snapshot(session_id)
    finally:
        store.close()
    # The model that filled the session, whatever is configured by now.
    with opened_embedder(settings_of_filled(settings, state.profile)) as embedder:
        return report_of(snapshot, state, embedder), snapshot
