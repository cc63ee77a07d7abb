"""One JSON-RPC client: reads its lines, handles its requests concurrently, and cleans up when it leaves.

```
read ─▶ request ─▶ one task each ─▶ outbox ─▶ the client
     ─▶ reply   ─▶ the tool call that waits for it
     ─▶ notification, ignored
end of input ─▶ quick requests are still answered; runs are cancelled, or continue in the daemon
```
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from copy import copy
from typing import Any

import msgspec
from msgspec import Struct

from bridle.core.errors import BridleError, UsageError
from bridle.surfaces.meerkat.requests import CommsParams, CreateParams, TurnParams
from bridle.surfaces.meerkat.results import run_result
from bridle.surfaces.rpc import methods as ask
from bridle.surfaces.rpc.lines import LineSink, LineSource, TooLong
from bridle.surfaces.rpc.outbox import Outbox
from bridle.surfaces.rpc.protocol import (
    INTERNAL_ERROR,
    INVALID_REQUEST,
    MAX_LINE_BYTES,
    METHOD_NOT_FOUND,
    PARSE_ERROR,
    ErrorResponse,
    Id,
    InvalidLine,
    Notification,
    Request,
    RpcReply,
    error_response,
    failure_line,
    parse_line,
    result_line,
)
from bridle.surfaces.rpc.runs import RpcRunFailed, RpcRuns
from bridle.surfaces.rpc.server_context import RpcContext
from bridle.surfaces.rpc.streams import Streams
from bridle.surfaces.rpc.tools import RpcClientTools
from bridle.surfaces.shared.error_codes import INTERNAL_ERROR as INTERNAL
from bridle.surfaces.shared.error_codes import REQUEST_CANCELLED, Refused
from bridle.surfaces.shared.truncation import encode_truncated
from bridle.surfaces.shared.validation_error import format_validation_error

MAX_RUNS = 64  # of one client, at once
MAX_QUICK = 64  # other requests at once
RUN_METHODS = ("session/create", "turn/start")
LEFT = "the input ended before the run"
LEFT_HINT = "keep it open until the answer arrives; a started run continues in the daemon"
GRACE_S = 3.0  # SDKs kill a server that has not exited after five seconds

log = logging.getLogger("bridle.rpc")

Work = Callable[[Any], Awaitable[Any]]


class Method(Struct, frozen=True):
    """A method's parameter type and its function."""

    params: Any
    work: Work


