"""What is known of a session from its marks: where it stood when it was killed, and what that may cost."""

import json
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .marks import Mark

Position = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Kill:
    victim: str  # "session" or "server"
    phase: str  # that was to be committed next
    inside: str  # what was going on
    lost_call: str  # the key of a call whose answer was not kept yet; empty for none
    open_searches: int  # begun by the killed process and not committed by it


@dataclass(slots=True)
class History:
    """One session over all its starts."""

    results: Path  # the folder of kept answers
    starts: int = 0
    kills: list[Kill] = field(default_factory=list)
    clean_ends: int = 0  # errors that the session ended with, and was started again from
    asked: Counter[str] = field(default_factory=Counter)  # by key
    read: Counter[str] = field(default_factory=Counter)  # files of the corpus, by name
    searched: int = 0
    positions: list[Position] = field(default_factory=list)  # of the committed phases, in order
    fruitless: int = 0  # starts in a row without a committed phase
    _last: list[Mark] = field(default_factory=list)  # of this start
    _open_searches: int = 0

    def begin(self) -> None:
        self.starts += 1
        self.fruitless += 1
        self._last = []
        self._open_searches = 0

    def add(self, mark: Mark) -> None:
        self._last.append(mark)
        match mark.what:
            case "asking":
                self.asked[mark.values["key"]] += 1
            case "reading":
                self.read[mark.values["name"]] += 1
            case "searching":
                self.searched += 1
                self._open_searches += 1
            case "committed" if mark.values["progressed"]:
                self.fruitless = 0
                position = tuple(mark.values["at"])
                if self.positions and position[3] > self.positions[-1][3]:
                    self._open_searches -= 1
                self.positions.append(position)

    def killed(self, victim: str, last_iteration: int) -> Kill:
        """Note a kill of what was told so far."""
        phase, inside = self._phase(last_iteration), self._inside()
        self.kills.append(Kill(victim, phase, inside, self._lost_call(), self._open_searches))
        return self.kills[-1]

    @property
    def ended(self) -> Mark | None:
        return next((mark for mark in self._last if mark.what == "ended"), None)

    def _phase(self, last_iteration: int) -> str:
        if self.ended is not None:
            return "after the end"
        if not self.positions:
            return "select"
        iteration, step = self.positions[-1][:2]
        if step != "none":
            return str(step)
        return "report" if iteration >= last_iteration else "select"

    def _inside(self) -> str:
        names = {
            "writing": "a transaction",
            "committing": "a commit",
            "asking": "a call",
            "answered": "keeping an answer",
            "searching": "a search",
            "found": "an ingestion",
        }
        told = [mark.what for mark in self._last if mark.what not in ("started", "exited", "reading")]
        return names.get(told[-1], "computing") if told else "computing"

    def _lost_call(self) -> str:
        """The call that was open when the process ended, unless its answer lies in a whole file."""
        for mark in reversed(self._last):
            if mark.what == "writing":
                return ""  # the answer's commit: it was there
            if mark.what == "asking":
                key = str(mark.values["key"])
                return "" if _is_whole(self.results / key) else key
        return ""


def _is_whole(path: Path) -> bool:
    try:
        json.loads(path.read_bytes())
    except (OSError, ValueError):
        return False
    return True
