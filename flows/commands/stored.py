"""Sessions as they lie in the store: looked up, reported and shown without a run."""

from pathlib import Path
from typing import TYPE_CHECKING

from lethe_core.errors import SessionNotFoundError

if TYPE_CHECKING:
    from lethe_core.config import Settings
    from lethe_core.graph.nodes import SessionId
    from lethe_core.graph.session_state import SessionState
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


def stored_report(settings: "Settings", session_id: "SessionId") -> "Report":
    """The report of a session as it stands, from the graph alone. Raises SessionNotFoundError."""
    from lethe_core.adapters.bootstrap import open_embedder
    from lethe_core.adapters.stores import open_store
    from lethe_core.report.assembly import ReportSettings, assemble

    store = open_store(settings.store_url)
    try:
        state = store.load_session(session_id)
        snapshot = store.load_snapshot(session_id)
    finally:
        store.close()
    # The model that filled the session, whatever is configured by now.
    embedding = state.profile.partition("@")[0]
    quotations = int(state.config.get("report_quotations", settings.report_quotations))
    return assemble(
        snapshot,
        state,
        embedder=open_embedder(settings.model_copy(update={"embedding": embedding})),
        settings=ReportSettings(
            unsupported=state.config.get("report_unsupported", settings.report_unsupported),
            max_answer_quotes=quotations,
            max_section_quotes=quotations,
        ),
    )
