"""One Run stream: commands are read beside the run that is told.

```
          start ─▶ begin ─▶ started ─▶ follow ─▶ completed | cancelled | failed      (one task)
read ─▶   approve, deny, cancel ─▶ the session API
          end of the client's side ─▶ the stream ends, the run goes on
```

A client that reads slowly holds up the writing here, never the run: it misses tokens, and no other event.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import aclosing, suppress
from typing import Any

import grpc

from bridle.core.context import ContextUsage, Counted
from bridle.core.errors import BridleError, NotAllowed, SessionError
from bridle.core.ids import CallId, RunId, SessionId
from bridle.core.protocol import (
    Aborted,
    Cancel,
    Command,
    Decide,
    ModelReplied,
    QuestionAsked,
    ReasoningDelta,
    Record,
    Reply,
    RunStarted,
    TextDelta,
)
from bridle.core.queries import Records
from bridle.core.session_api import SessionApi
from bridle.core.transcript import Transcript, drop_rewound, transcript_of
from bridle.surfaces.grpc.events import EventTranslator, failed
from bridle.surfaces.grpc.generated.kontekst_pb2 import (
    ContextSnapshot,
    MessageStats,
    ReasoningDeltaEvent,
    RunCommand,
    RunEvent,
    RunStartedEvent,
    StartRunCommand,
    TokenDeltaEvent,
)
from bridle.surfaces.grpc.generated.kontekst_pb2_grpc import AgentServiceServicer
from bridle.surfaces.grpc.run_starter import RunStarter, StartedRun
from bridle.surfaces.shared.missed_text import MissedText

# ---------------------------------------------------------------------------- context snapshot
# Describes the context window in Kontekst's terms: history precedes the run, memory is the run.
#
# | its field | is |
# |---|---|
# | history_tokens, memory_tokens | `earlier`, and `run` with the newest answer |
# | total_tokens | system + tools + history + memory |
# | remaining_tokens | the window minus all of these; below zero when an answer exceeded it |
# | history_budget | the window minus system, tools and memory |


FIRST_TAIL = 256  # records; read four times as many if these do not go back far enough
MAX_INT32 = 2**31 - 1


class MessageTable:
    """The sizes of a session's messages, as far back as the requests of one run need."""

    def __init__(self, api: SessionApi, session: SessionId, run_id: RunId) -> None:
        self._api = api
        self._session = session
        self._run_id = run_id
        self._earlier: list[tuple[str, int]] = []
        self._is_whole = False
        self._run: Transcript | None = None

    def add(self, record: Record) -> None:
        """Apply the next record of the run."""
        if self._run is not None:
            self._run.apply(record.event)

    async def snapshot(self, record: Record, reply: ModelReplied) -> ContextSnapshot:
        """Return the context window after a reply that was passed to `add`; raises StoreError."""
        usage = reply.context
        if self._run is None or (len(self._earlier) < usage.earlier_messages and not self._is_whole):
            self._run = await self._read(record.seq, usage.earlier_messages)
        first_of_history = len(self._earlier) - usage.earlier_messages
        history = self._earlier[max(0, first_of_history) :]
        return _snapshot(usage, reply.tokens, history, _sent(self._run.messages, usage.run_messages))

    async def _read(self, seq: int, wanted: int) -> Transcript:
        """Read backward from `seq` until enough messages from before the run are found."""
        size = FIRST_TAIL
        while True:
            after = max(0, seq - size)
            records = await self._api.ask(Records(self._session, after, seq - after))
            begun = [index for index, record in enumerate(records) if self._is_start(record)]
            at = begun[0] if begun else 0
            self._earlier = _sizes(transcript_of(drop_rewound(records[:at])).messages)
            self._is_whole = after == 0
            if self._is_whole or (begun and len(self._earlier) > wanted):
                return transcript_of(records[at:])
            size *= 4

    def _is_start(self, record: Record) -> bool:
        return isinstance(record.event, RunStarted) and record.event.run_id == self._run_id


