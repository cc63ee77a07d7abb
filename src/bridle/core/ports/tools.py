"""What a model can do, and what a tool is told and says."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

from msgspec import Struct

from bridle.core.child import Children
from bridle.core.ids import CallId, SessionId
from bridle.core.messages import Media, ToolCall, ToolResult
from bridle.core.permission import Mode, Rule
from bridle.core.protocol import FilesSeen, KernelSaved, Question, Todo, TodosChanged
from bridle.core.sampling import Sample, Sampled
from bridle.core.tool import Access, ToolSpec


def _keep_nothing(path: str) -> None:
    """Serve where nothing is to be undone."""


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
