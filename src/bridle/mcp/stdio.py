"""A server that is a local program: started through the sandbox, connected by its stdin and stdout.

```
SDK ──▶ Writes ──▶ [pipe] ──▶ fd 0  server  fd 1 ──▶ [pipe] ──▶ Reads ──▶ SDK
                                            fd 2 ──▶ [pipe] ──▶ Words
```

Nothing here waits for a server that does not read: messages for it are buffered, up to a limit. Its output is
read only as fast as the SDK processes it. Printed lines that are not messages are kept in `ServerLog`.
"""

import asyncio
import json
import os
from collections import deque
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, suppress
from types import TracebackType
from typing import Any, Self

import anyio
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter

from bridle.core.errors import ToolError
from bridle.core.ids import SessionId
from bridle.core.ports import Process, ProcessSpec, Sandbox
from bridle.mcp.message_repair import Unreadable
from bridle.mcp.server_log import MAX_LINES, ServerLog
from bridle.mcp.settings import ServerSettings
from bridle.system.line_buffer import LineBuffer
from bridle.system.pipes import Pipes

MAX_MESSAGE_BYTES = 16 * 1024 * 1024
MAX_UNREAD_BYTES = 64 * 1024 * 1024
MAX_PRINTED_BYTES = 64 * 1024

_READ_BYTES = 64 * 1024
_MANY_LINES = 256  # the SDK is behind: reading continues when it has caught up
_MANY_BYTES = 1024 * 1024
_LINES_AT_ONCE = 16  # before other tasks run
_GRACE_S = 0.5
_TERM_S = 1.0
_KILL_S = 3.0
_STATUS_S = 1.0
_EXIT_SIGNAL = 128


