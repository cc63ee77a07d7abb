"""The conversation as the adapter was trained on it: a short system text, and results in fixed shapes.

```
system     You are Bridle, … Tools: glob(pattern): find files …
user       fix the port in app.toml
assistant  <tool_call>{"name": "read_file", "arguments": {"path": "app.toml"}}</tool_call>
user       <tool_response> ⏎ 1: port = 80 ⏎ </tool_response>
assistant  The port is 80.
```

The request's own system text and context files are left out: the model was trained without them.
"""

import json
import re
from collections.abc import Collection, Iterator, Sequence
from typing import Any

from bridle.core.messages import Message, Text, ToolCall, ToolResult, user_message

CALL_START, CALL_END = "<tool_call>", "</tool_call>"
RESULT_START, RESULT_END = "<tool_response>\n", "\n</tool_response>"

TOOLS = {
    "glob": ("pattern",),
    "read_file": ("path",),
    "grep": ("pattern", "include"),
    "write_file": ("path", "content"),
    "edit_file": ("path", "old_str", "new_str"),
    "bash": ("command",),
}
"""The tools that the model was trained to call, with their arguments."""
OPTIONAL = ("include",)

_PURPOSES = {
    "glob": "find files",
    "read_file": "show a file",
    "grep": "search in files",
    "write_file": "create a file",
    "edit_file": "replace text",
    "bash": "run a command",
}
MAX_CHARS = 6000
"""Of all messages; about 2,000 tokens. Older ones are dropped."""
MAX_PROMPT_CHARS = 3000
MAX_RESULT_CHARS = 2400
MAX_ERROR_CHARS = 300
NO_PROMPT = "Hello."
REFUSED = "The user refused this call."
_NUMBERED = re.compile(r"^ *(\d+: )", re.MULTILINE)
_MATCH = re.compile(r"(\d+)[:-] (.*)", re.DOTALL)
_WORD = re.compile(r"\w{3,}")
_COMMON = frozenset("the and are for file files from into line lines that this what which with you".split())


def system_text(tools: Collection[str]) -> str:
    """Return the system text that names these tools."""
    lines = ["You are Bridle, a small agent that works in the user's folder."]
    shown = [f"{name}({', '.join(args)}): {_PURPOSES[name]}" for name, args in TOOLS.items() if name in tools]
    if not shown:
        return f"{lines[0]} Answer in a few words."
    how = f'To use one, answer {CALL_START}{{"name": "...", "arguments": {{...}}}}{CALL_END}.'
    return "\n".join([*lines, "Tools:", *shown, f"{how} Otherwise answer in a few words."])


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
    calls: dict[str, ToolCall] = {}
    prompt = ""
    for message in messages:
        if message.role == "user":
            prompt = message.text.strip()
            yield user_message(shorten(prompt, MAX_PROMPT_CHARS) or NO_PROMPT), True
        elif message.role == "assistant":
            if message.text.strip():
                yield Message("assistant", (Text(shorten(message.text, MAX_RESULT_CHARS)),)), False
            calls |= {call.id: call for call in message.calls}
        for part in message.parts:
            if isinstance(part, ToolResult):
                call = calls.get(part.call_id) or ToolCall(part.call_id, part.name)
                yield Message("assistant", (Text(call_text(call.name, call.args)),)), False
                text = result_text(part, prompt)
                yield user_message(f"{RESULT_START}{text}{RESULT_END}"), False


def call_text(name: str, args: dict[str, Any]) -> str:
    """Return a call as the model writes it."""
    known = TOOLS.get(name, tuple(args))
    shown = {key: shorten(str(args[key]), MAX_RESULT_CHARS) for key in known if key in args}
    call = json.dumps({"name": name, "arguments": shown}, ensure_ascii=False)
    return f"{CALL_START}{call}{CALL_END}"


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
        case "write_file":
            text = text.replace("Successfully wrote", "Wrote", 1)
        case "bash":
            text = "(no output)" if text == "[no output]" else text
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
    """Return a text that fits: its first and last lines, and those that share words with the prompt."""
    if len(text) <= MAX_RESULT_CHARS:
        return text
    lines = text.split("\n")
    words = {word.lower() for word in _WORD.findall(prompt)} - _COMMON
    scores = [len(words & {word.lower() for word in _WORD.findall(line)}) for line in lines]
    ends = [*range(min(3, len(lines))), len(lines) - 1]
    chosen: set[int] = set()
    left = MAX_RESULT_CHARS
    for at in [*ends, *sorted(range(len(lines)), key=lambda at: -scores[at])]:
        if at not in chosen and len(lines[at]) < left:
            chosen.add(at)
            left -= len(lines[at]) + 1
    return "\n".join(lines[at] for at in sorted(chosen)) or shorten(text, MAX_RESULT_CHARS)


def shorten(text: str, limit: int) -> str:
    """Return a text of at most about `limit` characters: its start and its end."""
    if len(text) <= limit:
        return text
    return f"{text[: limit * 2 // 3]}\n…\n{text[-limit // 3 :]}"
