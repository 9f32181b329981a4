"""The second search: what was found, asked for with the rarest names that it mentions (algorithms.md 5.1b).

One query for each of the best sources shown: the task's own words, so that the search stays with the task,
and the names of that source that the task lacks, the rarest among what is shown first: they lead elsewhere.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from lethe_core.din.document import EvidenceBlock
from lethe_core.evidence.designations import written_designations
from lethe_core.evidence.names import names
from lethe_core.reasoning.queries import first_queries, signature
from lethe_core.reasoning.terms import content_set, name_key


@dataclass(frozen=True, slots=True)
class HopQueryConfig:
    """From how many sources, and by how many names of each."""

    sources: int = 3
    names: int = 8


def second_searches(
    task: str,
    evidence: Sequence[EvidenceBlock],
    quoted: Sequence[EvidenceBlock] = (),
    config: HopQueryConfig | None = None,
) -> list[str]:
    """Queries that follow what the evidence, best first, mentions and the task does not.

    quoted: those of the blocks that a reading quotes, best first. They lead before all others, and each by
    what it mentions itself; another source leads by all that is shown of it.
    """
    config = config or HopQueryConfig()
    asked = first_queries(task)[:1]
    if not asked:
        return []
    shown: dict[str, list[EvidenceBlock]] = {}
    for block in evidence:
        shown.setdefault(block.source, []).append(block)
    mentioned = {source: _mentioned(blocks) for source, blocks in shown.items()}
    frequency = Counter(key for told in mentioned.values() for key in told)
    told = {block.source for block in quoted}
    leads = [
        *(_mentioned([b]) for b in quoted),
        *(mentioned[source] for source in shown if source not in told),
    ]
    known = content_set(task)
    queries: list[str] = []
    for lead in leads[: config.sources]:
        new = {key: name for key, name in lead.items() if not known.issuperset(key)}
        rarest = sorted(new, key=lambda key: frequency[key])[: config.names]
        if rarest:
            # The signature once more: a long task's own words are cut, and it is told by its last ones.
            queries.append(" ".join([*asked, *(new[key] for key in rarest), *signature(task)]))
    return queries


def _mentioned(blocks: Sequence[EvidenceBlock]) -> dict[tuple[str, ...], str]:
    """The names in the text of some blocks, numbers that name something among them, in order, by what they
    are compared by."""
    told: dict[tuple[str, ...], str] = {}
    for block in blocks:
        for name in (*names(block.content), *written_designations(block.content)):
            if key := name_key(name):
                told.setdefault(key, name)
    return told
