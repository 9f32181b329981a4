"""Opening a session: made when it is new, gone on with when it exists, always under its lease."""

import os
import re
import uuid
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from lethe_core.control.embedding import Embedder, EmbeddingProfile
from lethe_core.errors import (
    DuplicateError,
    LetheError,
    SeriesBusyError,
    SessionMismatchError,
    SessionNotFoundError,
    StoreVersionError,
    UsageError,
)
from lethe_core.graph.nodes import SessionId, TaskNode, TaskStatus
from lethe_core.graph.session_state import SessionPatch, SessionState, SessionStatus, SkippedSource
from lethe_core.graph.store import GraphStore
from lethe_core.report.unread import bounded, named
from lethe_core.session.deps import SessionDeps
from lethe_core.session.following import follow
from lethe_core.session.handle import Progress, SessionHandle
from lethe_core.session.lease_keeper import LEASE_SECONDS, LeaseKeeper
from lethe_core.session.liveness import selectable

MAX_QUESTION: Final = 8_000  # characters: a longer text is a document, and belongs into the corpus
# ECMA-48: a control sequence (colours, cursor), an operating system command (titles, links; what it names
# is no text). Of "\x1b[31mcold" only the first character is unprintable, and no page has a word "31mcold".
_ESCAPES: Final = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|(?:\x1b\]|\x9d)[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)"
)
_SESSION_ID: Final = re.compile(r"[A-Za-z][A-Za-z0-9._-]{0,63}")

# What a session remembers of its settings, so that `resume` needs only its name.
REMEMBERED: Final = (
    "corpus",
    "max_iterations",
    "min_iterations",
    "time_budget",
    "max_tokens",
    "max_cost",
    "context_tokens",
    "search_documents",
    "search_chunks",
    "search_best_chunks",
    "report_unsupported",
    "report_quotations",
    "out",
)
TARGETS: Final = ("max_iterations", "time_budget", "max_tokens", "max_cost")


def checked_question(question: str) -> str:
    """A question without a terminal's escape sequences, and without white space at its ends.

    Raises UsageError when it cannot be one.
    """
    text = _ESCAPES.sub("", question).strip()
    if not text:
        raise UsageError('the question is empty: lethe research "What …?" --corpus DIR')
    if not any(character.isalnum() for character in text):
        raise UsageError(
            f"the question {text[:40]!a} has no word in it, neither a letter nor a digit: ask in words"
        )
    if len(text) > MAX_QUESTION:
        raise UsageError(
            f"the question has {len(text):,} characters, at most {MAX_QUESTION:,} are taken: "
            "put long material into the corpus and ask about it"
        )
    if "\x00" in text or any("\ud800" <= character <= "\udfff" for character in text):
        raise UsageError("the question holds a NUL byte or bytes that are no UTF-8: give it as plain text")
    return text


def checked_session_id(name: str) -> SessionId:
    """A session's name that is safe as a folder's. Raises UsageError."""
    if not _SESSION_ID.fullmatch(name):
        raise UsageError(
            f"session name {name[:80]!r} cannot be used: a letter, then letters, digits, dots, dashes or "
            "underscores, 64 at most"
        )
    return SessionId(name)


def checked_series(name: str) -> str:
    """A series' name, made as a session's; empty for none. Raises UsageError."""
    if name and not _SESSION_ID.fullmatch(name):
        raise UsageError(
            f"series name {name[:80]!r} cannot be used: a letter, then letters, digits, dots, dashes or "
            "underscores, 64 at most"
        )
    return name