def _sizes(messages: Sequence[Counted]) -> list[tuple[str, int]]:
    """Return the role and tokens of each message that can be sent, without results that have no calls."""
    sizes: list[tuple[str, int]] = []
    follows_calls = False
    for item in messages:
        message = item.message
        follows_calls = bool(message.calls) or (message.role == "tool" and follows_calls)
        if message.role != "tool" or follows_calls:
            sizes.append((message.role, item.tokens))
    return sizes


def _sent(messages: Sequence[Counted], sent: int) -> list[tuple[str, int]]:
    """Return the prompt, the newest messages that were sent after it, and the reply."""
    *before, reply = messages
    newest = before[max(1, len(before) - max(0, sent - 1)) :]
    return [(item.message.role, item.tokens) for item in (*before[:1], *newest, reply)]


def _snapshot(
    usage: ContextUsage,
    reply_tokens: int,
    history: Sequence[tuple[str, int]],
    memory: Sequence[tuple[str, int]],
) -> ContextSnapshot:
    memory_tokens = usage.run + reply_tokens
    total = usage.total + reply_tokens
    rows = [
        ("system", usage.system, "system"),
        *((role, tokens, "history") for role, tokens in history),
        *((role, tokens, "memory") for role, tokens in memory),
    ]
    return ContextSnapshot(
        context_size=_int32(usage.window),
        system_tokens=_int32(usage.system),
        tool_tokens=_int32(usage.tools),
        history_tokens=_int32(usage.earlier),
        memory_tokens=_int32(memory_tokens),
        total_tokens=_int32(total),
        remaining_tokens=_int32(usage.window - total),
        history_messages=len(history),
        memory_messages=len(memory),
        total_messages=len(rows),
        history_budget=_int32(max(0, usage.window - usage.system - usage.tools - memory_tokens)),
        messages=[MessageStats(role=role, tokens=_int32(size), source=source) for role, size, source in rows],
    )


def _int32(number: int) -> int:
    return max(-MAX_INT32, min(number, MAX_INT32))


# ---------------------------------------------------------------------------- stream


ALREADY_STARTED = "run already started"
CANCELLED = "cancelled by the client"
MAX_REASON_CHARS = 4_000  # sent to the model, and stored

Context = grpc.aio.ServicerContext[RunCommand, RunEvent]


class AgentRpc(AgentServiceServicer):
    """Implements AgentService."""

    def __init__(self, starts_of: Callable[[Any], Awaitable[RunStarter]]) -> None:
        """Set the function that returns the `RunStarter` of a call, or raises NotAllowed, StoreError."""
        self._starts_of = starts_of

    async def Run(  # type: ignore[override]  # noqa: N802  not a generator: two tasks write
        self, request_iterator: AsyncIterator[RunCommand], context: Context
    ) -> None:
        """Serve one stream."""
        try:
            starts = await self._starts_of(context.invocation_metadata())
            await RunStream(starts, context).serve(request_iterator)
        except (ExceptionGroup, BridleError) as group:
            error = _first(group)
            if not isinstance(error, BridleError):
                raise error from group
            is_refused = isinstance(error, NotAllowed)
            status = grpc.StatusCode.PERMISSION_DENIED if is_refused else grpc.StatusCode.UNAVAILABLE
            await context.abort(status, str(error))


