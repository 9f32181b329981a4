"""Keeping what is said beside the evidence within its share of the context (algorithms.md 5.3)."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Final

from lethe_core.din.document import DinRead, Warn

KEPT_SEARCHES: Final = 4  # the latest, so that a query is not simply made again
LEFT_OUT: Final = Warn(kind="note", quoted="", detail="older lines were left out, since they did not fit")


def fit_frame(document: DinRead, room: int, tokens: Callable[[DinRead], int]) -> DinRead:
    """Drop the least needed lines until the text without evidence fits into a room of tokens, and say so.

    Dropped one by one: searches but the latest, what others work on, dead ends, dependencies from the oldest,
    then the rest of the searches. Task, parent, subtasks and hint always stay, though they alone exceed it.
    """
    evidence = document.evidence
    frame = replace(document, evidence=())
    if tokens(frame) > room:
        for smaller in _smaller(frame):
            frame = replace(smaller, warns=(LEFT_OUT, *smaller.warns))
            if tokens(frame) <= room:
                break
    return replace(frame, evidence=evidence)


def _smaller(document: DinRead) -> Iterator[DinRead]:
    """The document with one line less each time, the least needed first."""
    searches = [warn for warn in document.warns if warn.kind == "searched"]
    droppable = [
        *searches[: max(0, len(searches) - KEPT_SEARCHES)],
        *(warn for warn in document.warns if warn.kind == "sibling"),
        *(warn for warn in document.warns if warn.kind == "dead_end"),
    ]
    for warn in droppable:
        document = replace(document, warns=tuple(other for other in document.warns if other is not warn))
        yield document
    while document.dependencies:
        document = replace(document, dependencies=document.dependencies[1:])
        yield document
    for warn in searches[-KEPT_SEARCHES:]:
        document = replace(document, warns=tuple(other for other in document.warns if other is not warn))
        yield document
