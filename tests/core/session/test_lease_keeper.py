"""The lease of a session at work: what becomes of it when the store goes away."""

import logging
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lethe_core.adapters.stores import open_store, sqlite_url
from lethe_core.errors import StoreUnavailableError
from lethe_core.graph.nodes import NodeId, SessionId, TaskNode
from lethe_core.graph.session_state import SessionState
from lethe_core.session.lease_keeper import LeaseKeeper

SESSION = SessionId("s-kept")


class Gone:
    """A store whose server went away: a real one goes when it is killed, and is waited for for a minute."""

    def __init__(self, store: Any) -> None:
        self._store = store

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def release_lease(self, _: Any) -> None:
        raise StoreUnavailableError("the server does not answer")


@pytest.fixture
def store(tmp_path: Path) -> Any:
    opened = open_store(sqlite_url(tmp_path / "graph.db"))
    state = SessionState(SESSION, "", NodeId(""), "goal", "test-4", {})
    opened.create_session(state, TaskNode("goal", "goal", np.ones(4, dtype=np.float32)))
    yield opened
    opened.close()


def test_a_lease_is_given_back(store: Any) -> None:
    keeper = LeaseKeeper(store, store.acquire_lease(SESSION, "host/1/x/a"))
    keeper.release()
    assert store.lease_holder(SESSION) is None


def test_a_store_that_is_gone_at_the_end_takes_nothing_from_the_work(
    store: Any, caplog: pytest.LogCaptureFixture
) -> None:
    keeper = LeaseKeeper(Gone(store), store.acquire_lease(SESSION, "host/1/x/a"))
    with caplog.at_level(logging.WARNING):
        keeper.release()
    assert "s-kept" in caplog.text
    assert "the server does not answer" in caplog.text
    assert store.lease_holder(SESSION) is not None
