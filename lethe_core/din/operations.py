"""What a model may answer: one to twelve operations (architecture.md, "DIN operations").

`Operation` is what text becomes once it has been validated; `operations_schema` is the narrower form that a
server holds the model to while it writes. Bounds of the schema are for a model's few thousand tokens, those
of the types for anything that the graph should take.
"""

from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal, TypeAlias

from pydantic import BaseModel, BeforeValidator, ConfigDict, Discriminator, StringConstraints

from lethe_core.din.document import DinRead
from lethe_core.graph.nodes import ShortId

MAX_OPERATIONS: Final = 12
TOOL_OPERATIONS: Final = ("web_search", "fetch_url")


def _given(value: object) -> object:
    """An optional text that is null is one that was not given."""
    return "" if value is None else value


def _listed(value: object) -> object:
    """An optional list that is null is empty; a member that stands in it twice counts once."""
    if isinstance(value, list):
        return [item for at, item in enumerate(value) if item not in value[:at]]
    return [] if value is None else value


_Line = Annotated[str, StringConstraints(min_length=1, max_length=4_000)]
_Text = Annotated[str, StringConstraints(min_length=1, max_length=40_000)]
_Optional = Annotated[str, StringConstraints(max_length=2_000), BeforeValidator(_given)]
# Long enough for a whole short id, short enough for a line of errors.
_Id = Annotated[str, StringConstraints(min_length=1, max_length=64)]
_Ref = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_.-]+$", min_length=1, max_length=64)]
_Ids = Annotated[tuple[_Id, ...], BeforeValidator(_listed)]


