"""Events of every kind, a counting clock, and the stores that share one contract."""

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import get_args

from bridle.core.context import ContextUsage
from bridle.core.hook import RunResultPatch
from bridle.core.ids import CallId, RunId, SessionId
from bridle.core.messages import Message, Reasoning, Text, ToolCall, ToolResult, Usage, user_message
from bridle.core.protocol import (
    ApprovalDecided,
    ApprovalRequested,
    Audited,
    BudgetExhausted,
    BudgetWarned,
    Checkpoint,
    ChildEnded,
    ChildStarted,
    Compacted,
    CompactionFailed,
    CompactionStarted,
    Event,
    FilesChanged,
    FilesSeen,
    HookCompleted,
    HookDenied,
    HookFailed,
    HookPublished,
    HookRewrote,
    KernelSaved,
    MessageAdded,
    ModelReplied,
    ModelSampled,
    ModelSwitched,
    OutputsCleared,
    Pinned,
    PromptQueued,
    Question,
    QuestionAnswered,
    QuestionAsked,
    QueueDropped,
    QueueEdited,
    Record,
    ReplyLost,
    Retrying,
    Rewound,
    RunEnded,
    RunResumed,
    RunStarted,
    SeenFile,
    SessionArchived,
    SessionConfigured,
    SessionCreated,
    SessionFacts,
    SessionLabelled,
    SessionOptions,
    SessionTitled,
    Todo,
    TodosChanged,
    ToolFinished,
    ToolStarted,
    TurnEnded,
    TurnStarted,
)
from bridle.core.revision import FileChange, FileState
from bridle.core.summary import SessionSummary
from bridle.stores.claims import FileClaims
from bridle.stores.ephemeral import EphemeralStore
from bridle.stores.jsonl import JsonlStore
from bridle.stores.kontekst_files import KontekstFiles
from bridle.stores.kontekst_store import KontekstStore
from bridle.stores.postgres.pool import Postgres
from bridle.stores.postgres.store import PostgresStore
from bridle.stores.record_lines import Flaw
from bridle.stores.sqlite import SqliteStore
from tests.postgres import database_at

S = SessionId("0193a5c0-1111-7222-8333-444455556666")
OTHER = SessionId("0193a5c0-9999-7222-8333-444455556666")
RUN = RunId("run-1")

AnyStore = EphemeralStore | SqliteStore | JsonlStore | KontekstStore | PostgresStore


class CountingClock:
    """Every look at it is a millisecond later."""

    def __init__(self, start_ms: int = 1_763_190_000_000) -> None:
        self._now_ms = start_ms

    def now_ms(self) -> int:
        self._now_ms += 1
        return self._now_ms

    def monotonic_s(self) -> float:
        return self._now_ms / 1000


class StandingClock(CountingClock):
    """It is always the same time."""

    def now_ms(self) -> int:
        return self._now_ms


# ---------------------------------------------------------------------------- events


def created(session: SessionId = S, **fields: object) -> SessionCreated:
    return SessionCreated(session, "/home/me/project", **fields)


def said(text: str) -> MessageAdded:
    return MessageAdded(user_message(text), tokens=3)


def call(name: str) -> ToolCall:
    return ToolCall(CallId(name), "read_file", {"path": "a.py", "n": 1})


def replied(text: str, *calls: str) -> ModelReplied:
    message = Message("assistant", (Reasoning("hm", {"signature": "x"}), Text(text), *map(call, calls)))
    return ModelReplied(RUN, 1, message, "tool_use", Usage(input=5, output=7), 0.25, 9)


def finished(name: str, output: str = "out") -> ToolFinished:
    return ToolFinished(ToolResult(CallId(name), "read_file", output), 12, 4)


