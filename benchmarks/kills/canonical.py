"""A session's whole graph without ids and times, to compare one that was killed with one that was not.

Nodes are named by their order (T1, T2, …, E1, …), in every text that mentions one, too.
"""

import json
import re
from collections.abc import Iterable
from dataclasses import fields, is_dataclass
from enum import Enum
from pathlib import Path
from typing import Any, Final

import numpy as np

from lethe_core.graph.dump import SessionDump
from lethe_core.graph.nodes import TaskNode

_ID: Final = re.compile(
    r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b|\b[te]-[0-9a-f]{4,32}\b"
)
TIMES: Final = frozenset(("created_at", "updated_at", "seconds"))
_BEFORE, _BEHIND = 60, 200  # characters shown around the place where two texts part
NAMES: Final = frozenset(("uuid", "session_id", "session", "report"))


def canonical(dump: SessionDump, report: Path) -> dict[str, Any]:
    """Plain values that are equal for equal sessions: nodes, edges, numbers, state, the report's JSON."""
    names: dict[str, str] = {}
    for node in dump.nodes:
        name = f"{'T' if isinstance(node, TaskNode) else 'E'}{node.sequence}"
        names[node.id] = names[node.short_id] = name
    return {
        "nodes": {names[node.id]: _plain(node, names) for node in dump.nodes},
        "edges": [[number, *_plain(edge, names).values()] for number, edge in dump.edges],
        "counters": _plain(dump.counters, names),
        "state": _plain(dump.state, names),
        "report": _plain(json.loads(report.read_text(encoding="utf-8")), names),
    }


def differences(one: Any, other: Any, where: str = "") -> Iterable[str]:
    """Each place where two canonical values differ, with what stands there."""
    if isinstance(one, dict) and isinstance(other, dict):
        for key in dict.fromkeys((*one, *other)):
            yield from differences(one.get(key), other.get(key), f"{where}.{key}")
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for at, (left, right) in enumerate(zip(one, other, strict=True)):
            yield from differences(left, right, f"{where}[{at}]")
    elif one != other:
        left, right = str(one), str(other)
        same = next(
            (at for at, (a, b) in enumerate(zip(left, right, strict=False)) if a != b),
            min(len(left), len(right)),
        )
        begin = max(0, same - _BEFORE)
        shown = (text[begin : same + _BEHIND] for text in (left, right))
        yield f"{where.lstrip('.')}, from character {begin}: {' ≠ '.join(map(repr, shown))}"


def _plain(value: Any, names: dict[str, str]) -> Any:
    if isinstance(value, np.ndarray):
        return [value.dtype.str, value.tobytes().hex()]
    if is_dataclass(value) and not isinstance(value, type):
        given = {field.name: getattr(value, field.name) for field in fields(value)}
        return {name: _plain(v, names) for name, v in given.items() if name not in TIMES | NAMES}
    if isinstance(value, dict):
        return {_plain(k, names): _plain(v, names) for k, v in value.items() if k not in TIMES | NAMES}
    if isinstance(value, list | tuple):
        return [_plain(item, names) for item in value]
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, str):
        # An id that names no node of this session stays as it is, and makes a difference.
        return _ID.sub(lambda found: names.get(found[0], found[0]), value)
    return value
