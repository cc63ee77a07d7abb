"""Read Kontekst's session files: `<id>.jsonl`, one message per line, and `<id>.meta.json` next to it.

A file becomes the events of a session, in an order that any model accepts:

| in the file | in the session |
|---|---|
| results of one reply, one line each | one message, in the order of the calls, with the sum of their tokens |
| a call without a result | a result that says the call was never made |
| a user message between calls and results (a loaded skill) | the same message, after the results |
| a result without its call, an empty message | skipped and counted |
| an unknown role, a line that is not JSON | skipped and counted |
| `agent_name` of each line | the session's agent: from the meta file, or else from the newest line |

Only newlines end a line, so reading in chunks never joins two lines.
"""

import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from bridle.core.context import Counted
from bridle.core.ids import CallId, SessionId
from bridle.core.malformed import MALFORMED
from bridle.core.messages import Message, Text, ToolCall, ToolResult, user_message, with_unique_call_ids
from bridle.core.protocol import Event, MessageAdded, SessionCreated
from bridle.core.summary import title_from
from bridle.stores.batch_file import open_for_reading
from bridle.stores.record_lines import from_os_error

MAX_FILE_BYTES = 64 * 1024 * 1024  # of a longer file only the newest part is read
MAX_META_BYTES = 64 * 1024
MAX_TOKENS = 10**12
DEFAULT_AGENT = "default"
NEVER_MADE = "the run ended before this call was made"

NO_JSON = "not a line of JSON as Kontekst writes it"
NO_ROLE = "a role that is not user, assistant or tool"
NO_CALL = "a result without its call"
NO_WORDS = "a message with nothing in it"
TOO_LONG = "older than the newest 64 MiB"

_SESSION = ".jsonl"
_AGENT = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}")
_INSTRUCTIONS = re.compile(r"<project-instructions>\n.*?\n</project-instructions>\n\n", re.DOTALL)
_SKILL = re.compile(r"\[Skill: (?P<name>[^\]\n]+)\]\nBase path: [^\n]*\n\n.*?\n\n---\n\n", re.DOTALL)


class _Call(Struct):
    id: str = ""
    name: str = ""
    arguments: dict[str, Any] | None = None


class _Result(Struct):
    call_id: str = ""
    name: str = ""
    output: str = ""
    is_error: bool = False


class _Line(Struct):
    role: str = ""
    content: str | None = ""
    tool_calls: list[_Call] | None = None
    tool_result: _Result | None = None
    agent_name: str = ""
    tokens: int = 0


class _Meta(Struct):
    default_agent: str = ""


_line_decoder = msgspec.json.Decoder(_Line)
_meta_decoder = msgspec.json.Decoder(_Meta)


class KontekstConversation(Struct, frozen=True):
    """The messages read from lines of a file."""

    messages: tuple[Counted, ...] = ()
    agent: str = ""
    """The agent of the newest line that names one."""
    skipped: dict[str, int] = {}
    """Number of skipped lines by reason."""
    dates: tuple[int, ...] = ()
    """Dates of the session's start and of each message, in milliseconds since 1970, if known."""

    @property
    def added(self) -> list[Event]:
        """The events that add these messages to a session."""
        return [MessageAdded(item.message, "import", item.tokens) for item in self.messages]


class KontekstFile(Struct, frozen=True):
    """A session file, as it was when it was read."""

    conversation: KontekstConversation
    agent: str
    size_bytes: int
    """The file offset up to which it was read."""
    changed_at: int
    """The file's modification time, in milliseconds since 1970."""

    @property
    def dates(self) -> list[int]:
        """A date for each event: always the file's modification time, since lines carry no dates."""
        return [self.changed_at] * (1 + len(self.conversation.messages))

    def events(self, session: SessionId, cwd: str) -> list[Event]:
        """Return the events of a session with the file's full content."""
        title = next((title for item in self.conversation.messages if (title := _title(item.message))), "")
        return [SessionCreated(session, cwd, self.agent, title), *self.conversation.added]


