"""Checks the calls that the embedded model writes, and repairs what a small model copies wrongly.

A path is compared with the words of the user and the names that tools have shown; the old text of an edit
with the file as it was read. A command that deletes or moves needs a name that is known exactly.
"""

import json
import re
import shlex
import shutil
from collections.abc import Collection, Iterator, Sequence
from difflib import get_close_matches
from typing import Any

from msgspec import Struct

from bridle.core.messages import Message, ToolCall, ToolResult
from bridle.providers.embedded.trained_messages import CALL_END, CALL_START, OPTIONAL, TOOLS

NOT_SURE = "I am not sure what you mean, so I changed nothing."
CLOSE = 0.8
_PATH = re.compile(r"[\w./~-]*\.\w+|[\w.~-]+/[\w./~-]*")
_NUMBER = re.compile(r"^ *\d+: ", re.MULTILINE)
_REMOVERS = ("rm", "mv", "cp", "rmdir", "unlink", "shred", "truncate")
_GIT_CHANGES = ("commit", "reset", "checkout", "restore", "clean", "stash", "push", "merge", "rebase")
_QUESTION = re.compile(
    r"\W*(what|which|where|who|whose|when|why|how|is|are|was|does|do|did|has|have)\b", re.I
)
_TOKEN = re.compile(r"\w+")
_PLACE = re.compile(r"\b(first|last|second|third|line|row|entry|it|that|them|again|top|bottom|end)\b")


class WrittenCall(Struct, frozen=True):
    """A call that the model wrote: a tool it may call, with all required arguments as text."""

    name: str
    args: dict[str, str]


def parse_call(text: str, tools: Collection[str]) -> WrittenCall | None:
    """Return the call in a text that starts with `<tool_call>`; None if it is malformed."""
    body = text.strip().removeprefix(CALL_START).partition(CALL_END)[0].strip()
    try:
        found = json.loads(body, strict=False)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict) or found.get("name") not in tools:
        return None
    name, args = found["name"], found.get("arguments")
    if not isinstance(args, dict):
        return None
    wanted = {key: value for key, value in args.items() if key in TOOLS[name] and isinstance(value, str)}
    if any(key not in wanted and key not in OPTIONAL for key in TOOLS[name]):
        return None
    return WrittenCall(name, wanted)


class KnownNames(Struct, frozen=True):
    """What a call is checked against."""

    said: frozenset[str]
    """Words of the user that look like paths, and all other words."""
    names: frozenset[str]
    """Paths of the user's words and of the results of tools."""
    read: dict[str, str]
    """The text of each file as it was read last, without line numbers."""
    done: tuple[WrittenCall, ...]
    """The calls since the last prompt."""
    prompt: str = ""
    """The last prompt."""


def read_conversation(messages: Sequence[Message]) -> KnownNames:
    """Return what is known from a conversation."""
    said: set[str] = set()
    names: set[str] = set()
    read: dict[str, str] = {}
    done: list[WrittenCall] = []
    prompt = ""
    calls = {call.id: call for message in messages for call in message.calls}
    for message in messages:
        if message.role == "user":
            done.clear()
            prompt = message.text
            words = message.text.split()
            said |= {word.strip("`'\"“”.,;:!?()") for word in words}
            names |= {found.strip(".") for found in _PATH.findall(message.text)}
        for part in message.parts:
            if isinstance(part, ToolResult):
                call = calls.get(part.call_id) or ToolCall(part.call_id, part.name)
                names |= set(_shown_names(part))
                done.append(WrittenCall(call.name, {key: str(value) for key, value in call.args.items()}))
                if not part.is_error:
                    _keep_text(read, done[-1], part.output)
    return KnownNames(frozenset(said), frozenset(filter(None, names)), read, tuple(done), prompt)


def _keep_text(read: dict[str, str], call: WrittenCall, output: str) -> None:
    """Keep the text of a file after a call that read or changed it."""
    path = call.args.get("path", "")
    if call.name == "read_file":
        read[path] = _NUMBER.sub("", output)
    elif call.name == "write_file":
        read[path] = call.args.get("content", "").removesuffix("\n")
    elif call.name == "edit_file" and path in read:
        read[path] = read[path].replace(call.args.get("old_str", ""), call.args.get("new_str", ""))


def _shown_names(result: ToolResult) -> Iterator[str]:
    if result.is_error:
        yield from re.findall(r"did you mean (\S+?)\?", result.output)
    elif result.name == "glob":
        yield from result.output.split("\n")
    elif result.name == "grep":
        yield from (group.partition("\n")[0] for group in result.output.split("\n\n"))


def repair_call(call: WrittenCall, known: KnownNames) -> WrittenCall | None:
    """Return the call with what it copied wrongly put right; None if it would change an unknown file."""
    args = dict(call.args)
    if call.name in ("write_file", "edit_file") and _QUESTION.match(known.prompt):
        return None
    match call.name:
        case "bash":
            command = _python(args["command"])
            if not _is_safe(command, known):
                return None
            args["command"] = _with_known_paths(command, known.names)
        case "read_file" | "write_file":
            args["path"] = repair_path(args["path"], known.names)
        case "edit_file":
            args["path"] = path = repair_path(args["path"], known.names)
            if path not in known.read:  # the model was trained to read before it edits
                return WrittenCall("read_file", {"path": path})
            args |= _repair_edit(args["old_str"], args["new_str"], known.read[path])
            if not _is_wanted(args["old_str"], args["new_str"], known):
                return None
        case "grep":
            if not _is_expression(args["pattern"]):
                args["pattern"] = re.escape(args["pattern"])
        case _:
            pass
    return WrittenCall(call.name, args)