SAMPLES: list[Event] = [
    created(),
    SessionTitled("A title"),
    SessionArchived(True),
    PromptQueued("item-1", user_message("later")),
    QueueEdited("item-1", user_message("later, please")),
    QueueDropped("item-1"),
    SessionLabelled({"team": "red"}),
    SessionConfigured(SessionOptions(mode="plan", system="Be short.", without_builtins=("bash",))),
    RunStarted(RUN, "scripted/echo"),
    RunResumed(RUN, (CallId("c1"),)),
    said("hello"),
    TurnStarted(RUN, 1),
    replied("I look", "c1"),
    ReplyLost(RUN, 1, Usage(input=10, output=2), 0.01),
    ModelSampled(RUN, 1, CallId("call-1"), "files", Usage(input=10, output=2), 0.01),
    Retrying(RUN, 1, 1, 3, "rate_limited", "slow down", 250),
    ApprovalRequested(CallId("c1"), "read_file", {"path": "a.py"}, "no rule allows it"),
    ApprovalDecided(CallId("c1"), "once"),
    ToolStarted(CallId("c1"), "read_file", {"path": "a.py"}, True),
    finished("c1"),
    TurnEnded(RUN, 1, Usage(input=5), ContextUsage(1000, run=5)),
    BudgetWarned("tokens", 80, 100),
    BudgetExhausted("tokens", 100, 100),
    Checkpoint(SessionFacts(created(), 1, "A title")),
    RunEnded(RUN, "completed", "done"),
    ModelSwitched(RUN, 1, "other/model", "gone"),
    QuestionAsked(CallId("c1"), Question("Which one?", ("a", "b"))),
    QuestionAnswered(CallId("c1"), ("a",)),
    FilesSeen((SeenFile("a.py", "0" * 64),)),
    FilesChanged((FileChange("a.py", None, FileState("file", 0o644, "0" * 64, 3)),), CallId("c1")),
    TodosChanged((Todo("look", "completed"),)),
    KernelSaved("0" * 64, ("socket",)),
    HookCompleted("guard", "turn_boundary", 3),
    HookFailed("guard", "turn_boundary", "it took too long"),
    HookDenied("guard", "pre_tool_execution", "policy_violation", "not here", {"why": 1}, CallId("c1")),
    HookRewrote("scrub", "run_completed", RunResultPatch("clean")),
    HookPublished("watch", "run_completed", RunResultPatch("seen"), 1),
    CompactionStarted("automatic", 90, 80, 4),
    OutputsCleared((CallId("c1"),), 80, 60),
    Compacted(
        user_message("[Context compacted] so far"), 1, 9, 4, 2, 60, 12, "scripted/echo", summary="so far"
    ),
    CompactionFailed("the summary is empty"),
    Pinned("never push"),
    Audited("acme", "ann", "k7", "prompt", "acme.1", "done", 1_700_000_000_000),
    ChildStarted(OTHER, "scout", "look around"),
    ChildEnded(OTHER, "completed", turns=2),
    Rewound(1),
]
"""One event of each kind."""

assert {type(event) for event in SAMPLES} == set(get_args(Event))


# ---------------------------------------------------------------------------- stores


class Reopened:
    """A durable store that is closed and opened again around every call."""

    def __init__(
        self, make: Callable[[], AnyStore], end: Callable[[], Awaitable[None]] | None = None
    ) -> None:
        self._make = make
        self._end = end

    async def append(
        self, session: SessionId, expected_seq: int, events: list[Event], **options: object
    ) -> list[Record]:
        return await self._once("append", session, expected_seq, events, **options)

    async def read(self, session: SessionId, **options: object) -> list[Record]:
        return await self._once("read", session, **options)

    async def ids(self) -> list[SessionId]:
        return await self._once("ids")

    async def lines(self, session: SessionId) -> AsyncIterator[bytes]:
        store = self._make()
        async for line in store.lines(session):
            yield line
        await store.aclose()

    async def flaws(self, session: SessionId | None = None, *, repair: bool = False) -> list[Flaw]:
        return await self._once("flaws", session, repair=repair)

    async def delete(self, session: SessionId) -> None:
        await self._once("delete", session)

    async def list(self, *, archived: bool = False) -> list[SessionSummary]:
        return await self._once("list", archived=archived)

    async def aclose(self) -> None:
        if self._end is not None:
            await self._end()

    async def _once(self, name: str, *args: object, **options: object) -> object:
        store = self._make()
        try:
            return await getattr(store, name)(*args, **options)
        finally:
            await store.aclose()


class LonePostgresStore(PostgresStore):
    """A store with separate connections, which end with it."""

    def __init__(self, place: Path, clock: CountingClock, **options: object) -> None:
        self.postgres = Postgres(database_at(place), size=4, patience_s=10)
        super().__init__(self.postgres, clock, **options)

    async def aclose(self) -> None:
        await self.postgres.aclose()


def make_store(kind: str, place: Path, clock: CountingClock | None = None, **options: object) -> AnyStore:
    """Open a store; those of the same kind and place share their sessions."""
    clock = clock or CountingClock()
    match kind:
        case "sqlite":
            return SqliteStore(place / "bridle.db", clock, **options)
        case "jsonl":
            return JsonlStore(place / "sessions", clock, **options)
        case "ephemeral":
            return EphemeralStore(clock)
        case "kontekst":
            files = KontekstFiles(
                sessions=place / "data/sessions", marks=place / "marks", active=place / "data/active_session"
            )
            journal = SqliteStore(place / "bridle.db", clock, **options)
            return KontekstStore(journal, files, FileClaims(place / "claims"), cwd=str(place / "data"))
        case "postgres":
            return LonePostgresStore(place, clock, **options)
        case "postgres-reopened":
            postgres = Postgres(database_at(place), size=1, patience_s=10)
            return Reopened(lambda: PostgresStore(postgres, clock, **options), postgres.aclose)
        case _:
            durable = kind.removesuffix("-reopened")
            return Reopened(lambda: make_store(durable, place, clock, **options))


def overwrite(path: Path, data: bytes) -> None:
    """Replace a file's content in place; emptying it first would make the file system write to the disk."""
    with path.open("r+b", buffering=0) as file:
        file.write(data)
        file.truncate(len(data))
