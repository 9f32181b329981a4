"""Every fault of an answer is told in a sentence that says where it is and what would be right."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lethe_core.din.operations import AnswerContext, Create, Synthesize
from lethe_core.din.parse import validate_answer
from lethe_core.graph.nodes import ShortId

SUBTASK = AnswerContext(
    task=ShortId("t-a3f1"),
    is_root=False,
    live_subtasks=(),
    evidence=(ShortId("e-7c0b"), ShortId("e-91aa")),
    tasks=(ShortId("t-1111"),),
    tools=("web_search",),
)
WITH_PARTS = AnswerContext(
    ShortId("t-a3f1"), False, (ShortId("t-2222"),), (ShortId("e-7c0b"),), (), ("web_search",)
)
ROOT = AnswerContext(ShortId("t-a3f1"), True, (ShortId("t-2222"),), (ShortId("e-7c0b"),), (), ())
NO_EVIDENCE = AnswerContext(ShortId("t-a3f1"), True, (), (), (), ())

CREATE = {"op": "create", "ref": "n1", "description": "Find it", "embed_text": "find it"}
SYNTHESIZE = {"op": "synthesize", "sources": ["e-7c0b"], "content": "So [e-7c0b].", "embed_text": "so"}
COMPLETE = {"op": "complete", "task": "t-a3f1", "result_summary": "So.", "embed_text": "so"}
FAIL = {"op": "fail", "task": "t-a3f1", "reason": "nothing"}
CONTINUE = {"op": "continue", "task": "t-a3f1"}
SEARCH = {"op": "web_search", "query": "pier"}
IN_CONTEXT = "it must be evidence in the context (e-7c0b, e-91aa)"
UNSTORABLE = "holds a NUL or half of a surrogate pair, which cannot be stored; leave it out"
NO_REF = "a ref created earlier in this answer (none)"
MAY_WAIT = f"it must be a task that it may wait for (t-1111) or {NO_REF}"
DEADLOCK = "it is, or waits for, a task that this one is a part of, so that neither could ever begin"
OFFERED = "create, synthesize, complete, fail, continue, web_search"


def errors(*operations: Any, context: AnswerContext = SUBTASK) -> list[str]:
    parsed = validate_answer(json.dumps({"operations": list(operations)}), context)
    assert not (parsed.errors and parsed.operations)
    return list(parsed.errors)


@pytest.mark.parametrize(
    ("operation", "sentence"),
    [
        (5, 'operation 1 is 5, not an object with the field "op"'),
        ({"task": "t-a3f1"}, f'operation 1: the field "op" is missing; it is one of {OFFERED}'),
        ({"op": "delete"}, f'operation 1: "op" is "delete"; it must be one of {OFFERED}'),
        ({"op": None}, f'operation 1: "op" is null; it must be one of {OFFERED}'),
        ({"op": ["create"]}, f'operation 1: "op" is ["create"]; it must be one of {OFFERED}'),
        (
            {"op": "fetch_url", "url": "https://a.org"},
            f"operation 1 (fetch_url): this tool is not available; available operations: {OFFERED}",
        ),
        ({"op": "web_search"}, 'operation 1 (web_search): the field "query" is missing'),
        ({"op": "web_search", "query": " \n"}, 'operation 1 (web_search): "query" is empty'),
        ({"op": "web_search", "query": 5}, 'operation 1 (web_search): "query" is 5; it must be a string'),
        (
            {"op": "web_search", "query": "x" * 1_001},
            'operation 1 (web_search): "query" has 1001 characters; at most 1000 are allowed',
        ),
        (
            CONTINUE | {"why": "x"},
            'operation 1 (continue): there is no field "why"; its fields are op, task',
        ),
        (
            SYNTHESIZE | {"sources": "e-7c0b"},
            'operation 1 (synthesize): "sources" is "e-7c0b"; it must be a list of strings',
        ),
        (
            SYNTHESIZE | {"sources": ["e-7c0b", 3]},
            'operation 1 (synthesize): "sources" member 2 is 3; it must be a string',
        ),
        (
            SYNTHESIZE | {"sources": []},
            'operation 1 (synthesize): "sources" is empty; name the evidence that it rests on',
        ),
        (
            SYNTHESIZE | {"sources": ["e-7c0b", "e-0000"]},
            f'operation 1 (synthesize): "sources" names "e-0000"; {IN_CONTEXT}',
        ),
        (
            SYNTHESIZE | {"sources": ["t-1111"]},
            f'operation 1 (synthesize): "sources" names "t-1111"; {IN_CONTEXT}',
        ),
        (
            SYNTHESIZE | {"content": "a\0b"},
            f'operation 1 (synthesize): "content" {UNSTORABLE}',
        ),
        (
            SEARCH | {"query": "\ud800"},
            f'operation 1 (web_search): "query" {UNSTORABLE}',
        ),
        (
            COMPLETE | {"task": "t-1111"},
            'operation 1 (complete): "task" is "t-1111"; only the selected task t-a3f1 is allowed',
        ),
        (
            FAIL | {"task": "a3f1"},
            'operation 1 (fail): "task" is "a3f1"; only the selected task t-a3f1 is allowed',
        ),
        (
            CONTINUE | {"task": "e-7c0b"},
            'operation 1 (continue): "task" is "e-7c0b"; only the selected task t-a3f1 is allowed',
        ),
        (
            CREATE | {"parent": "t-1111"},
            f'operation 1 (create): "parent" is "t-1111"; it must be the selected task t-a3f1 or {NO_REF}',
        ),
        (
            CREATE | {"depends_on": ["t-9999"]},
            f'operation 1 (create): "depends_on" names "t-9999"; {MAY_WAIT}',
        ),
        (
            CREATE | {"depends_on": ["n1"]},
            f'operation 1 (create): "depends_on" names "n1"; {MAY_WAIT}',
        ),
        (
            CREATE | {"depends_on": ["t-a3f1"]},
            f'operation 1 (create): "depends_on" names "t-a3f1"; {DEADLOCK}',
        ),
        (
            CREATE | {"ref": "t-abcd"},
            'operation 1 (create): "ref" "t-abcd" looks like an id; choose a name such as n1',
        ),
        (
            CREATE | {"ref": "a b"},
            'operation 1 (create): "ref" is "a b"; it may hold only letters, digits and . _ -',
        ),
    ],
)
def test_a_fault_of_one_operation_is_told(operation: Any, sentence: str) -> None:
    assert errors(operation) == [sentence]


@pytest.mark.parametrize(
    ("url", "right"),
    [("https://a.org/x?y", True), ("http://[::1]/", True), ("file:///etc/passwd", False), ("a.org", False),
     ("http://", False), ("http://[", False)],
)  # fmt: skip
def test_only_web_addresses_are_fetched(url: str, right: bool) -> None:
    context = AnswerContext(ShortId("t-a3f1"), True, (), (), (), ("fetch_url",))
    must = "it must be a whole address that begins with http:// or https://"
    sentence = f'operation 1 (fetch_url): "url" is "{url}"; {must}'
    assert errors({"op": "fetch_url", "url": url}, context=context) == ([] if right else [sentence])


@pytest.mark.parametrize(
    ("operations", "context", "sentence"),
    [
        (
            [COMPLETE, FAIL],
            SUBTASK,
            "operation 1 (complete) and operation 2 (fail) cannot stand together; "
            "an answer has one of complete, fail, continue",
        ),
        (
            [CONTINUE, COMPLETE],
            SUBTASK,
            "operation 1 (continue) and operation 2 (complete) cannot stand together; "
            "an answer has one of complete, fail, continue",
        ),
        (
            [COMPLETE, SEARCH],
            SUBTASK,
            "operation 1 (complete) cannot stand beside the tool call operation 2 (web_search); "
            "either call the tool and leave the task open, or complete it without the tool",
        ),
        (
            [SEARCH, FAIL],
            SUBTASK,
            "operation 2 (fail) cannot stand beside the tool call operation 1 (web_search); "
            "either call the tool and leave the task open, or fail it without the tool",
        ),
        (
            [CREATE, COMPLETE],
            ROOT,
            "operation 2 (complete) cannot stand beside operation 1 (create); "
            "either create the subtask and leave the task open, or complete it without",
        ),
        (
            [COMPLETE],
            WITH_PARTS,
            "operation 1 (complete): task t-a3f1 still has open subtasks (t-2222); "
            "use continue, or leave it until they are done",
        ),
        (
            [CREATE, CREATE],
            SUBTASK,
            'operation 2 (create): "ref" "n1" is taken by operation 1',
        ),
        (
            [SYNTHESIZE],
            NO_EVIDENCE,
            'operation 1 (synthesize): "sources" names "e-7c0b"; it must be evidence in the context (none)',
        ),
        ([], SUBTASK, '"operations" is empty; it takes 1 to 12 operations'),
        ([CONTINUE] * 13, SUBTASK, '"operations" has 13 members; at most 12 are allowed'),
    ],
)
def test_operations_that_do_not_go_together_are_told(
    operations: list[Any], context: AnswerContext, sentence: str
) -> None:
    assert errors(*operations, context=context) == [sentence]


def test_every_fault_is_told_at_once() -> None:
    found = errors(
        {"op": "delete"}, SEARCH | {"query": ""}, SYNTHESIZE | {"sources": ["e-0000"]}, COMPLETE, FAIL
    )
    assert [sentence.split(":")[0].split(" cannot")[0] for sentence in found] == [
        "operation 1",
        "operation 2 (web_search)",
        "operation 3 (synthesize)",
        "operation 4 (complete) and operation 5 (fail)",
    ]


def test_what_is_no_json_is_told() -> None:
    assert validate_answer("I give up", SUBTASK).errors == (
        'no JSON object with the key "operations" in the answer; answer with one',
    )


def test_the_root_may_be_completed_over_open_subtasks() -> None:
    assert errors(COMPLETE, context=ROOT) == []


def test_a_subtask_may_be_failed_over_open_subtasks() -> None:
    assert errors(FAIL, context=WITH_PARTS) == []


def test_refs_name_tasks_created_earlier_in_the_answer() -> None:
    second = CREATE | {"ref": "n2", "parent": "n1", "depends_on": ["t-1111"]}
    third = CREATE | {"ref": "n3", "depends_on": ["n1", "n1"], "parent": None, "antifocus": None}
    text = json.dumps({"operations": [CREATE, second, third]})
    one, two, three = validate_answer(text, SUBTASK).operations
    assert isinstance(one, Create)
    assert isinstance(two, Create)
    assert isinstance(three, Create)
    assert (one.parent, two.parent, three.parent) == ("t-a3f1", "n1", "t-a3f1")
    assert (two.depends_on, three.depends_on, three.antifocus) == (("t-1111",), ("n1",), "")


def test_no_two_new_tasks_may_wait_for_each_other() -> None:
    part_waits_for_whole = [CREATE, CREATE | {"ref": "n2", "parent": "n1", "depends_on": ["n1"]}]
    assert len(errors(*part_waits_for_whole)) == 1
    through_a_third = [
        CREATE,
        CREATE | {"ref": "n2", "depends_on": ["n1"]},
        CREATE | {"ref": "n3", "parent": "n1", "depends_on": ["n2"]},
    ]
    (sentence,) = errors(*through_a_third)
    assert sentence.startswith('operation 3 (create): "depends_on" names "n2"; it is, or waits for,')
    assert errors(CREATE, CREATE | {"ref": "n2", "depends_on": ["n1"]}) == []


def test_a_fault_in_a_created_task_is_told_once() -> None:
    broken = CREATE | {"description": ""}
    user = CREATE | {"ref": "n2", "parent": "n1", "depends_on": ["n1"][:0]}
    assert errors(broken, user) == ['operation 1 (create): "description" is empty']


def test_a_source_named_twice_counts_once() -> None:
    text = json.dumps({"operations": [SYNTHESIZE | {"sources": ["e-7c0b", "e-7c0b"]}]})
    (operation,) = validate_answer(text, SUBTASK).operations
    assert isinstance(operation, Synthesize)
    assert operation.sources == ("e-7c0b",)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
    | st.sampled_from(["create", "complete", "t-a3f1", "n1", "e-7c0b"]),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(["op", "ref", "parent", "task", "sources", "depends_on", "query"]), inner, max_size=5
    ),
    max_leaves=8,
)  # fmt: skip
near = st.tuples(
    st.sampled_from([CREATE, SYNTHESIZE, COMPLETE, FAIL, CONTINUE, SEARCH]),
    st.dictionaries(
        st.sampled_from(["op", "ref", "parent", "task", "sources", "depends_on"]), json_values, max_size=2
    ),
).map(lambda pair: pair[0] | pair[1])


@settings(max_examples=100, deadline=None)
@given(st.lists(near | json_values, max_size=4))
def test_any_json_is_judged_and_each_fault_is_one_line(operations: list[Any]) -> None:
    for text in (json.dumps({"operations": operations}), json.dumps(operations)):
        parsed = validate_answer(text, SUBTASK)
        assert bool(parsed.errors) != bool(parsed.operations)
        assert all(len(error.splitlines()) == 1 for error in parsed.errors)
