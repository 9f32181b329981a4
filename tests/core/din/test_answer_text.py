"""The answer is taken out of every wrapping that models and servers put around it, and never guessed at."""

import json
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lethe_core.din.answer_text import parse_answer
from lethe_core.errors import ModelResponseError

OPERATIONS = [{"op": "continue", "task": "t-a3f1"}]
ANSWER = json.dumps({"operations": OPERATIONS})
DRAFT = json.dumps({"operations": [{"op": "fail", "task": "t-a3f1", "reason": "draft"}]})
SCHEMA = json.dumps(
    {
        "type": "object",
        "properties": {
            "operations": {"type": "array", "items": {"anyOf": [{"properties": {"op": {"const": "x"}}}]}}
        },
        "required": ["operations"],
    }
)

SHAPES = {
    "bare": ANSWER,
    "byte order mark": "\ufeff" + ANSWER,
    "indented": json.dumps({"operations": OPERATIONS}, indent=2),
    "fence": f"```json\n{ANSWER}\n```",
    "fence without its end": f"```\n{ANSWER}",
    "prose around": f"Here is {{my}} answer:\n{ANSWER}\nI hope that [this] helps {{}}.",
    "thinking": f"<think>It could be {DRAFT}, or {{not.</think>\n{ANSWER}",
    "thinking in other tags": f"<Thinking>{DRAFT}</Thinking>{ANSWER}<reasoning>{DRAFT}</reasoning>",
    "thinking that the template opened": f"I would say {DRAFT} but no.\n</think>\n\n{ANSWER}",
    "thinking in brackets": f"[THINK]{DRAFT}[/THINK]{ANSWER}",
    "thinking that never ends": f"<think>First {DRAFT}, but better {ANSWER}",
    "thinking behind the answer that never ends": f"{ANSWER}\n<think>or {DRAFT}",
    "a schema before it": f"{SCHEMA}\n{ANSWER}",
    "a schema in a fence": f"The schema:\n```json\n{SCHEMA}\n```\n```json\n{ANSWER}\n```",
    "written into the schema": json.dumps({"type": "object", "properties": {"operations": OPERATIONS}}),
    "beside other keys": json.dumps({"thought": "hm", "operations": OPERATIONS}),
    "twice": f"{DRAFT}\nNo, rather:\n{ANSWER}",
    "a list": json.dumps(OPERATIONS),
    "one operation": json.dumps(OPERATIONS[0]),
    "a string": json.dumps(ANSWER),
    "doubled braces": "{" + ANSWER + "}",
    "trailing commas": '{"operations": [{"op": "continue", "task": "t-a3f1",},\n],}',
    "end tokens": f"<|channel|>final<|message|>{ANSWER}<|im_end|>",
    "an open quotation mark before it": f'He said "no {{"operations and then\n{ANSWER}',
}


@pytest.mark.parametrize("shape", SHAPES)
def test_the_answer_is_found_in_every_shape(shape: str) -> None:
    assert parse_answer(SHAPES[shape]) == {"operations": OPERATIONS}


