"""What the kill harness compares and counts: it must see what it is there to find."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks.kills.audit import Figures, faults
from benchmarks.kills.canonical import canonical
from benchmarks.kills.history import History
from benchmarks.kills.marks import Mark
from lethe_core.adapters.stores import open_store, sqlite_url
from lethe_core.graph.dump import SessionDump
from lethe_core.graph.nodes import Edge, EdgeType, EvidenceNode, NodeId, SessionId, TaskNode
from lethe_core.graph.session_state import SessionPatch, SessionState

KEY = "llm-u-1-0"
POSITIONS = [(0, "sync", 0, 0, 0), (0, "begin", 0, 0, 0), (0, "answer", 0, 0, 0), (1, "none", 0, 0, 0)]
HELD = Figures(bought=1, finished=1, probes=1, committed=1, lost_calls=0)


def written(folder: Path, strength: float = 0.5) -> SessionDump:
    """A small session; ids and times are others each time."""
    folder.mkdir()
    (folder / "report.json").write_text('{"session": "s-x", "seconds": 1.5, "claims": ["one"]}')
    store = open_store(sqlite_url(folder / "graph.db"))
    vector = np.ones(4, dtype=np.float32)
    state = SessionState(SessionId("s-x"), "", NodeId(""), "goal", "test-4", {})
    root = store.create_session(state, TaskNode("goal", "goal", vector)).root
    lease = store.acquire_lease(SessionId("s-x"), "host/1/x/a")
    with store.transaction(lease) as tx:
        found = tx.create_node(EvidenceNode("found", "found", vector, strength, strength))
        tx.create_edge(Edge(EdgeType.PRODUCED, root, found.id))
        tx.create_node(TaskNode(f"see {found.short_id} of {root}", "see", vector))
        tx.update_session(SessionPatch(message=f"see [{found.short_id}]", seconds=found.created_at))
    dump = store.dump_session(SessionId("s-x"))
    store.close()
    return dump


@pytest.fixture
def history(tmp_path: Path) -> History:
    """One start that went well."""
    history = History(tmp_path / "results")
    history.begin()
    for name in ("a.md", "b.md"):
        history.add(Mark("reading", {"name": name}))
    history.add(Mark("leased"))
    for position in POSITIONS:
        if position[1] == "answer":
            history.add(Mark("asking", {"key": KEY}))
            history.add(Mark("answered", {"key": KEY}))
        history.add(Mark("writing"))
        history.add(Mark("committed", {"at": list(position), "progressed": True}))
    return history


@pytest.fixture
def dump(tmp_path: Path) -> SessionDump:
    return written(tmp_path / "one")


def found(history: History, dump: SessionDump, counted: Figures = HELD) -> list[str]:
    return faults(history, dump, counted, {}, {}, POSITIONS)


def test_ids_and_times_make_no_difference_and_anything_else_does(tmp_path: Path, dump: SessionDump) -> None:
    one = canonical(dump, tmp_path / "one" / "report.json")
    same = written(tmp_path / "two")
    assert same.state.uuid != dump.state.uuid
    assert canonical(same, tmp_path / "two" / "report.json") == one
    other = written(tmp_path / "three", strength=0.5000001)
    assert canonical(other, tmp_path / "three" / "report.json") != one
    (tmp_path / "two" / "report.json").write_text('{"session": "s-x", "seconds": 1.5, "claims": ["two"]}')
    assert canonical(same, tmp_path / "two" / "report.json") != one
    twice = replace(dump, edges=(*dump.edges, *dump.edges))
    assert canonical(twice, tmp_path / "one" / "report.json") != one


def test_a_session_that_went_well_has_no_faults(history: History, dump: SessionDump) -> None:
    assert found(history, dump) == []


def test_an_answer_bought_without_a_kill_in_its_call_is_a_fault(history: History, dump: SessionDump) -> None:
    (fault,) = found(history, dump, replace(HELD, bought=2, finished=2))[:1]
    assert "2 answers were bought and 1 committed, but only 0 kills" in fault


def test_a_kill_in_a_call_excuses_that_call_unless_its_answer_was_kept(
    history: History, dump: SessionDump, tmp_path: Path
) -> None:
    history.begin()
    history.add(Mark("asking", {"key": KEY}))
    history.killed("session", 1)
    assert history.kills[-1].lost_call == KEY
    bought_again = replace(HELD, bought=2, finished=2, lost_calls=1)
    assert found(history, dump, bought_again) == []
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / KEY).write_text('{"text": ""}')
    history.killed("session", 1)
    assert history.kills[-1].lost_call == ""
    history.kills = history.kills[1:]
    assert any(KEY in fault for fault in found(history, dump, replace(bought_again, lost_calls=0)))


def test_a_half_written_answer_was_not_kept(history: History, tmp_path: Path) -> None:
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / KEY).write_text('{"text": "')
    history.begin()
    history.add(Mark("asking", {"key": KEY}))
    history.add(Mark("answered", {"key": KEY}))
    history.killed("session", 1)
    assert (history.kills[-1].lost_call, history.kills[-1].inside) == (KEY, "keeping an answer")


@pytest.mark.parametrize("again", [POSITIONS[0], POSITIONS[-1], (7, "none", 0, 0, 0)])
def test_a_phase_that_comes_twice_or_is_unheard_of_is_a_fault(
    history: History, dump: SessionDump, again: tuple[object, ...]
) -> None:
    history.positions.append(again)
    assert any("a phase" in fault for fault in found(history, dump))


def test_a_file_that_is_read_again_is_a_fault(history: History, dump: SessionDump) -> None:
    history.read = Counter({"a.md": 2, "b.md": 1})
    assert found(history, dump) == ["a.md was read 2 times"]


def test_a_search_that_no_kill_cut_off_must_not_be_made_again(history: History, dump: SessionDump) -> None:
    history.begin()
    history.add(Mark("searching", {"query": "q"}))
    assert any("searches" in fault for fault in found(history, dump))
    history.killed("session", 1)
    assert found(history, dump) == []
