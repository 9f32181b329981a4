"""The folder that the killed sessions research: a few documents a crossing, one of them in two editions."""

from pathlib import Path
from typing import Final

QUESTION: Final = (
    "What is known of the Tarnbeck bridge; the Liskmoor ferry; the Varnholt airship; the mast of Varnholt?"
)

_BRIDGE: Final = (
    "The Tarnbeck bridge is {length} metres long and carries two lanes and a footway.",
    "The Tarnbeck bridge was opened on 14 June 1931 by the mayor of Orle, Ada Wren.",
    "Its three spans rest on piers of Brathay granite, each 9 metres wide at the water.",
    "The Tarnbeck bridge cost 212,000 pounds, of which the county paid two thirds.",
    "The engineer of the Tarnbeck bridge was Thomas Hale, who had built the Selside viaduct before.",
    "Storms in 1954 moved the eastern pier of the Tarnbeck bridge; it was underpinned in 1956.",
)
_FERRY: Final = (
    "The Liskmoor ferry carries 40 cars and 180 passengers and crosses in 11 minutes.",
    "The Liskmoor ferry began its service in March 1962 with the vessel Heron.",
    "In winter the Liskmoor ferry stops when the wind is above 17 metres a second.",
    "A single on the Liskmoor ferry cost 2.40 pounds in 2019.",
    "The Liskmoor ferry is run by the harbour board of Liskmoor, as it has been since 1988.",
    "The slipway of the Liskmoor ferry was rebuilt in 2004 after a survey had found its piles hollow.",
)
_ELSEWHERE: Final = (
    "The mill at Oxenby ground barley until 1911.",
    "Its wheel was 6 metres across and turned on an axle of oak.",
    "The museum of Oxenby shows the wheel and the ledger of its last miller.",
)


def write_corpus(folder: Path) -> Path:
    """Write the documents, and a file that cannot be read and has to be named as such; returns the folder."""
    folder.mkdir(parents=True)
    pages = {
        "bridge-2019.md": _page("Tarnbeck bridge", "2019-04-01", _BRIDGE, length=409),
        "bridge-2023.md": _page("Tarnbeck bridge", "2023-04-01", _BRIDGE, length=412),
        "bridge-engineer.md": _page("Thomas Hale, engineer", "2011-02-03", _BRIDGE[4:] + _ELSEWHERE[:1]),
        "ferry.md": _page("Liskmoor ferry", "2022-09-10", _FERRY),
        "ferry-board.txt": "\n\n".join(("The harbour board of Liskmoor", *_FERRY[3:])) + "\n",
        "ferry-fares.csv": "year,single on the Liskmoor ferry,car\n2017,2.20,11.00\n2018,2.30,11.50\n",
        "mill.md": _page("Oxenby mill", "2015-01-20", _ELSEWHERE),
    }
    for name, text in pages.items():
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "scan.pdf").write_bytes(b"%PDF-1.4\nnothing of a document\n")
    return folder


def _page(title: str, date: str, sentences: tuple[str, ...], **values: int) -> str:
    body = "\n\n".join(sentence.format(**values) if "{" in sentence else sentence for sentence in sentences)
    return f"# {title}\n\nDate: {date}\n\n{body}\n"