class StdioTransport(AbstractAsyncContextManager[Any]):
    """A transport for `mcp.Client`; the program lives as long as it is entered."""

    def __init__(
        self, settings: ServerSettings, folder: str, sandbox: Sandbox, room: SessionId, words: ServerLog
    ) -> None:
        self._settings = settings
        self._folder = folder
        self._sandbox = sandbox
        self._room = room
        self._words = words
        self._process: Process | None = None
        self._talk: _ServerPipes | None = None

    @property
    def pid(self) -> int:
        """The program's process ID; 0 if there is none."""
        return self._process.pid if self._process is not None else 0

    async def __aenter__(self) -> tuple["MessageReader", "MessageWriter"]:
        """Start the program; raises ToolError if that fails."""
        try:
            pipes = Pipes()
        except OSError as error:
            raise ToolError(f"it cannot be started: {os.strerror(error.errno or 0).lower()}") from error
        settings = self._settings
        cwd = os.path.join(self._folder, settings.cwd)
        spec = ProcessSpec(
            argv=settings.argv,
            cwd=cwd,
            env=settings.env,
            output=pipes.output,
            errors=pipes.errors,
            input=pipes.input,
            writable=_writable(settings, cwd),
            rules=settings.rules,
            tool="mcp",
            confined=settings.confined,
            open_network=settings.open_network,
            shows_program=True,
        )
        try:
            self._process = await self._sandbox.start(spec, self._room)
        except BaseException:
            pipes.close()
            raise
        pipes.close_theirs()
        self._talk = _ServerPipes(pipes, self._words)
        return self._talk.reads, self._talk.writes

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the program and everything it has started, even if cancelled meanwhile."""
        ending = asyncio.create_task(self._end())
        try:
            await asyncio.shield(ending)
        except asyncio.CancelledError:
            if self._process is not None:
                self._process.kill()
            await asyncio.wait([ending], timeout=_KILL_S)
            raise

    async def lost(self) -> ToolError:
        """Wait until the program has ended or closed its output, and return how it ended."""
        assert self._process is not None
        assert self._talk is not None
        await self._talk.reads.ended.wait()
        if self._talk.why_ended:
            return ToolError(self._talk.why_ended)
        try:
            async with asyncio.timeout(_STATUS_S):
                status = await self._process.wait()
        except TimeoutError:
            return ToolError("it closed its output")
        self._talk.read_printed()
        return ToolError(_ending(status))

    async def _end(self) -> None:
        """Close its input, then ask it to end, then kill it; each step has a time limit."""
        process, talk = self._process, self._talk
        if process is None or talk is None:
            return
        try:
            talk.close_input()
            for wait_s, press in ((_GRACE_S, process.interrupt), (_TERM_S, process.kill), (_KILL_S, None)):
                with suppress(TimeoutError):
                    async with asyncio.timeout(wait_s):
                        await process.wait()
                    return
                if press is not None:
                    press()
        finally:
            talk.close()


class MessageReader:
    """The server's messages, for the SDK."""

    def __init__(self, words: ServerLog, resume: Callable[[], None]) -> None:
        self._words = words
        self._resume = resume
        self._lines: deque[bytes | None] = deque()
        self._size = 0
        self._in_a_row = 0
        self._more = asyncio.Event()
        self.ended = asyncio.Event()
        self.is_open = True

    @property
    def is_behind(self) -> bool:
        """True if so much is waiting that nothing more should be read."""
        return len(self._lines) >= _MANY_LINES or self._size >= _MANY_BYTES

    def put(self, lines: list[bytes | None]) -> None:
        """Add lines of output; ignored once closed."""
        if self.is_open:
            self._lines.extend(lines)
            self._size += sum(len(line or b"") for line in lines)
            self._more.set()

    def end(self) -> None:
        """Mark the end of the output."""
        self.ended.set()
        self._more.set()

    async def receive(self) -> SessionMessage | Exception:
        """Return the next message; raises EndOfStream."""
        while True:
            while self._lines:
                self._in_a_row += 1
                if self._in_a_row > _LINES_AT_ONCE:  # a server may print faster than we read
                    self._in_a_row = 0
                    await asyncio.sleep(0)
                    continue
                line = self._lines.popleft()
                self._size -= len(line or b"")
                if not self._lines:
                    self._resume()
                if (message := self._read(line)) is not None:
                    return message
            if self.ended.is_set() or not self.is_open:
                raise anyio.EndOfStream
            self._more.clear()
            await self._more.wait()

    def _read(self, line: bytes | None) -> SessionMessage | Exception | None:
        """Return the message in a line; any other line is kept as printed output."""
        if line is None:
            self._words.say(f"(a line longer than {MAX_MESSAGE_BYTES // 2**20} MiB)")
            return Unreadable(f"it sent a message longer than {MAX_MESSAGE_BYTES // 2**20} MiB")
        try:
            return SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False))
        except ValueError:
            self._words.say(line[:MAX_PRINTED_BYTES].decode(errors="replace"))
        return _broken_answer(line)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def aclose(self) -> None:
        """Stop reading; further output is read and dropped, so that the server can end."""
        self.is_open = False
        self._lines.clear()
        self._size = 0
        self._more.set()
        self._resume()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


