"""The seams: what the engine needs from the outside world, each at most five methods wide."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Mapping, Sequence
from functools import cache
from typing import Any, Literal, Protocol, TypeGuard, TypeVar, runtime_checkable

from msgspec import Struct

from bridle.core.budget import Limits, Spend
from bridle.core.child import Children
from bridle.core.hook import HookInvocation, HookOutcome, HookPoint
from bridle.core.ids import CallId, RunId, SessionId
from bridle.core.messages import Media, ToolCall, ToolResult
from bridle.core.model import Model, ModelReply, ModelRequest
from bridle.core.permission import Mode, Rule
from bridle.core.protocol import (
    Delta,
    Event,
    FilesSeen,
    HookCompleted,
    HookDenied,
    HookFailed,
    HookPublished,
    HookRewrote,
    HookStarted,
    KernelSaved,
    Question,
    Record,
    Todo,
    TodosChanged,
)
from bridle.core.purse import Reservation
from bridle.core.revision import FileChange, FileState
from bridle.core.sampling import Sample, Sampled
from bridle.core.summary import SessionSummary
from bridle.core.tenancy import Bounds, KeptToken, Tenant
from bridle.core.tool import Access, ToolSpec

T = TypeVar("T")


@cache
def _offers(kind: Any, protocol: Any) -> bool:
    return issubclass(kind, protocol)


def offers(thing: Any, protocol: type[T]) -> TypeGuard[T]:
    """Tell whether something is also what a protocol says; found out once for each class of things."""
    kind: Any = type(thing)
    wanted: Any = protocol
    return _offers(kind, wanted)


def _keep_nothing(path: str) -> None:
    """Serve where nothing is to be undone."""


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


@runtime_checkable
class SchemaHolder(Protocol):
    """What a provider may also be: one that can hold an answer to a JSON Schema."""

    def unheld(self, schema: dict[str, Any]) -> tuple[str, ...]:
        """Say what of a schema an answer is not held to; nothing if all of it counts."""
        ...


@runtime_checkable
class KnowsModels(Protocol):
    """What a provider may also be: one that knows the facts of its models."""

    def model(self, name: str) -> Model:
        """Return what is true of a model: its window, its price, whether it takes images."""
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
    """Where a call happens, and what the session lends it."""

    session: SessionId
    cwd: str
    emit: Callable[[str], None]
    """Show live output while the tool runs."""
    call_id: CallId = CallId("")
    rules: tuple[Rule, ...] = ()
    mode: Mode = "ask"
    seen: Mapping[str, str] = {}
    """Digests of the files the model knows, by path: only those may be edited."""
    keep: Callable[[str], None] = _keep_nothing
    """Keep what lies at an absolute path before it is changed; blocking, safe in any thread."""
    ask: Callable[[Question], Awaitable[tuple[str, ...]]] | None = None
    """Put a question to the user; None when a tool may not ask."""
    todos: tuple[Todo, ...] = ()
    sees_images: bool = False
    """The model takes images."""
    env: Mapping[str, str] = {}
    """Variables that programs get beside the usual ones."""
    tools: tuple[ToolSpec, ...] = ()
    """What `call` may call."""
    call: Callable[[str, dict[str, Any]], Awaitable[ToolResult]] | None = None
    """Make another call, judged and recorded like one of the model's own; None when a tool may not."""
    snapshot: str = ""
    """What the kernel of the session should hold."""
    rewinds: int = 0
    """How often the session went back; a kernel from before the last time holds something else."""
    children: Children | None = None
    """The run's sub-agents; None when it may not have any."""
    sample: Callable[[Sample], Awaitable[Sampled]] | None = None
    """Ask the model something within the limits of the run; raises ToolError. None when a tool may not."""


class ToolOutput(Struct, frozen=True):
    """What a tool's run gives back before it is capped and recorded."""

    text: str
    is_error: bool = False
    media: tuple[Media, ...] = ()
    notes: tuple[FilesSeen | TodosChanged | KernelSaved, ...] = ()
    """Facts to record with the result."""
    diff: str = ""
    """What was changed, for people."""
    answer: str = ""
    """The final answer of the run, which ends with it."""


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
        """Show what a call would change, as a diff or text; empty when there is nothing to show.

        Raises ToolError when the call is bound to fail: then nobody is asked about it.
        """
        ...

    async def run(self, args: dict[str, Any], context: ToolContext) -> ToolOutput:
        """Do it; raises ToolError with the text the model should see."""
        ...


