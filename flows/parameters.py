"""What the flow's parameters may be, so that Prefect's page makes a form of them and refuses the rest.

The page offers tabs instead of a field for a value that may be None, and shows neither titles nor the
descriptions of types, only those of the flow's docstring. So every parameter is of one type, has a plain
default that means "as the worker is configured", and is described there.

A pattern is for the server alone, which refuses a run before there is one: whoever calls the flow directly
gets the core's error, which says more.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal

from pydantic import Field

from flows.ages import AGE
from lethe_core.config import MOST_ITERATIONS, MOST_SECONDS
from lethe_core.session.opening import MAX_QUESTION

AS_CONFIGURED: Final = "as configured"


def _text(rule: str, pattern: str, **more: Any) -> Any:
    """A text's rule for the server, whose message shows nothing but the pattern: so it begins with words."""
    return Field(json_schema_extra={"pattern": f"(?#{rule}){pattern}", **more})


# Of this system or of a worker's that runs on another one: the server knows neither.
_ABSOLUTE: Final = r"^(/|[A-Za-z]:|\\\\)"

Question = Annotated[str, _text("not only spaces", r"\S", maxLength=MAX_QUESTION)]
Folder = Annotated[str, _text("an absolute path", _ABSOLUTE)]
PathOrNone = Annotated[str, _text("an absolute path, or nothing", f"^$|{_ABSOLUTE}")]
Name = Annotated[str, _text("a letter, then letters, digits and ._-", r"^([A-Za-z][A-Za-z0-9._-]{0,63})?\Z")]
# A password belongs into the worker's environment; what is a parameter stands in the server's database.
StoreUrl = Annotated[str, _text("a URL without a user or a password", r"^(?![^/]*//[^/]*@)")]
Iterations = Annotated[int, Field(ge=0, le=MOST_ITERATIONS)]
Seconds = Annotated[float, Field(ge=0, le=MOST_SECONDS, allow_inf_nan=False)]
Tokens = Annotated[int, Field(ge=0)]
Cost = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Age = Annotated[
    str,
    Field(pattern=f"^({AGE})?$"),
    _text("hours, days or weeks: 12h, 90d, 8w", f"^({AGE})?$"),
]
IfRunning = Literal["as configured", "wait", "skip"]


def given(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Those that say something; the others are left to the worker's configuration."""
    return {name: value for name, value in parameters.items() if value and value != AS_CONFIGURED}
