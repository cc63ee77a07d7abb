"""Helpers shared by the tools: arguments, access subjects, system errors, descriptions and schemas."""

import errno
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pkgutil import get_data
from typing import Any

from bridle.core.errors import ToolError
from bridle.core.permission import READING_TOOL, rule_matches
from bridle.core.ports import ToolContext
from bridle.core.tool import Access, AccessClass, Subject
from bridle.tools.filesystem import error_reason
from bridle.tools.paths import ResolvedPath, printable, resolve

MAX_FILE_BYTES = 10 * 1024 * 1024


class WithoutPreview:
    """The base of tools without a preview: a call changes nothing, or its arguments say what it changes."""

    async def preview(self, args: dict[str, Any], context: ToolContext) -> str:
        """Return an empty text."""
        return ""


def text_arg(args: dict[str, Any], key: str) -> str:
    """Return a string argument; raises ToolError when it is missing or cannot be encoded."""
    value = args.get(key)
    if not isinstance(value, str):
        raise ToolError(f"missing {key}")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise ToolError(
            f"{key} is not valid Unicode: character {error.start + 1} is half of a pair"
        ) from error
    return value


def integer_arg(args: dict[str, Any], key: str) -> int | None:
    """Return an integer argument; anything but a whole number counts as not given."""
    value = args.get(key)
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def flag_arg(args: dict[str, Any], key: str) -> bool:
    """Return a boolean argument; anything but true counts as false."""
    return args.get(key) is True


def resolve_path(tool: str, access: AccessClass, path: str, context: ToolContext) -> ResolvedPath:
    """Resolve a path; raises ToolError when it is outside and no rule allows the tool to use it."""
    return resolve(context.cwd, path, outside=outside_filter(tool, access, context))


def outside_filter(tool: str, access: AccessClass, context: ToolContext) -> Callable[[str], bool] | None:
    """Return a predicate for the real paths outside the working directory that a tool may use; None if none.

    Only an allow rule with an absolute pattern allows such a path. A rule for `read_file` counts for every
    tool that reads.
    """
    speakers = (tool, READING_TOOL) if access == "read" else (tool,)
    openings = [rule for rule in context.rules if rule.action == "allow" and rule.pattern.startswith("/")]

    def is_open(real: str) -> bool:
        name = printable(real)
        # With the slash, `/usr/include/**` also matches the folder itself.
        subjects = (Subject("path", name), Subject("path", f"{name}/"))
        return any(
            rule_matches(rule, speaker, subject)
            for rule in openings
            for speaker in speakers
            for subject in subjects
        )

    return is_open if openings else None


def path_access(tool: str, access: AccessClass, args: dict[str, Any], context: ToolContext) -> Access:
    """Return the access to the file in the argument `path`, and to its target if it is a link."""
    place = resolve_path(tool, access, text_arg(args, "path"), context)
    return named_access(tool, access, place.name, place.subject)


def named_access(tool: str, access: AccessClass, named: str, real: str) -> Access:
    """Return an access with both names of a path, so that a link is no way around a rule."""
    paths = dict.fromkeys((printable(named), printable(real)))
    return Access(tool, access, tuple(Subject("path", path) for path in paths))


@contextmanager
def system_errors(shown: str, *, reading: bool = False) -> Iterator[None]:
    """Turn an OSError into a ToolError with the wording of Kontekst's errors."""
    try:
        yield
    except OSError as error:
        verb = "read" if reading and error.errno == errno.EISDIR else "open"
        raise ToolError(f"{verb} {printable(shown)}: {error_reason(error)}") from error


@cache
def description(tool: str) -> str:
    """Return a tool's description for the model: the text of `TOOL.md` in this package."""
    return (get_data(__package__, f"{tool}.md") or b"").decode().strip()


def parameters(required: int, **properties: tuple[str, str]) -> dict[str, Any]:
    """Build the schema of arguments, each a type and a description; the first `required` are required.

    An argument with a self-explanatory name has an empty description: each word costs tokens on every turn.
    """
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {
            name: {"type": kind, "description": text} if text else {"type": kind}
            for name, (kind, text) in properties.items()
        },
    }
    return {**schema, "required": list(properties)[:required]} if required else schema