@runtime_checkable
class SessionTool(Protocol):
    """What a tool may also be: one that holds something for a session, such as its background jobs."""

    def is_busy(self, session: SessionId) -> bool:
        """Tell whether something of it runs, and may change files."""
        ...

    async def end_session(self, session: SessionId) -> None:
        """Let go of all of it; called when the session is closed in this process."""
        ...

    async def aclose(self) -> None:
        """Let go of what it holds for no session in particular."""
        ...


@runtime_checkable
class OccasionalTool(Protocol):
    """What a tool may also be: one that is of no use everywhere."""

    def is_useful(self, cwd: str) -> bool:
        """Tell whether it is worth a place in the requests of a session there; blocking."""
        ...


@runtime_checkable
class SlowTool(Protocol):
    """What a tool may also be: one whose calls keep a time of their own."""

    def longest_s(self) -> float:
        """Return what a call may take at most, where that is more than usual."""
        ...


@runtime_checkable
class ForeseeingTool(Protocol):
    """What a tool may also be: one that must look around to know what a call would touch."""

    async def foresee(self, args: dict[str, Any], context: ToolContext) -> None:
        """Find that out, so that `access` can say it for this call id; raises ToolError if it would fail."""
        ...


class ToolDispatcher(Protocol):
    """Tools of whoever uses Bridle, all behind one method."""

    @property
    def specs(self) -> Sequence[ToolSpec]:
        """What the model sees of them."""
        ...

    async def dispatch(self, call: ToolCall) -> ToolOutput:
        """Do what a call asks for; raises ToolError with the text the model should see.

        After a crash a call comes again under the same id.
        """
        ...


@runtime_checkable
class GuardedDispatcher(Protocol):
    """What a dispatcher may also be: one whose tools are judged by the rules, like those of Bridle itself."""

    def access_of(self, tool: str) -> Access:
        """Say what calls of a tool touch."""
        ...


class Blobs(Protocol):
    """Bytes kept under the SHA-256 of their content; every method blocks and is safe in any thread."""

    def put(self, data: bytes) -> str:
        """Keep bytes and return their digest; raises StoreFull or StoreError."""
        ...

    def get(self, digest: str) -> bytes:
        """Return kept bytes; raises StoreError when they are missing or damaged."""
        ...


class Keeper(Protocol):
    """Watches over the files of one session; every method blocks and is safe in any thread."""

    def keep(self, path: str) -> None:
        """Keep what lies at an absolute path, durably, before it is changed; quick if it was kept already.

        A folder is kept with all that is in it, as it may be moved; a path that ends in `/.` is a folder
        alone. Raises StoreError when it cannot be kept: then it must not be changed.
        """
        ...

    def collect(self, *, is_over: bool = False) -> tuple[FileChange, ...]:
        """Return what has changed since the last time, of all that was kept.

        `is_over` says that nothing of the session runs any more: what is changed from now on is not its own.
        A path may come twice, in order. Until `confirm` the next one, here or of a new keeper of the session,
        returns the same again before what is new.
        """
        ...

    def confirm(self) -> None:
        """Say that all that `collect` has returned is recorded."""
        ...

    def look(self, paths: Sequence[str]) -> dict[str, FileState | None]:
        """Return what lies at these paths now, as change records name them."""
        ...

    def restore(self, targets: Mapping[str, FileState | None]) -> tuple[str, ...]:
        """Bring paths back to these states, keeping what is there now; return what could not be, in words."""
        ...


class Revisions(Protocol):
    """Remembers earlier file contents for every session."""

    def keeper(self, session: SessionId, cwd: str) -> Keeper:
        """Return the keeper of a session, the same one each time."""
        ...

    def forget(self, session: SessionId) -> None:
        """Drop what was kept aside for a session that is deleted."""
        ...


