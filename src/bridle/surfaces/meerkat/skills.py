"""Skills in Meerkat's fields: those that a request names, and the list of them."""

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct
from msgspec.structs import asdict, replace

from bridle.core.errors import UsageError
from bridle.core.messages import Message, Part, Text
from bridle.core.skill import Skill, near_names, render
from bridle.surfaces.meerkat.requests import RunRequest, SkillKey
from bridle.surfaces.meerkat.wire_format import SKILL_SOURCE
from bridle.surfaces.shared.error_codes import SKILL_NOT_FOUND, Refused
from bridle.surfaces.shared.skill_prompt import expand


class SkillOrigin(Struct, frozen=True):
    """The source of a skill."""

    display_name: str
    source_uuid: str
    transport_kind: str = "filesystem"
    fingerprint: str = "bridle"


class SkillEntry(Struct, frozen=True):
    """One skill in a list."""

    id: str
    key: SkillKey
    name: str
    description: str
    scope: Literal["project", "user"]
    source: SkillOrigin
    is_active: bool = True


class SkillList(Struct, frozen=True):
    """The skills of a folder."""

    skills: list[SkillEntry]


def skill_list(skills: Sequence[Skill]) -> SkillList:
    """Convert a list of skills."""
    return SkillList([_entry(skill) for skill in skills])


class SkillText(SkillEntry, frozen=True, kw_only=True):
    """One skill, with its text."""

    body: str


def skill_text(skills: Sequence[Skill], name: str) -> SkillText:
    """Convert one skill; raises Refused if there is none of the name."""
    found = _find(name.removeprefix("/"), skills)
    return SkillText(**asdict(_entry(found)), body=found.body)


def _find(name: str, skills: Sequence[Skill]) -> Skill:
    for skill in skills:
        if skill.name == name:
            return skill
    near = near_names(name, skills)
    hint = f"did you mean {' or '.join(near)}?" if near else "bridle skills list"
    raise Refused(SKILL_NOT_FOUND, f"no skill is named {name[:80]}", hint=hint)


def _entry(skill: Skill) -> SkillEntry:
    key = SkillKey(skill_name=skill.name, source_uuid=SKILL_SOURCE)
    origin = SkillOrigin(skill.level, SKILL_SOURCE)
    return SkillEntry(skill.name, key, skill.name, skill.description, skill.level, origin)


def add_skills(order: RunRequest, skills: Sequence[Skill], cwd: str) -> RunRequest:
    """Prepend the texts of the named skills to the message, and expand a text that starts with `/name`.

    Raises Refused for a skill that does not exist.
    """
    found = [_find(name, skills) for name in order.skills]
    texts = [Text(render(skill, "", cwd).removesuffix("\n\n---\n\n")) for skill in found]
    parts = tuple(_expanded(part, skills, cwd) for part in order.message.parts)
    return replace(order, message=Message("user", (*texts, *parts)))


def _expanded(part: Part, skills: Sequence[Skill], cwd: str) -> Part:
    if not isinstance(part, Text) or not part.text.startswith("/"):
        return part
    try:
        return Text(expand(part.text, skills, cwd))
    except UsageError:  # no such skill: a program's text may start with a slash
        return part