class MessageWriter:
    """Sends the SDK's messages."""

    def __init__(self, write: Callable[[bytes], bool]) -> None:
        self._write = write

    async def send(self, item: SessionMessage, /) -> None:
        """Send a message without waiting for the server to read it; raises BrokenResourceError."""
        text = item.message.model_dump_json(by_alias=True, exclude_unset=True)
        if not self._write(text.encode(errors="replace") + b"\n"):
            raise anyio.BrokenResourceError

    async def aclose(self) -> None:
        """Do nothing: the input is closed when the server is ended."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


class _ServerPipes:
    """Our ends of the pipes, on the event loop."""

    def __init__(self, pipes: Pipes, words: ServerLog) -> None:
        self._to_server, self._from_server, self._printed = pipes.ours
        self._words = words
        self._lines = LineBuffer(MAX_MESSAGE_BYTES)
        self._error_lines = LineBuffer(MAX_PRINTED_BYTES)
        self._unsent = bytearray()
        self._has_input = True
        self._is_open = True
        self._listens = True
        self.why_ended = ""
        """Why we gave up on the server; empty if we did not."""
        self.reads = MessageReader(words, self._listen)
        self.writes = MessageWriter(self._write)
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(self._from_server, self._read_messages)
        self._loop.add_reader(self._printed, self.read_printed)

    def close_input(self) -> None:
        """Close the server's input: nothing more comes."""
        if self._has_input:
            self._has_input = False
            self._loop.remove_writer(self._to_server)
            os.close(self._to_server)

    def close(self) -> None:
        """Close everything, after reading what is left in the pipes."""
        if not self._is_open:
            return
        self.close_input()
        self.read_printed()
        if rest := self._error_lines.rest():
            self._words.say(rest.decode(errors="replace"))
        self._is_open = False
        for descriptor in (self._from_server, self._printed):
            self._loop.remove_reader(descriptor)
            os.close(descriptor)
        self.reads.end()

    def _read_messages(self) -> None:
        try:
            data = os.read(self._from_server, _READ_BYTES)
        except BlockingIOError:
            return
        if not data:
            self._loop.remove_reader(self._from_server)
            if rest := self._lines.rest():
                self._words.say(rest[:MAX_PRINTED_BYTES].decode(errors="replace"))
            self.read_printed()
            self.reads.end()
            return
        if lines := self._lines.feed(data):
            self.reads.put(lines)
            if self.reads.is_behind:
                self._loop.remove_reader(self._from_server)
                self._listens = False

    def _listen(self) -> None:
        """Continue reading: the SDK has caught up."""
        if self._is_open and not self._listens:
            self._listens = True
            self._loop.add_reader(self._from_server, self._read_messages)

    def read_printed(self) -> None:
        """Keep what it has printed on stderr."""
        if not self._is_open:
            return
        try:
            data = os.read(self._printed, _READ_BYTES)
        except BlockingIOError:
            return
        if not data:
            self._loop.remove_reader(self._printed)
            return
        for line in self._error_lines.feed(data)[-MAX_LINES:]:  # more are not kept
            self._words.say("(a very long line)" if line is None else line.decode(errors="replace"))

    def _write(self, data: bytes) -> bool:
        """Write what fits and keep the rest; False if the server no longer reads."""
        if not self._has_input:
            return False
        if not self._unsent:
            try:
                data = data[os.write(self._to_server, data) :]
            except BlockingIOError:
                pass
            except OSError:
                return False
            if not data:
                return True
            self._loop.add_writer(self._to_server, self._write_more)
        self._unsent += data
        if len(self._unsent) > MAX_UNREAD_BYTES:
            self.why_ended = f"it left more than {MAX_UNREAD_BYTES // 2**20} MiB unread"
            self.close_input()
            self.reads.end()
            return False
        return True

    def _write_more(self) -> None:
        try:
            del self._unsent[: os.write(self._to_server, memoryview(self._unsent)[:_READ_BYTES])]
        except BlockingIOError:
            return
        except OSError:
            self._unsent.clear()  # the end of its output reports it
        if not self._unsent:
            self._loop.remove_writer(self._to_server)


def _writable(settings: ServerSettings, cwd: str) -> tuple[str, ...]:
    if settings.project:  # its own choice of folder does not count
        return (settings.project,)
    # A server for all folders works in the user's home, which it must not be able to change.
    return (cwd,) if settings.scope != "user" or settings.cwd else ()


def _broken_answer(line: bytes) -> Unreadable | None:
    """Return an `Unreadable` for a line that should have been an answer; None for any other."""
    why = "its answer is not a valid message"
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return Unreadable(why) if b'"jsonrpc"' in line and b'"method"' not in line else None
    if not isinstance(value, dict) or "jsonrpc" not in value or "method" in value:
        return None
    found = value.get("id")
    return Unreadable(why, found) if isinstance(found, int | str) else None


def _ending(status: int) -> str:
    if status > _EXIT_SIGNAL:
        return f"it was ended by signal {status - _EXIT_SIGNAL}"
    return f"it ended with exit status {status}"
