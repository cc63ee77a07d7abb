"""Skills: reusable prompts in files, which a user runs as `/name` and a model with the tool `skill`.

```
+++                        front matter: TOML between +++, or YAML between ---
name = "review"
+++
Review $ARGUMENTS.         body; $0 to $9 are single arguments
```
"""

import re
from collections.abc import Iterable, Sequence
from typing import Literal

from msgspec import Struct

MAX_NAME_CHARS = 64
MAX_DESCRIPTION_CHARS = 1024  # from the Agent Skills convention, like CONVENTIONAL_NAME
SKILL_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,63}")
"""Names that can be called as `/name`."""
CONVENTIONAL_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
"""Names that other programs accept too, if they have at most 64 characters."""

Syntax = Literal["toml", "yaml", "none"]
Level = Literal["project", "user"]

_FENCE = "+++"
_YAML = re.compile(r"\s*^---[ \t]*\n(?P<head>.*?)^---[ \t]*$(?P<body>.*)", re.DOTALL | re.MULTILINE)
_YAML_START = re.compile(r"\s*^---[ \t]*$", re.MULTILINE)
_PLACE = re.compile(r"\$(?:ARGUMENTS|[0-9])")


class Skill(Struct, frozen=True):
    """A prompt with a name."""

    name: str
    body: str
    file: str
    """The absolute path it was read from."""
    level: Level
    description: str = ""
    """Its purpose, on one line."""
    argument_hint: str = ""
    """A hint for the arguments that a user may type after its name."""
    user_invocable: bool = True
    disable_model_invocation: bool = False
    has_folder: bool = False
    """True if all files in its folder belong to it."""

    @property
    def folder(self) -> str:
        """The absolute path of the folder of its file."""
        return self.file.rpartition("/")[0] or "/"


class FrontMatter(Struct, frozen=True):
    """A text, split into its metadata (head) and its body."""

    syntax: Syntax
    head: str
    body: str
    line: int = 1
    """The line on which the head begins."""
    is_open: bool = False
    """True if front matter starts but never ends: then the whole text is body."""


def read_front_matter(text: str) -> FrontMatter:
    """Split a text into front matter and body; a text without both fences is all body."""
    if text.lstrip().startswith(_FENCE):
        head, body = split_front_matter(text)
        if body == text:
            return FrontMatter("none", "", text, is_open=True)
        start = text.index(head, text.index(_FENCE) + len(_FENCE))
        return FrontMatter("toml", head, body, text.count("\n", 0, start) + 1)
    if match := _YAML.match(text):
        return FrontMatter("yaml", match["head"], match["body"], text.count("\n", 0, match.start("head")) + 1)
    return FrontMatter("none", "", text, is_open=_YAML_START.match(text) is not None)


def split_front_matter(text: str) -> tuple[str, str]:
    """Return the front matter between `+++`, and the body; a text without both fences is all body."""
    stripped = text.strip()
    if not stripped.startswith(_FENCE):
        return "", text
    rest = stripped.removeprefix(_FENCE)
    end = rest.find(f"\n{_FENCE}")
    if end < 0:
        return "", text
    return rest[:end].strip(), rest[end + 1 + len(_FENCE) :]


def render(skill: Skill, arguments: str, cwd: str) -> str:
    """Return a skill's text for the model: the path of its files, and its body with the arguments inserted.

    The path is relative inside the working directory. Arguments follow a body that has no placeholder.
    """
    body = fill_in(skill.body, arguments)
    if arguments.strip() and not _PLACE.search(skill.body):
        body = f"{body}\n\nArguments: {arguments.strip()}"
    return f"[Skill: {skill.name}]\nBase path: {_seen_from(skill.folder, cwd)}\n\n{body}\n\n---\n\n"


def near_names(name: str, skills: Iterable[Skill]) -> list[str]:
    """Return up to three skill names similar to a mistyped one."""
    from difflib import get_close_matches  # noqa: PLC0415  only for a message

    by_lower = {skill.name.lower(): skill.name for skill in skills}
    near = get_close_matches(name[:MAX_NAME_CHARS].lower().replace("_", "-"), by_lower, cutoff=0.6)
    return [by_lower[lower] for lower in near]


def _seen_from(folder: str, cwd: str) -> str:
    inside = f"{cwd.rstrip('/')}/"
    return folder.removeprefix(inside) if folder.startswith(inside) else "." if folder == cwd else folder


def split_arguments(text: str) -> list[str]:
    """Split at spaces outside quotes; quotes are removed, and a backslash has no special meaning."""
    arguments: list[str] = []
    word, quote = "", ""
    for char in text:
        if quote:
            quote, word = ("", word) if char == quote else (quote, word + char)
        elif char in "'\"":
            quote = char
        elif char == " ":
            arguments.append(word)
            word = ""
        else:
            word += char
    return [argument for argument in (*arguments, word) if argument]


def join_arguments(words: Sequence[str]) -> str:
    """Join the words of a command line, so that each is one argument; a single word may hold several."""
    return words[0] if len(words) == 1 else " ".join(map(_quoted, words))


def _quoted(word: str) -> str:
    if not any(char in word for char in " '\""):
        return word
    inside = word.replace('"', '"\'"\'"')
    return f'"{inside}"'


def fill_in(template: str, text: str) -> str:
    """Insert arguments into a skill's body; a placeholder without an argument stays unchanged.

    Inserted text is not expanded again: an argument `$1` stays `$1`.
    """
    arguments = split_arguments(text)

    def argument(place: re.Match[str]) -> str:
        name = place[0][1:]
        if name == "ARGUMENTS":
            return text
        return arguments[int(name)] if int(name) < len(arguments) else place[0]

    return _PLACE.sub(argument, template)
