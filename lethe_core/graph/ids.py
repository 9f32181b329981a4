"""Identifiers: UUIDs for the graph, short hexadecimal prefixes for models and readers."""

import re
import uuid
from collections.abc import Callable

from lethe_core.graph.nodes import NodeId, ShortId

SHORTEST = 4  # hexadecimal digits: 65,536 ids before the first collision must happen
SHORT_ID = re.compile(r"[te]-[0-9a-f]{4,32}")


def new_node_id() -> NodeId:
    return NodeId(str(uuid.uuid4()))


def short_id_for(node_id: NodeId, letter: str, taken: Callable[[ShortId], bool]) -> ShortId:
    """The shortest prefix of the id's hexadecimal digits, at least four, that no other node has.

    letter: "t" for tasks, "e" for evidence.
    """
    digits = node_id.replace("-", "")
    for length in range(SHORTEST, len(digits) + 1):
        candidate = ShortId(f"{letter}-{digits[:length]}")
        if not taken(candidate):
            return candidate
    raise ValueError(f"every prefix of node id {node_id} is taken")
