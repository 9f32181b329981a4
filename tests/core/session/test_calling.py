"""Tool calls: parallel, ingested in the order of the calls, each committed for itself."""

import threading
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from lethe_core.errors import SearchUnavailableError
from lethe_core.evidence.page import SearchOutcome
from lethe_core.evidence.provider import SearchProvider
from lethe_core.graph.nodes import EdgeType
from lethe_core.graph.session_state import CallOutcome

SEARCH = {"op": "web_search", "query": "Tarn bridge length opened"}
CREATE = {"op": "create", "ref": "n1", "description": "Who opened it?", "embed_text": "who opened the bridge"}


@dataclass
class Gate:
    """Stands before a real provider: makes the first call the last to be answered, or fails on demand."""

    inner: SearchProvider
    fails: tuple[str, ...] = ()
    ends: str = ""  # the query at which the process is told to end
    slow: str = ""
    name: str = "gate"
    skipped: tuple[Any, ...] = ()
    other_done: threading.Event = field(default_factory=threading.Event)

    def search(self, query: str, *, known: Collection[str], deadline: float) -> SearchOutcome:
        if query in self.fails:
            raise SearchUnavailableError("the provider is down")
        if query == self.ends:
            raise KeyboardInterrupt
        if query == self.slow:
            assert self.other_done.wait(20)
        outcome = self.inner.search(query, known=known, deadline=deadline)
        if query != self.slow:
            self.other_done.set()
        return outcome


def gated(driver: Any, **gate: Any) -> None:
    (inner,) = driver.session.deps.search
    driver.session.deps = replace(driver.session.deps, search=(Gate(inner, **gate),))


def test_results_are_ingested_in_the_order_of_the_calls_not_of_the_answers(world: Any) -> None:
    driver = world.scripted([SEARCH, {"op": "web_search", "query": "Old Mill of Orle wheels"}])
    gated(driver, slow=SEARCH["query"])
    driver.iterate()
    nodes = list(driver.session.snapshot.evidence.values())
    assert "Tarn bridge" in nodes[0].content
    assert [record.query for record in driver.session.state.searches] == [
        SEARCH["query"],
        "Old Mill of Orle wheels",
    ]


def test_a_text_that_a_second_task_finds_gets_a_second_edge_and_no_second_node(world: Any) -> None:
    driver = world.scripted([CREATE, SEARCH], [SEARCH], [SEARCH])
    driver.iterate()
    before = set(driver.session.snapshot.evidence)
    driver.iterate()
    driver.iterate()
    snapshot = driver.session.snapshot
    assert set(snapshot.evidence) == before
    (child,) = snapshot.children(snapshot.root.id)
    bridge = next(node for node in snapshot.evidence.values() if "412" in node.content)
    assert set(snapshot.sources(EdgeType.PRODUCED, bridge.id)) == {snapshot.root.id, child.id}
    outcomes = [record.outcome for record in driver.session.state.searches if record.task == child.id]
    assert outcomes[0] is CallOutcome.NEW
    assert set(outcomes[1:]) <= {CallOutcome.NOTHING}


def test_a_call_finds_the_same_when_the_process_ended_after_the_one_before(world: Any) -> None:
    other = {"op": "web_search", "query": "Tarn bridge mayor of Orle"}
    whole = world.scripted([SEARCH, other], name="s-whole", search_documents=1)
    whole.iterate()
    ended = world.scripted([SEARCH, other], search_documents=1)
    gated(ended, ends=other["query"])
    with pytest.raises(KeyboardInterrupt):
        ended.iterate()
    assert [record.query for record in ended.session.state.searches] == [SEARCH["query"]]
    ended.session.close()
    again = world.scripted(search_documents=1)
    again.iterate()
    found = [
        [node.content for node in driver.session.snapshot.evidence.values()] for driver in (whole, again)
    ]
    assert found[0] == found[1]
    assert again.session.state.signals == whole.session.state.signals
    assert [(r.query, r.n_new) for r in again.session.state.searches] == [
        (r.query, r.n_new) for r in whole.session.state.searches
    ]


def test_being_offline_is_no_convergence_and_ends_the_loop_by_its_own_name(world: Any) -> None:
    driver = world.scripted([SEARCH], [SEARCH], [SEARCH])
    gated(driver, fails=(SEARCH["query"],))
    assert driver.run() == "search_unavailable"
    state = driver.session.state
    assert state.iterations == 3
    assert state.n_zero_yield == 0
    assert {record.outcome for record in state.searches} == {CallOutcome.FAILED}


def test_searches_that_answer_and_bring_nothing_are_zero_yield(world: Any) -> None:
    query = {"op": "web_search", "query": "quantum chromodynamics lattice"}
    driver = world.scripted([query], [query])
    driver.iterate()
    driver.iterate()
    assert driver.session.state.n_zero_yield == 2
    assert driver.session.snapshot.evidence == {}


def test_a_file_that_vanishes_is_named_and_the_search_goes_on(world: Any) -> None:
    driver = world.scripted([SEARCH | {"query": "Tarn bridge Orle town mayor"}])
    (world.corpus / "orle.md").unlink()
    driver.iterate()
    assert any("412" in node.content for node in driver.session.snapshot.evidence.values())
    assert ["orle.md" in skip.source for skip in driver.session.state.skipped] == [True]