def remembered(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The part of the settings (as plain values) that a session keeps."""
    return {name: settings[name] for name in REMEMBERED}


def open_session(
    deps: SessionDeps,
    question: str,
    session_id: SessionId,
    *,
    owner: str,
    force: bool = False,
    cancelled: Callable[[], bool] = lambda: False,
    listener: Callable[[Progress], None] | None = None,
) -> SessionHandle:
    """Open a session for work, creating it when there is none of this name.

    Raises SessionMismatchError when it asks another question, works on other folders or is of another series,
    StoreVersionError when another embedding profile filled it, and what acquiring the lease raises; of a
    session that this call has made and that its series does not take now or does not take at all, nothing
    remains.
    """
    store = deps.store
    made = False
    try:
        state = store.load_session(session_id)
    except SessionNotFoundError:
        state, made = _create(store, deps, question, session_id)
    check_same(state, question, deps.embedder.profile, deps.settings.series, deps.settings.corpus)
    try:
        lease = store.acquire_lease(session_id, owner, seconds=LEASE_SECONDS, force=force)
    except SeriesBusyError:
        if made:
            _unmake(store, session_id)
        raise
    keeper = LeaseKeeper(store, lease)
    try:
        # Read again under the lease: until then another process may have gone on with it.
        session = SessionHandle(
            deps,
            keeper,
            store.load_session(session_id),
            store.load_snapshot(session_id),
            cancelled=cancelled,
            listener=listener,
        )
        follow(session)
        _remember(session)
    except BaseException as error:
        keeper.release()
        if made and isinstance(error, SessionMismatchError):
            _unmake(store, session_id)
        raise
    return session


def check_same(
    state: SessionState,
    question: str,
    profile: EmbeddingProfile,
    series: str = "",
    corpus: Sequence[Path] = (),
) -> None:
    """Refuse to mix questions, folders, series, or vectors of different models, in one session.

    corpus: absolute paths; none where the session's own folders stand, as with an empty question or series.
    """
    if series and state.series != series:
        whose = f"is of the series {state.series}" if state.series else "is of no series"
        raise SessionMismatchError(
            f"session {state.session_id} {whose}, not of {series}: take another --session, or none"
        )
    if question and state.goal != question:
        raise SessionMismatchError(
            f"session {state.session_id} asks another question: {state.goal[:200]!r}. "
            "Take another --session, or none"
        )
    own = state.config.get("corpus") or ()
    if corpus and own and _real(own) != _real(corpus):
        raise SessionMismatchError(
            f"session {state.session_id} works on {_folders(own)}, not on {_folders(corpus)}: "
            f"take another --session, or none, or go on with this one: lethe resume {state.session_id}"
        )
    if state.profile != profile_key(profile):
        raise StoreVersionError(
            f"session {state.session_id} was filled by the embedding {state.profile}, not by "
            f"{profile_key(profile)}: set LETHE_EMBEDDING to that one, or begin a new session"
        )


def _real(folders: Sequence[str | Path]) -> set[str]:
    return {os.path.realpath(folder) for folder in folders}


def _folders(folders: Sequence[str | Path]) -> str:
    return f"the folder{'s' if len(folders) > 1 else ''} {', '.join(map(str, folders))}"


def profile_key(profile: EmbeddingProfile) -> str:
    return f"{profile.name}@{profile.revision}" if profile.revision else profile.name


def wants_more(state: SessionState, settings: Mapping[str, Any]) -> bool:
    """Whether a target is above the one that the session was last run with."""

    def rank(value: Any) -> float:
        return float("inf") if value is None else float(value)

    return any(rank(settings[name]) > rank(state.config.get(name)) for name in TARGETS)


def may_go_on(state: SessionState, settings: Mapping[str, Any]) -> bool:
    """Whether a run has anything to do: an unfinished session always, a finished one with raised targets."""
    if state.status is SessionStatus.RUNNING:
        return True
    if state.stop_reason == "goal_complete":
        return False
    if state.stop_reason in ("cancelled", "model_unavailable", "search_unavailable", "error"):
        return True
    return wants_more(state, settings)


def _unmake(store: GraphStore, session_id: SessionId) -> None:
    with suppress(LetheError):
        store.delete_session(session_id)


def _create(
    store: GraphStore, deps: SessionDeps, question: str, session_id: SessionId
) -> tuple[SessionState, bool]:
    """The session, and whether it was made here."""
    embedder: Embedder = deps.embedder
    root = TaskNode(
        description=question, embed_text=question, embedding=embedder.embed_documents([question])[0]
    )
    state = SessionState(
        session_id=session_id,
        uuid=str(uuid.uuid4()),
        root=root.id,
        goal=question,
        profile=profile_key(embedder.profile),
        config=remembered(deps.settings.model_dump(mode="json")),
        series=(series := checked_series(deps.settings.series)),
        n=0 if series else 1,
    )
    try:
        return store.create_session(state, root), True
    except DuplicateError:
        # Another process made it in the same instant; the lease decides which of the two goes on.
        return store.load_session(session_id), False


def _remember(session: SessionHandle) -> None:
    """Take over changed settings, and reopen a finished session that may go on."""
    state, settings = session.state, session.deps.settings.model_dump(mode="json")
    patch: dict[str, Any] = {}
    if state.status is not SessionStatus.RUNNING and may_go_on(state, settings):
        if not selectable(session.snapshot) or session.snapshot.root.status is TaskStatus.DONE:
            return
        patch |= {
            "status": SessionStatus.RUNNING,
            "stop_reason": "",
            "message": "",
            "capped": "",
            "n_unanswered": 0,
            "reopened_at": state.iterations,
            "sections": {},
        }
    config = remembered(settings)
    if config != state.config:
        patch["config"] = config
    skipped = _with_unreadable(state, session.deps)
    if skipped != state.skipped:
        patch["skipped"] = skipped
    if patch:
        with session.write() as tx:
            tx.update_session(SessionPatch(**patch))


def _with_unreadable(state: SessionState, deps: SessionDeps) -> tuple[SkippedSource, ...]:
    """What the sources cannot read now, behind what the session has noted."""
    found = bounded(
        [SkippedSource(skip.source, skip.reason) for source in deps.search for skip in source.skipped]
    )
    return tuple(dict.fromkeys((*named(state.skipped), *found)))
