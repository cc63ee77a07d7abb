"""The conversation as the adapter was trained on it: a short system text, calls and results in fixed shapes.

```
system     You are Bridle, … Tools: glob, read_file, …
user       the port should be 90
assistant  <tool_call>read_file ⏎ app.toml ⏎ </tool_call>
user       <tool_response> ⏎ 1: port = 80 ⏎ </tool_response>
assistant  <tool_call>set_lines ⏎ app.toml ⏎ 1 ⏎ port = 90 ⏎ </tool_call>
user       <tool_response> ⏎ Done. ⏎ </tool_response>
assistant  Changed the port from 80 to 90 in app.toml.
```

A call is a name and its arguments, one on each line; the last argument may have several lines. Nothing is
escaped: a model of this size copies text well but quotes it badly. The request's own system text and context
files are left out: the model was trained without them.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence

from msgspec import Struct

from bridle.core.messages import Message, Text, ToolCall, ToolResult, user_message
from bridle.providers.embedded.file_view import (
    FileLine,
    FileView,
    format_lines,
    line_edit,
    view_output,
    view_text,
)

CALL_START, CALL_END = "<tool_call>", "</tool_call>"
RESULT_START, RESULT_END = "<tool_response>\n", "\n</tool_response>"

TOOLS = {
    "glob": ("pattern",),
    "read_file": ("path",),
    "grep": ("pattern", "include"),
    "write_file": ("path", "content"),
    "set_lines": ("path", "lines", "text"),
    "insert_after": ("path", "line", "text"),
    "delete_lines": ("path", "lines"),
    "replace_all": ("path", "old", "new"),
    "bash": ("command",),
}
"""The tools that the model was trained to call, with their arguments."""
EDITS = ("set_lines", "insert_after", "delete_lines", "replace_all")
"""The trained tools that are calls of edit_file."""
OPTIONAL = ("include",)

MAX_CHARS = 6000
"""Of all messages; about 2,000 tokens. Older ones are dropped."""
MAX_PROMPT_CHARS = 3000
MAX_RESULT_CHARS = 2400
MAX_FILLER_CHARS = 1200
"""Up to here, lines are shown that have nothing to do with the prompt."""
MAX_ERROR_CHARS = 300
NO_PROMPT = "Hello."
REFUSED = "The user refused this call."
EDITED = "Done."
TITLE_SYSTEM = "Write a title of at most six words."
MAX_TITLE_PROMPT_CHARS = 800
MAX_STEM = 5
NO_OUTPUT = "(no output)"
_NUMBERED = re.compile(r"^ *(\d+: )", re.MULTILINE)
_MATCH = re.compile(r"(\d+)[:-] (.*)", re.DOTALL)
_WORD = re.compile(r"[^\W\d_]{3,}|\d+")
_COMMON = frozenset("the and are for file files from into line lines that this what which with you".split())


class WrittenCall(Struct, frozen=True):
    """A call as the model writes it: a trained tool, and its arguments as text."""

    name: str
    args: dict[str, str]


class Exchange(Struct, frozen=True):
    """A step of a conversation: what a person said, what the model said, or a call and its result."""

    prompt: str = ""
    words: str = ""
    call: WrittenCall | None = None
    result: ToolResult | None = None


class Replay:
    """Reads a conversation from its start; knows each file as it was shown since the last prompt."""

    def __init__(self) -> None:
        self.views: dict[str, FileView] = {}

    def read(self, messages: Sequence[Message]) -> Iterator[Exchange]:
        """Yield the steps in order; `views` is then what the model knows after each."""
        calls = {call.id: call for message in messages for call in message.calls}
        for message in messages:
            if message.role == "user":
                self.views.clear()
                yield Exchange(prompt=message.text.strip() or NO_PROMPT)
            elif message.role == "assistant" and message.text.strip():
                yield Exchange(words=message.text)
            for part in message.parts:
                if isinstance(part, ToolResult):
                    call = calls.get(part.call_id) or ToolCall(part.call_id, part.name)
                    written = written_call(call, self.views)
                    if not part.is_error:
                        update_views(self.views, call, part.output)
                    yield Exchange(call=written, result=part)


def update_views(views: dict[str, FileView], call: ToolCall, output: str) -> None:
    """Note what a call showed or changed."""
    path = str(call.args.get("path", ""))
    if call.name == "read_file":
        views[path] = view_output(output)
    elif call.name == "write_file":
        views[path] = view_text(str(call.args.get("content", "")))
    elif call.name == "edit_file" and path in views:
        views[path] = _edited(views[path], call)


def _edited(view: FileView, call: ToolCall) -> FileView:
    """Return a view after a call of edit_file."""
    old, new = str(call.args.get("old_str", "")), str(call.args.get("new_str", ""))
    if edit := line_edit(view, old, new, _number(call.args.get("occurrence"))):
        return view.changed(edit)
    if "\n" in old or not old:
        return view_text(view.text.replace(old, new)) if old else view
    return FileView(tuple(_replaced(view, old, new)), view.is_whole)


def _replaced(view: FileView, old: str, new: str) -> Iterator[FileLine]:
    for row in view.rows:
        first, *more = row.text.replace(old, new).split("\n")
        yield FileLine(row.number, first)
        yield from (FileLine(0, line) for line in more)


def written_call(call: ToolCall, views: dict[str, FileView]) -> WrittenCall:
    """Return a call of any model in the form that this model writes."""
    args = {key: str(value) for key, value in call.args.items()}
    if call.name == "edit_file":
        return _written_edit(call, args, views)
    if call.name == "write_file":
        args["content"] = args.get("content", "").removesuffix("\n")
    return WrittenCall(call.name, args)


def _written_edit(call: ToolCall, args: dict[str, str], views: dict[str, FileView]) -> WrittenCall:
    path, old, new = args.get("path", ""), args.get("old_str", ""), args.get("new_str", "")
    view = views.get(path)
    edit = line_edit(view, old, new, _number(call.args.get("occurrence"))) if view else None
    if edit is None:
        return WrittenCall("replace_all", {"path": path, "old": old, "new": new})
    text = "\n".join(edit.lines)
    if edit.inserts:
        return WrittenCall("insert_after", {"path": path, "line": str(edit.last), "text": text})
    lines = format_lines(edit.first, edit.last)
    if not edit.lines:
        return WrittenCall("delete_lines", {"path": path, "lines": lines})
    return WrittenCall("set_lines", {"path": path, "lines": lines, "text": text})


def _number(value: object) -> int:
    return value if isinstance(value, int) else 0


def offered_tools(names: Collection[str]) -> tuple[str, ...]:
    """Return the trained tools that an agent with these real tools has."""
    return tuple(name for name in TOOLS if (name in names or (name in EDITS and "edit_file" in names)))


def system_text(tools: Collection[str]) -> str:
    """Return the system text that names these tools."""
    if not tools:
        return "You are Bridle, a small model on the user's computer. Answer in a few words."
    return f"You are Bridle, a small model that works in the user's folder. Tools: {', '.join(tools)}."


def title_prompt(text: str) -> Message:
    """Return the message of a request for a title of a conversation that begins with a text."""
    return user_message(shorten(text.strip(), MAX_TITLE_PROMPT_CHARS) or NO_PROMPT)


def trained_messages(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Return the newest messages that fit, in the trained shapes; the last prompt is always kept."""
    shaped = list(_shaped(messages))
    last_prompt = max((at for at, (_, is_prompt) in enumerate(shaped) if is_prompt), default=0)
    kept: list[Message] = []
    left = MAX_CHARS
    for at in range(len(shaped) - 1, -1, -1):
        message = shaped[at][0]
        left -= len(message.text)
        if left < 0 and kept and at != last_prompt:
            if at > last_prompt:
                continue
            break
        kept.append(message)
    kept.reverse()
    while len(kept) > 1 and not _is_prompt(kept[0]):
        kept.pop(0)
    return tuple(kept) or (user_message(NO_PROMPT),)


