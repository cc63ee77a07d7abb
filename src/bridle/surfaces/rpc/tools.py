"""Client tools: the model calls them, and the client executes them.

```
tools/register ─▶ offered in every session in which the client starts a run
model ─▶ dispatch ─▶ tool/execute ─▶ the client ─▶ {content, is_error} ─▶ the model
```
"""

import asyncio
from collections.abc import Collection, Sequence
from contextlib import AbstractAsyncContextManager
from itertools import count
from typing import Any

import msgspec
from msgspec import Struct

from bridle.core.errors import BridleError, ToolError, UsageError
from bridle.core.ids import SessionId
from bridle.core.messages import Media, Text, ToolCall
from bridle.core.ports import ToolOutput
from bridle.core.session_api import SessionApi
from bridle.core.tool import ToolSpec
from bridle.surfaces.meerkat.requests import Content, to_parts
from bridle.surfaces.rpc.outbox import Outbox
from bridle.surfaces.rpc.protocol import Id, RpcReply, request_line
from bridle.surfaces.rpc.server_context import RpcContext
from bridle.tools.toolbox import check_specs

MAX_TOOLS = 128
MAX_PROVIDED = 256  # more than the runs of a client
MAX_SCHEMA_BYTES = 256 * 1024
GONE = "the client that provides this tool is gone"


class _Outcome(Struct, frozen=True):
    """A client's result of a call."""

    content: Content = ""
    is_error: bool = False


class RpcClientTools:
    """The tools of one client, and its unanswered calls."""

    def __init__(self, context: RpcContext, outbox: Outbox) -> None:
        self._context = context
        self._api: SessionApi = context.api
        self._outbox = outbox
        self._specs: dict[str, ToolSpec] = {}
        self._provided: dict[SessionId, _ProvidedTools] = {}
        self._open: dict[Id, asyncio.Future[ToolOutput]] = {}
        self._numbers = count(1)
        self._is_closed = False
        self._changing = asyncio.Lock()  # invariant: a session gets client tools at most once

    def register(self, specs: Sequence[ToolSpec]) -> int:
        """Add tools, replacing those of the same name; raises UsageError if too many or too large."""
        known = {**self._specs, **{spec.name: spec for spec in specs}}
        if len(known) > MAX_TOOLS:
            raise UsageError(f"a client can have {MAX_TOOLS} tools, not {len(known)}")
        check_specs(specs)  # or no run of the client could start
        for spec in specs:
            if len(msgspec.json.encode(spec)) > MAX_SCHEMA_BYTES:
                raise UsageError(f"tool {spec.name[:80]}: its input schema is too long")
        self._specs = known
        return len(specs)

    async def offer_to(
        self, session: SessionId, extra: Sequence[ToolSpec] = (), busy: Collection[SessionId] = ()
    ) -> None:
        """Offer the tools to the next runs of a session, and `extra` from now on; raises BridleError.

        If too many sessions have tools, one that is not in `busy` loses them.
        """
        async with self._changing:
            provided = self._provided.get(session)
            others = {**(provided.extra if provided else {}), **{spec.name: spec for spec in extra}}
            wanted = {**self._specs, **others}
            if provided is not None:
                if provided.wanted == wanted:
                    return
                await self._withdraw(session)
            if not wanted:
                return
            if len(self._provided) >= MAX_PROVIDED:
                await self._withdraw(next(other for other in self._provided if other not in busy))
            context = self._api.provide_tools(session, _Dispatcher(self, session, list(wanted.values())))
            await context.__aenter__()
            self._provided[session] = _ProvidedTools(context, wanted, others)

    async def withdraw_from(self, session: SessionId) -> None:
        """Remove the tools from a session."""
        async with self._changing:
            if session in self._provided:
                await self._withdraw(session)

    async def aclose(self) -> None:
        """Remove the tools from all sessions; open calls fail."""
        self._is_closed = True
        for answered in self._open.values():
            if not answered.done():
                answered.set_exception(ToolError(GONE))
        async with self._changing:
            for session in list(self._provided):
                await self._withdraw(session)

    async def _withdraw(self, session: SessionId) -> None:
        await self._provided.pop(session).context.__aexit__(None, None, None)

    # ------------------------------------------------------------------ calls

    async def call(self, session: SessionId, call: ToolCall) -> ToolOutput:
        """Let the client execute a call; raises ToolError if it cannot."""
        if self._is_closed:
            raise ToolError(GONE)
        id_ = f"tool-{next(self._numbers)}"
        line = request_line(
            id_,
            "tool/execute",
            {"session_id": session, "tool_use_id": call.id, "name": call.name, "arguments": call.args},
        )
        most_bytes = self._context.contract.max_line_bytes
        if len(line) > most_bytes:
            raise ToolError(f"the arguments are longer than the {most_bytes} bytes that the client reads")
        answered: asyncio.Future[ToolOutput] = asyncio.get_running_loop().create_future()
        self._open[id_] = answered
        try:
            await self._outbox.reply(line)
            return await answered
        except ConnectionError:
            raise ToolError(GONE) from None
        finally:
            self._open.pop(id_, None)

    def finish(self, reply: RpcReply) -> None:
        """Accept the client's answer to a call; ignore one without an open call."""
        answered = self._open.get(reply.id)
        if answered is not None and not answered.done():
            answered.set_result(_output(reply))


class _ProvidedTools(Struct):
    context: AbstractAsyncContextManager[None]
    wanted: dict[str, ToolSpec]
    extra: dict[str, ToolSpec]


class _Dispatcher:
    """A client's tools in one session."""

    def __init__(self, tools: RpcClientTools, session: SessionId, specs: Sequence[ToolSpec]) -> None:
        self.specs = specs
        self._tools = tools
        self._session = session

    async def dispatch(self, call: ToolCall) -> ToolOutput:
        """Execute a call; raises ToolError with the text for the model."""
        return await self._tools.call(self._session, call)


def _output(reply: RpcReply) -> ToolOutput:
    if reply.error:
        return ToolOutput(reply.error, is_error=True)
    try:
        outcome = msgspec.convert(_as_text(reply.result), _Outcome)
        parts = to_parts(outcome.content)
    except (msgspec.ValidationError, BridleError) as error:
        return ToolOutput(f"the client's answer is invalid: {error}", is_error=True)
    text = "\n".join(part.text for part in parts if isinstance(part, Text))
    media = tuple(part for part in parts if isinstance(part, Media))
    return ToolOutput(text, outcome.is_error, media)


def _as_text(result: Any) -> Any:
    """Wrap a bare text as content."""
    return {"content": result} if isinstance(result, str) else result