class ProcessSpec(Struct, frozen=True):
    """A program to run under guard, and what it may touch."""

    argv: tuple[str, ...]
    cwd: str
    env: Mapping[str, str]
    output: int
    """The descriptor that takes what it prints, on both of its streams unless there is one for errors."""
    errors: int | None = None
    """The descriptor that takes what it prints on its error stream."""
    extra: int | None = None
    """A descriptor that it finds as number 3, for whoever started it."""
    input: int | None = None
    """A descriptor it reads from; None gives it an empty input."""
    writable: tuple[str, ...] = ()
    """Folders it may change, by absolute path; everything else is read-only."""
    rules: tuple[Rule, ...] = ()
    """Deny rules make paths unreadable or unchangeable; allow rules of `tool` open domains to it."""
    mode: Mode = "ask"
    tool: str = "bash"
    keep: Callable[[str], None] | None = None
    """Called with an absolute path before the program may change what lies there."""
    confined: bool = True
    """False runs it without a sandbox: the user said so."""
    open_network: bool = False
    """True lets it reach every host, not only those that rules allow."""
    shows_program: bool = False
    """True lets it see the files that its command line names, with what belongs to them, also in `/tmp`."""
    memory_bytes: int | None = None
    max_processes: int | None = None
    max_file_bytes: int | None = None
    cpu_s: int | None = None


class Process(Protocol):
    """A program that was started, with everything it started itself."""

    @property
    def pid(self) -> int:
        """The process on this machine that all others descend from."""
        ...

    async def wait(self) -> int:
        """Wait for its end; returns its exit status, 128 + n after signal n. Safe to call again."""
        ...

    @property
    def kept_error(self) -> str:
        """Why changes of files were refused because they could not be kept; empty if none was."""
        ...

    def interrupt(self) -> None:
        """Ask all of its processes to end (SIGTERM)."""
        ...

    def kill(self) -> None:
        """End all of its processes at once, also those that ran away into the background."""
        ...


SandboxKind = Literal["bubblewrap", "landlock", "none"]


class SandboxStatus(Struct, frozen=True):
    """What guards programs on this machine."""

    kind: SandboxKind
    why: str = ""
    """Why it is no better than that; empty for the best one."""
    parts: tuple[tuple[str, bool, str], ...] = ()
    """Each protection: its name, whether it is active, and what that rests on."""


class Sandbox(Protocol):
    """Starts programs that can only touch what they were given."""

    @property
    def status(self) -> SandboxStatus:
        """What is active; found out once."""
        ...

    async def start(self, spec: ProcessSpec, session: SessionId) -> Process:
        """Start a program; raises ToolError when it cannot be."""
        ...

    async def holds(self, session: SessionId) -> bool:
        """Tell whether all that a new program would find hidden or fixed is so for those that run.

        Files come and go while one runs; raises ToolError when that cannot be found out.
        """
        ...

    async def end_session(self, session: SessionId) -> None:
        """End everything that was started for a session."""
        ...


HookEvent = HookCompleted | HookFailed | HookDenied | HookRewrote | HookPublished


class HookRound(Struct, frozen=True):
    """What came of asking all hooks of a point."""

    outcome: HookOutcome = HookOutcome()
    events: tuple[HookEvent, ...] = ()
    """What there is to record, in order; also what background hooks have published since the last round."""


class Hooks(Protocol):
    """The hooks of one run."""

    @property
    def points(self) -> frozenset[HookPoint]:
        """Where anybody listens; at other points nothing need be asked."""
        ...

    @property
    def judged(self) -> frozenset[HookPoint]:
        """Where somebody may refuse or rewrite; nobody may see before what there is to judge."""
        ...

    async def ask(self, invocation: HookInvocation, show: Callable[[HookStarted], None]) -> HookRound:
        """Ask every hook of a point, those in the foreground in order; never raises."""
        ...

    def for_child(self) -> "Hooks":
        """Return the same hooks for a sub-agent of the run, which closes them before these are closed."""
        ...

    async def aclose(self) -> tuple[HookEvent, ...]:
        """Give background hooks a moment to end, stop them, and return what is left to record."""
        ...


