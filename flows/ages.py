"""Ages as people write them: 12h, 90d, 8w."""

import re
from typing import Final

from lethe_core.errors import UsageError

SECONDS: Final = {"h": 3600.0, "d": 86400.0, "w": 7 * 86400.0}
AGE: Final = r"\d{1,6}[hdw]"


def seconds_of(age: str) -> float:
    """Raises UsageError for what is no age."""
    if re.fullmatch(AGE, age) is None:
        raise UsageError(f"not an age: {age!r} (write hours, days or weeks: 12h, 90d, 8w)")
    return int(age[:-1]) * SECONDS[age[-1]]
