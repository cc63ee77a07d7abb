"""One connection to a server, on the official SDK: its offers, calls to it, and its notifications.

It is entered and left by the same task, as the SDK requires; everything else may be called from any task. The
SDK takes a good part of a second to load, so this module is imported only when a server is about to start.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Protocol, Self

import mcp_types as types
from mcp import Client
from mcp.client.subscriptions import SubscriptionLost
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from bridle import __version__
from bridle.core.errors import ToolError
from bridle.core.ids import SessionId
from bridle.core.messages import Media, Text
from bridle.core.ports import Sandbox, ToolOutput
from bridle.mcp import remote
from bridle.mcp.message_repair import OUTPUT_SCHEMA, RepairingTransport
from bridle.mcp.offers import (
    MAX_ITEMS,
    OfferedArgument,
    OfferedPrompt,
    OfferedResource,
    OfferedTool,
    Offers,
    fetch_all,
)
from bridle.mcp.results import (
    call_in_background,
    convert_call_result,
    convert_prompt,
    convert_resource,
    is_large,
)
from bridle.mcp.server_log import ServerLog, clean, clean_line
from bridle.mcp.server_requests import RequestHandler
from bridle.mcp.settings import ServerSettings
from bridle.mcp.stdio import StdioTransport

MAX_DESCRIPTION_CHARS = 2000
MAX_INSTRUCTIONS_CHARS = 1000
MAX_SAID_CHARS = 20_000
MAX_REASON_CHARS = 300
MAX_WATCHED = 100
MAX_NOTES = 20

_ENDED_S = 2.0
_LISTEN_AGAIN_S = 5.0


class Progress(Protocol):
    """Takes progress reports."""

    async def __call__(self, progress: float, total: float | None, message: str | None) -> None: ...


class Transport(Protocol):
    """A connection to a server that reports when it is lost."""

    async def __aenter__(self) -> Any: ...

    async def __aexit__(self, *_: Any) -> Any: ...

    async def lost(self) -> ToolError:
        """Wait until it can no longer be used, and return why."""
        ...


def open_transport(
    settings: ServerSettings, folder: str, sandbox: Sandbox, room: SessionId, words: ServerLog, home: Path
) -> Transport:
    """Return the transport for a server: its program, or its address."""
    if settings.transport == "stdio":
        return StdioTransport(settings, folder, sandbox, room, words)
    return remote.open_transport(settings, home)


class McpConnection(AbstractAsyncContextManager["McpConnection"]):
    """A connection to a server."""

    def __init__(
        self,
        settings: ServerSettings,
        transport: Transport,
        handler: RequestHandler,
        words: ServerLog,
        *,
        mode: Literal["auto", "legacy"],
        changed: Callable[[], None],
    ) -> None:
        """Set the transport; `changed` is called when the server's offers have changed."""
        self._settings = settings
        self._transport = transport
        self._handler = handler
        self._words = words
        self._changed = changed
        self._notes: dict[str, None] = {}
        self._watched: dict[str, None] = {}
        self._updated: set[str] = set()
        self._listens_to = asyncio.Event()
        self._output_schemas: dict[str, dict[str, Any] | None] = {}
        self._in_background: frozenset[str] = frozenset()
        self._lost: asyncio.Task[ToolError] | None = None
        self._listening: asyncio.Task[None] | None = None
        self._has_listed = False
        self._client = Client(
            RepairingTransport(transport, self._note),
            mode=mode,
            cache=None,
            client_info=types.Implementation(name="bridle", version=__version__),
            message_handler=self._take,
            logging_callback=self._log,
            log_level="warning",
            **handler.callbacks(),
        )

    async def __aenter__(self) -> Self:
        """Connect; raises ToolError."""
        try:
            async with self._translated():
                await self._client.__aenter__()
        except BaseException:
            await self._stop_listening()
            raise
        self._lost = asyncio.create_task(self._transport.lost())
        if self.is_modern:
            self._listening = asyncio.create_task(self._listen())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Disconnect, and end what was started for the connection."""
        await self._stop_listening()
        try:
            await self._client.__aexit__(kind, error, trace)
        except BaseExceptionGroup as group:
            raise _inner(group) from group  # the SDK wraps exceptions that pass through it

    async def _stop_listening(self) -> None:
        beside = [task for task in (self._lost, self._listening) if task is not None]
        for task in beside:
            task.cancel()
        await asyncio.gather(*beside, return_exceptions=True)

    @property
    def is_modern(self) -> bool:
        """True if it speaks a revision without a handshake."""
        return self._client.protocol_version in MODERN_PROTOCOL_VERSIONS

    @property
    def is_lost(self) -> bool:
        """True if the server is known to be gone."""
        return self._lost is not None and self._lost.done()

    async def lost(self) -> ToolError:
        """Wait until the server is gone, and return how it ended."""
        assert self._lost is not None
        return await asyncio.shield(self._lost)

    # ------------------------------------------------------------------ its offers

    async def listing(self) -> Offers:
        """Fetch everything it offers; raises ToolError."""
        self._notes.clear()
        can = self._client.server_capabilities
        client = self._client
        async with self._translated():
            tools = await fetch_all(client.list_tools, "tools") if can.tools else []
            prompts = await fetch_all(client.list_prompts, "prompts") if can.prompts else []
            places = await fetch_all(client.list_resources, "resources") if can.resources else []
            patterns = await self._templates() if can.resources else []
        offered = [_tool(one) for one in tools]
        self._output_schemas = {one.name: one.output_schema for one in offered}
        self._in_background = frozenset(one.name for one in tools if one.execution is not None)
        self._has_listed = True
        return Offers(
            tuple(offered),
            tuple(_prompt(one) for one in prompts),
            (*(_resource(one) for one in places), *(_template(one) for one in patterns)),
            clean(client.instructions or "", MAX_INSTRUCTIONS_CHARS),
            self._about(),
            tuple(self._notes)[:MAX_NOTES],
        )

    async def _templates(self) -> list[types.ResourceTemplate]:
        try:
            return await fetch_all(self._client.list_resource_templates, "resource_templates")
        except MCPError as error:
            if error.code == types.METHOD_NOT_FOUND:  # many servers with resources have none of these
                return []
            raise

    def _about(self) -> str:
        found = self._client.server_info
        name = f"{found.name} {found.version}".strip() if found is not None else ""
        protocol = f"protocol {self._client.protocol_version}"
        return clean_line(f"{name}, {protocol}" if name else protocol, 200)

    def _note(self, note: str) -> None:
        if len(self._notes) < MAX_ITEMS:
            self._notes[note] = None

    # ------------------------------------------------------------------ requests

    async def call(self, tool: str, args: dict[str, Any], progress: Progress) -> ToolOutput:
        """Call a tool; raises ToolError. If cancelled, it notifies the server."""
        async with self._translated(f'call "{tool}"'):
            try:
                result = await self._called(tool, args, progress)
            except MCPError as error:
                if not await self._handler.opens(error):
                    raise
                result = await self._called(tool, args, progress)
            schema = self._output_schemas.get(tool)
            if is_large(result):
                return await asyncio.to_thread(convert_call_result, result, schema)
            return convert_call_result(result, schema)

    async def _called(self, tool: str, args: dict[str, Any], progress: Progress) -> types.CallToolResult:
        if tool not in self._in_background or self.is_modern:
            return await self._client.call_tool(tool, args, progress_callback=progress)
        times = count()

        async def tell(how: str) -> None:
            await progress(next(times), None, how)

        return await call_in_background(self._client.session, tool, args, tell)

    async def read(self, uri: str) -> ToolOutput:
        """Read a resource; raises ToolError. From then on it listens for changes of the resource."""
        async with self._translated(f"read {clean_line(uri, 200)}"):
            output = convert_resource(await self._client.read_resource(uri))
            await self._watch(uri)
        self._updated.discard(uri)
        return output

    def has_changed(self, uri: str) -> bool:
        """True if a resource is known to have changed since it was read."""
        return uri in self._updated

    async def prompt(self, name: str, arguments: Mapping[str, str]) -> tuple[Text | Media, ...]:
        """Return the content of a prompt; raises ToolError."""
        async with self._translated(f'give the prompt "{name}"'):
            return convert_prompt(await self._client.get_prompt(name, dict(arguments) or None))

    async def complete(
        self, prompt: str, argument: str, value: str, given: Mapping[str, str]
    ) -> tuple[str, ...]:
        """Return possible values for an argument of a prompt; raises ToolError."""
        if self._client.server_capabilities.completions is None:
            return ()
        async with self._translated(f'complete "{argument}"'):
            found = await self._client.complete(
                types.PromptReference(name=prompt), {"name": argument, "value": value}, dict(given) or None
            )
        return tuple(clean_line(one, 200) for one in found.completion.values[:100])

    async def ping(self) -> None:
        """Check that the server responds; raises ToolError."""
        async with self._translated("answer"):
            await self._client.session.send_ping()

    # ------------------------------------------------------------------ notifications

    async def _listen(self) -> None:
        """Subscribe to a modern server's notifications while it is connected; others send them unasked."""
        can = self._client.server_capabilities
        if not (can.tools or can.prompts or can.resources):
            return
        while True:
            self._listens_to.clear()
            try:
                async with self._client.listen(
                    tools_list_changed=bool(can.tools),
                    prompts_list_changed=bool(can.prompts),
                    resources_list_changed=bool(can.resources),
                    resource_subscriptions=tuple(self._watched),
                ) as news:
                    if self._has_listed:
                        self._changed()  # whatever was missed is not sent again
                    await _first(_drained(news), self._listens_to.wait())
            except MCPError as error:
                if error.code in (types.METHOD_NOT_FOUND, types.CONNECTION_CLOSED):
                    return
            except (SubscriptionLost, TimeoutError):
                pass  # then subscribe again
            if not self._listens_to.is_set():
                await asyncio.sleep(_LISTEN_AGAIN_S)

    async def _watch(self, uri: str) -> None:
        """Ask the server to report changes of a resource, if it supports that."""
        can = self._client.server_capabilities.resources
        if uri in self._watched or len(self._watched) >= MAX_WATCHED or not (can and can.subscribe):
            return
        self._watched[uri] = None
        if self.is_modern:
            self._listens_to.set()
            return
        request = types.SubscribeRequest(params=types.SubscribeRequestParams(uri=uri))
        with suppress(MCPError):
            await self._client.session.send_request(request, types.EmptyResult)

    async def _take(self, message: Any) -> None:
        """Handle a notification from the server."""
        match message:
            case types.ResourceUpdatedNotification():
                if message.params.uri in self._watched:
                    self._updated.add(message.params.uri)
            case (
                types.ToolListChangedNotification()
                | types.PromptListChangedNotification()
                | types.ResourceListChangedNotification()
            ):
                self._changed()
            case Exception():
                self._words.say(f"{type(message).__name__}: {message}")
            case _:
                pass  # not used here

    async def _log(self, params: types.LoggingMessageNotificationParams) -> None:
        source = f"{params.logger}: " if params.logger else ""
        self._words.say(f"{params.level}: {source}{params.data}")

    # ------------------------------------------------------------------ errors

    @asynccontextmanager
    async def _translated(self, deed: str = "") -> AsyncIterator[None]:
        """Convert exceptions of the SDK to ToolError; without `deed` the text is only the reason."""
        try:
            yield
        except Exception as caught:  # a boundary: the SDK and its transports can raise anything
            raise await self._explained(deed, _inner(caught)) from caught

    async def _explained(self, deed: str, error: BaseException) -> ToolError:
        match error:
            case ToolError():
                return error
            case MCPError(code=types.CONNECTION_CLOSED):
                return await self._gone(deed)
            case MCPError():
                said = clean(error.message, MAX_SAID_CHARS) or f"error {error.code}"
                data = "" if error.data is None else f" {clean_line(str(error.data), MAX_SAID_CHARS)}"
                return self._failure(deed, said + data)
            case ValidationError():
                first = clean_line(str(error.errors(include_url=False)[:1]), MAX_REASON_CHARS)
                return self._failure(deed, f"its answer is invalid: {first}")
            case _:
                return self._failure(
                    deed, f"{type(error).__name__}: {clean_line(str(error), MAX_REASON_CHARS)}"
                )

    def _failure(self, deed: str, why: str) -> ToolError:
        why = self._words.mask(why)
        return ToolError(f"MCP server {self._settings.name} did not {deed}: {why}" if deed else why)

    async def _gone(self, deed: str) -> ToolError:
        """Return an error that says how the server ended; it may take a moment until that is known."""
        how = ToolError("the connection was closed")
        if self._lost is None:
            self._lost = asyncio.create_task(self._transport.lost())
        await asyncio.wait([self._lost], timeout=_ENDED_S)
        if self._lost.done() and not self._lost.cancelled():
            how = self._lost.result()
        if not deed:
            return how
        last = self._words.last()
        words = f"; its last output:\n{last}" if last else ""
        return ToolError(
            f"MCP server {self._settings.name} ended before it could {deed}: {how}{words}",
            hint="it is restarted; whether the call took effect is unknown",
        )


