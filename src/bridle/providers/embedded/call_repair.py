"""Checks the calls that the embedded model writes, and repairs what a small model copies wrongly.

A path is compared with the words of the user and the names that tools have shown; the lines of an edit with
the file as it was read. A command that deletes or moves needs a name that is known exactly.
"""

import re
import shlex
from collections.abc import Collection, Iterator, Sequence
from difflib import get_close_matches
from typing import Any

from msgspec import Struct

from bridle.core.messages import Message, ToolResult
from bridle.providers.embedded.file_view import FileView, LineEdit, edit_args, parse_lines
from bridle.providers.embedded.trained_messages import (
    CALL_END,
    CALL_START,
    EDITS,
    OPTIONAL,
    TOOLS,
    Replay,
    WrittenCall,
)

NOT_SURE = "I am not sure what you mean, so I changed nothing."
CLOSE = 0.8
_PATH = re.compile(r"[\w./~-]*\.\w+|[\w.~-]+/[\w./~-]*")
_BEFORE, _AFTER = "`'\"“”(", "`'\"“”.,;:!?()"  # what may surround a name in a sentence
_PROSE = (".txt", ".md", ".rst", ".tex", ".html", ".csv")
_NUMBER = re.compile(r"\d+")
_REMOVERS = ("rm", "mv", "cp", "rmdir", "unlink", "shred", "truncate")
_GIT_CHANGES = ("commit", "reset", "checkout", "restore", "clean", "stash", "push", "merge", "rebase")
_QUESTION = re.compile(
    r"\W*(what|which|where|who|whose|when|why|how|is|are|was|does|do|did|has|have)\b", re.I
)


def parse_call(text: str, tools: Collection[str]) -> WrittenCall | None:
    """Return the call in a text that starts with `<tool_call>`; None if it is malformed."""
    body = text.strip().removeprefix(CALL_START).partition(CALL_END)[0].strip(" ").removesuffix("\n")
    name, *args = body.split("\n", 1)
    if name.strip() not in tools:
        return None
    name = name.strip()
    wanted = TOOLS[name]
    values = args[0].split("\n", len(wanted) - 1) if args else []
    if len(values) < len(wanted) - sum(key in OPTIONAL for key in wanted):
        return None
    call = WrittenCall(name, dict(zip(wanted, values, strict=False)))
    is_edit = name in ("set_lines", "insert_after", "delete_lines")
    return None if is_edit and parse_lines(call.args[wanted[1]]) is None else call


class KnownNames(Struct, frozen=True):
    """What a call is checked against."""

    said: frozenset[str]
    """Words of the user that look like paths, and all other words."""
    names: frozenset[str]
    """Paths of the user's words and of the results of tools."""
    views: dict[str, FileView]
    """Each file as it was shown since the last prompt."""
    done: tuple[WrittenCall, ...]
    """The calls since the last prompt."""
    prompt: str = ""
    """The last prompt."""


def read_conversation(messages: Sequence[Message]) -> KnownNames:
    """Return what is known from a conversation."""
    said: set[str] = set()
    names: set[str] = set()
    done: list[WrittenCall] = []
    prompt = ""
    replay = Replay()
    for step in replay.read(messages):
        if step.prompt:
            done.clear()
            prompt = step.prompt
            said |= {word.lstrip(_BEFORE).rstrip(_AFTER) for word in prompt.split()}
            names |= {found.rstrip(".") for found in _PATH.findall(prompt)}
        if step.call and step.result:
            names |= set(_shown_names(step.result))
            done.append(step.call)
            if step.call.name == "write_file" and not step.result.is_error:
                names.add(step.call.args.get("path", ""))
    return KnownNames(frozenset(said), frozenset(filter(None, names)), replay.views, tuple(done), prompt)


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
    if call.name in ("write_file", *EDITS) and _QUESTION.match(known.prompt):
        return None
    match call.name:
        case "bash":
            command = _python(args["command"])
            if not _is_safe(command, known):
                return None
            args["command"] = _with_known_paths(command, known.names)
        case "read_file":
            args["path"] = repair_path(args["path"], known.names)
        case "write_file":
            args["path"] = _new_path(args["path"], known)
        case "grep":
            if not _is_expression(args["pattern"]):
                args["pattern"] = re.escape(args["pattern"])
        case _ if call.name in EDITS:
            args["path"] = path = repair_path(args["path"], known.names)
            if path not in known.views:  # the model was trained to read before it edits
                return WrittenCall("read_file", {"path": path})
        case _:
            pass
    return WrittenCall(call.name, args)


