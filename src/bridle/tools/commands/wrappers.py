"""Unwrap commands that run other commands, such as `sudo`, `xargs` and `bash -c`."""

import re
from collections.abc import Callable, Sequence

from msgspec import Struct

from bridle.tools.commands.expansion import Argument
from bridle.tools.commands.program_tables import Program, program

SHELLS = frozenset("bash sh zsh dash ksh mksh ash rbash".split())


class Argv(Struct, frozen=True):
    """A command that is run, as a list of arguments."""

    fields: tuple[Argument, ...]
    has_more: bool = False
    """True if arguments are added that are not known yet."""
    folder: Argument | None = None
    """The folder it runs in, if not the current one."""


class CommandText(Struct, frozen=True):
    """A command line that is passed to a shell."""

    text: str


class UnknownCommand(Struct, frozen=True):
    """Something is run, but what is not known before it runs."""

    why: str


Inner = Argv | CommandText | UnknownCommand

_PLAIN: dict[str, tuple[Program, int]] = {
    "nohup": (program("text", ""), 0),
    "time": (program("text", "pvq f: --format: --portability --verbose"), 0),
    "nice": (program("text", "# n: --adjustment:"), 0),
    "timeout": (
        program("text", "fpv k: s: --kill-after: --signal: --foreground --preserve-status --verbose"),
        1,
    ),
    "stdbuf": (program("text", "e: i: o: --error: --input: --output:"), 0),
    "setsid": (program("text", "cfw --ctty --fork --wait"), 0),
    "ionice": (program("text", "t c: n: p: P: u: --class: --classdata: --ignore"), 0),
    "chrt": (program("text", "abdfimoprRv T: P: D:"), 1),
    "taskset": (program("text", "ac --all-tasks --cpu-list"), 1),
    "sudo": (
        program(
            "text",
            "ABbEHkKnNPSV C: D: g: h: p: R: r: T: t: u: --user: --group: --preserve-env? --non-interactive",
        ),
        0,
    ),
    "doas": (program("text", "Ln a: C< u:"), 0),
    "exec": (program("text", "cl a:"), 0),
    "builtin": (program("text", ""), 0),
    "command": (program("text", "p"), 0),
    "coproc": (program("text", ""), 0),
    "busybox": (program("text", ""), 0),
    "toybox": (program("text", ""), 0),
    "chroot": (program("text", "--userspec: --groups: --skip-chdir"), 1),
    "unshare": (
        program("text", "cfimnpruUCT --fork --mount --net --pid --user --map-root-user --mount-proc?"),
        0,
    ),
    "strace": (program("text", "cCdfFhiknqrtTvVwxyYzZ a: b: e: E: I: o> O: p: P: s: S: u: U: X:"), 0),
    "ltrace": (program("text", "cCfhiLrStTvV a: A: D: e: F: l: n: o> p: s: u: w: x:"), 0),
    "catchsegv": (program("text", ""), 0),
    "systemd-run": (program("text", "dGPqrSt u: p: E: --user --scope --pty --wait --unit: --property:"), 0),
}
"""Wrappers with their flags, and the number of words between the flags and the command."""

_RUNNERS: dict[tuple[str, ...], Program] = {
    ("uv", "run"): program(
        "text", "q --with: --python: --project: --extra: --no-sync --frozen --isolated --all-extras"
    ),
    ("poetry", "run"): program("text", ""),
    ("pipenv", "run"): program("text", ""),
    ("hatch", "run"): program("text", ""),
    ("pdm", "run"): program("text", ""),
    ("rye", "run"): program("text", ""),
    ("bundle", "exec"): program("text", ""),
    ("npm", "exec"): program("text", "y --yes --no p: --package:"),
    ("pnpm", "exec"): program("text", "r"),
    ("pnpm", "dlx"): program("text", ""),
    ("yarn", "exec"): program("text", ""),
    ("yarn", "dlx"): program("text", ""),
    ("npx",): program("text", "yq p: --yes --no --no-install --package: --quiet"),
    ("uvx",): program("text", "q --from: --with: --python:"),
    ("pipx", "run"): program("text", "--spec:"),
    ("bunx",): program("text", ""),
}
"""Programs that run another program in a project's environment."""

_ENV = program("text", "i0v u: C: S: --ignore-environment --unset: --chdir: --split-string: --null --debug")
_XARGS = program(
    "text",
    "0oprtx a< d: E: e? I: i? L: l? n: P: s: --null --arg-file< --delimiter: --max-lines? --replace?"
    " --max-args: --max-procs: --no-run-if-empty --verbose --interactive --exit --max-chars: --open-tty",
)
_PARALLEL = program(
    "text",
    "kmnX j: a< N: P: I: --jobs: --keep-order --dry-run --halt: --bar --progress --eta --will-cite --colsep:",
)
_WATCH = program(
    "text", "bcdegptx n: --interval: --differences? --no-title --beep --errexit --chgexit --color --exec"
)
_SCRIPT = program("text", "aefq c: E: I> O> B> T> m: o: --command: --quiet --append --return --flush")
_FLOCK = program(
    "text", "enosuxFv c: E: w: --exclusive --shared --nonblock --unlock --wait: --timeout: --command: --close"
)
_SU = program("text", "lmfpP c: g: G: s: --command: --login --shell: --group:")
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")
_WITH_ASSIGNMENTS = ("sudo", "doas", "time", "coproc")
_TRACED = frozenset("time timeout nice stdbuf command builtin".split())


