"""Describes the context window in Kontekst's terms: history precedes the run, memory is the run.

| its field | is |
|---|---|
| history_tokens, memory_tokens | `earlier`, and `run` with the newest answer |
| total_tokens | system + tools + history + memory |
| remaining_tokens | the window minus all of these; below zero when an answer exceeded it |
| history_budget | the window minus system, tools and memory |
"""

from collections.abc import Sequence

from bridle.core.context import ContextUsage, Counted
from bridle.core.ids import RunId, SessionId
from bridle.core.protocol import ModelReplied, Record, RunStarted
from bridle.core.queries import Records
from bridle.core.session_api import SessionApi
from bridle.core.transcript import Transcript, drop_rewound, transcript_of
from bridle.surfaces.grpc.generated.kontekst_pb2 import ContextSnapshot, MessageStats

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
            self._earlier = _sizes(transcript_of(drop_rewound(records[:at]).records).messages)
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
