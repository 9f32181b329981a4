"""A model writes each section of the report once, from its evidence alone; else quotations stay."""

from typing import Any

import pytest

from lethe_core.errors import LetheError, ModelResponseError, ModelUnavailableError
from lethe_core.graph.session_state import SessionPatch
from lethe_core.reasoning.protocol import Answer
from lethe_core.report.markdown import render_markdown
from lethe_core.session.answering import CapReachedError
from lethe_core.session.writing import ask_section, due_sections, keep_section, section_prompt

PART = {
    "op": "create",
    "ref": "n1",
    "description": "How long is the Tarn bridge?",
    "embed_text": "length of the Tarn bridge in metres",
}
OTHER = PART | {
    "ref": "n2",
    "description": "Which crops does the Old Mill grind?",
    "embed_text": "crops that the Old Mill of Orle grinds",
}
SEARCH = {"op": "web_search", "query": "Tarn bridge length metres"}


def with_evidence(world: Any, *answers: Any, **settings: Any) -> Any:
    """A session whose first part has searched and found, and whose second has not."""
    driver = world.scripted([PART, OTHER], [SEARCH], *answers, **settings)
    for _ in range(2):
        driver.iterate()
    found = [task for task in children(driver) if driver.session.snapshot.produced(task.id)]
    assert len(found) == 1
    return driver


def children(driver: Any) -> list[Any]:
    return list(driver.session.snapshot.children(driver.session.snapshot.root.id))


def write(driver: Any, reason: str = "converged") -> list[int]:
    """Buy and keep every section that is due, as the flow does; returns their numbers."""
    due = due_sections(driver.session, reason)
    for n in due:
        try:
            answer: Answer | LetheError = ask_section(driver.session, n)
        except LetheError as error:
            answer = error
        keep_section(driver.session, n, answer)
    return due


def bridge(driver: Any) -> str:
    """The short id of the chunk that gives the bridge's length."""
    evidence = driver.session.snapshot.evidence.values()
    return next(str(node.short_id) for node in evidence if "412 metres" in node.content)


def report(driver: Any, reason: str = "converged") -> str:
    return render_markdown(driver.report(reason))


def test_a_section_is_written_once_and_stands_in_the_report(world: Any) -> None:
    driver = with_evidence(world)
    reasoner = driver.session.deps.reasoner
    reasoner.answers.append(f"The Tarn bridge measures 412 metres from bank to bank [{bridge(driver)}].")
    assert len(write(driver)) == 1
    assert "measures 412 metres from bank to bank" in report(driver)
    tokens = driver.session.state.tokens
    assert write(driver) == []
    assert driver.session.state.tokens == tokens
    assert reasoner.answers == []


def test_a_section_that_was_bought_is_not_bought_again_after_a_restart(world: Any) -> None:
    driver = with_evidence(world)
    driver.session.deps.reasoner.answers.append(f"It measures 412 metres [{bridge(driver)}].")
    write(driver)
    driver.session.close()
    again = world.scripted()  # a reasoner that has nothing more to say
    assert write(again) == []
    assert "It measures 412 metres" in report(again)


def test_the_cost_of_a_section_counts(world: Any) -> None:
    driver = with_evidence(world, price_prompt=10.0, price_completion=100.0)
    before = driver.session.state
    driver.session.deps.reasoner.answers.append("It is long.")
    write(driver)
    after = driver.session.state
    assert after.tokens - before.tokens == 150
    assert after.cost - before.cost == pytest.approx((100 * 10.0 + 50 * 100.0) / 1e6)


def test_the_prompt_holds_the_sections_evidence_and_no_other(world: Any) -> None:
    driver = with_evidence(world)
    (n,) = due_sections(driver.session, "converged")
    prompt, shown = section_prompt(driver.session, n)
    assert prompt.schema is None
    assert "412 metres" in prompt.user
    task = children(driver)[n - 1]
    assert shown == {node.short_id for node in driver.session.snapshot.produced(task.id)}


def test_citations_of_what_was_not_shown_are_removed_and_counted(world: Any) -> None:
    driver = with_evidence(world)
    real = bridge(driver)
    driver.session.deps.reasoner.answers.append(
        f"It measures 412 metres [{real}; e-00000000]. It was painted green [e-ffffffff]."
    )
    write(driver)
    state = driver.session.state
    (text,) = state.sections.values()
    assert text == f"It measures 412 metres [{real}]. It was painted green."
    assert state.removed_citations == 2
    rendered = report(driver)
    assert "e-ffffffff" not in rendered
    assert "2 citations to nothing were removed" in rendered


@pytest.mark.parametrize("failure", [ModelUnavailableError("down"), ModelResponseError("no completion")])
def test_a_failed_call_leaves_quotations_and_is_not_made_again(world: Any, failure: LetheError) -> None:
    driver = with_evidence(world, failure)
    quoted = report(driver)
    assert "The Tarn bridge is 412 metres long." in quoted
    before = driver.session.state.tokens
    assert len(write(driver)) == 1
    assert driver.session.state.tokens == before
    assert write(driver) == []
    assert sections_of(report(driver)) == sections_of(quoted)


def test_an_empty_answer_leaves_quotations(world: Any) -> None:
    driver = with_evidence(world, " \n")
    quoted = report(driver)
    write(driver)
    assert sections_of(report(driver)) == sections_of(quoted)


def sections_of(rendered: str) -> str:
    """A report without its closing line, which tells times and counts."""
    return rendered.rsplit("---", 1)[0]


def test_no_prose_is_bought_unless_the_session_came_to_its_end(world: Any) -> None:
    driver = with_evidence(world)
    early = (
        "token_cap",
        "cost_cap",
        "wall_clock_cap",
        "iteration_cap",
        "cancelled",
        "model_unavailable",
        "error",
    )
    assert {reason: write(driver, reason) for reason in early} == {reason: [] for reason in early}


def test_prose_is_due_however_the_session_came_to_its_end(world: Any) -> None:
    session = with_evidence(world).session
    ends = ("goal_complete", "converged", "budget", "no_ready_tasks", "blocked")
    assert {reason: len(due_sections(session, reason)) for reason in ends} == dict.fromkeys(ends, 1)


def test_a_section_that_would_break_the_token_cap_is_not_asked_for(world: Any) -> None:
    driver = with_evidence(world, max_tokens=16_000)
    driver.session.deps.reasoner.answers.append("never said")
    (n,) = due_sections(driver.session, "converged")
    with driver.session.write() as tx:
        tx.update_session(SessionPatch(tokens=15_000))
    with pytest.raises(CapReachedError):
        ask_section(driver.session, n)
    write(driver)
    assert driver.session.deps.reasoner.answers == ["never said"]
    assert "412 metres" in report(driver)


def test_an_extractive_session_writes_no_prose(world: Any) -> None:
    driver = world.open("1. How long is the Tarn bridge?\n2. When was the Old Mill built?")
    reason = driver.run()
    assert driver.session.deps.reasoner.extractive
    assert len(children(driver)) == 2
    assert due_sections(driver.session, reason) == []
