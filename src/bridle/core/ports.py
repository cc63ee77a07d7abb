"""The seams: what the engine needs from the outside world, each at most five methods wide."""

from collections.abc import AsyncGenerator, Callable, Sequence
from typing import Any, Protocol, runtime_checkable

from msgspec import Struct

from bridle.core.ids import SessionId
from bridle.core.model import Model, ModelReply, ModelRequest
from bridle.core.protocol import Delta, Event, Record
from bridle.core.session import SessionSummary
from bridle.core.tool import Access, ToolOutput, ToolSpec


class Provider(Protocol):
    """An adapter to one model API."""

    def stream(self, request: ModelRequest) -> AsyncGenerator[Delta | ModelReply, None]:
        """Yield deltas as they arrive and the whole reply last; raises ProviderError.

        Who stops listening closes the generator, and with it the connection.
        """
        ...

    async def aclose(self) -> None:
        """Release connections."""
        ...


@runtime_checkable
class TokenCounter(Protocol):
    """What a provider may also be: one that knows its model's tokenizer."""

    async def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return the tokens of each text; never raises, it estimates where it cannot count."""
        ...


class Store(Protocol):
    """An append-only journal of events per session."""

    async def append(self, session: SessionId, expected_seq: int, events: Sequence[Event]) -> list[Record]:
        """Add events after `expected_seq` (0 for a new session) in one durable, all-or-nothing step.

        Raises SessionConflict when the session does not end at `expected_seq`, StoreFull when the
        device is full, StoreError otherwise.
        """
        ...

    async def read(
        self,
        session: SessionId,
        *,
        after: int = 0,
        before: int | None = None,
        limit: int | None = None,
        newest: bool = False,
    ) -> list[Record]:
        """Return records with `after` < seq < `before` in order; at most `limit`, the newest ones if asked.

        An unknown session has no records. Raises StoreCorrupt for a line that cannot be decoded.
        """
        ...

    async def list(self, *, archived: bool = False) -> list[SessionSummary]:
        """Return a summary of every session, newest first; archived ones only if asked."""
        ...

    async def delete(self, session: SessionId) -> None:
        """Remove a session for good; raises SessionNotFound."""
        ...

    async def aclose(self) -> None:
        """Flush and release the journal."""
        ...


class ToolContext(Struct, frozen=True):
    """Where a call happens."""

    session: SessionId
    cwd: str
    emit: Callable[[str], None]
    """Show live output while the tool runs."""


class Tool(Protocol):
    """Something the model can use."""

    @property
    def spec(self) -> ToolSpec:
        """What the model sees."""
        ...

    @property
    def parallel(self) -> bool:
        """Whether calls may run beside others; a tool that changes things runs alone, in order."""
        ...

    def access(self, args: dict[str, Any], context: ToolContext) -> Access:
        """Say what a call with these arguments would touch; raises ToolError."""
        ...

    async def preview(self, args: dict[str, Any], context: ToolContext) -> str:
        """Show what a call would change, as a diff or text; empty when there is nothing to show."""
        ...

    async def run(self, args: dict[str, Any], context: ToolContext) -> ToolOutput:
        """Do it; raises ToolError with the text the model should see."""
        ...


class Models(Protocol):
    """Finds the provider behind a model reference such as `openai/gpt-5`."""

    async def resolve(self, ref: str) -> tuple[Provider, Model]:
        """Return the adapter and the facts; raises ConfigError with near misses for an unknown one.

        May start what serves the model; raises ProviderError when that fails or its key is missing.
        """
        ...

    async def aclose(self) -> None:
        """Release every provider."""
        ...


class Clock(Protocol):
    """The only source of time."""

    def now_ms(self) -> int:
        """Return the wall clock, for dates."""
        ...

    def monotonic_s(self) -> float:
        """Return a clock that never goes back, for durations."""
        ...


class Chance(Protocol):
    """The only source of randomness."""

    def entropy(self, size: int) -> bytes:
        """Return unpredictable bytes."""
        ...

    def jitter(self) -> float:
        """Return a factor between 0.9 and 1.1."""
        ...


class Claims(Protocol):
    """Keeps two processes from running one session at once; a claim dies with its process."""

    def claim(self, session: SessionId) -> bool:
        """Take a session for this process; False when another process has it."""
        ...

    def release(self, session: SessionId) -> None:
        """Give a claimed session back."""
        ...