def _inner(error: BaseException) -> BaseException:
    """Return the relevant error of a group: our own if there is one, else the first."""
    if not isinstance(error, BaseExceptionGroup):
        return error
    inside = [_inner(one) for one in error.exceptions]
    return next((one for one in inside if isinstance(one, ToolError)), inside[0])


async def _drained(news: Any) -> None:
    """Read events until they end; each also comes as a notification, which is handled there."""
    async for _ in news:
        pass


async def _first(*waits: Awaitable[Any]) -> None:
    """Wait until one of several ends, and cancel the others."""
    tasks = [asyncio.ensure_future(one) for one in waits]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _tool(tool: types.Tool) -> OfferedTool:
    about = tool.description or tool.title or ""
    schema = (tool.meta or {}).get(OUTPUT_SCHEMA)
    return OfferedTool(tool.name, clean(about, MAX_DESCRIPTION_CHARS), tool.input_schema, schema)


def _prompt(prompt: types.Prompt) -> OfferedPrompt:
    arguments = tuple(OfferedArgument(one.name, bool(one.required)) for one in prompt.arguments or ())
    return OfferedPrompt(prompt.name, clean_line(prompt.description or prompt.title or "", 300), arguments)


def _resource(place: types.Resource) -> OfferedResource:
    about = clean_line(place.description or "", 300)
    return OfferedResource(
        place.uri, clean_line(place.title or place.name, 200), about, place.mime_type or ""
    )


def _template(place: types.ResourceTemplate) -> OfferedResource:
    about = clean_line(place.description or "", 300)
    name = clean_line(place.title or place.name, 200)
    return OfferedResource(place.uri_template, name, about, place.mime_type or "", is_template=True)
