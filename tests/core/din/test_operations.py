"""The schema holds a model to what validation accepts, in words that grammar converters know."""

import json
from typing import Any

import jsonschema
import pytest

from lethe_core.din.operations import AnswerContext, operations_schema
from lethe_core.din.parse import validate_answer
from lethe_core.graph.nodes import ShortId

CONTEXT = AnswerContext(
    task=ShortId("t-a3f1"),
    is_root=True,
    live_subtasks=(ShortId("t-91aa"),),
    evidence=(ShortId("e-7c0b"), ShortId("e-91aa")),
    tasks=(ShortId("t-91aa"),),
    tools=("web_search", "fetch_url"),
)
VALID: dict[str, dict[str, Any]] = {
    "create": {"op": "create", "ref": "n1", "description": "Find the year", "embed_text": "year of opening"},
    "create in full": {
        "op": "create", "ref": "n1", "parent": "t-a3f1", "description": "Find the year", "embed_text": "year",
        "depends_on": ["t-91aa"], "prepared_prompt": "look", "antifocus": "",
    },
    "synthesize": {"op": "synthesize", "sources": ["e-7c0b"], "content": "In 1893.", "embed_text": "1893"},
    "complete": {"op": "complete", "task": "t-a3f1", "result_summary": "In 1893.", "embed_text": "1893"},
    "fail": {"op": "fail", "task": "t-a3f1", "reason": "nothing"},
    "continue": {"op": "continue", "task": "t-a3f1"},
    "web_search": {"op": "web_search", "query": "opening year"},
    "fetch_url": {"op": "fetch_url", "url": "https://example.org/"},
}  # fmt: skip
INVALID: dict[str, dict[str, Any]] = {
    "unknown operation": {"op": "delete", "task": "t-a3f1"},
    "no operation": {"task": "t-a3f1"},
    "unknown field": {"op": "continue", "task": "t-a3f1", "why": "x"},
    "missing field": {"op": "complete", "task": "t-a3f1", "embed_text": "x"},
    "unknown source": {"op": "synthesize", "sources": ["e-0000"], "content": "x", "embed_text": "x"},
    "no source": {"op": "synthesize", "sources": [], "content": "x", "embed_text": "x"},
    "another task": {"op": "fail", "task": "t-91aa", "reason": "x"},
    "empty text": {"op": "web_search", "query": ""},
    "too long": {"op": "web_search", "query": "x" * 3_000},
    "no string": {"op": "web_search", "query": 5},
    "unknown parent": {
        "op": "create", "ref": "n1", "parent": "t-0000", "description": "x", "embed_text": "x",
    },
    "unknown dependency": {
        "op": "create", "ref": "n1", "depends_on": ["t-0000"], "description": "x", "embed_text": "x",
    },
}  # fmt: skip


def accepted(operations: list[dict[str, Any]], context: AnswerContext = CONTEXT) -> bool:
    validator = jsonschema.Draft202012Validator(operations_schema(context))
    return bool(validator.is_valid({"operations": operations}))


@pytest.mark.parametrize("name", VALID)
def test_schema_and_validation_accept_each_operation(name: str) -> None:
    assert accepted([VALID[name]])
    assert validate_answer(json.dumps({"operations": [VALID[name]]}), CONTEXT).errors == ()


@pytest.mark.parametrize("name", INVALID)
def test_schema_and_validation_refuse_the_same_faults(name: str) -> None:
    assert not accepted([INVALID[name]])
    assert len(validate_answer(json.dumps({"operations": [INVALID[name]]}), CONTEXT).errors) == 1


def test_schema_takes_one_to_twelve_operations() -> None:
    assert not accepted([])
    assert accepted([VALID["continue"]] * 12)
    assert not accepted([VALID["continue"]] * 13)


def test_a_single_operation_has_neither_company_nor_optional_fields() -> None:
    validator = jsonschema.Draft202012Validator(operations_schema(CONTEXT, single=True))
    for name, operation in VALID.items():
        possible = name not in ("create in full", "continue")
        assert validator.is_valid({"operations": [operation]}) == possible
        assert not validator.is_valid({"operations": [operation, VALID["web_search"]]})
    assert not validator.is_valid({"operations": []})


def test_a_single_operation_ends_no_task_that_has_no_evidence() -> None:
    bare = AnswerContext(ShortId("t-a3f1"), True, (), (), (), ("web_search",))
    validator = jsonschema.Draft202012Validator(operations_schema(bare, single=True))
    accepted = {name for name, operation in VALID.items() if validator.is_valid({"operations": [operation]})}
    assert accepted == {"create", "web_search"}


def test_schema_offers_only_what_can_be_valid() -> None:
    bare = AnswerContext(ShortId("t-a3f1"), False, (ShortId("t-91aa"),), (), (), ())
    for name in ("synthesize", "complete", "web_search", "fetch_url"):
        assert not accepted([VALID[name]], bare)
    for name in ("create", "fail", "continue"):
        assert accepted([VALID[name]], bare)


def test_schema_is_valid_and_made_of_what_grammar_converters_know() -> None:
    schema = operations_schema(CONTEXT)
    jsonschema.Draft202012Validator.check_schema(schema)
    known = {
        "type", "properties", "items", "anyOf", "const", "enum", "required", "additionalProperties",
        "minItems", "maxItems", "minLength", "maxLength",
    }  # fmt: skip

    def keywords(node: Any) -> set[str]:
        if isinstance(node, list):
            return set().union(*map(keywords, node)) if node else set()
        if not isinstance(node, dict):
            return set()
        own = set(node)
        below = [value for key, value in node.items() if key not in ("properties", "enum", "required")]
        below += list(node.get("properties", {}).values())
        return own | set().union(*map(keywords, below))

    assert keywords(schema) <= known
