"""The extractive reasoner: reads a DIN, answers with operations, only ever quotes (algorithms.md 9).

`decide` is a pure function of the DIN and the embedder. A task goes through parts, searches, quotations,
end; which of them is next is told by the DIN alone: its subtasks, its warn lines, its evidence.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field

from lethe_core.control.embedding import Embedder
from lethe_core.din.document import DinRead, SubtaskLine
from lethe_core.din.operations import (
    MAX_OPERATIONS,
    Complete,
    Continue,
    Create,
    Fail,
    Operation,
    Synthesize,
    WebSearch,
)
from lethe_core.din.read import parse_din
from lethe_core.errors import DinSyntaxError, ModelResponseError
from lethe_core.graph.nodes import TaskStatus
from lethe_core.reasoning.conclusion import conclude
from lethe_core.reasoning.division import Part, embed_text, parts_left
from lethe_core.reasoning.hops import HopQueryConfig, second_searches
from lethe_core.reasoning.parts import PartsConfig
from lethe_core.reasoning.protocol import Answer, Prompt
from lethe_core.reasoning.queries import (
    QueryConfig,
    first_queries,
    is_later,
    query_key,
    reworded,
    searched,
    unused,
)
from lethe_core.reasoning.quotes import render
from lethe_core.reasoning.reading import Reading, ReadingConfig, read

_LINE = 1_000  # characters of a query, a reason
_CONTEXT_WINDOW = 32_768  # tokens; far above the context's own budget, so that this alone decides


@dataclass(frozen=True, slots=True)
class ExtractiveConfig:
    """The settings of each step."""

    parts: PartsConfig = field(default_factory=PartsConfig)
    queries: QueryConfig = field(default_factory=QueryConfig)
    hops: HopQueryConfig = field(default_factory=HopQueryConfig)
    reading: ReadingConfig = field(default_factory=ReadingConfig)


def decide(din: DinRead, embedder: Embedder, config: ExtractiveConfig | None = None) -> list[Operation]:
    """The operations that answer a DIN: one to twelve, valid for it, the same each time."""
    config = config or ExtractiveConfig()
    if din.is_root:
        subtasks = [subtask.description for subtask in din.subtasks]
        left = parts_left(din.goal, subtasks, embedder, config.parts)
        if left:
            return _division(din, left)
    if din.subtasks:
        return _from_parts(din, embedder, config)
    return _research(din, embedder, config)


def _division(din: DinRead, left: Sequence[Part]) -> list[Operation]:
    """A subtask for each part that has none; what is too much for one answer follows in the next."""
    fits = len(left) <= MAX_OPERATIONS
    created: list[Operation] = [
        Create(op="create", ref=f"n{number}", description=part.description, embed_text=part.embed_text)
        for number, part in enumerate(left if fits else left[: MAX_OPERATIONS - 1], start=1)
    ]
    return created if fits else [*created, Continue(op="continue", task=din.task)]


def _research(din: DinRead, embedder: Embedder, config: ExtractiveConfig) -> list[Operation]:
    reading = read(din.goal, din.evidence, embedder, config.reading)
    upcoming = _searches(din, reading, config) if "web_search" in din.tools else []
    if upcoming:
        return [WebSearch(op="web_search", query=query[:_LINE]) for query in upcoming]
    if not reading.about:
        return [Fail(op="fail", task=din.task, reason=_nothing_found(din)[:_LINE])]
    synthesis = _synthesis(din, reading)
    return [synthesis, _complete(din, synthesis.content)]


def _searches(din: DinRead, reading: Reading, config: ExtractiveConfig) -> list[str]:
    """The next searches; empty when there is nothing left to ask."""
    made = searched(din.warns)
    first = first_queries(din.goal, config.queries)
    if not first:
        return []
    if query_key(first[0]) not in made.answered:
        return unused(first, made)
    another = unused(reworded(din.goal, config.queries), made)
    if not reading.about:
        return another
    earlier = (made.answered | made.failed) - {query_key(query) for query in first}
    followed = any(is_later(key, din.goal, config.queries) for key in earlier)
    if reading.answered or followed:
        return []
    quoted = dict.fromkeys(reading.pieces[index].block for index in reading.quoted)
    leads = [din.evidence[block] for block in quoted]
    return unused(second_searches(din.goal, din.evidence, leads, config.hops), made)


def _synthesis(din: DinRead, reading: Reading) -> Synthesize:
    quoted = [reading.pieces[index] for index in reading.quoted]
    sources = dict.fromkeys(str(din.evidence[piece.block].short_id) for piece in quoted)
    return Synthesize(
        op="synthesize",
        sources=tuple(sources),
        content=render(quoted, din.evidence),
        embed_text=embed_text(quoted[0].text),
    )


def _complete(din: DinRead, content: str) -> Operation:
    return Complete(op="complete", task=din.task, result_summary=content, embed_text=embed_text(din.goal))


def _from_parts(din: DinRead, embedder: Embedder, config: ExtractiveConfig) -> list[Operation]:
    """Put together what the parts found. A subtask whose own parts still live can't be completed."""
    live = [subtask for subtask in din.subtasks if not subtask.status.terminal]
    together = conclude(din, config.reading.selection.most)
    if together is not None:
        synthesis = Synthesize(
            op="synthesize",
            sources=together.sources,
            content=together.content,
            embed_text=embed_text(din.goal),
        )
        return [synthesis] if live and not din.is_root else [synthesis, _complete(din, together.content)]
    if any(subtask.status is TaskStatus.DONE for subtask in din.subtasks) and (din.is_root or not live):
        # The parts' syntheses did not fit into the context; what they quote may have.
        reading = read(din.goal, din.evidence, embedder, config.reading)
        if reading.about:
            found = _synthesis(din, reading)
            return [found, _complete(din, found.content)]
        return [_complete(din, _results(din))]
    return [Fail(op="fail", task=din.task, reason=_parts_failed(din.subtasks)[:_LINE])]


