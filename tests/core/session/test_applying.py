"""What an answer's operations do to the graph, whole or not at all."""

from typing import Any

from lethe_core.errors import ModelUnavailableError
from lethe_core.graph.nodes import EdgeType, EvidenceKind, EvidenceNode, TaskNode, TaskStatus
from lethe_core.graph.session_state import Outcome

CREATE: dict[str, Any] = {
    "op": "create",
    "ref": "n1",
    "description": "Find the length of the bridge",
    "embed_text": "length of the Tarn bridge in metres",
}
SEARCH = {"op": "web_search", "query": "Tarn bridge length opened"}


def children(driver: Any) -> list[TaskNode]:
    return driver.session.snapshot.children(driver.session.snapshot.root.id)


def one_chunk(driver: Any, text: str) -> EvidenceNode:
    return next(node for node in driver.session.snapshot.evidence.values() if text in node.content)


def test_create_makes_subtasks_with_their_order_of_work(world: Any) -> None:
    later = CREATE | {
        "ref": "n2",
        "description": "Find the day of opening",
        "embed_text": "opening day of the bridge",
        "depends_on": ["n1"],
        "prepared_prompt": "Look for a date.",
        "antifocus": "the ferry",
    }
    driver = world.scripted([CREATE, later])
    driver.iterate()
    first, second = children(driver)
    assert [first.description, second.description] == [CREATE["description"], later["description"]]
    assert (second.prepared_prompt, second.antifocus) == ("Look for a date.", "the ferry")
    assert driver.session.snapshot.dependencies(second.id) == [first]
    assert driver.session.snapshot.ready_set() == [first]
    assert driver.session.snapshot.root.status is TaskStatus.ACTIVE
    assert driver.session.snapshot.root.n_productive == 1


def test_a_task_that_says_the_same_is_not_made_again_but_another_figure_is_another_task(world: Any) -> None:
    same = CREATE | {"ref": "n2"}
    other = CREATE | {"ref": "n3", "description": "Find the length of the bridge in 1931"}
    driver = world.scripted([CREATE, same, other])
    driver.iterate()
    assert [task.description for task in children(driver)] == [CREATE["description"], other["description"]]


def test_a_task_like_a_failed_one_is_made_and_warned(world: Any) -> None:
    driver = world.scripted(
        [CREATE],
        [{"op": "fail", "task": "", "reason": "no document gives it"}],
        [CREATE | {"ref": "n9"}],
        [{"op": "continue", "task": ""}],
    )
    driver.iterate()
    (failing,) = children(driver)
    driver.session.deps.reasoner.answers[0][0]["task"] = failing.short_id
    driver.iterate()
    driver.iterate()
    again = children(driver)[-1]
    assert again.status is TaskStatus.PENDING
    assert again.id != failing.id
    driver.session.deps.reasoner.answers[0][0]["task"] = again.short_id
    driver.iterate()
    prompt = driver.session.deps.reasoner.prompts[-1].user
    assert f"{again.short_id} is like {failing.short_id}, which failed: no document gives it" in prompt


def test_a_task_whose_answer_called_tools_comes_back_with_what_was_found(world: Any) -> None:
    driver = world.scripted([SEARCH], [SEARCH | {"query": "Tarn bridge mayor"}])
    driver.iterate()
    root = driver.session.snapshot.root
    assert root.status is TaskStatus.PENDING
    assert root.n_productive == 0
    assert driver.session.state.searches[0].n_new > 0
    driver.iterate()
    prompt = driver.session.deps.reasoner.prompts[-1].user
    assert "The Tarn bridge is 412 metres long." in prompt
    assert "Tarn bridge length opened" in prompt