def _is_prompt(message: Message) -> bool:
    return message.role == "user" and not message.text.startswith(RESULT_START)


def _shaped(messages: Sequence[Message]) -> Iterator[tuple[Message, bool]]:
    """Yield each message and whether it is a prompt."""
    prompt = ""
    for step in Replay().read(messages):
        if step.prompt:
            prompt = step.prompt
            yield user_message(shorten(prompt, MAX_PROMPT_CHARS)), True
        if step.words:
            yield _assistant_message(shorten(step.words, MAX_RESULT_CHARS)), False
        if step.call and step.result:
            yield _assistant_message(call_text(step.call)), False
            yield user_message(f"{RESULT_START}{result_text(step.result, prompt)}{RESULT_END}"), False


def _assistant_message(text: str) -> Message:
    return Message("assistant", (Text(text),))


def call_text(call: WrittenCall) -> str:
    """Return a call as the model writes it."""
    known = TOOLS.get(call.name, tuple(call.args))
    args = [shorten(call.args[key], MAX_RESULT_CHARS) for key in known if key in call.args]
    return "\n".join([CALL_START + call.name, *args, CALL_END])


def result_text(result: ToolResult, prompt: str) -> str:
    """Return the result of a call in the shape that the model was trained on."""
    text = result.output.strip("\n")
    if result.is_error and text.startswith("denied"):
        return REFUSED
    if result.is_error and result.name != "bash":
        return shorten(text, MAX_ERROR_CHARS)
    match result.name:
        case "glob":
            text = "\n".join(sorted(_without_notes(text))) if text != "no files match" else "No files found"
        case "grep":
            text = _matches(text) or "No matches found"
        case "read_file":
            return relevant_lines(_NUMBERED.sub(r"\1", text), prompt)
        case "write_file" | "edit_file":
            text = EDITED
        case "bash":
            text = NO_OUTPUT if text == "[no output]" else text
        case _:
            pass
    return shorten(text, MAX_RESULT_CHARS)


