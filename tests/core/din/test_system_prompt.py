"""The system prompt says what the grammar writes and shows operations that validate."""

import json

import pytest

from lethe_core.din.grammar import YOUR_TASK
from lethe_core.din.operations import TOOL_OPERATIONS, AnswerContext, operations_schema
from lethe_core.din.parse import validate_answer
from lethe_core.din.system_prompt import system_prompt
from lethe_core.graph.nodes import ShortId

CONTEXT = AnswerContext(ShortId("t-a3f1"), True, (), (ShortId("e-7c0b"),), (), TOOL_OPERATIONS)


def test_every_example_is_a_valid_operation() -> None:
    examples = [line for line in system_prompt(TOOL_OPERATIONS).splitlines() if line.startswith('{"op"')]
    assert [json.loads(example)["op"] for example in examples] == list(CONTEXT.offered)
    for example in examples:
        assert validate_answer(example, CONTEXT).errors == ()


@pytest.mark.parametrize("tools", [(), ("web_search",), ("fetch_url",), TOOL_OPERATIONS])
def test_only_tools_that_are_on_are_named(tools: tuple[str, ...]) -> None:
    text = system_prompt(tools)
    assert [tool for tool in TOOL_OPERATIONS if tool in text] == [
        tool for tool in TOOL_OPERATIONS if tool in tools
    ]


def test_every_mark_of_the_grammar_is_explained() -> None:
    text = system_prompt(TOOL_OPERATIONS)
    marks = ["=GOAL", "=TASK", "=HINT", ">PARENT", "!", ">SUB", ">DEP", ">REL", "=TOOLS", "=OPS", '"| "']
    assert all(
        mark in text for mark in (*marks, YOUR_TASK.strip(": "), "older edition", "synthesis", "⟨U+2028⟩")
    )
    assert json.dumps(operations_schema(CONTEXT))  # a schema goes beside it, so none is in it
    assert "anyOf" not in text


def test_it_is_short() -> None:
    assert len(system_prompt(TOOL_OPERATIONS)) < 3_300  # 900 tokens at 3.5 characters each