def is_transparent(name: str) -> bool:
    """Return whether a wrapper itself has no effect, so that only the wrapped command matters."""
    return name in _TRACED


def unwrap(name: str, fields: Sequence[Argument]) -> list[Inner]:
    """Return the commands that a program with these arguments would run; empty if none."""
    if name in SHELLS:
        return _shell(fields)
    if name in _PLAIN:
        if name == "command" and fields and fields[0].value in ("-v", "-V"):
            return []
        known, skipped = _PLAIN[name]
        inner = _after(name, fields, known, skipped=skipped)
        return _without_assignments(inner) if name in _WITH_ASSIGNMENTS else inner
    special = _SPECIAL.get(name)
    if special is not None:
        return special(fields)
    for length in (1, 2):
        key = (name, *(field.value or "" for field in fields[: length - 1]))
        if key in _RUNNERS:
            return _after(name, fields[length - 1 :], _RUNNERS[key])
    return []


def _split(fields: Sequence[Argument], known: Program) -> tuple[dict[str, Argument], int] | None:
    """Return the flags before the first operand, and its index; None when a flag is not known."""
    flags: dict[str, Argument] = {}
    index = 0
    while index < len(fields):
        value = fields[index].value
        if value is None and not fields[index].prefix.startswith("-") and fields[index].prefix:
            return flags, index
        if value is None:
            return None
        if value == "--":
            return flags, index + 1
        if not value.startswith("-") or value == "-":
            return flags, index
        index += 1
        if known.takes_numbers and value[1:].lstrip("-").isdigit():
            continue
        taken = _long(value, known, flags) if value.startswith("--") else _short(value, known, flags)
        if taken is None:
            return None
        if taken and index < len(fields):
            flags[taken] = fields[index]
            index += 1
    return flags, index


def _long(value: str, known: Program, flags: dict[str, Argument]) -> str | None:
    """Record a long flag; return its name if its value follows, "" if not, None when it is not known."""
    name, equals, given = value.partition("=")
    mark = known.flags.get(name)
    if mark is None:
        return None
    flags[name] = Argument(given, given)
    return "" if equals or mark in ("", "?") else name


def _short(value: str, known: Program, flags: dict[str, Argument]) -> str | None:
    for index in range(1, len(value)):
        name, rest = "-" + value[index], value[index + 1 :]
        mark = known.flags.get(name)
        if mark is None:
            return None
        flags[name] = Argument(rest, rest)
        if mark == "?" or (mark and rest):
            return ""
        if mark:
            return name
    return ""


def _unclear(name: str) -> list[Inner]:
    return [UnknownCommand(f"the program that {name} would run is unclear")]


def _after(name: str, fields: Sequence[Argument], known: Program, *, skipped: int = 0) -> list[Inner]:
    """Return the command that follows the flags of a wrapper and `skipped` more words."""
    split = _split(fields, known)
    if split is None:
        return _unclear(name)
    _, start = split
    between = fields[start : start + skipped]
    if any(field.value is None for field in between):
        return _unclear(name)
    rest = tuple(fields[start + skipped :])
    return [Argv(rest)] if rest else []


def _is_assignment(field: Argument) -> bool:
    return _ASSIGNMENT.match(field.source) is not None


def _without_assignments(inner: Sequence[Inner]) -> list[Inner]:
    kept: list[Inner] = []
    for item in inner:
        if isinstance(item, Argv):
            start = next((i for i, field in enumerate(item.fields) if not _is_assignment(field)), None)
            if start is not None:
                kept.append(Argv(item.fields[start:], folder=item.folder))
        else:
            kept.append(item)
    return kept


def _env(fields: Sequence[Argument]) -> list[Inner]:
    split = _split(fields, _ENV)
    if split is None:
        return _unclear("env")
    flags, start = split
    if fields[start : start + 1] and fields[start].value == "-":
        start += 1
    rest = tuple(fields[start:])
    text = flags.get("-S") or flags.get("--split-string")
    if text is not None:
        if text.value is None or any(field.value is None for field in rest):
            return _unclear("env")
        return _env_split(text.value, rest)
    folder = flags.get("-C") or flags.get("--chdir")
    return _without_assignments([Argv(rest, folder=folder)])


def _env_split(text: str, rest: Sequence[Argument]) -> list[Inner]:
    if set("\\$'\"") & set(text):
        return _unclear("env")
    return _env([*(Argument(word, word) for word in text.split()), *rest])