def _without_notes(text: str) -> list[str]:
    return [line for line in text.split("\n") if not (line.startswith("[") and line.endswith("]"))]


def _matches(text: str) -> str:
    """Return `path:12: text` for each match below the name of its file."""
    found = []
    for group in text.split("\n\n"):
        path, *lines = group.split("\n")
        found += [f"{path}:{match[1]}: {match[2]}" for line in lines if (match := _MATCH.fullmatch(line))]
    return "\n".join(found)


def relevant_lines(text: str, prompt: str) -> str:
    """Return a text that fits: its ends, lines with rare words of the prompt, and the lines beside those."""
    if len(text) <= MAX_RESULT_CHARS:
        return text
    lines = text.split("\n")
    relevant, rest = _by_relevance(lines, prompt)
    chosen: set[int] = set()
    used = 0
    for places, limit in (
        ([*range(min(3, len(lines))), len(lines) - 1, *relevant], MAX_RESULT_CHARS),
        (rest, MAX_FILLER_CHARS),
    ):
        for at in places:
            if at not in chosen and used + len(lines[at]) < limit:
                chosen.add(at)
                used += len(lines[at]) + 1
    return "\n".join(lines[at] for at in sorted(chosen)) or shorten(text, MAX_RESULT_CHARS)


def _by_relevance(lines: Sequence[str], prompt: str) -> tuple[list[int], list[int]]:
    """Return the places of lines that fit the prompt, each with its neighbours, and those of the others."""
    words = _stems(prompt)
    shared = [words & _stems(line) for line in lines]
    counts = Counter(word for found in shared for word in found)
    scores = [sum(1 / counts[word] for word in found) for found in shared]
    best = max(scores)
    relevant: list[int] = []
    rest: list[int] = []
    for at in sorted(range(len(lines)), key=lambda at: -scores[at]):
        if best and scores[at] >= best / 4:
            beside = (at, at - 1, at + 1, at - 2, at + 2)
            relevant += [near for near in beside if 0 <= near < len(lines)]
        else:
            rest.append(at)
    return relevant, rest


def _stems(text: str) -> set[str]:
    """Return the beginnings of the words of a text: a plural shares it with its singular."""
    return {word.lower()[:MAX_STEM] for word in _WORD.findall(text)} - _COMMON


def shorten(text: str, limit: int) -> str:
    """Return a text of at most about `limit` characters: its start and its end."""
    if len(text) <= limit:
        return text
    return f"{text[: limit * 2 // 3]}\n…\n{text[-limit // 3 :]}"
