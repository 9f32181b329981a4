"""Each of the periods that a question names is answered from its own issue."""

from collections.abc import Sequence

from lethe_core.control.embedding import Embedder
from lethe_core.din.document import EvidenceBlock
from lethe_core.graph.nodes import ShortId
from lethe_core.reasoning.reading import read

SAID = {
    "2021": "The reading room opened on 201 days and 4,310 readers signed the book.",
    "2022": "The reading room opened on 214 days, and the book was signed by 5,127.",
    "2023": "A good year for the room: 6,048 readers signed on 230 days.",
}


def issue(number: int, year: str, heading: str, content: str) -> EvidenceBlock:
    title = f"Library report {year}"
    return EvidenceBlock(
        short_id=ShortId(f"e-{number:04x}"),
        title=title,
        source=f"report-{year}.md",
        date=year,
        older_than=None,
        older=False,
        period=year,
        synthesis=False,
        place=f"{title} › {heading}",
        content=content,
    )


def quoted(task: str, evidence: Sequence[EvidenceBlock], embedder: Embedder) -> list[str]:
    reading = read(task, evidence, embedder)
    return [reading.pieces[index].text for index in reading.quoted]


def issues() -> list[EvidenceBlock]:
    rooms = [issue(n, year, "The reading room", text) for n, (year, text) in enumerate(SAID.items(), start=1)]
    shops = [
        issue(n, year, "Shop", f"The shop served 9{n}2 readers of the town.")
        for n, year in enumerate(SAID, 11)
    ]
    return [*rooms, *shops]


def test_each_period_named_is_quoted_from_its_own_issue(embedder: Embedder) -> None:
    got = quoted(
        "How many readers signed the book of the reading room in 2021, 2022 and 2023?", issues(), embedder
    )
    assert got == list(SAID.values())


def test_a_period_that_is_not_named_stays_out(embedder: Embedder) -> None:
    got = quoted("How many readers signed the book of the reading room in 2021 and 2023?", issues(), embedder)
    assert got == [SAID["2021"], SAID["2023"]]
