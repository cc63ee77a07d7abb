"""Expands a prompt such as `/review src/a.py` to the text of the skill before it enters a session."""

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from bridle.core.errors import UsageError
from bridle.core.mcp_servers import MCP_PREFIX
from bridle.core.skill import SKILL_NAME, Skill, near_names, render

_CALL = re.compile(rf"/(?P<name>{SKILL_NAME.pattern})(?:\s(?P<arguments>.*))?", re.DOTALL)


def expand_in(text: str, cwd: str, environ: Mapping[str, str]) -> str:
    """Expand a prompt with the skills of a working folder; raises UsageError, ConfigError."""
    if not _CALL.fullmatch(text):
        return text
    from bridle.app import skills_in
    from bridle.config.settings import load_settings

    return expand(text, skills_in(load_settings(environ, Path(cwd))), cwd)


def expand(text: str, skills: Sequence[Skill], cwd: str) -> str:
    """Return the text of the skill that a prompt calls, with arguments filled in; other prompts unchanged.

    The arguments are the text after the name and one space. Raises UsageError for an unknown skill, unless a
    file has that path or an MCP server may provide it, and for a skill that only a model may load.
    """
    call = _CALL.fullmatch(text)
    if call is None:
        return text
    name, arguments = call["name"], (call["arguments"] or "").lstrip("\n")
    skill = next((skill for skill in skills if skill.name == name), None)
    if skill is None:
        if name.startswith(MCP_PREFIX) or os.path.lexists(f"/{name}"):
            return text  # the session asks the MCP server that has the prompt
        raise _unknown(name, skills)
    if not skill.user_invocable:
        raise UsageError(f"the skill {name} is for the model only", hint=f"{skill.file} says so")
    return render(skill, arguments, cwd).removesuffix("\n\n---\n\n")


def _unknown(name: str, skills: Sequence[Skill]) -> UsageError:
    usable = [skill for skill in skills if skill.user_invocable]
    if near := near_names(name, usable):
        return UsageError(
            f"no skill is named {name}", hint=f"did you mean {' or '.join(f'/{each}' for each in near)}?"
        )
    listed = "bridle skills list" if usable else f"bridle skills new {name}"
    return UsageError(f"no skill is named {name}", hint=f"{listed}; a space before the slash makes it text")