@pytest.mark.parametrize(
    ("written", "content"),
    [
        (r"$\alpha \le \frac{1}{2}$", r"$\alpha \le \frac{1}{2}$"),
        (r"\beta and \rho", r"\beta and \rho"),
        (r"3 \times 4, \theta, \nabla f, \text{if}", r"3 \times 4, \theta, \nabla f, \text{if}"),
        (r"\\alpha is right already", r"\alpha is right already"),
        (r"C:\reports\2024", r"C:\reports\2024"),
        (r"one\ntwo\tthree", "one\ntwo\tthree"),
        (r"\r\nend", "\r\nend"),
        (r"\nThe next line, \tan indented one, \nu", "\nThe next line, \tan indented one, \nu"),
        (r"it\'s \"quoted\" \/ so", 'it\'s "quoted" / so'),
        (r"\u00e9t\u00e9 \usepackage \_", r"été \usepackage \_"),
        ("a line\nfeed, and a\ttab", "a line\nfeed, and a\ttab"),
        ("commas ,] and ,} in text", "commas ,] and ,} in text"),
        ("<think>is only text</think> here", "<think>is only text</think> here"),
        ('``` and {\\"operations\\": []} too', '``` and {"operations": []} too'),
    ],
)
def test_text_within_the_answer_stays_what_the_model_wrote(written: str, content: str) -> None:
    text = '{"operations": [{"op": "synthesize", "content": "' + written + '"}]}'
    for shape in (text, f"<think>{DRAFT}</think>\n```json\n{text}\n```", text.replace("}]}", "},]}")):
        assert parse_answer(shape) == {"operations": [{"op": "synthesize", "content": content}]}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the answer is empty"),
        (" \n", "the answer is empty"),
        ("I do not know.", 'no JSON object with the key "operations"'),
        (SCHEMA, 'no list under "operations"'),
        ('{"operations": {"op": "continue"}}', 'no list under "operations"'),
        (f"<think>{ANSWER}</think>", "the answer ends with its thinking"),
        (ANSWER[:-2], "is not closed"),
        ('{"operations": [{"op": "continue", "task": "t-a3f1"}, {"op": "fail", "ta', "is not closed"),
        ('[{"op": "continue", "task": "t-a3f1"}, {"op"', "is not closed"),
        (
            '{"operations": [{"op": "continue" "task": "t-a3f1"}]}',
            "no valid JSON: Expecting ',' delimiter near",
        ),
        ("{'operations': [{'op': 'continue'}]}", 'no JSON object with the key "operations"'),
        ('{"operations": [{"op": "fail", "op": "continue"}]}', 'the key "op" twice'),
        ('{"operations": [{"op": NaN}]}', "a number that is none"),
        ('{"operations": ' + "[" * 100_000 + "]" * 100_000 + "}", "nested too deeply"),
        ('{"operations": [' + "9" * 5_000 + "]}", "a number that is none"),
    ],
)
def test_what_is_no_answer_is_named_and_not_guessed_at(text: str, message: str) -> None:
    with pytest.raises(ModelResponseError, match=message):
        parse_answer(text)


def test_a_part_of_a_faulty_answer_is_never_taken_for_the_answer() -> None:
    faulty = '{"operations": [{"op": "create" "ref": "n1"}, {"op": "complete", "task": "t-a3f1"}]}'
    with pytest.raises(ModelResponseError):
        parse_answer(faulty)
    with pytest.raises(ModelResponseError):
        parse_answer(faulty[:-3])


def test_a_long_hostile_answer_is_given_up_in_bounded_work() -> None:
    for text in ('{"a":' * 40_000, '{"operations":[' * 20_000, '["' * 50_000, '{"' * 50_000 + "\\" * 999):
        with pytest.raises(ModelResponseError):
            parse_answer(text)


pieces = st.sampled_from(
    [ANSWER, SCHEMA, '{"', '"}', "[", "]", "{", "}", ",", ":", '"', "\\", "\\u", "<think>", "</think>", "```",
     '"operations"', '"op"', "NaN", "-", "1e999", "\ud800", "\x00", "\n"]
)  # fmt: skip


@settings(max_examples=100, deadline=None)
@given(
    st.one_of(
        st.lists(pieces | st.text(max_size=5), max_size=30).map("".join),
        st.binary(max_size=300).map(lambda found: found.decode("utf-8", "surrogateescape")),
    )
)
def test_no_text_raises_anything_but_its_own_error(text: str) -> None:
    with suppress(ModelResponseError):
        assert isinstance(parse_answer(text)["operations"], list)


@settings(max_examples=100, deadline=None)
@given(st.text(), st.booleans())
def test_any_text_comes_through_unchanged(content: str, ascii_only: bool) -> None:
    """But for what no text has: control characters that stand where a backslash was forgotten."""
    if any(f"{control}{letter}" in content for control in "\b\f\r" for letter in _letters(content)):
        return
    text = json.dumps({"operations": [{"op": "x", "content": content}]}, ensure_ascii=ascii_only)
    assert parse_answer(f"So:\n{text}\n") == {"operations": [{"op": "x", "content": content}]}


def _letters(text: str) -> set[str]:
    return {character for character in text if character.isascii() and character.isalpha()}