class RpcConnection:
    """Serves one client.

    With `answers_all`, the end of the input is not the end of the client: all its requests are finished
    first.
    """

    def __init__(
        self, context: RpcContext, source: LineSource, sink: LineSink, *, answers_all: bool = False
    ) -> None:
        self._context = context = copy(context)
        self._source = source
        self._answers_all = answers_all
        self._outbox = Outbox(sink)
        self._tools = RpcClientTools(context, self._outbox)
        self._runs = RpcRuns(context, self._outbox, self._tools)
        self._streams = Streams(context, self._outbox)
        methods = ask.Methods(context, self._runs, self._streams, self._tools)
        self._methods = self._table(methods, ask.QueryMethods(context))
        self._quick = asyncio.Semaphore(MAX_QUICK)
        self._active: dict[Id, asyncio.Task[None]] = {}
        self._reading: asyncio.Task[None] | None = None
        self._is_leaving = False

    def _table(self, methods: ask.Methods, asked: ask.QueryMethods) -> dict[str, Method]:
        async def initialize(params: ask.InitializeParams) -> Any:
            return await methods.initialize(params, [*self._methods, *RUN_METHODS])

        return {
            "initialize": Method(ask.InitializeParams, initialize),
            "capabilities/get": Method(ask.Params, methods.capabilities),
            "session/list": Method(ask.ListParams, methods.list_sessions),
            "session/read": Method(ask.SessionParams, methods.read_session),
            "session/history": Method(ask.HistoryParams, methods.read_history),
            "session/archive": Method(ask.SessionParams, methods.archive),
            "turn/interrupt": Method(ask.SessionParams, methods.interrupt),
            "config/get": Method(ask.Params, methods.get_config),
            "config/set": Method(dict[str, Any], methods.set_config),
            "config/patch": Method(dict[str, Any], methods.patch_config),
            "tools/register": Method(ask.RegisterParams, methods.register_tools),
            "skills/list": Method(ask.FolderParams, methods.list_skills),
            "skills/inspect": Method(ask.SkillParams, methods.inspect_skill),
            "comms/send": Method(CommsParams, methods.send_to_peer),
            "comms/peers": Method(ask.SessionParams, methods.list_peers),
            "session/stream_open": Method(ask.SessionParams, methods.open_stream),
            "session/stream_close": Method(ask.StreamParams, methods.close_stream),
            "session/command": Method(ask.CommandParams, methods.command),
            "session/fork": Method(ask.ForkParams, methods.fork),
            "session/records": Method(ask.RecordsParams, methods.records),
            "session/watch": Method(ask.WatchParams, methods.watch),
            **{name: Method(*found) for name, found in asked.passed_on().items()},
            "session/export": Method(ask.ExportParams, asked.export),
            "session/usage": Method(ask.SessionParams, asked.usage),
            "session/delete": Method(ask.SessionParams, asked.delete),
            "agents/list": Method(ask.FolderParams, asked.agents),
            "models/list": Method(ask.FolderParams, asked.models),
            "rules/list": Method(ask.FolderParams, asked.rules),
            "servers/list": Method(ask.FolderParams, asked.servers),
            "stats/get": Method(ask.Params, asked.stats),
        }

    # ------------------------------------------------------------------ lifecycle

    async def serve(self) -> None:
        """Serve until the client leaves or `end` is called."""
        writing = asyncio.create_task(self._outbox.run())
        self._reading = asyncio.create_task(self._read())
        try:
            await asyncio.wait([writing, self._reading], return_when=asyncio.FIRST_COMPLETED)
            await self._wind_up(writing)
        finally:
            await self._let_go(writing)

    def end(self) -> None:
        """Stop reading; treat the client as gone."""
        if self._reading is not None:
            self._reading.cancel()

    async def _wind_up(self, writing: "asyncio.Task[None]") -> None:
        """Answer what can be answered within `GRACE_S`."""
        self.end()
        try:
            async with asyncio.timeout(GRACE_S):
                await self._streams.aclose()
                if self._context.keeps_runs:
                    self._leave_runs()
                else:
                    await self._runs.cancel_all()
                if not writing.done() and self._active:
                    await asyncio.wait(self._active.values())
                self._outbox.close()
                await asyncio.wait([writing])
        except TimeoutError:
            pass

    def _leave_runs(self) -> None:
        """Stop following runs; they continue in the daemon, and their requests get an error."""
        self._is_leaving = True
        for task in self._active.values():
            if task.get_name() == "run":
                task.cancel()

    async def _let_go(self, writing: "asyncio.Task[None]") -> None:
        tasks = [*self._active.values(), writing, *([self._reading] if self._reading else [])]
        for task in tasks:
            task.cancel()
        await self._streams.aclose()
        await self._tools.aclose()
        await asyncio.wait(tasks)
        for task in tasks:
            error = None if task.cancelled() else task.exception()
            if error is not None and not isinstance(error, ConnectionError):
                log.error("a connection failed: %s", type(error).__name__, exc_info=error)

    # ------------------------------------------------------------------ input

    async def _read(self) -> None:
        while (line := await self._source.next()) is not None:
            if isinstance(line, TooLong):
                fault = InvalidLine(PARSE_ERROR, f"Parse error: a line is longer than {MAX_LINE_BYTES} bytes")
                await self._refuse(fault)
                continue
            match parse_line(line):
                case Request() as request:
                    await self._take(request)
                case RpcReply() as reply:
                    self._tools.finish(reply)
                case InvalidLine() as fault:
                    await self._refuse(fault)
                case Notification():
                    pass
        while self._answers_all and self._active:
            await asyncio.wait(self._active.values())

    async def _refuse(self, fault: InvalidLine) -> None:
        await self._outbox.reply(failure_line(fault.id, ErrorResponse(fault.code, fault.message)))

    async def _take(self, request: Request) -> None:
        if request.id in self._active:
            # With the id itself, the client would take this for the answer to the first request.
            await self._refuse(
                InvalidLine(INVALID_REQUEST, f"Invalid request: the id {request.id!r} is in use")
            )
            return
        is_run = request.method in RUN_METHODS
        try:
            if is_run:
                self._check_room()
            work = self._work(request)
        except BridleError as error:
            await self._outbox.reply(self._fitted_failure(request.id, error_response(error)))
            return
        if work is None:
            await self._refuse(
                InvalidLine(METHOD_NOT_FOUND, f"Method not found: {request.method}", request.id)
            )
            return
        if is_run:
            task = asyncio.create_task(self._answer(request, work, self._outbox.send_event), name="run")
        else:
            await self._quick.acquire()
            task = asyncio.create_task(self._answer_quickly(request, work), name="quick")
        self._active[request.id] = task
        task.add_done_callback(lambda _: self._active.pop(request.id, None))

    def _check_room(self) -> None:
        count = sum(task.get_name() == "run" for task in self._active.values())
        if count >= MAX_RUNS:
            raise Refused(
                INTERNAL, f"Max sessions reached ({count}/{MAX_RUNS})", hint="wait for a run to end"
            )

    def _work(self, request: Request) -> Callable[[], Awaitable[Any]] | None:
        """Parse a request and return its function; None for an unknown method. Raises UsageError."""
        match request.method:
            case "session/create":
                created = _params(request, CreateParams)
                return lambda: self._runs.create(created)
            case "turn/start":
                started = _params(request, TurnParams)
                turn = self._runs.expect_turn(started)
                return lambda: self._runs.start(started, turn)
            case name:
                method = self._methods.get(name)
                if method is None:
                    return None
                params, work = _params(request, method.params), method.work
                return lambda: work(params)

    async def _answer_quickly(self, request: Request, work: Callable[[], Awaitable[Any]]) -> None:
        try:
            await self._answer(request, work, self._outbox.reply)
        finally:
            self._quick.release()

    async def _answer(
        self,
        request: Request,
        work: Callable[[], Awaitable[Any]],
        send: Callable[[bytes], Awaitable[None]],
    ) -> None:
        try:
            line = self._fitted(request.id, await work())
        except RpcRunFailed as failed:
            failure = error_response(failed)
            data = {**failure.data, "result": msgspec.to_builtins(run_result(failed.result))}
            line = self._fitted_failure(request.id, msgspec.structs.replace(failure, data=data))
        except ConnectionError:
            return  # the client is gone
        except asyncio.CancelledError:
            if not self._is_leaving:
                raise
            line = self._fitted_failure(
                request.id, error_response(Refused(REQUEST_CANCELLED, LEFT, hint=LEFT_HINT))
            )
        except Exception as error:  # the outermost frame: every error becomes an answer
            failure = error_response(error)
            if not isinstance(error, BridleError):
                log.error("%s failed: %s", request.method, type(error).__name__, exc_info=error)
            line = self._fitted_failure(request.id, failure)
        await send(line)

    # ------------------------------------------------------------------ output

    def _fitted(self, id_: Id, result: Any) -> bytes:
        """Encode an answer; shorten long texts if the line exceeds the client's limit."""
        most_bytes = self._context.contract.max_line_bytes
        line = result_line(id_, result)
        if len(line) <= most_bytes:
            return line
        cut = encode_truncated(result, lambda value: result_line(id_, value), most_bytes)
        too_long = ErrorResponse(INTERNAL_ERROR, f"the answer is longer than {most_bytes} bytes")
        return failure_line(id_, too_long) if cut is None else cut

    def _fitted_failure(self, id_: Id, failure: ErrorResponse) -> bytes:
        most_bytes = self._context.contract.max_line_bytes
        line = failure_line(id_, failure)
        if len(line) <= most_bytes:
            return line
        short = ErrorResponse(failure.code, failure.message[:1_000])
        return encode_truncated(failure, lambda value: failure_line(id_, value), most_bytes) or failure_line(
            id_, short
        )


def _params(request: Request, kind: Any) -> Any:
    """Parse params; raises UsageError that names the problem."""
    try:
        return msgspec.json.decode(request.params, type=kind)
    except msgspec.ValidationError as error:
        raise UsageError(format_validation_error(error, "Invalid params")) from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"Invalid params: {error}") from None
    except RecursionError:
        raise UsageError("Invalid params: nested too deeply") from None
