"""Convert prompts of other programs to skills: parse their front matter leniently and rewrite it."""

import re

from bridle.config.foreign.findings import FoundSkill, NotImported
from bridle.config.skill_file import SkillFile, parse_skill
from bridle.config.toml_document import key_text, literal
from bridle.config.validation import one_line
from bridle.core.skill import MAX_DESCRIPTION_CHARS, SKILL_NAME, read_front_matter

RUNS = "it runs commands when loaded (!`…`); here they stay plain text"
NAMED = "it has named arguments; here they stay plain text"

_LINE = re.compile(r"^(?P<key>[A-Za-z][\w-]*):[ \t]*(?P<value>.*)$", re.MULTILINE)
_COUNTED_FROM_0 = re.compile(r"\$0\b|\$ARGUMENTS\[")
_COUNTED = re.compile(r"\$([1-9])(?![0-9])")
_INDEXED = re.compile(r"\$ARGUMENTS\[([0-9])\]")
_COMMAND = re.compile(r"(?:^|\s)!`")
_NAMED = re.compile(r"\$(?!ARGUMENTS\b)[A-Z][A-Z0-9_]+\b")


def split_front_matter(text: str) -> tuple[dict[str, str], str]:
    """Split a text into the `key: value` lines of its front matter and its body; other lines are skipped.

    Other programs are less strict than YAML: they accept `argument-hint: [file] [line]`.
    """
    parts = read_front_matter(text.replace("\r\n", "\n"))
    if parts.syntax != "yaml":
        return {}, text
    found = {match["key"].lower(): match["value"].strip() for match in _LINE.finditer(parts.head)}
    return {key: _unquoted(value) for key, value in found.items()}, parts.body.lstrip("\n")


def skill_from_prompt(name: str, text: str) -> FoundSkill | NotImported:
    """Convert a prompt that a user calls by name to a skill."""
    if not SKILL_NAME.fullmatch(name):
        return NotImported("skill", one_line(name), "its name is not valid for a skill")
    head, body = split_front_matter(text)
    if not body.strip():
        return NotImported("skill", name, "it is empty")
    told = {
        "description": head.get("description", "")[:MAX_DESCRIPTION_CHARS],
        "argument_hint": head.get("argument-hint", ""),
    }
    lines = [f"{key_text((key,))} = {literal(one_line(value))}" for key, value in told.items() if value]
    lines.append("disable_model_invocation = true")
    whole = "\n".join(["+++", *lines, "+++", _places(body).strip(), ""])
    parsed = parse_skill(whole, SkillFile(f"{name}.md", name, "user", has_folder=False))
    if parsed.skill is None:
        return NotImported(
            "skill", name, parsed.problems[0].message if parsed.problems else "it cannot be read"
        )
    notes = [RUNS] if _COMMAND.search(body) else [NAMED] if _NAMED.search(body) else []
    return FoundSkill(name, whole, note="; ".join(notes))


def _places(body: str) -> str:
    """Return a body with its placeholders counted from zero, as in Bridle; some programs count from one."""
    if _COUNTED_FROM_0.search(body):
        return _INDEXED.sub(lambda found: f"${found[1]}", body)
    return _COUNTED.sub(lambda found: f"${int(found[1]) - 1}", body)


def _unquoted(value: str) -> str:
    is_quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "\"'"
    return value[1:-1] if is_quoted else value