def real_call(call: WrittenCall, known: KnownNames) -> tuple[str, dict[str, Any]] | None:
    """Return the name and arguments for the real tool; None if an edit changes nothing."""
    args: dict[str, Any] = {key: value for key, value in call.args.items() if value or key not in OPTIONAL}
    if call.name == "write_file":
        return call.name, args | {"content": f"{args['content']}\n" if args["content"] else ""}
    if call.name not in EDITS:
        return call.name, args
    view = known.views[args["path"]]
    if call.name == "replace_all":
        replaced = _replacement(view, **call.args)
        return ("edit_file", {"path": args["path"], **replaced}) if replaced else None
    if not view.rows and call.name == "insert_after":
        return "write_file", {"path": args["path"], "content": f"{args['text']}\n"}
    edited = edit_args(view, _line_edit(call))
    if not edited or edited["old_str"] == edited["new_str"]:
        return None
    return "edit_file", {"path": args["path"], **edited}


def _replacement(view: FileView, path: str, old: str, new: str) -> dict[str, Any] | None:
    """Return what replaces a text everywhere; in code, a name is not replaced inside of other names."""
    if view.is_whole and old not in view.text:
        return None
    word = re.compile(rf"(?<!\w){re.escape(old)}(?!\w)")
    rows = [row for row in view.rows if word.search(row.text)]
    is_part_of_names = rows and len(word.findall(view.text)) < view.text.count(old)
    if not view.is_whole or not is_part_of_names or path.lower().endswith(_PROSE) or "\n" in new:
        return {"old_str": old, "new_str": new}
    first, last = rows[0].number, rows[-1].number
    lines = (word.sub(lambda _: new, row.text) for row in view.rows if first <= row.number <= last)
    return edit_args(view, LineEdit(first, last, tuple(lines)))


def _line_edit(call: WrittenCall) -> LineEdit:
    first, last = parse_lines(call.args[TOOLS[call.name][1]]) or (0, 0)
    if call.name == "delete_lines":
        return LineEdit(first, last, ())
    lines = tuple(call.args["text"].split("\n"))
    return LineEdit(last + 1, last, lines) if call.name == "insert_after" else LineEdit(first, last, lines)


def _new_path(path: str, known: KnownNames) -> str:
    """Return the path of a file to write: one that the user typed, if this one was copied wrongly."""
    typed = known.names & known.said
    is_typed = path.rpartition("/")[2] in {name.rpartition("/")[2] for name in typed}
    return path if is_typed else repair_path(path, typed)


def repair_path(path: str, names: Collection[str]) -> str:
    """Return the known path that is meant; the path itself if none is close. Numbers are never changed."""
    plain = path.removeprefix("./")
    if path in names or plain in names:
        return path if path in names else plain
    base = plain.rpartition("/")[2]
    same = [name for name in names if name.rpartition("/")[2] == base]
    if len(same) == 1:
        return same[0]
    numbers = _NUMBER.findall(plain)
    likely = sorted(name for name in names if _NUMBER.findall(name) == numbers)
    near = get_close_matches(plain, likely, n=1, cutoff=CLOSE)
    return near[0] if near else path


def _is_expression(pattern: str) -> bool:
    try:
        re.compile(pattern)
    except re.error:
        return False
    return not pattern.endswith("()")


def _python(command: str) -> str:
    """Return a command that runs Python under the name that every system has."""
    return f"python3 {command[7:]}" if command.startswith("python ") else command


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
