"""The grammar of DIN-Read: what a model reads in one turn (architecture.md, "DIN"). Version 1.

    =DIN 1
    =GOAL <question>                 of a subtask: YOUR TASK: <task> (Parent goal for context: <question>)
    =TASK t-a3f1
    =HINT "<prepared prompt>"
    >PARENT t-04c2 · ACTIVE · coverage thin · "<description>"
    ! searched: "<query>" (new)      or (nothing), (failed); further warn lines: `WARN_FORMS`
    >SUB t-91aa · DONE · coverage good · "<description>" · result: "<result>"
    >DEP …  >REL …                   like >SUB: what the task waited for, what was found elsewhere

    e-7c0b · <title> · <source> · <date> [· period 2024-Q3] [· synthesis] [· older edition of e-91aa]
           [· under <headings>]
    | <a line of its content>

    =TOOLS web_search
    =OPS create, synthesize, …
    =REPAIR                          everything from here on belongs to ``din.repair`` and is not read

A field in angle brackets stands as it is, or as a JSON string when it could be mistaken for more than itself;
one in quotation marks is always a JSON string. Reading back is exact (`din.quoting`).
"""

import re
from typing import Final

from lethe_core.din.document import WarnKind

REPAIR_MARK: Final = "=REPAIR"
SEPARATOR: Final = " · "
YOUR_TASK: Final = "YOUR TASK: "
PARENT_GOAL: Final = " (Parent goal for context: "
NO_TITLE, NO_SOURCE, NO_DATE = "untitled", "unknown source", "undated"
RESULT: Final = " · result: "
PERIOD, SYNTHESIS, UNDER = "period ", "synthesis", "under "
OLDER, OLDER_THAN = "older edition", "older edition of "
COVERAGE_WORDS: Final = ("none", "thin", "partial", "good")
SEARCH_OUTCOMES: Final = ("new", "nothing", "failed")
ZERO_YIELD: Final = (
    "! the last searches brought nothing new: search in other words, for names that the evidence mentions, "
    "or work with what there is"
)
WARN_FORMS: Final[dict[str, WarnKind]] = {
    "! searched: ": "searched",
    "! avoid: ": "avoid",
    "! dead end: ": "dead_end",
    "! also being worked on: ": "sibling",
    "! note: ": "note",
}
WARN_STARTS: Final = {kind: start for start, kind in WARN_FORMS.items()}
REASON: Final = " · reason: "
TASK_START: Final = re.compile(r"(t-[0-9a-f]{4,32}) · ([A-Z]+) · coverage ([a-z]+) · (?=\")")
EVIDENCE_START: Final = re.compile(r"(e-[0-9a-f]{4,32}) · ")
