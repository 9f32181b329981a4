"""An interrupted session goes on where it stood, and ends as if nothing had happened."""

from typing import Any

import pytest

from lethe_core.errors import SessionLostError
from lethe_core.graph.nodes import EvidenceNode
from lethe_core.graph.snapshot import GraphSnapshot
from lethe_core.report.markdown import render_markdown


def shape(snapshot: GraphSnapshot) -> tuple[Any, ...]:
    """A graph without ids and times: nodes by sequence, edges between sequences."""

    def place(node_id: Any) -> tuple[str, int]:
        node = snapshot.node(node_id)
        return ("e" if isinstance(node, EvidenceNode) else "t", node.sequence)

    def blank(text: str) -> str:
        for node in (*snapshot.tasks.values(), *snapshot.evidence.values()):
            text = text.replace(node.short_id, "·")
        return text

    tasks = [
        (
            task.sequence,
            task.description,
            task.status,
            blank(task.result_summary),
            task.failure_reason,
            task.n_productive,
            task.last_selected,
        )
        for task in snapshot.tasks.values()
    ]
    evidence = [
        (
            node.sequence,
            blank(node.content),
            node.kind,
            node.superseded,
            round(node.strength, 9),
            node.address,
        )
        for node in snapshot.evidence.values()
    ]
    edges = sorted((str(kind), place(source), place(target)) for kind, source, target in snapshot.edges)
    return tasks, evidence, edges


def searches(driver: Any) -> list[tuple[str, int, str]]:
    return [(record.query, record.iteration, record.outcome) for record in driver.session.state.searches]


def reopened(world: Any, driver: Any) -> Any:
    driver.session.close()
    return world.open()


def test_a_process_that_ends_after_every_single_step_changes_nothing(world: Any) -> None:
    undisturbed = world.open(name="s-whole")
    reason = undisturbed.run()
    driver = world.open()
    n_steps = len(driver.steps())
    for _ in range(undisturbed.session.state.iterations):
        for at in range(n_steps):
            # What came before is run again: each step must know by the record that it is done.
            for step in driver.steps()[: at + 1]:
                if driver.session.state.phase is not None or at == 0:
                    step()
            driver = reopened(world, driver)
    assert driver.run() == reason
    assert shape(driver.session.snapshot) == shape(undisturbed.session.snapshot)
    assert searches(driver) == searches(undisturbed)
    assert driver.session.state.iterations == undisturbed.session.state.iterations
    assert driver.session.state.signals == undisturbed.session.state.signals


def test_the_same_corpus_and_question_give_the_same_report_but_for_times_and_ids(
    world: Any,
) -> None:
    reports = []
    for name in ("s-one", "s-two"):
        driver = world.open(name=name)
        text = render_markdown(driver.report(driver.run()))
        reports.append([line for line in text.splitlines() if "at work" not in line])
    assert reports[0] == reports[1]
    assert "412 metres" in "\n".join(reports[0])


def test_an_answer_that_was_committed_is_not_bought_again(world: Any) -> None:
    search = {"op": "web_search", "query": "Tarn bridge length"}
    first = world.scripted([search])
    for step in first.steps()[:4]:
        step()
    first.session.close()
    second = world.scripted()  # a reasoner that has nothing more to say
    second.iterate()
    assert second.session.state.iterations == 1
    assert second.session.state.tokens == 150
    assert len(second.session.state.searches) == 1


def test_a_writer_that_was_paused_past_its_lease_cannot_write(world: Any) -> None:
    sleeper = world.open()
    sleeper.steps()[0]()
    # The other takes over as if the lease had run out: the store of the sleeper does not know.
    sleeper.session.deps.store.release_lease(sleeper.session._keeper.lease)
    world.open()
    with pytest.raises(SessionLostError):
        sleeper.steps()[1]()


def test_time_at_work_is_summed_over_runs(world: Any) -> None:
    driver = world.open()
    driver.iterate()
    before = driver.session.state.seconds
    assert before > 0
    driver = reopened(world, driver)
    assert driver.session.seconds >= before
    driver.iterate()
    assert driver.session.state.seconds > before