def _xargs(fields: Sequence[Argument]) -> list[Inner]:
    split = _split(fields, _XARGS)
    if split is None:
        return _unclear("xargs")
    rest = tuple(fields[split[1] :])
    return [Argv(rest, has_more=True)] if rest else []


def _parallel(fields: Sequence[Argument]) -> list[Inner]:
    split = _split(fields, _PARALLEL)
    words = [field.value for field in fields[split[1] :]] if split is not None else []
    end = next((i for i, word in enumerate(words) if word in (":::", "::::", ":::+", "::::+")), len(words))
    if not words[:end] or None in words[:end]:
        return _unclear("parallel")
    return [CommandText(" ".join(word for word in words[:end] if word is not None))]


def _joined(name: str, known: Program) -> Callable[[Sequence[Argument]], list[Inner]]:
    """Return an unwrapper for a command that passes its words to a shell as one text."""

    def unwrapper(fields: Sequence[Argument]) -> list[Inner]:
        split = _split(fields, known)
        if split is None:
            return _unclear(name)
        words = [field.value for field in fields[split[1] :]]
        if None in words:
            return _unclear(name)
        return [CommandText(" ".join(word for word in words if word is not None))] if words else []

    return unwrapper


def _with_text(name: str, known: Program, *, skipped: int) -> Callable[[Sequence[Argument]], list[Inner]]:
    """Return an unwrapper for a command that takes a command line with `-c`, before or after operands."""

    def unwrapper(fields: Sequence[Argument]) -> list[Inner]:
        split = _split(fields, known)
        if split is None:
            return _unclear(name)
        flags, start = split
        text = flags.get("-c") or flags.get("--command")
        rest = fields[start + skipped :]
        if text is None and rest and rest[0].value in ("-c", "--command"):
            text, rest = (rest[1] if len(rest) > 1 else Argument("")), ()
        if text is None:
            return [Argv(tuple(rest))] if rest and skipped and name == "flock" else []
        return [CommandText(text.value)] if text.value is not None else _unclear(name)

    return unwrapper


def _find(fields: Sequence[Argument]) -> list[Inner]:
    inner: list[Inner] = []
    index = 0
    while index < len(fields):
        if fields[index].value in ("-exec", "-execdir", "-ok", "-okdir"):
            stop = next((i for i in range(index, len(fields)) if fields[i].value in (";", "+")), len(fields))
            inner.append(Argv(tuple(fields[index + 1 : stop]), has_more=True))
            index = stop
        index += 1
    return inner


def _shell(fields: Sequence[Argument]) -> list[Inner]:
    """Return the command line that a shell gets with `-c`, whatever other flags are present."""
    takes_text = False
    index = 0
    while index < len(fields):
        value = fields[index].value
        if value is None:
            return [UnknownCommand("the commands of the shell cannot be known before it runs")]
        if value in ("--rcfile", "--init-file", "-o", "+o", "-O", "+O"):
            index += 1
        elif value in ("-", "--"):
            index += 1
            break
        elif not value.startswith(("-", "+")):
            break
        elif not value.startswith("--"):
            takes_text = takes_text or "c" in value
            index += value.endswith(("o", "O"))
        index += 1
    if not takes_text:
        return []
    text = fields[index].value if index < len(fields) else None
    return (
        [CommandText(text)]
        if text is not None
        else [UnknownCommand("the commands of the shell cannot be known before it runs")]
    )


def _eval(fields: Sequence[Argument]) -> list[Inner]:
    words = [field.value for field in fields]
    if None in words:
        return [UnknownCommand("the commands of eval cannot be known before it runs")]
    words = words[1:] if words[:1] == ["--"] else words
    return [CommandText(" ".join(word for word in words if word is not None))] if words else []


def _trap(fields: Sequence[Argument]) -> list[Inner]:
    operands = [field for field in fields if field.value not in ("-l", "-p", "--")]
    if len(operands) < 2 or operands[0].value in ("", "-"):
        return []
    if operands[0].value is None:
        return [UnknownCommand("the commands of trap cannot be known before it runs")]
    return [CommandText(operands[0].value)]


def _callback(fields: Sequence[Argument]) -> list[Inner]:
    if any((field.value or field.prefix).startswith("-") and "C" in field.source for field in fields):
        return [UnknownCommand("it runs a command for each line")]
    return []


_SPECIAL: dict[str, Callable[[Sequence[Argument]], list[Inner]]] = {
    "env": _env,
    "xargs": _xargs,
    "parallel": _parallel,
    "watch": _joined("watch", _WATCH),
    "find": _find,
    "eval": _eval,
    "trap": _trap,
    "mapfile": _callback,
    "readarray": _callback,
    "script": _with_text("script", _SCRIPT, skipped=0),
    "flock": _with_text("flock", _FLOCK, skipped=1),
    "su": _with_text("su", _SU, skipped=1),
    "runuser": _with_text("runuser", _SU, skipped=1),
}
