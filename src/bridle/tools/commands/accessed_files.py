"""Find the files and hosts that a command would access, from its arguments."""

import re
from collections.abc import Iterator, Sequence
from typing import Literal
from urllib.parse import urlsplit

from msgspec import Struct

from bridle.tools.commands.arguments import SortedArguments, sort_arguments
from bridle.tools.commands.expansion import Argument
from bridle.tools.commands.program_tables import LISTERS, Program, known_program

_NETWORK = frozenset(
    "curl wget http https xh aria2c ssh scp sftp rsync nc ncat netcat telnet ftp lftp ping dig nslookup host"
    " socat whois traceroute mosh".split()
)
_NETWORK_GIT = frozenset("clone fetch pull push ls-remote remote submodule archive".split())
TEXT_ONLY = frozenset("echo printf test [ true false : date kill sleep".split())
"""Programs that open no file, whatever their arguments."""
_WRITING_GIT = frozenset("rm mv restore checkout".split())
_MAKING_TAR = frozenset("-A -c -r -u --create --append --update".split())
_NO_PATTERN = ("-e", "-f", "--regexp", "--expression", "--file", "--files", "--type-list")
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://", re.ASCII)
_REMOTE = re.compile(r"(?:[\w.-]+@)?(\[[0-9A-Fa-f:.]+\]|[\w.-]+):(?!//)", re.ASCII)
_HOST = re.compile(
    r"(?:[\w.-]+@)?((?:[\w-]+\.)+[\w-]+|localhost|\[[0-9A-Fa-f:.]+\])(?::\d+)?(?:/.*)?", re.ASCII
)

_UNKNOWN = Program("guess", {})
_GIT_OUTPUT = Program("guess", {"--output": ">", "--output-directory": ">"})


class PathAccess(Struct, frozen=True):
    """A path that a command reads or writes."""

    path: Argument
    access: Literal["read", "write"] = "read"
    is_guess: bool = False
    """True if it counts only when it looks like a path or exists."""


def opens_nothing(name: str) -> bool:
    """Return whether a program treats its arguments as text and opens no file."""
    program = known_program(name)
    return name in TEXT_ONLY or name == "command" or (program is not None and program.operands == "text")


def find_paths(name: str, fields: Sequence[Argument]) -> list[PathAccess]:
    """Return the paths among the arguments of a program."""
    if name in TEXT_ONLY:
        return []
    if name == "dd":
        return list(_dd(fields))
    if name == "find":
        return list(_find(fields))
    program = known_program(name) or (_GIT_OUTPUT if name == "git" else _UNKNOWN)
    arguments = sort_arguments(_with_dash(fields) if name == "tar" else fields, program)
    touches = [PathAccess(field) for field in arguments.reads]
    makes = name != "tar" or not _MAKING_TAR.isdisjoint(arguments.flags)
    touches += [PathAccess(field, "write" if makes else "read") for field in arguments.writes]
    guesses = arguments.guesses if program.operands != "guess" else (*arguments.texts, *arguments.guesses)
    touches += [PathAccess(field, is_guess=True) for field in guesses]
    touches += _operands(name, program, arguments)
    if name in LISTERS and not any(touch.access == "read" and not touch.is_guess for touch in touches):
        touches.append(PathAccess(Argument(".", ".")))
    return touches


def _with_dash(fields: Sequence[Argument]) -> Sequence[Argument]:
    """Return the arguments of tar with a dash before its first flags, which tar accepts without one."""
    first = fields[0].value if fields else None
    if first is None or not first.isalpha():
        return fields
    return [Argument(fields[0].source, "-" + first), *fields[1:]]


def _operands(name: str, program: Program, arguments: SortedArguments) -> Iterator[PathAccess]:
    operands = arguments.operands
    kind = program.operands
    if name == "sed" and ("-i" in arguments.flags or "--in-place" in arguments.flags):
        yield from (PathAccess(field, "write") for field in _after_pattern(arguments))
    elif kind == "read":
        yield from (PathAccess(field) for field in operands)
    elif kind == "write":
        yield from (PathAccess(field, "write") for field in operands)
    elif kind == "pattern":
        yield from (PathAccess(field) for field in _after_pattern(arguments))
    elif kind == "mode":
        yield from (
            PathAccess(field, "write") for field in operands[0 if "--reference" in arguments.flags else 1 :]
        )
    elif kind == "second":
        yield from (PathAccess(field, "write" if index else "read") for index, field in enumerate(operands))
    elif kind == "last":
        into = "-t" in arguments.flags or "--target-directory" in arguments.flags or len(operands) == 1
        last = len(operands) - 1
        yield from (
            PathAccess(field, "write" if index == last and not into else "read")
            for index, field in enumerate(operands)
        )
    elif kind == "guess":
        writes = name == "git" and bool(operands) and operands[0].value in _WRITING_GIT
        yield from (PathAccess(field, "write" if writes else "read", is_guess=True) for field in operands)


