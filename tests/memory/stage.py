"""Shared by the memory tests: a clock, a small embedder, sessions with content."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from bridle.core.context import ContextUsage
from bridle.core.errors import ProviderError
from bridle.core.ids import CallId, RunId, SessionId
from bridle.core.messages import Message, Text, ToolResult, Usage, user_message
from bridle.core.ports import Store
from bridle.core.protocol import (
    Event,
    MessageAdded,
    ModelReplied,
    RunStarted,
    SessionCreated,
    ToolFinished,
    TurnEnded,
)
from bridle.memory.embedders import Embedder
from bridle.memory.embedders.normalize import normalize_rows
from bridle.memory.local import LocalMemory
from bridle.stores.ephemeral import EphemeralStore

RUN = RunId("run")
A, B = SessionId("a"), SessionId("b")
HERE = "/project"
DIMS = 128
EMPTY_WORDS = frozenset("a and at by every in is it no of on or that the to with".split())


class Clock:
    """A clock that is advanced by hand."""

    def __init__(self) -> None:
        self.at_ms = 1_700_000_000_000

    def now_ms(self) -> int:
        return self.at_ms

    def monotonic_s(self) -> float:
        return self.at_ms / 1000


class WordEmbedder:
    """Gives texts with the same words like vectors; `synonyms` makes words the same."""

    def __init__(self, name: str = "words", dims: int = DIMS, synonyms: dict[str, str] | None = None) -> None:
        self.id = name
        self.dims = dims
        self.synonyms = synonyms or {}
        self.texts: list[str] = []
        self.is_broken = False
        self.closed = 0

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if self.is_broken:
            raise ProviderError("embeddings of words: the server is gone", kind="connection_reset")
        self.texts += texts
        rows = np.zeros((len(texts), self.dims), np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in set(re.findall(r"\w+", text.lower())) - EMPTY_WORDS:
                rng = np.random.default_rng(crc32(self.synonyms.get(word, word).encode()))
                row += rng.standard_normal(self.dims, np.float32)
        return normalize_rows(rows)

    async def aclose(self) -> None:
        self.closed += 1


def created(session: SessionId = A, cwd: str = HERE) -> SessionCreated:
    return SessionCreated(session, cwd)


def said(text: str) -> MessageAdded:
    return MessageAdded(user_message(text))


def replied(text: str, turn: int = 1) -> ModelReplied:
    return ModelReplied(RUN, turn, Message("assistant", (Text(text),)), "end_turn", Usage())


def gave(output: str, name: str = "bash", call: str = "c1") -> ToolFinished:
    return ToolFinished(ToolResult(CallId(call), name, output))


def started() -> RunStarted:
    return RunStarted(RUN, "scripted/demo")


def ended(turn: int = 1) -> TurnEnded:
    return TurnEnded(RUN, turn, Usage(), ContextUsage())


async def store_of(sessions: dict[SessionId, Sequence[Event]], clock: Clock | None = None) -> EphemeralStore:
    """Make a store with these sessions."""
    store = EphemeralStore(clock or Clock())
    for session, events in sessions.items():
        await store.append(session, 0, [created(session), *events])
    return store


def memory_of(
    folder: Path,
    store: Store,
    embedder: Embedder | Callable[[], Embedder | None] | None = None,
    *,
    clock: Clock | None = None,
    min_score: float = 0.35,
    exact_up_to: int = 1000,
    catch_up_s: float = 60.0,
    delay_s: float = 0.0,
    idle_s: float = 60.0,
) -> LocalMemory:
    """Make a memory over a store; the project of a folder is its first part."""
    return LocalMemory(
        folder,
        store,
        clock or Clock(),
        root_of=lambda cwd: "/" + cwd.split("/")[1],
        mask=lambda text: text.replace("hunter2", "[secret PASSWORD]"),
        open_embedder=embedder if callable(embedder) else lambda: embedder,
        min_score=min_score,
        exact_up_to=exact_up_to,
        catch_up_s=catch_up_s,
        delay_s=delay_s,
        idle_s=idle_s,
    )
