"""What the answer and each section are made from: the best that the graph has for a task.

In this order: prose that a language model wrote for the section; the task's result, when it cites
anything; its syntheses; its uncited result; the results of its own subtasks; and, for a task that was
still open, quotations of the best evidence by strength times alignment. A failed task quotes nothing
by itself: whoever worked on it decided that what was found does not answer it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lethe_core.control.embedding import Embedder
from lethe_core.control.vectors import alignments
from lethe_core.control.vectors import cosines as cosines_with
from lethe_core.din.cited import cited_ids
from lethe_core.evidence.blocks import blocks
from lethe_core.evidence.sentences import sentences
from lethe_core.graph.nodes import EvidenceKind, EvidenceNode, TaskNode, TaskStatus
from lethe_core.graph.session_state import SessionState
from lethe_core.graph.snapshot import GraphSnapshot
from lethe_core.report.claims import (
    ITEM_MARK,
    Draft,
    DraftBlock,
    DraftHeading,
    DraftParagraph,
    DraftTable,
    read_cited,
)
from lethe_core.report.document import Note
from lethe_core.report.findings import Asked, is_finding
from lethe_core.report.quoting import normalise
from lethe_core.report.wording import Rarity

POOL = 24  # chunks that the best quotations are looked for in
MIN_SENTENCE_WORDS = 4
NEAR = 0.5  # of the best quotation's rank: what lies below is not quoted


@dataclass(frozen=True, slots=True)
class Gathered:
    """The material of one section, before its claims are measured."""

    task: TaskNode
    blocks: tuple[DraftBlock | Note, ...]


def section_key(n: int) -> str:
    """Under which key of ``SessionState.sections`` the prose for a section is kept.

    n: 0 for the answer, then the top-level subtasks from 1 in order of creation.
    """
    return f"report-{n}"


class Gathering:
    """Looks up what there is for each task; the arguments are those of ``assemble``."""

    def __init__(
        self,
        snapshot: GraphSnapshot,
        state: SessionState,
        *,
        embedder: Embedder,
        rarity: Rarity,
        max_quotes: int,
    ) -> None:
        self._snapshot = snapshot
        self._state = state
        self._embedder = embedder
        self._rarity = rarity
        self._max_quotes = max_quotes
        self._question = Asked.of(snapshot.root.description, rarity)

    def answer(self) -> Gathered:
        """The root's result, or the best that there is, saying which."""
        root = self._snapshot.root
        prose = self._state.sections.get(section_key(0), "")
        if prose.strip():
            return Gathered(root, read_cited(prose))
        own = self._own(root)
        if root.status is TaskStatus.DONE:
            return Gathered(root, own or (Note("The question was closed without a written result."),))
        if own:
            note = Note("No final answer was written. This had been put together when work stopped:")
            return Gathered(root, (note, *own))
        parts = [self._first(child) for child in self._snapshot.children(root.id)]
        first = [block for blocks_ in parts for block in blocks_][: self._max_quotes]
        if first:
            note = Note("No final answer was written. The parts found this first; their sections say more:")
            return Gathered(root, (note, *first))
        quoted = () if root.status is TaskStatus.FAILED else self._best_evidence(root)
        if quoted:
            note = Note("No final answer was written. The closest passages that were found:")
            return Gathered(root, (note, *quoted))
        return Gathered(root, (Note("Nothing was found that answers the question."),))

    def sections(self) -> list[Gathered]:
        """One for each top-level subtask, in order of creation; nested results folded in."""
        found: list[Gathered] = []
        for n, task in enumerate(self._snapshot.children(self._snapshot.root.id), start=1):
            prose = self._state.sections.get(section_key(n), "")
            found.append(Gathered(task, read_cited(prose) if prose.strip() else self._section(task)))
        return found

    def _section(self, task: TaskNode) -> tuple[DraftBlock | Note, ...]:
        own = self._own(task)
        folded: list[DraftBlock | Note] = []
        for child in self._snapshot.children(task.id):
            below = self._folded(child)
            if below:
                folded += [DraftHeading(child.description), *below]
        if task.status is TaskStatus.DONE:
            return (*own, *folded) or (Note("No result was recorded for this part."),)
        if task.status is TaskStatus.FAILED:
            return (*own, *folded) or (Note("Nothing was found for this part."),)
        quoted = () if own or folded else self._best_evidence(task)
        if own or folded or quoted:
            return (Note("This part was left open. What there is so far:"), *own, *folded, *quoted)
        return (Note("This part was left open, and nothing was found for it."),)

    def _folded(self, task: TaskNode) -> tuple[DraftBlock | Note, ...]:
        found: list[DraftBlock | Note] = list(self._own(task))
        for child in self._snapshot.children(task.id):
            found += self._folded(child)
        return tuple(found)

    def _own(self, task: TaskNode) -> tuple[DraftBlock, ...]:
        """What was written for a task itself."""
        result = task.result_summary if task.status is TaskStatus.DONE else ""
        if cited_ids(result):
            return read_cited(result)
        syntheses = [
            node
            for node in self._snapshot.produced(task.id)
            if node.kind is EvidenceKind.SYNTHESIS and self._snapshot.visible_to(task.id, node)
        ]
        written: list[DraftBlock] = []
        for node in syntheses:
            # A synthesis without brackets rests on what it supersedes.
            text = node.content if cited_ids(node.content) else f"{node.content.rstrip()} [{node.short_id}]"
            written += read_cited(text)
        return tuple(written) or read_cited(result)

    def _first(self, task: TaskNode) -> tuple[DraftBlock, ...]:
        """The first thing that a finished part says."""
        for block in self._folded(task):
            if not isinstance(block, DraftHeading | Note):
                return (block,)
        return ()

    def _best_evidence(self, task: TaskNode) -> tuple[DraftBlock, ...]:
        """Quotations for an open task, those that have to do with it, best first."""
        chunks = [node for node in self._snapshot.live_evidence() if node.kind is EvidenceKind.CHUNK]
        if not chunks:
            return ()
        asked = Asked.of(task.description, self._rarity)
        wanted = self._embedder.embed_queries([task.description])[0]
        strengths = np.array([chunk.strength for chunk in chunks])
        scores = strengths * alignments(np.stack([chunk.embedding for chunk in chunks]), wanted)
        nearest = sorted(range(len(chunks)), key=lambda i: (-scores[i], chunks[i].sequence))[:POOL]
        best = [chunks[i] for i in nearest]
        best = [
            chunk
            for chunk in best
            if is_finding(f"{chunk.title}\n{chunk.content}", self._question, asked, self._rarity)
        ]
        pieces = [(piece, chunk) for chunk in best for piece in quotable(chunk)]
        if not pieces:
            return ()
        vectors = self._embedder.embed_documents([_words(piece) for piece, _ in pieces])
        cosines = np.maximum(cosines_with(vectors, wanted), 0.0)
        ranks = cosines * np.array([chunk.strength for _, chunk in pieces])
        ranked = sorted(range(len(pieces)), key=lambda i: (-ranks[i], pieces[i][1].sequence, i))
        seen: set[str] = set()
        chosen: list[DraftBlock] = []
        for index in ranked[: self._max_quotes]:
            piece = pieces[index][0]
            said = normalise(_words(piece))
            if said not in seen and ranks[index] >= NEAR * ranks[ranked[0]]:
                seen.add(said)
                chosen.append(piece)
        # Rows of one table stand together, where the best of them stands.
        headers = [
            block.header if isinstance(block, DraftTable) else (str(i),) for i, block in enumerate(chosen)
        ]
        order = sorted(range(len(chosen)), key=lambda i: (headers.index(headers[i]), i))
        return tuple(chosen[i] for i in order)


