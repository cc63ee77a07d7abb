"""The 2024 transport (HTTP with SSE): an event stream from the server, and posts to an address it names."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any
from urllib.parse import urljoin, urlsplit

import anyio
import httpx2
import mcp_types as types
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from bridle.core.errors import ToolError
from bridle.mcp.http import MAX_BODY_BYTES, explain, format_status, is_event_stream, redact_url

BUFFER = 64  # messages that wait to be posted

Send = anyio.abc.ObjectSendStream[SessionMessage | Exception]
Fail = Callable[[str], ToolError]


@asynccontextmanager
async def open_sse(client: httpx2.AsyncClient, url: str, fail: Fail) -> AsyncGenerator[Any]:
    """Yield the SDK's pair of streams; `fail` is called if the connection ends. Raises ToolError."""
    response = await _get(client, url, fail)
    try:
        events = aiter(httpx2.EventSource(response, max_event_size=MAX_BODY_BYTES))
        endpoint = await _endpoint(events, url, fail)
        incoming, received = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        sent, outgoing = anyio.create_memory_object_stream[SessionMessage](BUFFER)
        async with incoming, received, sent, outgoing:
            tasks = (
                asyncio.create_task(_read(events, incoming, url, fail)),
                asyncio.create_task(_write(client, endpoint, outgoing, incoming)),
            )
            try:
                yield received, sent
            finally:
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)
    finally:
        await response.aclose()


async def _get(client: httpx2.AsyncClient, url: str, fail: Fail) -> httpx2.Response:
    headers = {"accept": "text/event-stream", "cache-control": "no-store"}
    try:
        response = await client.send(client.build_request("GET", url, headers=headers), stream=True)
    except (httpx2.HTTPError, httpx2.StreamError) as error:
        raise fail(explain(error, url)) from error
    if response.status_code == 200 and is_event_stream(response):
        return response
    await response.aclose()
    words = f"answered {format_status(response.status_code)}"
    if response.is_redirect:
        words = f"sends elsewhere, to {redact_url(urljoin(url, response.headers.get('location', '')))}"
    elif response.status_code == 200:
        words = "answered with no stream of events (is its transport http?)"
    raise fail(f"{redact_url(url)} {words}")


async def _endpoint(events: AsyncIterator[httpx2.ServerSentEvent], url: str, fail: Fail) -> str:
    """Wait for the address to post to, which must have the same origin."""
    try:
        async for event in events:
            if event.event == "endpoint":
                endpoint = urljoin(url, event.data)
                if urlsplit(endpoint)[:2] != urlsplit(url)[:2]:
                    raise fail(f"{redact_url(url)} wants messages sent elsewhere, to {redact_url(endpoint)}")
                return endpoint
    except (httpx2.HTTPError, httpx2.StreamError) as error:
        raise fail(explain(error, url)) from error
    raise fail(f"{redact_url(url)} ended the stream of events before it began")


async def _read(events: AsyncIterator[httpx2.ServerSentEvent], incoming: Send, url: str, fail: Fail) -> None:
    words = f"{redact_url(url)} ended the connection"
    try:
        async for event in events:
            if event.event == "message" and event.data:
                try:
                    message = types.jsonrpc_message_adapter.validate_json(event.data, by_name=False)
                except ValidationError as error:
                    await incoming.send(error)
                else:
                    await incoming.send(SessionMessage(message))
    except (httpx2.HTTPError, httpx2.StreamError) as error:
        words = explain(error, url)
    except (anyio.BrokenResourceError, anyio.ClosedResourceError):
        return  # no reader is left
    fail(words)
    await incoming.aclose()


async def _write(client: httpx2.AsyncClient, endpoint: str, outgoing: Any, incoming: Send) -> None:
    async for item in outgoing:
        message = item.message
        body = message.model_dump(by_alias=True, mode="json", exclude_unset=True)
        response = await client.send(client.build_request("POST", endpoint, json=body), stream=True)
        try:
            if response.status_code >= 300 and isinstance(message, types.JSONRPCRequest):
                words = await _words(response)
                error = types.ErrorData(code=types.INTERNAL_ERROR, message=words)
                reply = types.JSONRPCError(jsonrpc="2.0", id=message.id, error=error)
                with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
                    await incoming.send(SessionMessage(reply))
        finally:
            await response.aclose()


async def _words(response: httpx2.Response) -> str:
    """Return the error message that the client has put into a failed answer."""
    if response.status_code < 400:
        return f"answered {format_status(response.status_code)}"
    await response.aread()
    return str(response.json()["error"]["message"])
