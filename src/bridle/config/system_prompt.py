"""Build the system prompt: the agent's prompt, the context files, the skills and the working directory."""

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
    """Join the parts, the most stable first, so that as much as possible stays in the vendor's cache."""
    today = datetime.fromtimestamp(now_ms / 1000, UTC).date().isoformat()
    place = f"{_PLACE}{cwd}\nOperating system: {sys.platform}\nDate: {today}"
    return "\n\n".join(part for part in (agent, context, skills, place) if part)


def insert_text(prompt: str, text: str) -> str:
    """Insert a text into a system prompt, before the lines that change from day to day."""
    said, gap, place = prompt.rpartition("\n\n")
    if gap and place.startswith(_PLACE):
        return f"{said}\n\n{text}\n\n{place}"
    return f"{prompt}\n\n{text}"


def list_skills(skills: Sequence[Skill]) -> str:
    """Return the list of skills that a model may load, one per line; empty if there are none."""
    shown = [skill for skill in skills if not skill.disable_model_invocation]
    if not shown:
        return ""
    lines = [_line(skill) for skill in shown[:MAX_LISTED_SKILLS]]
    more = [f"… and {len(shown) - MAX_LISTED_SKILLS} more"] if len(shown) > MAX_LISTED_SKILLS else []
    return "\n".join([_SKILLS, *lines, *more])


def _line(skill: Skill) -> str:
    line = f"- {skill.name}: {skill.description}" if skill.description else f"- {skill.name}"
    return line if len(line) <= MAX_SKILL_CHARS else f"{line[: MAX_SKILL_CHARS - 1].rstrip()}…"