class _Operation(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", str_strip_whitespace=True)


class Create(_Operation):
    """A new subtask. ``ref`` is how later operations of the same answer name it."""

    op: Literal["create"]
    ref: _Ref
    parent: Annotated[_Optional, StringConstraints(max_length=64)] = ""  # empty: the selected task
    description: _Line
    embed_text: _Line
    depends_on: _Ids = ()
    prepared_prompt: _Optional = ""
    antifocus: _Optional = ""


class Synthesize(_Operation):
    """A finding that stands for its sources from now on."""

    op: Literal["synthesize"]
    sources: _Ids
    content: _Text
    embed_text: _Line


class Complete(_Operation):
    op: Literal["complete"]
    task: _Id
    result_summary: _Text
    embed_text: _Line


class Fail(_Operation):
    op: Literal["fail"]
    task: _Id
    reason: _Line


class Continue(_Operation):
    op: Literal["continue"]
    task: _Id


class WebSearch(_Operation):
    op: Literal["web_search"]
    query: Annotated[str, StringConstraints(min_length=1, max_length=1_000)]


class FetchUrl(_Operation):
    op: Literal["fetch_url"]
    url: Annotated[str, StringConstraints(min_length=1, max_length=2_000)]


Operation: TypeAlias = Create | Synthesize | Complete | Fail | Continue | WebSearch | FetchUrl
DiscriminatedOperation: TypeAlias = Annotated[Operation, Discriminator("op")]
OPERATION_TYPES: Final[dict[str, type[BaseModel]]] = {
    "create": Create,
    "synthesize": Synthesize,
    "complete": Complete,
    "fail": Fail,
    "continue": Continue,
    "web_search": WebSearch,
    "fetch_url": FetchUrl,
}


@dataclass(frozen=True, slots=True)
class AnswerContext:
    """What an answer to one DIN-Read text may refer to."""

    task: ShortId  # the selected one
    is_root: bool
    live_subtasks: tuple[ShortId, ...]  # of the selected task
    evidence: tuple[ShortId, ...]  # packed
    tasks: tuple[ShortId, ...]  # that a new task may wait for
    tools: tuple[str, ...]

    @property
    def offered(self) -> tuple[str, ...]:
        """The operations that can be valid here, in the order of the schema."""
        return _offered(self.is_root, bool(self.live_subtasks), bool(self.evidence), self.tools)


def offered_operations(din: DinRead) -> tuple[str, ...]:
    """The operations of a DIN-Read's ``=OPS`` line: those that can be valid for it."""
    live = any(not subtask.status.terminal for subtask in din.subtasks)
    return _offered(din.is_root, live, bool(din.evidence), din.tools)


def _offered(is_root: bool, live_subtasks: bool, evidence: bool, tools: tuple[str, ...]) -> tuple[str, ...]:
    operations = ["create"]
    if evidence:
        operations.append("synthesize")
    if is_root or not live_subtasks:
        operations.append("complete")
    return (*operations, "fail", "continue", *(tool for tool in TOOL_OPERATIONS if tool in tools))


def operations_schema(context: AnswerContext, *, single: bool = False) -> dict[str, Any]:
    """JSON schema of an answer: only what is offered, only ids that exist.

    single: exactly one operation, without optional fields. What a schema cannot say (a ref is made before it
    is named, and once; no tool beside `complete`) cannot go wrong then. Nor can it be `continue`, which would
    do nothing, and without evidence it ends no task: who could not put an answer together twice is not the
    one to say that there is nothing to be found.

    Made of what grammar converters know: anyOf, const, enum, bounds of lists and strings. New tasks are
    called n1 to n12 in it, so that references to them can be listed like ids.
    """
    task = {"const": context.task}
    refs = [f"n{number}" for number in range(1, MAX_OPERATIONS + 1)]
    variants = {
        "create": _variant(
            "create",
            {
                "ref": {"enum": refs},
                "parent": {"enum": [context.task, *refs]},
                "description": _text(300),
                "embed_text": _text(120),
                # 3: a small model that may go on lists every ref there is.
                "depends_on": _ids([*context.tasks, *refs], minimum=0, maximum=3),
                "prepared_prompt": _text(300, minimum=0),
                "antifocus": _text(200, minimum=0),
            },
            optional=("parent", "depends_on", "prepared_prompt", "antifocus"),
        ),
        "synthesize": _variant(
            "synthesize",
            {
                "sources": _ids(list(context.evidence), minimum=1, maximum=16),
                "content": _text(2000),
                "embed_text": _text(120),
            },
        ),
        "complete": _variant(
            "complete", {"task": task, "result_summary": _text(2000), "embed_text": _text(120)}
        ),
        "fail": _variant("fail", {"task": task, "reason": _text(300)}),
        "continue": _variant("continue", {"task": task}),
        "web_search": _variant("web_search", {"query": _text(200)}),
        "fetch_url": _variant("fetch_url", {"url": _text(500)}),
    }
    offered = context.offered
    if single:
        variants = {name: _without_optional(variant) for name, variant in variants.items()}
        barred = ("continue",) if context.evidence else ("continue", "complete", "fail")
        offered = tuple(name for name in offered if name not in barred)
    return {
        "type": "object",
        "properties": {
            "operations": {
                "type": "array",
                "minItems": 1,
                "maxItems": 1 if single else MAX_OPERATIONS,
                "items": {"anyOf": [variants[name] for name in offered]},
            }
        },
        "required": ["operations"],
        "additionalProperties": False,
    }


def _without_optional(variant: dict[str, Any]) -> dict[str, Any]:
    needed = {name: variant["properties"][name] for name in variant["required"]}
    return {**variant, "properties": needed}


def _variant(op: str, fields: dict[str, Any], optional: tuple[str, ...] = ()) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {"op": {"const": op}, **fields},
        "required": ["op", *(name for name in fields if name not in optional)],
        "additionalProperties": False,
    }


def _text(maximum: int, minimum: int = 1) -> dict[str, Any]:
    return {"type": "string", "minLength": minimum, "maxLength": maximum}


def _ids(allowed: list[str], minimum: int, maximum: int) -> dict[str, Any]:
    return {"type": "array", "items": {"enum": allowed}, "minItems": minimum, "maxItems": maximum}
