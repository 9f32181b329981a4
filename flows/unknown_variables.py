"""``LETHE_*`` variables of the environment that no setting answers to: a slip of the pen that nobody saw."""

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Final

from flows.wording import shown
from lethe_core.config import Settings

# Read by the tests.
KNOWN_ELSEWHERE: Final = frozenset(
    {"LETHE_TEST_NEO4J_URI", "LETHE_TEST_NEO4J_CACHE", "LETHE_TEST_CHROMIUM", "LETHE_TEST_SCREENSHOTS"}
)


def unknown_variables(environment: Mapping[str, str]) -> list[tuple[str, str]]:
    """Each such name, fit to be shown, with a hint to be put behind a sentence about it."""
    known = {f"LETHE_{name.upper()}" for name in Settings.model_fields}
    found = []
    for name in sorted(environment):
        if not name.upper().startswith("LETHE_") or name.upper() in known | KNOWN_ELSEWHERE:
            continue
        close = get_close_matches(name.upper(), known, n=1)
        found.append((shown(name, 80), f": did you mean {close[0]}?" if close else " (unset it)"))
    return found


def warning_of(environment: Mapping[str, str]) -> str:
    """One line about all of them; empty when there is none."""
    named = "; ".join(f"{name}{hint}" for name, hint in unknown_variables(environment))
    return f"note: no setting has this name, it does nothing: {named}" if named else ""
