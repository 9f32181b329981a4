"""Whose turn it is: what was found is read first, and no part has every turn (algorithms.md 3)."""

from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

from lethe_core.control.budget import thinking_tokens
from lethe_core.session.selecting import ready_tasks, select
from lethe_core.session.stopping import assess, last_signals

QUESTIONS = (
    "How long is the Tarn bridge?",
    "When was the Old Mill of Orle built?",
    "How many cars does the ferry at Lisk carry?",
)
DIVIDE = [
    {"op": "create", "ref": f"n{n}", "description": text, "embed_text": text}
    for n, text in enumerate(QUESTIONS, start=1)
]


def search(query: str) -> list[dict[str, str]]:
    return [{"op": "web_search", "query": query}]


def turns(driver: Any, iterations: int) -> list[str]:
    """Whose turn each iteration was."""
    found = []
    for _ in range(iterations):
        driver.iterate()
        tasks = driver.session.snapshot.tasks.values()
        found += [task.description for task in tasks if task.last_selected == driver.session.state.iterations]
    return found


def about(din: Any) -> list[dict[str, str]]:
    """A search for what the selected task asks."""
    return search(din.goal)


def test_what_a_part_found_is_read_before_another_is_begun(world: Any) -> None:
    driver = world.scripted(DIVIDE, about, lambda din: search(f"{din.goal} again"), about)
    _, first, *later = turns(driver, 4)
    assert first in QUESTIONS
    assert later == [first, first]


def test_each_part_is_tried_though_the_one_nearest_to_the_question_never_finds_anything(world: Any) -> None:
    lamps = "How many lamps has the lighthouse on Farrow Point?"
    question = "Of the lighthouse on Farrow Point: how many lamps and keepers has it, and since when?"
    first = {"op": "create", "ref": "n9", "description": lamps, "embed_text": lamps}

    def restless() -> Iterator[Callable[[Any], list[dict[str, str]]]]:
        for number in count():
            yield lambda din, number=number: search(f"{din.goal} {number}")

    answers = restless()
    driver = world.scripted([*DIVIDE, first], *(next(answers) for _ in range(12)), question=question)
    tried = turns(driver, 13)[1:]
    assert tried[0] == lamps
    assert set(tried) == {lamps, *QUESTIONS}


def test_an_iteration_begins_with_a_record_of_what_was_decided_and_of_what_was_there(world: Any) -> None:
    driver = world.scripted(DIVIDE, about)
    driver.iterate()
    driver.iterate()
    session = driver.session
    weighed = assess(session.state, session.snapshot, session.deps.budget, seconds=session.seconds)
    chosen = select(session, ready_tasks(session))
    record = session.record
    assert (record.task, record.iteration) == (chosen, 3)
    assert session.snapshot.tasks[chosen].last_selected == 3
    assert record.pressure >= weighed.pressure  # time goes on
    assert record.thinking_tokens == thinking_tokens(
        session.deps.budget, last_signals(session.state).complexity, record.pressure
    )
    assert record.evidence_mark == len(session.snapshot.evidence)
    assert record.task_mark == len(session.snapshot.tasks)
    # Asked again, as after a restart, it decides nothing anew.
    assert ready_tasks(session) == [chosen]
    assert select(session, []) == chosen
    assert session.record == record