def read_file(folder: Path, session: SessionId) -> KontekstFile | None:
    """Read a session; return None if it has no file or no messages. Blocks; raises StoreError."""
    path = session_path(folder, session)
    if not path.is_file():  # reading a pipe would never end
        return None
    try:
        with open_for_reading(path) as fd:
            if fd is None:
                return None
            status = os.fstat(fd)
            size = status.st_size
            start = max(0, size - MAX_FILE_BYTES)
            data = read_range(fd, start, size)
    except OSError as error:
        raise from_os_error(path, error) from error
    conversation = read_conversation(data, is_cut=start > 0)
    if not conversation.messages:
        return None
    agent = _read_agent(folder, session) or conversation.agent or DEFAULT_AGENT
    return KontekstFile(conversation, agent, start + len(data), status.st_mtime_ns // 1_000_000)


def read_conversation(data: bytes, *, is_cut: bool = False) -> KontekstConversation:
    """Decode lines of a session file; with `is_cut`, `data` starts in the middle of a line."""
    skipped: Counter[str] = Counter()
    if is_cut:
        skipped[TOO_LONG] += 1
        data = data.partition(b"\n")[2]
    lines = list(_decoded(data, skipped))
    told = _ConversationBuilder(skipped)
    for line in lines:
        told.add(line)
    told.settle()
    agents = (line.agent_name for line in reversed(lines) if _AGENT.fullmatch(line.agent_name))
    return KontekstConversation(tuple(told.messages), next(agents, ""), dict(skipped))


def session_path(folder: Path, session: SessionId) -> Path:
    """Return the path of a session's messages."""
    return folder / f"{session}{_SESSION}"


def meta_path(folder: Path, session: SessionId) -> Path:
    """Return the path of the file that names a session's agent."""
    return folder / f"{session}.meta.json"


def read_range(fd: int, start: int, stop: int) -> bytes:
    """Return the bytes between two offsets, fewer if the file ends before; raises OSError."""
    pieces = []
    while start < stop and (piece := os.pread(fd, stop - start, start)):
        pieces.append(piece)
        start += len(piece)
    return b"".join(pieces)


def _decoded(data: bytes, skipped: Counter[str]) -> Iterator[_Line]:
    for raw in data.split(b"\n"):
        if not raw.strip():
            continue
        try:
            line = _line_decoder.decode(raw.decode(errors="replace"))  # Go also replaces invalid bytes
        except MALFORMED:
            skipped[NO_JSON] += 1
            continue
        if line.role not in ("user", "assistant", "tool"):
            skipped[NO_ROLE] += 1
        elif not (line.content or line.role == "tool" or (line.role == "assistant" and line.tool_calls)):
            skipped[NO_WORDS] += 1
        else:
            yield line


class _ConversationBuilder:
    """Arranges lines in an order that any model accepts."""

    def __init__(self, skipped: Counter[str]) -> None:
        self.messages: list[Counted] = []
        self._skipped = skipped
        self._calls: tuple[ToolCall, ...] = ()
        """Calls of the newest reply, while some of their results are missing."""
        self._results: dict[CallId, tuple[ToolResult, int]] = {}
        self._held: list[Counted] = []
        """User messages that came between the calls and their results."""

    def add(self, line: _Line) -> None:
        """Add the next line."""
        tokens = min(max(0, line.tokens), MAX_TOKENS)
        match line.role:
            case "assistant":
                self.settle()
                message = _reply(line, len(self.messages))
                self.messages.append(Counted(message, tokens))
                self._calls = message.calls
            case "tool":
                self._add_result(line, tokens)
            case _:
                said = self._held if self._calls else self.messages
                said.append(Counted(user_message(line.content or ""), tokens))

    def settle(self) -> None:
        """Finish the newest reply: add its results, then the user messages that waited."""
        if self._calls:
            found = [self._results.get(call.id) or (_never_made(call), 0) for call in self._calls]
            message = Message("tool", tuple(result for result, _ in found))
            self.messages.append(Counted(message, sum(tokens for _, tokens in found)))
        self.messages += self._held
        self._calls, self._results, self._held = (), {}, []

    def _add_result(self, line: _Line, tokens: int) -> None:
        result = line.tool_result
        if result is None or result.call_id not in {call.id for call in self._calls} - self._results.keys():
            self._skipped[NO_CALL] += 1
            return
        call_id = CallId(result.call_id)
        shaped = ToolResult(call_id, result.name, result.output or line.content or "", result.is_error)
        self._results[call_id] = (shaped, tokens)
        if len(self._results) == len(self._calls):
            self.settle()


def _reply(line: _Line, number: int) -> Message:
    calls = [ToolCall(CallId(call.id), call.name, call.arguments or {}) for call in line.tool_calls or ()]
    text = [Text(line.content)] if line.content else []
    return with_unique_call_ids(Message("assistant", (*text, *calls)), (), number)


def _never_made(call: ToolCall) -> ToolResult:
    return ToolResult(call.id, call.name, NEVER_MADE, is_error=True)


def _read_agent(folder: Path, session: SessionId) -> str:
    try:
        with open_for_reading(meta_path(folder, session)) as fd:
            data = b"" if fd is None else os.read(fd, MAX_META_BYTES)
        agent = _meta_decoder.decode(data or b"{}").default_agent
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return ""
    return agent if _AGENT.fullmatch(agent) else ""


def _title(message: Message) -> str:
    """Make a title from what the user typed, without the text that Kontekst puts before it."""
    if message.role != "user":
        return ""
    text = message.text
    if instructions := _INSTRUCTIONS.match(text):
        text = text[instructions.end() :]
    if skill := _SKILL.match(text):
        return title_from(f"/{skill['name']} {text[skill.end() :]}")
    return title_from(text)


def list_sessions(folder: Path) -> Sequence[SessionId]:
    """Return the ids of the files that may be sessions, the last modified one at the end.

    Blocks; raises StoreError.
    """
    try:
        with os.scandir(folder) as entries:
            found = sorted(dated for entry in entries if (dated := _dated(entry)) is not None)
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise from_os_error(folder, error) from error
    return [SessionId(name.removesuffix(_SESSION)) for _, name in found]


def _dated(entry: os.DirEntry[str]) -> tuple[int, str] | None:
    try:
        is_session = entry.name.endswith(_SESSION) and entry.is_file()
        return (entry.stat().st_mtime_ns, entry.name) if is_session else None
    except OSError:  # a circular link, or a file that was just deleted
        return None
