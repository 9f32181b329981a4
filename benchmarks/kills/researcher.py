"""A scripted researcher: what it answers follows from the prompt alone.

Ids differ from run to run; what it says refers to those that stand in the prompt, by their place in it. It
makes parts, searches, synthesizes, completes, fails at what there is nothing about, and gets it wrong now and
then, so that answers are repaired: once for the question, twice (down to one operation) for one of the parts.
"""

import json
import re
from typing import Any, Final

from lethe_core.din.document import DinRead, EvidenceBlock
from lethe_core.din.grammar import REPAIR_MARK
from lethe_core.din.read import parse_din
from lethe_core.graph.nodes import TaskStatus

SECTION: Final = "=SECTION "
_SINGLE: Final = "JSON object with one operation"
_BESIDE: Final = "Find who was mayor of Orle"
_LINE, _QUOTED = "\n", "\n| "
_EVIDENCE: Final = re.compile(r"^(e-[0-9a-f]{4,32}) · .*((?:\n\| .*)+)", re.MULTILINE)


def answer(user: str) -> str:
    """What the researcher says to a prompt's user message."""
    if user.startswith(SECTION):
        return _section(user)
    din = parse_din(user)
    round_number = 0 if REPAIR_MARK not in user.split("\n") else 2 if _SINGLE in user else 1
    operations = _question(din, round_number) if din.is_root else _part(din, round_number)
    return json.dumps({"operations": operations}, ensure_ascii=False)


def _question(din: DinRead, round_number: int) -> list[dict[str, Any]]:
    if not din.subtasks:
        parts = [part.strip() for part in din.goal.removeprefix("What is known of ").rstrip("?").split(";")]
        created = [_create(f"n{n}", f"Find what is known of {part}") for n, part in enumerate(parts, 1)]
        created[1]["depends_on"] = ["n1"]
        created[1]["antifocus"] = "ferries elsewhere"
        if not round_number:  # an id that nothing has: the first answer of every session has to be repaired
            created[-1]["depends_on"] = ["t-0000000000"]
        return created
    if any(not subtask.status.terminal for subtask in din.subtasks):
        return [{"op": "continue", "task": din.task}]
    if all(subtask.description != _BESIDE for subtask in din.subtasks):
        return [_create("n1", _BESIDE)]
    results = " ".join(s.result for s in din.subtasks if s.status is TaskStatus.DONE)
    return [_complete(din, f"{results} {_cited(din.evidence[:3])}".strip(), "what is known of the crossings")]


def _part(din: DinRead, round_number: int) -> list[dict[str, Any]]:
    name = re.findall(r"[A-Z][a-z]+", din.goal)[-1]
    searched = [warn.quoted for warn in din.warns if warn.kind == "searched"]
    own = [block for block in din.evidence if name in block.content or name in block.title]
    syntheses = [block for block in own if block.synthesis]
    if name == "Liskmoor" and own and round_number < 2:
        return [
            _complete(din, "half an answer", "half"),
            {"op": "web_search", "query": "and a search beside it"},
        ]
    if syntheses:
        return [_complete(din, _cited(syntheses[:2]), f"what is known of {name}")]
    if own:
        synthesis = {
            "op": "synthesize",
            "sources": [block.short_id for block in own[:3]],
            "content": _cited(own[:3]),
            "embed_text": f"what documents say of {name}",
        }
        return [synthesis] if round_number == 2 else [synthesis, _search(f"{name} repairs and engineer")]
    if len(searched) < 2:
        queries = [f"{name} length opened", f"{name} cost and service", f"{name} storms winter"]
        return [_search(query) for query in queries if query not in searched]
    return [{"op": "fail", "task": din.task, "reason": f"Nothing is said of {name}."}]


def _section(user: str) -> str:
    found = _EVIDENCE.findall(user)[:4]
    return _sentences([(short_id, lines.replace(_QUOTED, _LINE)) for short_id, lines in found])


def _cited(blocks: tuple[EvidenceBlock, ...] | list[EvidenceBlock]) -> str:
    return _sentences([(block.short_id, block.content) for block in blocks])


def _sentences(found: list[tuple[str, str]]) -> str:
    return " ".join(f"{said} [{short_id}]." for short_id, text in found if (said := _said(text)))


def _said(text: str) -> str:
    """The first sentence behind headings and dates, without the ids that it rested on."""
    lines = [line for line in text.splitlines() if line and not line.startswith(("#", "Date:"))]
    plain = re.sub(r"\s*\[e-[^\]]*\]", "", " ".join(lines))
    return re.split(r"(?<=[a-z0-9])\. ", plain)[0].rstrip(". ")


def _create(ref: str, description: str) -> dict[str, Any]:
    return {"op": "create", "ref": ref, "description": description, "embed_text": description}


def _search(query: str) -> dict[str, Any]:
    return {"op": "web_search", "query": query}


def _complete(din: DinRead, summary: str, embed_text: str) -> dict[str, Any]:
    return {"op": "complete", "task": din.task, "result_summary": summary, "embed_text": embed_text}
