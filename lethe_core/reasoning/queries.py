"""What to search for next (algorithms.md 9.2).

First the task's own content words, and each of two or more names alone; then the names that the best
evidence mentions and the task does not (second hop), or, when nothing came of it, another wording. A
query that a warn line shows is never asked again. Every query after the first carries the task's last
content words, by which it is told from the searches of other tasks: so the searches of one task end.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from lethe_core.din.document import Warn
from lethe_core.reasoning.terms import STOP, content, content_set, fold, name_key, names, words


@dataclass(frozen=True, slots=True)
class QueryConfig:
    """How many searches a task may cost."""

    longest: int = 24  # words of a query
    names: int = 3  # names searched alone, when the task has at least two
    signature: int = 3  # words that mark a task's later queries


@dataclass(frozen=True, slots=True)
class Searched:
    """The searches that the warn lines show, compared by their content words."""

    answered: frozenset[frozenset[str]]
    failed: frozenset[frozenset[str]]


def searched(warns: Iterable[Warn]) -> Searched:
    answered: set[frozenset[str]] = set()
    failed: set[frozenset[str]] = set()
    for warn in warns:
        if warn.kind == "searched":
            key = query_key(warn.quoted)
            (failed if warn.detail == "failed" else answered).add(key)
    return Searched(frozenset(answered), frozenset(failed - answered))


def query_key(query: str) -> frozenset[str]:
    """Two queries with the same key find the same."""
    return content_set(query) or frozenset(fold(query).split())


def first_queries(task: str, config: QueryConfig | None = None) -> list[str]:
    """The task's content words in their order, then its names, each alone, when there are several."""
    config = config or QueryConfig()
    query = _query(words(task), config)
    found = [query] if query else []
    told = _distinct(names(task))
    if len(told) >= 2:
        found.extend(told[: config.names])
    return _fresh(found, ())


def reworded(task: str, config: QueryConfig | None = None) -> list[str]:
    """Another wording: the names alone, or the longest words, without a shared lead-in."""
    config = config or QueryConfig()
    tail = task.rsplit(": ", 1)[-1]
    told = _distinct(names(tail))
    if told:
        return [" ".join(told)]
    kept = list(dict.fromkeys(_content_words(words(tail))))
    longest = sorted(kept, key=lambda word: (-len(word), kept.index(word)))[: max(2, len(kept) // 2)]
    return [" ".join(word for word in kept if word in longest)]


def is_later(query: frozenset[str], task: str, config: QueryConfig | None = None) -> bool:
    """Whether a query made earlier is one of this task's later searches."""
    mark = {stem for word in signature(task, config or QueryConfig()) for stem in content(word)}
    return bool(mark) and mark <= query


def signature(task: str, config: QueryConfig | None = None) -> list[str]:
    """The task's last content words: of sibling tasks with a shared lead-in these differ."""
    config = config or QueryConfig()
    found: list[str] = []
    for word in reversed(_content_words(words(task))):
        if all(content(word) != content(other) for other in found):
            found.append(word)
        if len(found) == config.signature:
            break
    return found[::-1]


def unused(queries: Iterable[str], made: Searched) -> list[str]:
    """The queries that no warn line shows as answered."""
    return _fresh(queries, made.answered)


def _fresh(queries: Iterable[str], known: Iterable[frozenset[str]]) -> list[str]:
    seen = set(known)
    found: list[str] = []
    for query in queries:
        key = query_key(query)
        if key and key not in seen:
            seen.add(key)
            found.append(query)
    return found


def _query(text: Sequence[str], config: QueryConfig) -> str:
    return " ".join(list(dict.fromkeys(_content_words(text)))[: config.longest])


def _content_words(text: Sequence[str]) -> list[str]:
    return [word for word in text if fold(word).replace("’", "'") not in STOP and re.search(r"\w\w|\d", word)]


def _distinct(told: Sequence[str]) -> list[str]:
    """Names without those that are part of another."""
    keys = {name: set(name_key(name)) for name in told}
    return [n for n in told if keys[n] and not any(keys[n] < keys[other] for other in told)]