def _results(din: DinRead) -> str:
    done = [subtask for subtask in din.subtasks if subtask.status is TaskStatus.DONE]
    return "\n\n".join(subtask.result or subtask.description for subtask in done)


def _parts_failed(subtasks: tuple[SubtaskLine, ...]) -> str:
    if all(subtask.status is TaskStatus.FAILED for subtask in subtasks):
        return "nothing found for any of its parts"
    return "its parts cannot be finished"


def _nothing_found(din: DinRead) -> str:
    made = [warn for warn in din.warns if warn.kind == "searched"]
    if not made:
        return (
            "nothing found: there is nothing to search for"
            if din.tools
            else "nothing found: no search is available"
        )
    return f"nothing found: no source says anything about it (searches made: {len(made)})"


class ExtractiveReasoner:
    """A `Reasoner` without a model: the same prompt gives the same answer, at once and for nothing."""

    def __init__(self, embedder: Embedder, config: ExtractiveConfig | None = None) -> None:
        self._embedder = embedder
        self._config = config or ExtractiveConfig()

    @property
    def name(self) -> str:
        return "extractive"

    @property
    def extractive(self) -> bool:
        return True

    @property
    def deterministic(self) -> bool:
        return True

    @property
    def context_window(self) -> int:
        return _CONTEXT_WINDOW

    def check(self) -> None:
        """Nothing to reach, nothing to check."""

    def answer(self, prompt: Prompt, *, deadline: float) -> Answer:  # noqa: ARG002 - nothing here takes long
        """Answer a DIN-Read prompt; tokens are not counted, since none are paid for.

        Raises ModelResponseError for a prompt that is no DIN-Read text: prose is not written here.
        """
        try:
            din = parse_din(prompt.user)
        except DinSyntaxError as error:
            raise ModelResponseError(
                f"the extractive reasoner answers DIN-Read texts only: {error}"
            ) from error
        operations = decide(din, self._embedder, self._config)
        text = json.dumps({"operations": [o.model_dump(mode="json") for o in operations]}, ensure_ascii=False)
        return Answer(text, prompt_tokens=0, completion_tokens=0, model=self.name)
