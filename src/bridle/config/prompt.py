"""The system text of a request: the agent's own words, what people wrote for agents, where it works."""

import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from bridle.core.skill import Skill

MAX_LISTED_SKILLS = 40
MAX_SKILL_CHARS = 120
_PLACE = "Working directory: "

_SKILLS = "Skills are instructions for special tasks. When one fits, first load it with the tool `skill`:"


def system_prompt(agent: str, context: str, cwd: Path, now_ms: int, *, skills: str = "") -> str:
    """Put the parts together, the most stable first, so that a vendor's cache keeps what it can."""
    today = datetime.fromtimestamp(now_ms / 1000, UTC).date().isoformat()
    place = f"{_PLACE}{cwd}\nOperating system: {sys.platform}\nDate: {today}"
    return "\n\n".join(part for part in (agent, context, skills, place) if part)


def with_more(prompt: str, text: str) -> str:
    """Return a system text with more in it, before the lines that are not the same on another day."""
    said, gap, place = prompt.rpartition("\n\n")
    if gap and place.startswith(_PLACE):
        return f"{said}\n\n{text}\n\n{place}"
    return f"{prompt}\n\n{text}"


def skill_catalogue(skills: Sequence[Skill]) -> str:
    """List the skills that a model may load, one on each line; empty when there are none."""
    shown = [skill for skill in skills if not skill.disable_model_invocation]
    if not shown:
        return ""
    lines = [_line(skill) for skill in shown[:MAX_LISTED_SKILLS]]
    more = [f"… and {len(shown) - MAX_LISTED_SKILLS} more"] if len(shown) > MAX_LISTED_SKILLS else []
    return "\n".join([_SKILLS, *lines, *more])


def _line(skill: Skill) -> str:
    line = f"- {skill.name}: {skill.description}" if skill.description else f"- {skill.name}"
    return line if len(line) <= MAX_SKILL_CHARS else f"{line[: MAX_SKILL_CHARS - 1].rstrip()}…"