def quotable(chunk: EvidenceNode) -> list[DraftBlock]:
    """The sentences and table rows of a chunk, each as a quotation that cites it."""
    found: list[DraftBlock] = []
    text = chunk.content
    for block in blocks(text):
        if block.kind == "heading":
            continue
        if block.kind == "table" and block.table is not None:
            header = block.table.header
            rows = tuple(
                Draft("; ".join(row.cells), (chunk.short_id,), cells=row.cells, header=header)
                for row in block.table.rows
            )
            found += [DraftTable("", header, (row,)) for row in rows]
            continue
        for sentence in sentences(text[block.start : block.end]):
            plain = ITEM_MARK.sub("", " ".join(sentence.split())).strip("“”")
            if len(plain.split()) >= MIN_SENTENCE_WORDS:
                found.append(DraftParagraph((Draft(f"“{plain}”", (chunk.short_id,)),)))
    return found


def searches_of(state: SessionState, tasks: Sequence[TaskNode]) -> list[tuple[str, str]]:
    """The queries that some tasks made, each once, with what came of the last try, in order."""
    wanted = {task.id for task in tasks}
    made: dict[str, str] = {}
    for search in state.searches:
        if search.task in wanted:
            made[search.query] = search.outcome.value
    return list(made.items())


def _words(block: DraftBlock) -> str:
    if isinstance(block, DraftTable):
        return f"{'; '.join(block.header)} {block.rows[0].text}"
    return block.claims[0].text if isinstance(block, DraftParagraph) else ""
