"""What the tools share: reading arguments, naming what a call touches, wording errors and descriptions."""

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
from bridle.tools.disk import reason
from bridle.tools.paths import Place, printable, resolve

MAX_FILE_BYTES = 10 * 1024 * 1024


def text_arg(args: dict[str, Any], key: str) -> str:
    """Return a text; raises ToolError when it is missing or cannot be encoded."""
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
    """Return a whole number; anything else counts as not given."""
    value = args.get(key)
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def flag_arg(args: dict[str, Any], key: str) -> bool:
    """Return whether something is asked for; anything but true counts as not."""
    return args.get(key) is True


def locate(tool: str, access: AccessClass, path: str, context: ToolContext) -> Place:
    """Find where a path leads; raises ToolError when it lies outside and no rule opens that to the tool."""
    return resolve(context.cwd, path, outside=opened(tool, access, context))


def opened(tool: str, access: AccessClass, context: ToolContext) -> Callable[[str], bool] | None:
    """Return what tells whether a tool may use a real path outside the working directory; None if none.

    Only an allow rule with an absolute pattern opens one. A rule for `read_file` speaks for all that read.
    """
    speakers = (tool, READING_TOOL) if access == "read" else (tool,)
    openings = [rule for rule in context.rules if rule.action == "allow" and rule.pattern.startswith("/")]

    def is_open(real: str) -> bool:
        name = printable(real)
        # With the slash, `/usr/include/**` also opens the folder itself.
        subjects = (Subject("path", name), Subject("path", f"{name}/"))
        return any(
            rule_matches(rule, speaker, subject)
            for rule in openings
            for speaker in speakers
            for subject in subjects
        )

    return is_open if openings else None


def path_access(tool: str, access: AccessClass, args: dict[str, Any], context: ToolContext) -> Access:
    """Name the file of the argument `path`, and what it leads to if it is a link."""
    place = locate(tool, access, text_arg(args, "path"), context)
    return named_access(tool, access, place.name, place.subject)


def named_access(tool: str, access: AccessClass, named: str, real: str) -> Access:
    """Judge a path by both its names: a link must not be a way around a rule."""
    paths = dict.fromkeys((printable(named), printable(real)))
    return Access(tool, access, tuple(Subject("path", path) for path in paths))


@contextmanager
def system_errors(shown: str, *, reading: bool = False) -> Iterator[None]:
    """Give the system's refusals in Kontekst's words."""
    try:
        yield
    except OSError as error:
        verb = "read" if reading and error.errno == errno.EISDIR else "open"
        raise ToolError(f"{verb} {printable(shown)}: {reason(error)}") from error


@cache
def description(tool: str) -> str:
    """Return what the model is told about a tool: the text file of that name beside the code."""
    return (get_data(__package__, f"{tool}.md") or b"").decode().strip()


def parameters(required: int, **properties: tuple[str, str]) -> dict[str, Any]:
    """Build the schema of arguments that each have a type and a description; the first ones are required.

    One whose name says it all has an empty description: each word is paid for on every turn.
    """
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {
            name: {"type": kind, "description": text} if text else {"type": kind}
            for name, (kind, text) in properties.items()
        },
    }
    return {**schema, "required": list(properties)[:required]} if required else schema
