"""Cited text: the small Markdown that syntheses and results are written in.

Each claim is a line or a sentence that ends with its citations in brackets, short ids with an optional
date: ``… [e-7c0b]``, ``… [e-7c0b 2024-03-11; e-91aa]``. A table keeps its header and separator rows; each
further row is a claim and carries its citations behind its last pipe. A quotation stands in “ ”.
"""

import re
from collections.abc import Collection

from lethe_core.graph.nodes import ShortId

CITATION = re.compile(
    r"\s*\[((?:e-[0-9a-f]{4,32})(?:[ \d-]{0,16})?(?:\s*[;,]\s*e-[0-9a-f]{4,32}(?:[ \d-]{0,16})?)*)\]"
)
_ID = re.compile(r"e-[0-9a-f]{4,32}")


def cite(short_id: str, date: str = "") -> str:
    """The bracket for one source."""
    return f"[{short_id} {date}]" if date else f"[{short_id}]"


def cited_ids(text: str) -> list[ShortId]:
    """Every cited short id, each once, in order of appearance."""
    found = (ShortId(i) for match in CITATION.finditer(text) for i in _ID.findall(match.group(1)))
    return list(dict.fromkeys(found))


def keep_citations(text: str, allowed: Collection[str]) -> tuple[str, int]:
    """Take every citation out of a text that is not among the allowed; returns how many went."""
    removed = 0

    def prune(match: re.Match[str]) -> str:
        nonlocal removed
        parts = [part.strip() for part in re.split(r"[;,]", match.group(1))]
        kept = [part for part in parts if part.split()[0] in allowed]
        removed += len(parts) - len(kept)
        lead = match.group(0)[: match.group(0).index("[")]
        return f"{lead}[{'; '.join(kept)}]" if kept else ""

    return CITATION.sub(prune, text), removed