def _after_pattern(arguments: SortedArguments) -> Sequence[Argument]:
    has_pattern = not any(flag in arguments.flags for flag in _NO_PATTERN)
    return arguments.operands[1 if has_pattern else 0 :]


def _dd(fields: Sequence[Argument]) -> Iterator[PathAccess]:
    for field in fields:
        text = field.text
        key, equals, value = text.partition("=")
        if equals and key in ("if", "of"):
            known = (
                Argument(value, value) if field.value is not None else Argument(field.source, prefix=value)
            )
            yield PathAccess(known, "read" if key == "if" else "write")


def _find(fields: Sequence[Argument]) -> Iterator[PathAccess]:
    access: Literal["read", "write"] = (
        "write" if any(field.value == "-delete" for field in fields) else "read"
    )
    texts = [field.text for field in fields]
    start = next(
        (i for i, text in enumerate(texts) if text not in _FIND_OPTIONS and text[:1] in _FIND_TESTS), None
    )
    places = [field for field in fields[:start] if field.value not in _FIND_OPTIONS]
    yield from (PathAccess(field, access) for field in places or [Argument(".", ".")])
    for before, field in zip(texts, fields[1:], strict=False):
        if before in ("-fprint", "-fprint0", "-fprintf", "-fls"):
            yield PathAccess(field, "write")
        elif before in ("-newer", "-samefile", "-files0-from"):
            yield PathAccess(field)


_FIND_OPTIONS = ("-H", "-L", "-P")
_FIND_TESTS = frozenset("-(!")


def path_guesses(value: str) -> list[str]:
    """Return the parts of an argument that may be a path, as in `--file=a/b`, `@a/b`, `-fa/b`, `HEAD:a/b`."""
    name, equals, _ = value.partition("=")
    guesses = [value] if not (equals and name.isidentifier()) else []
    if value.startswith("-") and not value.startswith("--"):
        guesses.append(value[2:])
    for mark in "=:@,":
        if mark in value:
            guesses += value.split(mark)[1:] if mark != "," else value.split(mark)
    guesses += [guess.lstrip("@=:<") for guess in guesses if guess[:1] in "@=:<" and guess]
    return [guess for guess in dict.fromkeys(guesses[:_MAX_GUESSES]) if guess and not guess.startswith("-")]


_MAX_GUESSES = 20


def find_hosts(name: str, fields: Sequence[Argument]) -> list[str]:
    """Return the hosts among the arguments of a program, in lowercase."""
    if name in TEXT_ONLY:
        return []
    known = known_program(name)
    if known is not None and name in _NETWORK:
        arguments = sort_arguments(fields, known)
        fields = [*arguments.operands, *arguments.guesses]
    values = [field.value for field in fields if field.value is not None]
    is_network = name in _NETWORK or (name == "git" and bool(_NETWORK_GIT & set(values)))
    if not is_network and (name == "git" or (known is not None and known.operands != "guess")):
        return []
    may_be_plain = name not in ("scp", "rsync", "sftp", "git")
    hosts = [_host(value, is_network=is_network, may_be_plain=may_be_plain) for value in values]
    if name in ("ssh", "telnet", "nc", "ncat", "netcat", "ftp", "mosh", "ping"):
        hosts += [_first_host(values)]
    return list(dict.fromkeys(host for host in hosts if host))


def _host(value: str, *, is_network: bool, may_be_plain: bool) -> str:
    value = value.partition("=")[2] if value.startswith("--") and "=" in value else value
    if _URL.match(value):
        try:
            return (urlsplit(value).hostname or "").rstrip(".")
        except ValueError:
            return ""
    if not is_network or value.startswith(("-", "/", ".")):
        return ""
    match = _REMOTE.match(value) or (_HOST.fullmatch(value) if may_be_plain else None)
    return match[1].strip("[]").rstrip(".").lower() if match else ""


def _first_host(values: Sequence[str]) -> str:
    """Return the first operand, which is a host even if it does not look like one."""
    operand = next((value for value in values if not value.startswith("-")), "")
    return operand.rpartition("@")[2].lower() if re.fullmatch(r"[\w.@:-]+", operand) else ""