def test_a_synthesis_supersedes_its_sources_and_keeps_only_citations_that_were_shown(world: Any) -> None:
    driver = world.scripted([SEARCH], [])
    driver.iterate()
    chunk = one_chunk(driver, "412 metres")
    root = driver.session.snapshot.root
    driver.session.deps.reasoner.answers[:] = [
        [
            {
                "op": "synthesize",
                "sources": [chunk.short_id],
                "content": f"It is 412 m long [{chunk.short_id}]. It is blue [e-0000; {chunk.short_id}].",
                "embed_text": "length of the bridge",
            },
            {
                "op": "complete",
                "task": root.short_id,
                "result_summary": f"412 metres [{chunk.short_id}], red [e-0000]",
                "embed_text": "the bridge is 412 metres long",
            },
        ]
    ]
    driver.iterate()
    snapshot = driver.session.snapshot
    synthesis = next(node for node in snapshot.evidence.values() if node.kind is EvidenceKind.SYNTHESIS)
    assert synthesis.content == f"It is 412 m long [{chunk.short_id}]. It is blue [{chunk.short_id}]."
    assert synthesis.base_strength == chunk.base_strength
    assert synthesis.domain == chunk.domain
    assert snapshot.targets(EdgeType.SUPERSEDES, synthesis.id) == [chunk.id]
    assert snapshot.evidence[chunk.id].superseded
    assert snapshot.chunks_under(synthesis) == [snapshot.evidence[chunk.id]]
    assert snapshot.root.status is TaskStatus.DONE
    assert snapshot.root.result_summary == f"412 metres [{chunk.short_id}], red"
    assert driver.session.state.removed_citations == 2
    assert driver.run() == "goal_complete"


def test_an_answer_that_is_never_valid_is_dropped_whole_and_counts_as_none(world: Any) -> None:
    wrong = [CREATE, {"op": "complete", "task": "t-0000", "result_summary": "x", "embed_text": "x"}]
    driver = world.scripted(wrong, wrong, wrong)
    driver.iterate()
    session = driver.session
    assert children(driver) == []
    assert session.snapshot.root.status is TaskStatus.PENDING
    assert session.state.n_unanswered == 1
    assert session.state.iterations == 1
    prompts = [prompt.user for prompt in session.deps.reasoner.prompts]
    assert len(prompts) == 3
    assert "t-0000" in prompts[1]
    thinking = [prompt.thinking_tokens for prompt in session.deps.reasoner.prompts]
    assert thinking == [thinking[0], thinking[0] >> 1, thinking[0] >> 2]


def test_a_repaired_answer_is_applied_and_its_tokens_are_counted(world: Any) -> None:
    driver = world.scripted("no JSON at all", [CREATE])
    driver.iterate()
    assert len(children(driver)) == 1
    assert driver.session.state.tokens == 300
    assert driver.session.state.n_unanswered == 0


def test_a_failed_call_puts_the_task_back_and_the_iteration_counts(world: Any) -> None:
    driver = world.scripted(*[ModelUnavailableError("the server is down")] * 3)
    driver.iterate()
    assert driver.session.snapshot.root.status is TaskStatus.PENDING
    assert driver.session.state.iterations == 1
    assert driver.run() == "model_unavailable"
    assert driver.session.state.iterations == 3


def test_a_cap_is_not_broken_by_the_call_that_would(world: Any) -> None:
    driver = world.scripted([CREATE], max_tokens=5_000)
    driver.iterate()
    assert driver.session.deps.reasoner.prompts == []
    assert driver.session.state.tokens == 0
    assert driver.session.state.n_unanswered == 0
    assert driver.run() == "token_cap"


def test_the_outcome_of_each_iteration_is_recorded_before_its_calls(world: Any) -> None:
    driver = world.scripted([SEARCH])
    *steps, _calls, _end = driver.steps()
    for step in steps:
        step()
    assert driver.session.record.outcome is Outcome.APPLIED
    assert [call.argument for call in driver.session.record.calls] == [SEARCH["query"]]
    assert driver.session.snapshot.evidence == {}


def test_a_model_that_only_repeats_itself_ends_the_loop(world: Any) -> None:
    driver = world.scripted([CREATE], *[[CREATE | {"ref": "n1"}]] * 9)
    assert driver.run() in ("model_unavailable", "no_ready_tasks")
    assert driver.session.state.iterations <= 8
