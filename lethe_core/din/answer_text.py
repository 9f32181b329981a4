"""The JSON object in a model's answer, in whatever it comes wrapped (architecture.md, "DIN").

Thinking in tags, fences, prose, a schema echoed before the answer, a list without its object, escapes that
JSON does not know: all are taken off. What the model meant is never guessed at: no bracket is closed, no
quotation mark added, no value changed.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, NoReturn

from lethe_core.errors import ModelResponseError

_TAG: Final = re.compile(r"<(/?)(?:think|thinking|thought|reasoning)>|\[(/?)THINK\]", re.IGNORECASE)
_START: Final = re.compile(r'\{\s*"|\[\s*\{\s*"')
_LIKE_AN_ANSWER: Final = re.compile(r'[\[{]\s*(?:\{\s*)?"op(?:erations)?"')
_STRING: Final = r'"(?:[^"\\]|\\.)*+"'
_TRAILING_COMMA: Final = re.compile(rf"({_STRING})|,(?=\s*[\]}}])", re.DOTALL)
# Commands whose first letter JSON reads as a tab or a line feed although no text goes on with the rest of the
# name ("imes", "abla"). Those whose rest may be text (\tau, \to, \nu) stay as JSON has them.
_LATEX: Final = (
    r"text(?:bf|it|rm|sf|tt)?|times|theta|tilde|tfrac|triangle(?:left|right)?|"
    r"nabla|neq|notin|nleq|ngeq|nmid|nsubseteq"
)
_ESCAPE: Final = re.compile(
    rf"""(\\\\|\\["/])            # what is right as it is
    |\\'                          # an apostrophe that needs no escape
    |\\(?=[bfr][A-Za-z])          # \beta, \frac, C:\reports: no text has these control characters at a word
    |\\(?=(?:{_LATEX})(?![A-Za-z]))
    |(\\[bfnrt]|\\u[0-9A-Fa-f]{{4}})
    |\\                           # \alpha, \_, \[: no escape of JSON's""",
    re.VERBOSE,
)
# Work on an answer is bounded: characters that may be looked at in vain.
_SCAN_LIMIT: Final = 3_000_000


class _DuplicateKeyError(ValueError):
    """An object that says two things under one key."""


@dataclass(frozen=True, slots=True)
class _Found:
    operations: list[Any]
    start: int
    end: int


def parse_answer(text: str) -> dict[str, Any]:
    """Take the answer's object out of a text: a dict with a list under "operations".

    Of several the last outside of thinking counts; when thinking was never closed, the last inside. Nothing
    in the list has been looked at. Raises ModelResponseError, with a message for the model, and nothing else.
    """
    text = _unwrapped(text)
    if not text.strip():
        raise ModelResponseError("the answer is empty; answer with one JSON object")
    answers = list(_answers(text))
    spoken, unclosed = _spoken(text, answers)
    if spoken or unclosed:
        return {"operations": (spoken or unclosed)[-1].operations}
    if answers:
        raise ModelResponseError("the answer ends with its thinking; answer with one JSON object behind it")
    raise _explained(text)


def _unwrapped(text: str) -> str:
    """What a text says that is itself one JSON string."""
    if text.lstrip().startswith('"'):
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            return text
        return value if isinstance(value, str) else text
    return text


def _answers(text: str) -> Iterator[_Found]:
    """Every outermost JSON value of the text that is an answer, in order."""
    at, left, whole = 0, _SCAN_LIMIT, True
    while left > 0 and (match := _START.search(text, at)) is not None:
        start = match.start()
        value, end = _value_at(text, start)
        if end is None:
            # What stands within an object that is cut off is a part of an answer, not one.
            whole = whole and _LIKE_AN_ANSWER.match(text, start) is None
            left -= len(text) - start
            at = start + 1
            continue
        operations = _operations(value, whole)
        if operations is not None:
            yield _Found(operations, start, end)
        at = end


def _value_at(text: str, start: int) -> tuple[Any, int | None]:
    """The JSON value at an offset, None for an invalid one, and its end, None when it has none."""
    try:
        return _decode(text, start)
    except (ValueError, RecursionError):
        end = _balanced_end(text, start)
    if end is None:
        return None, None
    try:
        return _DECODER.raw_decode(_mended(text[start:end]))[0], end
    except (ValueError, RecursionError):
        return None, end


def _decode(text: str, start: int) -> tuple[Any, int]:
    # Escapes are put right first: "\frac" is valid JSON, and would become a form feed and "rac".
    if "\\" in text[start:]:
        end = _balanced_end(text, start)
        if end is not None:
            value, _ = _DECODER.raw_decode(_escaped(text[start:end]))
            return value, end
    return _DECODER.raw_decode(text, start)


def _mended(text: str) -> str:
    return _TRAILING_COMMA.sub(lambda match: match.group(1) or "", _escaped(text))


def _escaped(text: str) -> str:
    def put_right(match: re.Match[str]) -> str:
        if match.group(1) or match.group(2):
            return match.group()
        return "'" if match.group() == "\\'" else "\\\\"

    return _ESCAPE.sub(put_right, text)


_TOKEN: Final = re.compile(rf"{_STRING}|[\[\]{{}}]|\"", re.DOTALL)


def _balanced_end(text: str, start: int) -> int | None:
    """Where the bracket that opens at an offset is closed again; None when it never is."""
    depth = 0
    for match in _TOKEN.finditer(text, start):
        token = match.group()
        if token in ("{", "["):
            depth += 1
        elif token in ("}", "]"):
            depth -= 1
            if depth == 0:
                return match.end()
        elif token == '"':
            return None  # a string that never ends
    return None


def _operations(value: Any, whole: bool) -> list[Any] | None:
    """The operations that a value lists, where only one reading is possible; None for no answer.

    whole: whether a list or a single operation without the object around it may stand for the answer.
    """
    if isinstance(value, list):
        bare = all(isinstance(item, dict) and isinstance(item.get("op"), str) for item in value)
        return value if whole and bare else None
    if not isinstance(value, dict):
        return None
    if isinstance(value.get("operations"), list):
        return list(value["operations"])
    if isinstance(value.get("op"), str):
        return [value] if whole else None
    # An answer written into a copy of the schema; in the schema itself an object stands there.
    properties = value.get("properties")
    within = properties.get("operations") if isinstance(properties, dict) else None
    return within if isinstance(within, list) else None


def _spoken(text: str, answers: list[_Found]) -> tuple[list[_Found], list[_Found]]:
    """The answers outside of thinking, and those in thinking that was never closed.

    A tag within an answer is content. A closing tag without an opening one, the first of all, closes thinking
    that the prompt's template had opened.
    """
    thinking: list[tuple[int, int]] = []
    opened: int | None = None
    seen = False
    for match in _TAG.finditer(text):
        if any(found.start < match.start() < found.end for found in answers):
            continue
        closes = bool(match.group(1) or match.group(2))
        if closes and (opened is not None or not seen):
            thinking.append((0 if opened is None else opened, match.end()))
            opened = None
        elif not closes and opened is None:
            opened = match.start()
        seen = True
    outside = [found for found in answers if not any(start <= found.start < end for start, end in thinking)]
    if opened is None:
        return outside, []
    return [one for one in outside if one.start < opened], [one for one in outside if one.start > opened]


def _explained(text: str) -> ModelResponseError:
    """Why there is no answer in a text, for the model."""
    match = _LIKE_AN_ANSWER.search(text)
    if match is None:
        return ModelResponseError('no JSON object with the key "operations" in the answer; answer with one')
    try:
        _decode(text, match.start())
    except _DuplicateKeyError as error:
        return ModelResponseError(f"the JSON of the answer {error}")
    except json.JSONDecodeError as error:
        if _balanced_end(text, match.start()) is None:
            return ModelResponseError(
                "the JSON of the answer is not closed: cut off, or a bracket or quotation mark is missing; "
                "answer shorter, with all of them closed"
            )
        near = error.doc[max(0, error.pos - 30) : error.pos + 30]
        return ModelResponseError(f"the answer is no valid JSON: {error.msg} near {near!r}")
    except (ValueError, RecursionError):
        return ModelResponseError("the answer is no valid JSON: nested too deeply, or a number that is none")
    return ModelResponseError('the answer has no list under "operations"')


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for key, item in pairs:
        if key in value and value[key] != item:
            raise _DuplicateKeyError(f"has the key {json.dumps(key[:60])} twice with different values")
        value[key] = item
    return value


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number of JSON's")


# strict=False: line feeds within strings are what the model meant to write.
_DECODER: Final = json.JSONDecoder(object_pairs_hook=_pairs, parse_constant=_no_number, strict=False)