def call_args(call: WrittenCall, known: KnownNames) -> dict[str, Any]:
    """Return the arguments for the real tool."""
    args: dict[str, Any] = dict(call.args)
    if call.name == "edit_file" and (number := _line_occurrence(call.args["old_str"], known, call)):
        args["occurrence"] = number
    return args


def repair_path(path: str, names: Collection[str]) -> str:
    """Return the known path that is meant; the path itself if none is close."""
    plain = path.removeprefix("./")
    if path in names or plain in names:
        return path if path in names else plain
    base = plain.rpartition("/")[2]
    same = [name for name in names if name.rpartition("/")[2] == base]
    if len(same) == 1:
        return same[0]
    near = get_close_matches(plain, sorted(names), n=1, cutoff=CLOSE)
    return near[0] if near else path


def _repair_edit(old: str, new: str, text: str) -> dict[str, str]:
    """Return the arguments of an edit whose old text is in the file."""
    if old and old not in text and "\n" not in old:
        line = _closest_line(old, text)
        new, old = (_same_change(old, new, line), line) if line else (new, old)
    if not new and old in text.split("\n"):
        old, new = _whole_line(old, text), ""
    return {"old_str": old, "new_str": new}


def _is_wanted(old: str, new: str, known: KnownNames) -> bool:
    """Return whether an edit has to do with what the user said: it shares a word, or corrects one."""
    before, after = set(_TOKEN.findall(old.lower())), set(_TOKEN.findall(new.lower()))
    said = set(_TOKEN.findall(" ".join(known.said).lower()))
    changed = before ^ after
    if not changed or changed & said or _PLACE.search(" ".join(known.said).lower()):
        return True
    return any(get_close_matches(word, before - after, n=1, cutoff=CLOSE - 0.1) for word in after - before)


def _closest_line(old: str, text: str) -> str:
    near = get_close_matches(old, [line for line in text.split("\n") if line.strip()], n=1, cutoff=CLOSE)
    return near[0] if near else ""


def _same_change(old: str, new: str, line: str) -> str:
    """Return a line with the change from `old` to `new` made in it; `new` if that is not possible."""
    start = _common_length(old, new)
    end = _common_length(old[start:][::-1], new[start:][::-1])
    before, after = old[start : len(old) - end], new[start : len(new) - end]
    return line.replace(before, after) if before and line.count(before) == 1 else new


def _common_length(one: str, other: str) -> int:
    """Return how many characters two texts have in common at their start."""
    differ = (at for at, (here, there) in enumerate(zip(one, other, strict=False)) if here != there)
    return next(differ, min(len(one), len(other)))


def _whole_line(line: str, text: str) -> str:
    """Return a line with the line break that goes with it when it is deleted."""
    return f"{line}\n" if f"{line}\n" in text else f"\n{line}" if f"\n{line}" in text else line


def _line_occurrence(old: str, known: KnownNames, call: WrittenCall) -> int:
    """Return which occurrence of a text is a whole line, if it is also found inside other lines; else 0."""
    text = known.read.get(call.args["path"], "")
    lines = text.split("\n")
    if "\n" in old or lines.count(old) != 1 or text.count(old) < 2:
        return 0
    before = sum(len(line) + 1 for line in lines[: lines.index(old)])
    return text[:before].count(old) + 1


def _is_expression(pattern: str) -> bool:
    try:
        re.compile(pattern)
    except re.error:
        return False
    return not pattern.endswith("()")


def _python(command: str) -> str:
    """Return a command with the name under which Python is installed."""
    if command.startswith("python ") and shutil.which("python") is None:
        return command.replace("python", "python3", 1)
    return command


def _with_known_paths(command: str, names: Collection[str]) -> str:
    program, *rest = command.split(" ")
    if program not in ("python", "python3", "sh", "bash", "node", "wc", "cat"):
        return command
    return " ".join(
        [program, *(repair_path(word, names) if _PATH.fullmatch(word) else word for word in rest)]
    )


def _is_safe(command: str, known: KnownNames) -> bool:
    """Return whether a command deletes and moves only what the conversation names."""
    try:
        words = shlex.split(command) or [""]
    except ValueError:
        return False
    said = {word.lower() for word in known.said}
    changes = {word for word in words if word in _GIT_CHANGES} if "git" in words else set()
    if changes and not changes & said:
        return False
    if not any(word.rpartition("/")[2] in _REMOVERS for word in words):
        return True
    if any(mark in command for mark in ("*", "~", "$", "`", "..")):
        return False
    wanted = [word for word in words[1:] if not word.startswith("-")]
    wanted = wanted[:-1] if words[0] in ("mv", "cp") else wanted
    return bool(wanted) and all(word.rstrip("/") in known.names | known.said for word in wanted)
