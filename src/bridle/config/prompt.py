"""The system text of a request: the agent's own words, what people wrote for agents, where it works."""

import sys
from datetime import UTC, datetime
from pathlib import Path


def system_prompt(agent: str, context: str, cwd: Path, now_ms: int) -> str:
    """Put the parts together, the most stable first, so that a vendor's cache keeps what it can."""
    today = datetime.fromtimestamp(now_ms / 1000, UTC).date().isoformat()
    place = f"Working directory: {cwd}\nOperating system: {sys.platform}\nDate: {today}"
    return "\n\n".join(part for part in (agent, context, place) if part)
