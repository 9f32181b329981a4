"""What the current edition says, beside what is quoted of an older one (algorithms.md 9.3).

"Do visitors have to wear a mask?" has more words in common with the old rule that they must than with the
new one that they need not. Who reads the old one alone is misled.
"""

from collections.abc import Sequence

from lethe_core.din.document import EvidenceBlock
from lethe_core.reasoning.candidates import Candidate
from lethe_core.reasoning.eligible import asked_for
from lethe_core.reasoning.relevance import Question, Relevance
from lethe_core.reasoning.series import under_heading


def with_current(
    question: Question,
    evidence: Sequence[EvidenceBlock],
    pieces: Sequence[Candidate],
    found: Relevance,
    chosen: Sequence[int],
) -> list[int]:
    """The chosen pieces, in front of each of an older edition the newest edition's best under its heading.

    As they are where the question names the edition, or nothing there has a word of the question that the
    older piece has.
    """
    sources = {block.short_id: block.source for block in evidence}
    ordered: list[int] = []
    for index in chosen:
        block = evidence[pieces[index].block]
        newest = sources.get(block.older_than) if block.older and block.older_than else None
        if newest is not None and not asked_for(block, question):
            told = question.told(pieces[index].own)
            beside = [
                i
                for i in under_heading(evidence, pieces, newest, block)
                if question.told(pieces[i].own) & told
            ]
            best = max(beside, key=lambda i: (found.scores[i], -i), default=None)
            if best is not None and best not in chosen:
                ordered.append(best)
        ordered.append(index)
    return list(dict.fromkeys(ordered))
