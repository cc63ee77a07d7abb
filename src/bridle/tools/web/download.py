"""The tool that downloads a URL to a file.

```
network ─▶ event loop ─▶ _Pipe ─▶ thread ─▶ temporary file ─ complete? ─▶ renamed to the target
                                                            └ no: removed
```
"""

import asyncio
import os
from collections.abc import Iterator
from queue import SimpleQueue
from threading import Event
from typing import TYPE_CHECKING, Any

from bridle.core.errors import ToolError
from bridle.core.ports import ToolContext, ToolOutput
from bridle.core.tool import Access, Subject, ToolSpec
from bridle.tools.filesystem import check_unprotected, file_mode, open_replacement
from bridle.tools.paths import ResolvedPath, printable
from bridle.tools.threads import run_in_thread
from bridle.tools.tool_support import description, integer_arg, resolve_path, system_errors, text_arg
from bridle.tools.web.network import DIRECT, Network
from bridle.tools.web.urls import parse_url, shorten

if TYPE_CHECKING:
    from bridle.tools.web.client import Response

MAX_FILE_BYTES = 1024 * 1024 * 1024
TIMEOUT_S = 300
MAX_TIMEOUT_S = 600
PROGRESS_S = 1.0
_MAX_WAITING = 16  # pieces between network and disk: 1 MiB
_JUDGED_AS = "write_file"  # the rules of write_file for paths apply here too


class Download:
    """The tool that downloads a URL to a file."""

    parallel = False
    seldom = True

    def __init__(
        self,
        network: Network = DIRECT,
        *,
        max_file_bytes: int = MAX_FILE_BYTES,
        progress_s: float = PROGRESS_S,
    ) -> None:
        """Set how requests access the web, the maximum file size and how often progress is shown."""
        self._network = network
        self._max_file_bytes = max_file_bytes
        self._progress_s = progress_s

    @property
    def spec(self) -> ToolSpec:
        """The tool definition sent to the model."""
        return ToolSpec("download", description("web/download"), _PARAMETERS)

    def access(self, args: dict[str, Any], context: ToolContext) -> Access:
        """Return the access to the host and the file, and to its target if it is a link; raises ToolError."""
        host = parse_url(text_arg(args, "url")).host
        place = _target(args, context)
        paths = dict.fromkeys((printable(place.name), printable(place.subject)))
        written = (Subject("path", path, "write", tool=_JUDGED_AS) for path in paths)
        return Access("download", "network", (Subject("domain", host), *written))

    async def preview(self, args: dict[str, Any], context: ToolContext) -> str:
        """Return the URL and the target, and whether a file is replaced; empty when the call would fail."""

        def look() -> str:
            place = _target(args, context)
            try:
                file_mode(place)
            except OSError:
                return f"{parse_url(text_arg(args, 'url'))} -> {printable(place.name)}\n"
            return f"{parse_url(text_arg(args, 'url'))} -> {printable(place.name)}, which is replaced\n"

        try:
            return await run_in_thread(lambda _: look())
        except ToolError:
            return ""

    async def run(self, args: dict[str, Any], context: ToolContext) -> ToolOutput:
        """Save atomically: even after a crash, the file is either the old one or the new one."""
        # Loads aiohttp, which a program that never fetches anything does not need.
        from bridle.tools.web.client import WebRequest, get  # noqa: PLC0415

        url = parse_url(text_arg(args, "url"))
        place = await run_in_thread(lambda _: _target(args, context))
        timeout_s = min(max(1, integer_arg(args, "timeout") or TIMEOUT_S), MAX_TIMEOUT_S)
        try:
            async with (
                asyncio.timeout(timeout_s),
                get(WebRequest(url, "download", context, self._network)) as answer,
            ):
                if not 200 <= answer.status < 300:
                    raise ToolError(f"{answer.url} answered {answer.status} {answer.words}".rstrip())
                if (answer.length or 0) > self._max_file_bytes:
                    raise _too_large(answer, self._max_file_bytes)
                size = await self._save(answer, place, context)
        except TimeoutError as error:
            raise ToolError(f"{url}: incomplete after {timeout_s} s; nothing was saved") from error
        kind = f" of type {answer.media_type}" if answer.media_type else ""
        packed = f", {shorten(answer.encoding)}-compressed" if answer.encoding not in ("", "identity") else ""
        name = printable(place.name)
        return ToolOutput(f"Downloaded {size} bytes{kind}{packed} from {answer.url} to {name}")

    async def _save(self, answer: "Response", place: ResolvedPath, context: ToolContext) -> int:
        """Write the body to the file while it arrives; return its size."""
        pipe = _Pipe()

        def write(stop: Event) -> None:
            with (
                system_errors(place.shown),
                open_replacement(place, stop=stop, expected="any", keep=context.keep) as descriptor,
            ):
                for piece in pipe:
                    rest = memoryview(piece)
                    while rest:
                        rest = rest[os.write(descriptor, rest) :]

        try:
            async with asyncio.TaskGroup() as group:
                # A stopped writer gets no more pieces and does not put the file in place.
                group.create_task(run_in_thread(write, on_stop=pipe.end))
                return await self._fill(pipe, answer, context)
        except BaseExceptionGroup as errors:
            raise errors.exceptions[0] from None

    async def _fill(self, pipe: "_Pipe", answer: "Response", context: ToolContext) -> int:
        size, clock = 0, asyncio.get_running_loop().time
        shown_at = clock()
        async for piece in answer.chunks():
            size += len(piece)
            if size > self._max_file_bytes:
                raise _too_large(answer, self._max_file_bytes)
            await pipe.put(piece)
            if clock() - shown_at >= self._progress_s:
                shown_at = clock()
                context.emit(f"{size} of {answer.length or 'unknown'} bytes\n")
        pipe.end()
        return size


class _Pipe:
    """A bounded queue of pieces from the event loop to a thread."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._room = asyncio.Semaphore(_MAX_WAITING)
        self._pieces: SimpleQueue[bytes | None] = SimpleQueue()

    async def put(self, piece: bytes) -> None:
        """Add a piece; wait until there is room."""
        await self._room.acquire()
        self._pieces.put(piece)

    def end(self) -> None:
        """Mark the end of the pieces."""
        self._pieces.put(None)

    def __iter__(self) -> Iterator[bytes]:
        """Yield the pieces; for the thread only."""
        while (piece := self._pieces.get()) is not None:
            yield piece
            self._loop.call_soon_threadsafe(self._room.release)


def _target(args: dict[str, Any], context: ToolContext) -> ResolvedPath:
    place = resolve_path(_JUDGED_AS, "write", text_arg(args, "path"), context)
    for path in (place.name, place.real):
        check_unprotected(path)
    return place


def _too_large(answer: "Response", limit: int) -> ToolError:
    return ToolError(f"{answer.url} has more than {limit} bytes, the download limit")


_PARAMETERS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "url": {"type": "string"},
        "path": {"type": "string"},
        "timeout": {"type": "integer", "minimum": 1, "maximum": MAX_TIMEOUT_S},
    },
    "required": ["url", "path"],
}
