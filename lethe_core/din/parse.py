"""From a model's answer to operations that can be applied as a whole, or to what is wrong with it, in words
(architecture.md, "DIN operations").

Form is pydantic's to check, meaning this module's: what an operation refers to, and which go together. Every
sentence names the operation's number, the field, the value and what is allowed, since it is what a model
repairs its answer by.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final
from urllib.parse import urlsplit

from pydantic import TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from lethe_core.din.answer_text import parse_answer
from lethe_core.din.operations import (
    MAX_OPERATIONS,
    OPERATION_TYPES,
    AnswerContext,
    Complete,
    Continue,
    Create,
    DiscriminatedOperation,
    Fail,
    FetchUrl,
    Operation,
    Synthesize,
    WebSearch,
)
from lethe_core.errors import ModelResponseError
from lethe_core.graph.ids import SHORT_ID

__all__ = ["AnswerContext", "ParsedAnswer", "parse_answer", "validate_answer"]

_ADAPTER: Final[TypeAdapter[Operation]] = TypeAdapter(DiscriminatedOperation)
_SHOWN_IDS: Final = 40  # of the allowed ones in an error; the rest stands in the prompt


@dataclass(frozen=True, slots=True)
class ParsedAnswer:
    """Valid operations, or what is wrong; one of the two is empty."""

    operations: tuple[Operation, ...]
    errors: tuple[str, ...]


def validate_answer(text: str, context: AnswerContext) -> ParsedAnswer:
    """Take the operations out of an answer and check them against what the model was shown.

    All or nothing: with one fault there are no operations. In valid ones a `create` always names its parent.
    """
    try:
        items = parse_answer(text)["operations"]
    except ModelResponseError as error:
        return ParsedAnswer((), (str(error),))
    if not items:
        return ParsedAnswer((), (f'"operations" is empty; it takes 1 to {MAX_OPERATIONS} operations',))
    if len(items) > MAX_OPERATIONS:
        return ParsedAnswer(
            (), (f'"operations" has {len(items)} members; at most {MAX_OPERATIONS} are allowed',)
        )
    errors: list[str] = []
    operations: list[tuple[int, Operation]] = []
    for number, item in enumerate(items, start=1):
        wrong, operation = _form(number, item, context)
        errors.extend(wrong)
        if operation is not None:
            operations.append((number, operation))
    errors.extend(_references(operations, items, context))
    errors.extend(_company(operations, context))
    if errors:
        return ParsedAnswer((), tuple(errors))
    return ParsedAnswer(tuple(_with_parent(operation, context) for _, operation in operations), ())


def _with_parent(operation: Operation, context: AnswerContext) -> Operation:
    if isinstance(operation, Create) and not operation.parent:
        return operation.model_copy(update={"parent": str(context.task)})
    return operation


# -- form ---------------------------------------------------------------------------------------


def _form(number: int, item: Any, context: AnswerContext) -> tuple[list[str], Operation | None]:
    """What is wrong with one operation by itself, and the operation when nothing is."""
    allowed = ", ".join(context.offered)
    if not isinstance(item, dict):
        return [f'operation {number} is {_show(item)}, not an object with the field "op"'], None
    name = item.get("op")
    if "op" not in item:
        return [f'operation {number}: the field "op" is missing; it is one of {allowed}'], None
    if not isinstance(name, str) or name not in OPERATION_TYPES:
        return [f'operation {number}: "op" is {_show(name)}; it must be one of {allowed}'], None
    place = f"operation {number} ({name})"
    if name in ("web_search", "fetch_url") and name not in context.tools:
        return [f"{place}: this tool is not available; available operations: {allowed}"], None
    unstorable = [field for field, value in item.items() if not _storable(value)]
    if unstorable:
        what = "a NUL or half of a surrogate pair, which cannot be stored; leave it out"
        return [f'{place}: "{field}" holds {what}' for field in unstorable], None
    try:
        operation = _ADAPTER.validate_python(item)
    except ValidationError as error:
        fields = ", ".join(OPERATION_TYPES[name].model_fields)
        return [_sentence(place, details, fields) for details in error.errors()], None
    if isinstance(operation, FetchUrl) and not _is_web_address(operation.url):
        where = f'{place}: "url" is {_show(operation.url)}'
        return [f"{where}; it must be a whole address that begins with http:// or https://"], None
    return [], operation


def _sentence(place: str, details: ErrorDetails, fields: str) -> str:
    """One of pydantic's errors in words."""
    _, *location = details["loc"]
    field = str(location[0]) if location else "op"
    where = f'{place}: "{field}"' + "".join(f" member {int(at) + 1}" for at in location[1:])
    kind, value, limits = details["type"], details["input"], details.get("ctx", {})
    if kind == "missing":
        return f'{place}: the field "{field}" is missing'
    if kind == "extra_forbidden":
        return f"{place}: there is no field {_show(field)}; its fields are {fields}"
    if kind == "string_too_short":
        return f"{where} is empty"
    if kind == "string_too_long":
        return f"{where} has {len(value)} characters; at most {limits['max_length']} are allowed"
    if kind == "string_type":
        return f"{where} is {_show(value)}; it must be a string"
    if kind in ("tuple_type", "list_type"):
        return f"{where} is {_show(value)}; it must be a list of strings"
    if kind == "string_pattern_mismatch":
        return f"{where} is {_show(value)}; it may hold only letters, digits and . _ -"
    return f"{where} is {_show(value)}: {details['msg']}"


# -- meaning ------------------------------------------------------------------------------------


