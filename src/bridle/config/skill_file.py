"""Parse the text of one skill and check its front matter; each problem has a file and line.

Skills are written for several programs. An unknown key is ignored, unless it looks like a typo of a known
one: a typo must not change who may call a skill.
"""

from functools import lru_cache
from typing import Any

from msgspec import Struct

from bridle.config.toml_document import literal, parse_toml, scan
from bridle.config.validation import MAX_SHOWN_CHARS, is_unicode, nearest, one_line
from bridle.core.errors import ConfigError
from bridle.core.skill import (
    CONVENTIONAL_NAME,
    MAX_DESCRIPTION_CHARS,
    MAX_NAME_CHARS,
    SKILL_NAME,
    FrontMatter,
    Level,
    Skill,
    Syntax,
    read_front_matter,
)

MAX_HEAD_CHARS = 16 * 1024  # of front matter; a typical one has some hundred
MAX_YAML_DEPTH = 20
NAME_HINT = "use letters, digits, -, _ and inner dots, at most 64 characters"

_TEXTS = ("name", "description", "argument_hint")
_FLAGS = ("user_invocable", "disable_model_invocation")
_OF_OTHERS = frozenset(
    "license compatibility metadata allowed_tools tools model context agent hooks version tags author".split()
)


class SkillProblem(Struct, frozen=True):
    """Something wrong with a skill."""

    place: str
    """The file, with the line if it is known."""
    message: str
    hint: str = ""
    is_left_out: bool = True
    """True if the skill cannot be used; false for a warning."""

    def __str__(self) -> str:
        return f"{self.place}: {self.message}"


class SkillFile(Struct, frozen=True):
    """The location of a skill."""

    path: str
    name: str
    """Name of its file or folder, which is the skill's name unless TOML front matter sets another."""
    level: Level
    has_folder: bool


class ParsedSkill(Struct, frozen=True):
    """The result of parsing one file."""

    skill: Skill | None
    problems: tuple[SkillProblem, ...] = ()


class _Head(Struct, frozen=True):
    """The keys of front matter, and the lines they are on."""

    tree: dict[str, Any]
    lines: dict[str, int]


class _SkillError(Exception):
    """Aborts the parsing of a skill that cannot be used."""

    def __init__(self, message: str, line: int = 0, hint: str = "") -> None:
        super().__init__(message)
        self.problem = message, line, hint


def parse_skill(text: str, file: SkillFile) -> ParsedSkill:
    """Parse a skill; problems are returned, not raised."""
    found: list[SkillProblem] = []

    def note(message: str, line: int = 0, hint: str = "", *, is_left_out: bool = False) -> None:
        place = f"{file.path}:{line}" if line else file.path
        found.append(SkillProblem(place, message, hint, is_left_out))

    try:
        parts = read_front_matter(text.replace("\r\n", "\n"))
        if parts.is_open:  # it may have said who may call the skill
            raise _SkillError("its front matter is not closed", 1, "close it with a line like the first")
        head = _read_head(parts)
        skill = _build(parts, head, file)
        for message, key, hint in _unwise(skill, parts.syntax, head.tree, file):
            note(message, head.lines.get(key, parts.line), hint)
    except _SkillError as wrong:
        message, line, hint = wrong.problem
        note(message, line, hint, is_left_out=True)
        return ParsedSkill(None, tuple(found))
    return ParsedSkill(skill, tuple(found))


def _build(parts: FrontMatter, head: _Head, file: SkillFile) -> Skill:
    values: dict[str, Any] = {}
    for key, value in head.tree.items():
        line = head.lines.get(key, parts.line)
        name = key.replace("-", "_")
        if name in _TEXTS:
            values[name] = _text(key, value, line)
        elif name in _FLAGS:
            if not isinstance(value, bool):
                raise _SkillError(f"{key} must be true or false, not {_shown(value)}", line)
            values[name] = value
        elif name not in _OF_OTHERS and (near := nearest(name, (*_TEXTS, *_FLAGS))):
            raise _SkillError(f"unknown key {one_line(key)[:MAX_SHOWN_CHARS]}", line, f"did you mean {near}?")
    said = values.pop("name", "")
    name = said if said and parts.syntax == "toml" else file.name
    if not SKILL_NAME.fullmatch(name):
        line = head.lines.get("name", 0) if said == name else 0
        raise _SkillError(f"{literal(name[:MAX_SHOWN_CHARS])} is not a name", line, NAME_HINT)
    body = parts.body.strip()
    if not body:
        raise _SkillError("it has no text")
    return Skill(name=name, body=body, file=file.path, level=file.level, has_folder=file.has_folder, **values)


