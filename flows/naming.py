"""What runs and sessions are called."""

import re
from typing import Any

from prefect.runtime import flow_run


def flow_run_name() -> str:
    """The question's first 40 characters and the short session, for Prefect's page."""
    parameters: dict[str, Any] = flow_run.parameters
    question = " ".join(str(parameters.get("question", "")).split())
    shown = question if len(question) <= 40 else question[:39].rstrip() + "…"
    return f"{shown} · {session_name(str(parameters.get('session') or ''))[:14]}"


def session_name(given: str) -> str:
    """The session's id: the parameter, or the flow run's id, so that a retry keeps it."""
    return given or of_run(str(flow_run.id))


def of_run(run_id: str) -> str:
    """The session of a run that was given no name for it."""
    return f"s-{run_id.replace('-', '')[:12]}"


def artifact_key(prefix: str, session_id: str) -> str:
    """An artifact's key: lower case with dashes, as Prefect wants it."""
    return f"{prefix}-{re.sub(r'[^a-z0-9]+', '-', session_id.lower()).strip('-')}"