def _references(
    operations: Sequence[tuple[int, Operation]], items: Sequence[Any], context: AnswerContext
) -> list[str]:
    """Ids and refs that name nothing, or nothing of the right kind."""
    errors: list[str] = []
    valid = dict(operations)
    refs: dict[str, int] = {}
    ancestors: dict[str, set[str]] = {}
    waits: dict[str, set[str]] = {}  # what a new task cannot be done before: its dependencies and its parts
    for number, item in enumerate(items, start=1):
        operation = valid.get(number)
        place = f"operation {number} ({item.get('op') if isinstance(item, dict) else '?'})"
        if isinstance(operation, Create):
            parent = operation.parent
            above = {parent, *ancestors.get(parent, ())} if parent in refs else {str(context.task)}
            errors.extend(_create_references(place, operation, refs, above, waits, context))
            ancestors[operation.ref] = above
            waits.setdefault(parent, set()).add(operation.ref)
            waits.setdefault(operation.ref, set()).update(operation.depends_on)
        elif isinstance(operation, Synthesize):
            errors.extend(_sources(place, operation, context))
        elif isinstance(operation, Complete | Fail | Continue) and operation.task != context.task:
            only = f"only the selected task {context.task} is allowed"
            errors.append(f'{place}: "task" is {_show(operation.task)}; {only}')
        # A ref counts as known even where its operation has other faults: one fault, one sentence.
        if isinstance(item, dict) and item.get("op") == "create" and isinstance(item.get("ref"), str):
            refs.setdefault(item["ref"].strip(), number)
    return errors


def _create_references(
    place: str,
    operation: Create,
    refs: Mapping[str, int],
    above: set[str],
    waits: Mapping[str, set[str]],
    context: AnswerContext,
) -> list[str]:
    errors: list[str] = []
    earlier = f"a ref created earlier in this answer ({_list(list(refs))})"
    if operation.ref in refs:
        errors.append(f'{place}: "ref" {_show(operation.ref)} is taken by operation {refs[operation.ref]}')
    if SHORT_ID.fullmatch(operation.ref):
        what = "looks like an id; choose a name such as n1"
        errors.append(f'{place}: "ref" {_show(operation.ref)} {what}')
    if operation.parent not in ("", context.task) and operation.parent not in refs:
        allowed = f"the selected task {context.task} or {earlier}"
        errors.append(f'{place}: "parent" is {_show(operation.parent)}; it must be {allowed}')
    for name in operation.depends_on:
        if _reaches(waits, name, above):
            why = "it is, or waits for, a task that this one is a part of, so that neither could ever begin"
            errors.append(f'{place}: "depends_on" names {_show(name)}; {why}')
        elif name not in refs and name not in context.tasks:
            allowed = f"a task that it may wait for ({_list(context.tasks)}) or {earlier}"
            errors.append(f'{place}: "depends_on" names {_show(name)}; it must be {allowed}')
    return errors


def _reaches(waits: Mapping[str, set[str]], start: str, goals: set[str]) -> bool:
    pending, seen = [start], set[str]()
    while pending:
        name = pending.pop()
        if name in goals:
            return True
        if name not in seen:
            seen.add(name)
            pending.extend(waits.get(name, ()))
    return False


def _sources(place: str, operation: Synthesize, context: AnswerContext) -> list[str]:
    if not operation.sources:
        return [f'{place}: "sources" is empty; name the evidence that it rests on']
    allowed = f"evidence in the context ({_list(context.evidence)})"
    return [
        f'{place}: "sources" names {_show(name)}; it must be {allowed}'
        for name in operation.sources
        if name not in context.evidence
    ]


def _company(operations: Sequence[tuple[int, Operation]], context: AnswerContext) -> list[str]:
    """Operations that cannot stand in one answer, or not for this task."""
    errors: list[str] = []
    verdicts = [(number, op) for number, op in operations if isinstance(op, Complete | Fail | Continue)]
    for (first, one), (second, other) in pairwise(verdicts):
        together = f"operation {first} ({one.op}) and operation {second} ({other.op})"
        errors.append(f"{together} cannot stand together; an answer has one of complete, fail, continue")
    ends = [(number, op) for number, op in verdicts if not isinstance(op, Continue)]
    if not ends:
        return errors
    number, verdict = ends[0]
    place = f"operation {number} ({verdict.op})"
    if isinstance(verdict, Complete) and context.live_subtasks and not context.is_root:
        still = f"task {context.task} still has open subtasks ({_list(context.live_subtasks)})"
        errors.append(f"{place}: {still}; use continue, or leave it until they are done")
    for other_number, op in operations:
        other_place = f"operation {other_number} ({op.op})"
        if isinstance(op, WebSearch | FetchUrl):
            choice = f"either call the tool and leave the task open, or {verdict.op} it without the tool"
            errors.append(f"{place} cannot stand beside the tool call {other_place}; {choice}")
        elif isinstance(op, Create):
            choice = f"either create the subtask and leave the task open, or {verdict.op} it without"
            errors.append(f"{place} cannot stand beside {other_place}; {choice}")
    return errors


# -- words --------------------------------------------------------------------------------------


def _show(value: Any) -> str:
    """A value as JSON on one line, shortened."""
    try:
        shown = json.dumps(value, ensure_ascii=True)
    except (ValueError, RecursionError):
        shown = repr(type(value).__name__)
    return shown if len(shown) <= 80 else shown[:77] + "…"


def _list(names: Sequence[str]) -> str:
    more = f", and {len(names) - _SHOWN_IDS} more" if len(names) > _SHOWN_IDS else ""
    return (", ".join(names[:_SHOWN_IDS]) + more) or "none"


def _storable(value: Any) -> bool:
    if isinstance(value, list):
        return all(_storable(item) for item in value)
    return not isinstance(value, str) or not any(c == "\0" or "\ud800" <= c <= "\udfff" for c in value)


def _is_web_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        return False