class Recalled(Struct, frozen=True, omit_defaults=True):
    """A passage of the past that fits a question."""

    text: str
    score: float
    """From 0 to 1."""
    session: SessionId
    seq: int
    turn: int = 0
    role: str = ""
    at: int = 0
    """When it was said, in milliseconds since 1970."""


class Memory(Protocol):
    """Semantic recall over what was said in the sessions of a project."""

    async def search(
        self, query: str, *, cwd: str, limit: int = 5, session: SessionId | None = None
    ) -> list[Recalled]:
        """Return the passages of this project that fit best, the best first; raises BridleError.

        What `session`, which asks, has said since its run or its last compaction began is left out.
        """
        ...

    def note(self, session: SessionId, cwd: str) -> None:
        """Say that a session has grown: it is taken in soon, in the background."""
        ...

    async def forget(self, session: SessionId) -> None:
        """Drop all that is known of a session."""
        ...

    async def aclose(self) -> None:
        """Stop taking in; what is left is taken in another time."""
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


@runtime_checkable
class LocalModels(Protocol):
    """What models may also be: served by processes of ours."""

    def server_pids(self) -> dict[str, int]:
        """Return the processes that live, by what they serve."""
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

    async def claim(self, session: SessionId) -> bool:
        """Take a session for this process; False when it is taken, here or elsewhere; raises StoreError."""
        ...

    async def release(self, session: SessionId) -> None:
        """Give a claimed session back; one that is not held is left alone."""
        ...

    async def is_taken(self, session: SessionId) -> bool:
        """Tell whether somebody has a session, this process or another."""
        ...


class Steps(Protocol):
    """What keeps track of the work of a run: an engine for many machines, or nobody.

    What may be done again after a crash the effect ledger alone decides, not the one who keeps track.
    """

    async def perform(
        self, session: SessionId, name: str, work: Callable[[], Coroutine[Any, Any, None]]
    ) -> None:
        """Do a piece of work, a model call or a tool call, and know that it was done."""
        ...

    async def pause(self, session: SessionId, seconds: float) -> None:
        """Let time pass in which a run rests."""
        ...

    async def child(
        self, parent: SessionId, child: SessionId, life: Callable[[], Coroutine[Any, Any, None]]
    ) -> None:
        """Live the life of a sub-agent, from its start to its end, as part of its parent's work."""
        ...


class Observer(Protocol):
    """Follows what is recorded here, for traces and metrics; nothing rests on it."""

    def environment(self, session: SessionId, call_id: CallId | None) -> Mapping[str, str]:
        """Return what tells the programs of a call, or of the run itself, which trace they belong to.

        Never raises and never waits; nothing for a run that is not followed.
        """
        ...


class Tenants(Protocol):
    """Knows the tenants, and whose a token is."""

    async def tenant(self, name: str) -> Tenant | None:
        """Return what holds for a tenant; None when there is none; raises StoreError."""
        ...

    async def token(self, token_id: str) -> KeptToken | None:
        """Return a token by its id; None for an unknown, revoked or expired one; raises StoreError."""
        ...


class Workplaces(Protocol):
    """Knows where the sessions of tenants may work."""

    async def check_session(self, session: SessionId, cwd: str) -> None:
        """Refuse a folder where a session may not work, as it leads by now; raises UsageError, StoreError."""
        ...

    async def bounds(self, session: SessionId) -> Bounds | None:
        """Return what holds whatever rules a client brings; None for anywhere; raises StoreError."""
        ...


class Purse(Protocol):
    """What a tenant has left, shared by all who run its sessions."""

    async def reserve(self, session: SessionId, run_id: RunId, wanted: Limits) -> Limits:
        """Set aside what a run may use at most, and return its limits, cut to that; raises BudgetSpent.

        Asked again for the same run it returns the same limits, and sets nothing aside a second time.
        """
        ...

    async def settle(self, session: SessionId, run_id: RunId, used: Spend) -> None:
        """Count what a run has used in the place of what was set aside; a second time changes nothing."""
        ...

    async def unsettled(self, older_s: float, limit: int) -> Sequence[Reservation]:
        """Return what was set aside at least that long ago for runs that were not settled, oldest first."""
        ...