def _unwise(
    skill: Skill, syntax: Syntax, tree: dict[str, Any], file: SkillFile
) -> list[tuple[str, str, str]]:
    """Return message, key and hint for what other programs, or a model, could not use well."""
    found: list[tuple[str, str, str]] = []
    if len(skill.description) > MAX_DESCRIPTION_CHARS:
        found.append(
            (f"its description has more than {MAX_DESCRIPTION_CHARS:,} characters", "description", "")
        )
    if syntax == "yaml":
        if (said := tree.get("name", file.name)) != file.name:
            hint = f"rename one of them; until then it is called {file.name}"
            found.append((f"its name {_shown(said)} differs from its folder's", "name", hint))
        elif not CONVENTIONAL_NAME.fullmatch(skill.name) or len(skill.name) > MAX_NAME_CHARS:
            found.append(
                (f"{skill.name} should have only lowercase letters, digits and single dashes", "name", "")
            )
        if not skill.description:
            found.append(("it has no description, so the model cannot choose it", "description", ""))
    return found


def _text(key: str, value: Any, line: int) -> str:
    if key == "argument-hint" and isinstance(value, list):
        # Written as [file], which YAML reads as a list.
        value = f"[{', '.join(map(str, value))}]"
    if not isinstance(value, str):
        raise _SkillError(f"{key} must be text, not {_shown(value)}", line)
    if not is_unicode(value):
        raise _SkillError(f"{key} contains half a character", line)
    return " ".join(value.split())


def _shown(value: Any) -> str:
    shown = "a table" if isinstance(value, dict) else literal(value)
    return shown if len(shown) <= MAX_SHOWN_CHARS else f"{shown[:MAX_SHOWN_CHARS]}…"


def _read_head(parts: FrontMatter) -> _Head:
    if len(parts.head) > MAX_HEAD_CHARS:
        raise _SkillError(f"its front matter has more than {MAX_HEAD_CHARS:,} characters", parts.line)
    # Empty lines above it make a parser report the line numbers of the file.
    text = "\n" * (parts.line - 1) + parts.head
    match parts.syntax:
        case "toml":
            return _read_toml(text)
        case "yaml":
            return _read_yaml(text, parts.line)
        case "none":
            return _Head({}, {})


# Every run reads all skills; the cache avoids parsing them again.


@lru_cache(maxsize=256)
def _read_toml(text: str) -> _Head:
    try:
        tree = parse_toml(text, "")
    except ConfigError as error:  # ":LINE: message", or ": message" if the line is unknown
        line, _, message = error.message.removeprefix(":").partition(": ")
        raise (
            _SkillError(message, int(line)) if line.isdigit() else _SkillError(f"{line}: {message}")
        ) from error
    places = scan(text).lines
    return _Head(tree, {key: places.get((key,), 0) for key in tree})


@lru_cache(maxsize=256)
def _read_yaml(text: str, first_line: int) -> _Head:
    import yaml  # noqa: PLC0415  needed only by those who have such a skill

    loader_type = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        depth = 0
        for event in yaml.parse(text, Loader=loader_type):
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > MAX_YAML_DEPTH:
                raise _SkillError("not valid front matter: nested too deeply", first_line)
            if isinstance(event, yaml.AliasEvent):  # a few lines of aliases can expand to gigabytes
                raise _SkillError(
                    f"not valid front matter: aliases (*{event.anchor}) are not allowed", first_line
                )
        loader = loader_type(text)
        try:
            node = loader.get_single_node()
            tree = loader.construct_document(node) if node is not None else {}
        finally:
            loader.dispose()
    except yaml.YAMLError as error:
        raise _yaml_error(error, first_line) from error
    except ValueError as error:  # an impossible date or number
        raise _SkillError(f"not valid YAML: {one_line(str(error))[:MAX_SHOWN_CHARS]}", first_line) from error
    if not isinstance(tree, dict) or not all(isinstance(key, str) for key in tree):
        raise _SkillError("its front matter is not a list of keys and values", first_line, "write key: value")
    lines = {key.value: key.start_mark.line + 1 for key, _ in (node.value if node is not None else ())}
    return _Head(tree, lines)


def _yaml_error(error: Exception, first_line: int) -> _SkillError:
    mark = getattr(error, "problem_mark", None)
    what = getattr(error, "problem", None) or "it contains characters that YAML does not allow"
    hint = 'quote text that contains a colon: "…"' if "mapping values" in what else ""
    return _SkillError(f"not valid YAML: {one_line(what)}", mark.line + 1 if mark else first_line, hint)