class RunStream:
    """The run of one client."""

    def __init__(self, starts: RunStarter, context: Context) -> None:
        self._starts = starts
        self._api = starts.api
        self._context = context
        self._writing = asyncio.Lock()  # invariant: one message is written at a time
        self._running: asyncio.Task[None] | None = None
        self._answered = asyncio.Event()
        """Set once the newest start was answered, with `started` or `failed`."""
        self._begun: StartedRun | None = None
        self._translator: EventTranslator | None = None
        self._is_cancelled = False

    async def serve(self, commands: AsyncIterator[RunCommand]) -> None:
        """Handle commands until the client closes its side; the run then continues without it."""
        async with asyncio.TaskGroup() as group:
            async for command in commands:
                await self._take(command, group)
            if (running := self._running) is not None:
                await self._answered.wait()
                running.cancel()  # a start that failed has ended itself

    async def _take(self, command: RunCommand, group: asyncio.TaskGroup) -> None:
        match command.WhichOneof("command"):
            case "start" if self._running is not None:
                await self._write(failed(ALREADY_STARTED))
            case "start":
                self._answered = asyncio.Event()
                self._running = group.create_task(self._run(command.start, self._answered))
            case "approve_tool":
                await self._decide(Decide(CallId(command.approve_tool.call_id), "once"))
            case "deny_tool":
                denied = command.deny_tool
                await self._decide(Decide(CallId(denied.call_id), "deny", denied.reason[:MAX_REASON_CHARS]))
            case "cancel":
                self._is_cancelled = self._running is not None
                await self._submit(Cancel(CANCELLED))
            case None:
                pass

    async def _write(self, event: RunEvent) -> None:
        async with self._writing:
            await self._context.write(event)

    # ------------------------------------------------------------------ the run

    async def _run(self, start: StartRunCommand, answered: asyncio.Event) -> None:
        try:
            begun = await self._starts.begin(start)
        except NotAllowed:
            raise  # reported by the status of the call
        except BridleError as error:
            self._running, self._is_cancelled = None, False
            await self._write(failed(str(error)))
            answered.set()
        else:
            # Nothing is awaited before the watch begins: no token of a run in this process is missed.
            await self._follow(begun, answered)

    async def _follow(self, begun: StartedRun, answered: asyncio.Event) -> None:
        self._begun = begun
        translator = self._translator = EventTranslator(begun.run_id, proposes_all=self._starts.proposes_all)
        table = MessageTable(self._api, begun.session, begun.run_id)
        write, missed = self._write, MissedText()
        async with aclosing(self._api.watch(begun.session, begun.seq - 1)) as items:
            async for item in items:  # the first one is the prompt
                if not answered.is_set():
                    await self._announce(begun, answered)
                text, reasoning = missed.take(item)
                if reasoning:
                    await write(RunEvent(reasoning=ReasoningDeltaEvent(text=reasoning)))
                if text:
                    await write(RunEvent(token=TokenDeltaEvent(text=text)))
                match item:
                    case TextDelta():
                        await write(RunEvent(token=TokenDeltaEvent(text=item.text)))
                    case ReasoningDelta():
                        await write(RunEvent(reasoning=ReasoningDeltaEvent(text=item.text)))
                    case Record():
                        await self._send_events(item, translator, table)
                    case Aborted():
                        for event in translator.abort(item):
                            await write(event)
                    case _:
                        pass
                if translator.is_over:
                    return

    async def _announce(self, begun: StartedRun, answered: asyncio.Event) -> None:
        event = RunStartedEvent(run_id=begun.run_id, session_id=begun.session, agent_name=begun.agent)
        await self._write(RunEvent(started=event))
        answered.set()
        if self._is_cancelled:  # while it was being started
            await self._submit(Cancel(CANCELLED))

    async def _send_events(self, record: Record, translator: EventTranslator, table: MessageTable) -> None:
        table.add(record)
        match record.event:
            case ModelReplied(stop_reason="cancelled"):
                events = []  # a partial reply, kept only in the records
            case ModelReplied() as reply:
                events = translator.reply(reply, await table.snapshot(record, reply))
            case QuestionAsked() as asked:
                events = []
                await self._submit(Reply(asked.call_id))  # this protocol has no questions
            case other:
                events = translator.add(other)
        for event in events:
            await self._write(event)

    # ------------------------------------------------------------------ answers

    async def _decide(self, decision: Decide) -> None:
        """Submit a decision about a call that was sent to this client; ignore all others."""
        if self._translator is not None and decision.call_id in self._translator.proposed:
            await self._submit(decision)

    async def _submit(self, command: Command) -> None:
        """Submit a command if the run is still active: it must not affect a later run of the session."""
        if self._begun is None or self._translator is None or self._translator.is_over:
            return
        with suppress(SessionError):  # it just ended
            await self._api.submit(self._begun.session, command)


def _first(error: BaseException) -> BaseException:
    """Return the innermost error of nested exception groups."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
